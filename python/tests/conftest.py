"""Shared by the tests: a small model with a simple law, and the default model."""
import os
import pathlib
import shutil
import subprocess

import numpy
import pytest

import tem

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("TEM_COMMAND", "")

WORDS = ("the movie film was great good bad awful a an of to it's paris london rome café naïve "
         "n't do αθήνα x").split()

# Words at a distance of 1 or more stay unchanged: 22 exp(-45) is 10^-18. (With gamma from beta, a
# word becomes another one in a thousand times, whatever epsilon is.)
SURE = {"epsilon": 90, "gamma": 1}


def trusted_list():
    """The user's list, by the XDG specification."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return pathlib.Path(home, "tem/trusted")


def copy_list(state):
    """Copies the user's list, so that another state directory trusts the same models."""
    folder = state / "tem"
    folder.mkdir(mode=0o700)
    if trusted_list().exists():
        shutil.copy(trusted_list(), folder)


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """A state directory of these tests: only they trust the models that they build."""
    folder = tmp_path_factory.mktemp("state")
    copy_list(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def vectors():
    """Whole numbers, all different: the stored vectors equal the given ones, and SURE holds."""
    rows = numpy.random.default_rng(7).integers(-3, 4, (len(WORDS), 6)).astype("f4")
    assert len(numpy.unique(rows, axis=0)) == len(WORDS)
    return rows


@pytest.fixture(scope="session")
def built(vectors):
    return tem.Model.build(vectors, WORDS)


@pytest.fixture(scope="session")
def small_path(built, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.tem"
    built.save(path)
    return path


@pytest.fixture(scope="session")
def small(small_path):
    return tem.Model.open(small_path)


@pytest.fixture(scope="session")
def medium():
    """Large enough that examining all pairs takes a while."""
    rows = numpy.random.default_rng(8).normal(size=(6000, 20))
    return tem.Model.build(rows, [f"w{i}" for i in range(len(rows))], neighbours=16)


@pytest.fixture(scope="session")
def default():
    return tem.Model.open()


@pytest.fixture
def state(monkeypatch, tmp_path):
    """The state directory of one test, which trusts the models of all tests."""
    folder = tmp_path / "state"
    folder.mkdir()
    copy_list(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def command():
    """Runs the command tem; returns its output."""
    if not COMMAND:
        pytest.skip("$TEM_COMMAND does not name a command to compare with")

    def run(*arguments, stdin=""):
        return subprocess.run([COMMAND, *map(str, arguments)], input=stdin, text=True, check=True,
                              capture_output=True).stdout
    return run
