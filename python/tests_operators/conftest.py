"""Shared by the tests: small models, ledgers, and an analyzer that needs no download."""
import json
import os
import pathlib
import sys
import warnings

import pytest

import tem

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
from trusting import trust_what_came_with  # noqa: E402

COMMAND = os.environ.get("TEM_COMMAND", "")

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
    state = tmp_path_factory.mktemp("state")
    if COMMAND:
        trust_what_came_with(COMMAND, state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(state))
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


@pytest.fixture(scope="session")
def default(own_state):
    if not os.path.exists(os.environ.get("TEM_MODEL", "")):
        pytest.skip("$TEM_MODEL does not name a default model")
    return tem.Model.open()


# Private text that reads like text, as docs/PYTHON.md has it.
FLUENT = {"epsilon": 3.4, "mechanism": "rank", "numbers": {"c": 5}, "language_model": "english",
          "never": ["of", "film"], "repeat": "once"}
SEED = 7


@pytest.fixture
def seeded(monkeypatch):
    """Every call draws with SEED, which the modules here do not take."""
    for name in ("privatize", "privatize_report"):
        def call(self, *texts, _plain=getattr(tem.Model, name), **options):
            return _plain(self, *texts, **{"insecure_seed": SEED, **options})
        monkeypatch.setattr(tem.Model, name, call)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tem.NotPrivateWarning)
        yield


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
