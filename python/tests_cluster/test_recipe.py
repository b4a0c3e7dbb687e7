"""The data sent to a worker, without a cluster, and what a worker refuses to draw from."""
import dataclasses
import pathlib
import pickle
import sys

import pytest

import tem
from tem import _cluster
from tem._cluster import make_recipe

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
import forging  # noqa: E402


def test_reports_add_up(model):
    first = model.privatize_report(["word1 word2", "elsewhere"], epsilon=0.1)[1]
    second = model.privatize_report(["word3"], epsilon=0.1)[1]
    both = first + second
    assert (both.documents, both.words, both.unknown) == (3, 4, 1)
    assert both.spent == 0.4 and both.spent_worst == 4 * both.epsilon_gamma and both.private
    for other in (model.privatize_report(["word3"], epsilon=0.2)[1],
                  dataclasses.replace(second, model="another")):
        with pytest.raises(tem.ArgumentError):
            first + other
    with pytest.warns(tem.NotPrivateWarning):
        unsafe = [model.privatize_report([text], epsilon=1, oov="keep-unsafe")[1]
                  for text in ("word1", "elsewhere")]
    assert sum(unsafe[1:], unsafe[0]).private is False
    assert (unsafe[0] + unsafe[1]).spent_worst is None


def test_another_model_is_refused(model, model_path, tmp_path):
    recipe = pickle.loads(pickle.dumps(make_recipe(model_path, 3, 1, {})[0]))
    private, report = recipe.privatize(["word1 word2", None])
    assert len(private[0].split()) == report.words == 2 and private[1] == ""
    tem.Model.build([[0.0], [1.0]], ["a", "b"]).save(tmp_path / "other.tem")
    with pytest.raises(tem.DamagedError, match="not the model that the driver opened"):
        recipe.privatize(["word1"], str(tmp_path / "other.tem"))
    damaged = bytearray(model_path.read_bytes())
    damaged[-100] ^= 1
    (tmp_path / "damaged.tem").write_bytes(damaged)
    with pytest.raises(tem.DamagedError):
        recipe.privatize(["word1"], str(tmp_path / "damaged.tem"))


def test_a_worker_trusts_what_the_driver_trusts(model, model_path, tmp_path, monkeypatch):
    """The worker's user trusts nothing: the worker trusts the hash of its own bytes, and nothing
    else."""
    recipe = make_recipe(model_path, 3, 1, {})[0]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "stranger"))
    _cluster._open.cache_clear()
    with pytest.raises(tem.UntrustedError):
        tem.Model.open(model_path)
    assert len(recipe.privatize(["word1 word2"])[0][0].split()) == 2
    assert not (tmp_path / "stranger").exists()
    forged = tmp_path / "forged.tem"
    forged.write_bytes(forging.keep_every_word(model_path.read_bytes()))
    with pytest.raises(tem.DamagedError, match="not the model that the driver opened"):
        recipe.privatize(["word1"], str(forged))
    for kind in forging.sections_of(model_path.read_bytes())[1]:  # the driver's header
        mixed = tmp_path / f"mixed{kind}.tem"
        mixed.write_bytes(forging.change_content(model_path.read_bytes(), kind))
        with pytest.raises(tem.DamagedError, match="hash"):
            recipe.privatize(["word1"], str(mixed))


def test_a_driver_must_trust_the_model(model_path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "stranger"))
    copy = tmp_path / "copy.tem"
    copy.write_bytes(model_path.read_bytes())
    with pytest.raises(tem.UntrustedError):
        make_recipe(copy, 3, 1, {})


def test_another_certificate_is_refused(model_path):
    model = tem.Model.open(model_path)
    made = {epsilon: model.calibrate(epsilon, gamma=gamma).hash
            for epsilon, gamma in ((2, None), (3, None), (4, 9.0))}
    recipe = make_recipe(model, 2, 1, {"calibrated": True})[0]
    assert recipe.privatize(["word1"])[1].certificate == made[2]
    cut = make_recipe(model, 4, 1, {"calibrated": True, "gamma": 9.0})[0]
    assert cut.privatize(["word1"])[1].certificate == made[4]
    other = make_recipe(model, 3, 1, {"calibrated": True})[0].certificate
    sent = recipe.certificate
    for forged in (sent._replace(hash=other.hash), sent._replace(content=other.content),
                   sent._replace(content=sent.content[:90] + b"\1" + sent.content[91:])):
        with pytest.raises(tem.Error):
            dataclasses.replace(recipe, certificate=forged).privatize(["word1"])


@pytest.mark.parametrize("name, value, said", [
    ("ledger", "spent", "privatize_to"), ("budget", 9, "privatize_to"),
    ("ledger", None, "privatize_to"), ("by", {"user": []}, "people are not told apart"),
    ("insecure_seed", 1, "no meaning"), ("progress", print, "no meaning")])
def test_no_worker_is_sent(model, tmp_path, monkeypatch, name, value, said):
    """Each worker would charge for itself, to its own file."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=f"^{name}.*{said}"):
        make_recipe(model, 3, 1, {name: value})
    assert not list(tmp_path.iterdir())


def test_no_two_calls_are_equal(model):
    assert make_recipe(model, 3, 1, {})[0] != make_recipe(model, 3, 1, {})[0]
