"""Shared by the tests: small models, ledgers, and an analyzer that needs no download."""
import json

import pytest

import tem

WORDS = ["the", "film", "was", "wonderful", "call", "me", "on", "about", "and", "so", "anna", "bob",
         "son", "film's", "i", "said"]

# Words stay unchanged: they are 10 apart, and at gamma all 16 together have a share of exp(-42).
SURE = {"epsilon": 90, "gamma": 1}

# All 64 words of this text become "heads" or "tails", each with probability 1/2: two texts are
# equal with probability 2^-64.
COINS = " ".join(["heads", "tails"] * 32)


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """A state directory of these tests: only they trust the models that they build."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def model(own_state, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.tem"
    tem.Model.build([[10.0 * place] for place in range(len(WORDS))], WORDS).save(path)
    return tem.Model.open(path)


@pytest.fixture(scope="session")
def coin(own_state, tmp_path_factory):
    """Two words at one point: tem draws each of them with probability 1/2, whatever epsilon is."""
    path = tmp_path_factory.mktemp("model") / "coin.tem"
    tem.Model.build([[1.0], [1.0]], ["heads", "tails"]).save(path)
    return tem.Model.open(path)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "spent.jsonl"


@pytest.fixture
def charges(ledger):
    """Returns the charges of the ledger, in their order."""
    def read():
        lines = ledger.read_text().splitlines() if ledger.exists() else []
        return [json.loads(line) for line in lines[1:]]
    return read
