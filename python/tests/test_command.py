"""The command `tem` of the package. tests/check-python runs it as a wheel installs it."""
import os
import sys

import pytest

import tem
from tem import _command, _tem


@pytest.fixture
def becomes(monkeypatch):
    """Runs main with arguments; returns the model that it names to the program, or None."""
    monkeypatch.delenv("TEM_MODEL", raising=False)
    called = []
    monkeypatch.setattr(os, "execve", lambda *given: called.append(given))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["tem", *arguments])
        _command.main()
        program, given, environment = called.pop()
        assert program == _command.PROGRAM and given == ["tem", *arguments]
        return environment.get("TEM_MODEL")
    return run


@pytest.mark.parametrize("arguments", [
    (), ("--version",), ("--help",), ("build", "x.txt", "-o", "y.tem"), ("help", "explain"),
    ("explain", "--help"), ("explain", "-m", "own.tem", "x"), ("info", "--model=own.tem"),
    ("info", "-mown.tem")])
def test_no_model_is_made_in_vain(becomes, monkeypatch, arguments):
    monkeypatch.setattr(_command._default, "find", None)
    assert becomes(*arguments) is None


def test_the_default_model_is_named(becomes, monkeypatch, tmp_path, small_path):
    monkeypatch.setattr(_command._default, "find",
                        lambda *_: _command._default.Found("default", True, True))
    assert becomes("explain", "--epsilon", "2", "word") == "default"
    monkeypatch.setenv("TEM_MODEL", "own.tem")
    assert becomes("info") == "own.tem"


def test_a_failure_is_one_line(becomes, monkeypatch):
    def fail(*_):
        raise tem.ArgumentError("no default model")
    monkeypatch.setattr(_command._default, "find", fail)
    with pytest.raises(SystemExit) as ended:
        becomes("info")
    assert str(ended.value).startswith("tem: ") and "no default model" in str(ended.value)


def test_the_model_of_the_cache_is_trusted(monkeypatch, tmp_path, state):
    """The command trusts it and the certificates that came with the package, and nothing else."""
    from tem import _default

    before = set((state / "tem/trusted").read_text().split())
    monkeypatch.delenv("TEM_MODEL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = _default.find(0, None)
    model = _tem.open_model(found.path, None, False, 0, None)  # as any other user's file
    certificates = _tem.certificate_hashes(f"{found.path}.cert")
    assert len(certificates) == len(set(certificates)) >= 10
    added = set((state / "tem/trusted").read_text().split()) - before
    assert added == {model.info()["hash"], *certificates} - before
    with pytest.raises(tem.FileError):
        _tem.certificate_hashes(tmp_path / "none")
