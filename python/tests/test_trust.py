"""Which model files tem opens: those that this user built, verified or named by hash."""
import gc
import multiprocessing
import pickle
import shutil
import sys
import warnings

import pytest
from conftest import ROOT, WORDS

import tem

sys.path.insert(0, str(ROOT / "tests"))
import forging  # noqa: E402


@pytest.fixture
def stranger(monkeypatch, tmp_path):
    """The state directory of a user who trusts nothing yet."""
    folder = tmp_path / "stranger"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture
def own_copy(small_path, tmp_path):
    path = tmp_path / "copy.tem"
    shutil.copy(small_path, path)
    return path


def trusted(folder):
    file = folder / "tem/trusted"
    return file.read_text().split() if file.exists() else []


def test_what_was_built_is_opened(built, stranger, tmp_path):
    path = tmp_path / "built.tem"
    built.save(path)
    model_hash = forging.model_hash(path.read_bytes())
    assert trusted(stranger) == [tem.Model.open(path).hash] == [model_hash]


def test_a_stranger_is_refused(own_copy, stranger, small):
    with pytest.raises(tem.UntrustedError, match=r"neither built nor verified.*tem\.Model\.verify\("
                       ) as caught:
        tem.Model.open(own_copy)
    assert str(own_copy) in str(caught.value) and "model_hash=" in str(caught.value)
    assert small.hash not in str(caught.value)  # people would copy it from there
    assert type(pickle.loads(pickle.dumps(caught.value))) is tem.UntrustedError
    assert not stranger.exists()
    for wrong in ("0" * 64, small.hash[:-1] + ("0" if small.hash[-1] != "0" else "1")):
        with pytest.raises(tem.UntrustedError, match="not the one that was named"):
            tem.Model.open(own_copy, model_hash=wrong)
    for wrong in ("", "abc", small.hash.upper()):
        with pytest.raises(tem.ArgumentError, match="64 digits"):
            tem.Model.open(own_copy, model_hash=wrong)
    model = tem.Model.open(own_copy, model_hash=small.hash)
    assert len(model.privatize("the movie", epsilon=3).split()) == 2
    with pytest.raises(tem.UntrustedError):  # that was for one opening
        tem.Model.open(own_copy)


def test_what_was_verified_is_opened(own_copy, stranger, small):
    stages = []
    model = tem.Model.verify(own_copy, threads=2,
                             progress=lambda stage, done, total: stages.append((done, total)))
    assert stages and all(done <= total for done, total in stages)
    assert model.hash == small.hash and model.path == str(own_copy)
    assert trusted(stranger) == [small.hash]
    assert tem.Model.open(own_copy).hash == small.hash


def test_verification_includes_certificates(own_copy, state, stranger, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    made = tem.Model.open(own_copy).calibrate(2, weights="equal", save=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(stranger))
    model = tem.Model.verify(own_copy)
    assert trusted(stranger) == [model.hash, made.hash]
    assert model.explain("movie", 2, calibrated=True).certificate == made.hash
    damaged = bytearray((tmp := own_copy.with_name("copy.tem.cert")).read_bytes())
    damaged[-1] ^= 1
    tmp.write_bytes(damaged)
    with pytest.raises(tem.DamagedError, match="certificate"):
        tem.Model.verify(own_copy)


def test_without_a_home(own_copy, built, small, monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "")
    with pytest.raises(tem.UntrustedError, match="HOME.*model_hash="):
        tem.Model.open(own_copy)
    with pytest.warns(tem.TrustWarning, match=f"HOME.*model_hash='{small.hash}'") as caught:
        model = tem.Model.verify(own_copy)
    assert [warning.filename for warning in caught] == [__file__]
    assert len(model.privatize("movie", epsilon=1).split()) == 1
    with pytest.warns(tem.TrustWarning, match=small.hash) as caught:
        built.save(tmp_path / "built.tem")
    assert [warning.filename for warning in caught] == [__file__]
    assert tem.Model.open(tmp_path / "built.tem", model_hash=small.hash).hash == small.hash


def test_the_hash_is_that_of_the_bytes(own_copy, small):
    """A trusted header before untrusted content."""
    honest = own_copy.read_bytes()
    for kind in forging.sections_of(honest)[1]:
        own_copy.write_bytes(forging.change_content(honest, kind))
        for named in ({}, {"model_hash": small.hash}):
            with pytest.raises(tem.DamagedError):
                tem.Model.open(own_copy, **named)


def test_forged_lists(own_copy, state):
    """Honest words and vectors, lists that keep every word, a trusted certificate."""
    model = tem.Model.open(own_copy)
    made = model.calibrate(0.5, weights="equal", save=True)
    honest = model.hash
    del model
    gc.collect()
    forged = forging.keep_every_word(own_copy.read_bytes())
    own_copy.unlink()  # the mapped file must not change
    own_copy.write_bytes(forged)
    with pytest.raises(tem.UntrustedError, match="neither built nor verified"):
        tem.Model.open(own_copy)
    deceived = tem.Model.open(own_copy, model_hash=forging.model_hash(forged))
    text = " ".join(word for word in WORDS if word.isascii() and word.isalpha())
    same = 0
    for calibrated in (False, True) * 5:  # in 1.5 % of all texts a word of the tail is an error
        try:
            with warnings.catch_warnings(action="ignore"):
                same += deceived.privatize(text, epsilon=0.5, calibrated=calibrated) == text
        except tem.DamagedError:
            pass
    assert same >= 6
    del deceived
    gc.collect()
    with open(state / "tem/trusted", "a") as file:
        file.write(forging.model_hash(forged) + "\n")
    tem.Model.open(own_copy)
    with pytest.raises(tem.DamagedError):
        tem.Model.verify(own_copy)
    assert forging.model_hash(forged) not in trusted(state) and made.hash not in trusted(state)
    assert honest in trusted(state)
    with pytest.raises(tem.UntrustedError):
        tem.Model.open(own_copy)


def test_a_forged_ring(state, tmp_path):
    path = tmp_path / "ring.tem"
    path.write_bytes(forging.ring())
    model = tem.Model.open(path, model_hash=forging.model_hash(path.read_bytes()))
    for call in (model.audit, model.calibrate):
        with pytest.raises(tem.MetricError, match="triangle"):
            call(2)
    with pytest.raises(tem.MetricError):
        model.choose(self=0.5)
    with pytest.raises(tem.DamagedError, match="triangle"):
        tem.Model.verify(path)
    path.unlink()
    path.write_bytes(forging.honest_circle(401))
    large = tem.Model.open(path, model_hash=forging.model_hash(path.read_bytes())).audit(2)
    assert not large.is_metric and "which nothing proves" in str(large)


def _draw(model):
    return len(model.privatize("the movie", epsilon=3).split())


def test_a_pickle_is_trusted_by_its_hash(own_copy, stranger, small):
    """In another process, whose user trusts nothing."""
    model = tem.Model.open(own_copy, model_hash=small.hash)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_draw, (model,)) == 2
    pickled = pickle.dumps(model)
    del model
    gc.collect()
    forged = forging.keep_every_word(own_copy.read_bytes())
    own_copy.unlink()
    own_copy.write_bytes(forged)
    with pytest.raises(tem.DamagedError, match="the file has changed"):
        pickle.loads(pickled)
