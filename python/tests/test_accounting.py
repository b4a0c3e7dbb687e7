"""Explanations, audits, calibration and choice, compared with the command."""
import dataclasses
import json
import math
import os
import shutil
import signal
import sys
import threading
import time

import numpy
import pytest
from conftest import WORDS
from test_privatize import interrupt_after

import tem
from tem import _tem


def test_explain_is_the_commands(small, small_path, command):
    for word in ("movie", "MOVIE", "zzz", "it's"):
        expected = json.loads(command("explain", "-m", small_path, "--epsilon", "1.5", "--top", "4",
                                      "--json", word))
        found = small.explain(word, 1.5, top=4)
        assert [e._asdict() for e in found.entries] == expected["entries"]
        assert found.tail._asdict() == expected["tail"]
        assert (found.s, found.gamma) == (expected["s"], expected["gamma"])
        assert found.support == pytest.approx(expected["support"], rel=1e-15)
        assert found.self_probability == expected["self"] and found.known == (word != "zzz")


def test_explain_shows(small):
    assert str(small.explain("zzz", 3)).startswith("an unknown word under tem")
    found = small.explain("movie", 3)
    assert "N_w" in str(found) and "movie" in found._repr_html_()
    assert found.entropy == pytest.approx(math.log(found.support))
    assert len(small.explain("movie", 3, top=10 ** 9).entries) == len(WORDS)
    odd = tem.Model.build([[0.0], [1]], ["<script>", "b"])
    assert "<script>" not in odd.explain("b", 3)._repr_html_()


def test_words_do_not_reach_the_terminal(tmp_path, command):
    """Characters that a terminal would obey, or not show, appear as the command writes them."""
    words = ["a\x1b[2J", "b\u202ec", "d\\e", "f\u2028"]
    shown = ["a\\x1b[2J", "b\\xe2\\x80\\xaec", "d\\\\e", "f\\xe2\\x80\\xa8"]
    odd = tem.Model.build([[0.0], [1], [2], [4]], words, fold=False)
    odd.save(tmp_path / "odd.tem")
    found, audit = odd.explain("zzz", 3), odd.audit(3)
    told = command("explain", "-m", tmp_path / "odd.tem", "--epsilon", "3", "zzz")
    for text in (str(found), found._repr_html_(), told):
        assert all(word in text for word in shown)
    assert set(str(audit).partition("worst pair  ")[2].split(", at ")[0].split(", ")) < set(shown)
    named = [dataclasses.replace(found, word=words[0]), odd.choose(self=0.5)]
    named[1] = dataclasses.replace(named[1], prior=words[1])
    for result in [found, audit, *named]:
        for text in (str(result), repr(result), result._repr_html_()):
            assert text.replace("\n", "").isprintable()


def test_explain_refuses(small):
    for word in ("the movie", "\ud800"):
        with pytest.raises(tem.Error) as caught:
            small.explain(word, 3)
        assert word not in str(caught.value)
    with pytest.raises(tem.UnsupportedError):
        small.explain("movie", 3, mechanism="madlib")
    with pytest.raises(tem.ArgumentError):
        small.explain("movie", 3, top=0)


def test_audit_is_the_commands(small, small_path, command):
    for options, flags in [({}, []), ({"gamma": 2.5}, ["--gamma", "2.5"]),
                           ({"mechanism": "em"}, ["--mechanism", "em"])]:
        expected = json.loads(command("audit", "-q", "-m", small_path, "--epsilon", "1.5", "--json",
                                      *flags))
        found = small.audit(1.5, **options)
        for name in ("s", "gamma", "beta", "realised", "realised_least", "epsilon_gamma", "local"):
            assert getattr(found, name) == expected[name], name
        assert found.worst._asdict() == expected["worst"]
        assert found.pairs_examined + found.pairs_pruned == len(WORDS) * (len(WORDS) - 1) // 2
        for document in expected["documents"]:
            for name, distance in (("by_one", 1), ("by_any", math.inf)):
                cost = found.cost(document["words"], distance, document["delta"])
                assert cost._asdict() == pytest.approx(document[name])


def test_audit_with_a_prior(small, tmp_path):
    text = tmp_path / "public.txt"
    text.write_text("movie movie film")
    zipf, powered = small.audit(2, prior="zipf").summary, small.audit(2, prior="zipf:1.5").summary
    assert zipf != powered and small.audit(2, prior=1.5).summary == powered
    assert small.audit(2, prior=text).summary.self_mean == pytest.approx(
        sum(share * small.explain(word, 2).self_probability
            for share, word in ((2 / 3, "movie"), (1 / 3, "film"))), rel=2e-3)
    with pytest.raises(tem.UnsupportedError):
        small.audit(2, mechanism="madlib")
    with pytest.raises(FileNotFoundError):
        small.audit(2, prior=tmp_path / "none")
    with pytest.raises(ValueError):
        small.audit(2, prior="zipf:x")


@pytest.mark.parametrize("weights", ["equal", "balanced", "tuned"])
def test_calibrate_is_the_commands(small_path, command, state, tmp_path, weights):
    path = tmp_path / "own.tem"
    shutil.copy(small_path, path)
    model = tem.Model.open(path)
    with pytest.raises(tem.CertificateError, match="calibrate"):
        model.privatize("movie", epsilon=2, calibrated=True)
    found = model.calibrate(2, weights=weights, save=True)
    assert found.file == str(path) + ".cert" and found.realised <= 2 and found.s > 1
    expected = json.loads(command("calibrate", "-q", "-m", path, "--epsilon", "2", "--json",
                                  "--weights", weights))
    for name in ("s", "gamma", "beta", "weights", "realised", "hash"):
        assert getattr(found, name) == expected[name], name
    again = tem.Model.open(path)  # trusts the file, because it was made here
    assert again.explain("movie", 2, calibrated=True).s == found.s
    assert model.explain("movie", 2, calibrated=True).certificate == found.hash
    shown = json.loads(command("explain", "-m", path, "--epsilon", "2", "--calibrated", "--json",
                               "movie"))["paper"]
    explained = again.explain("movie", 2, calibrated=True)
    assert explained.paper._asdict() == {"self_probability": shown["self"],
                                         "support": shown["support"]}
    assert f"N_w = {shown['self']:.6f}" in str(explained) and "calibrated tem" in str(explained)
    assert "less noise" in explained._repr_html_() and again.explain("movie", 2).paper is None
    audit = again.audit(2, calibrated=True)
    assert audit.realised <= 2 and audit.effects == found.effects and audit.weights == weights
    for text in (str(audit), str(found), audit._repr_html_(), found._repr_html_()):
        assert "s = epsilon/2" in text and "Bayes" in text
    assert f"{found.effects['bayes']:.4f}   {found.effects['paper']['bayes']:13.4f}" in str(audit)
    assert again.audit(2).effects is None and "epsilon/2" not in str(again.audit(2))
    private, report = again.privatize_report(["movie"], epsilon=2, calibrated=True)
    assert report.certificate == found.hash and report.s == found.s
    assert report.weights == weights and report.effects == found.effects
    file = tmp_path / "report.json"
    command("privatize", "-q", "-m", path, "--epsilon", "2", "--calibrated", "--report", file,
            stdin="movie")
    written = json.loads(file.read_text())
    assert written["effects"] == found.effects and written["weights"] == weights


def test_certificates_of_others_are_not_believed(small_path, state, tmp_path, monkeypatch):
    path = tmp_path / "own.tem"
    shutil.copy(small_path, path)
    model = tem.Model.open(path)
    model.calibrate(2, save=True)
    named = {"model_hash": model.hash}
    trusted = state / "tem/trusted"
    trusted.chmod(0o666)
    with pytest.raises(tem.UntrustedError, match="chmod"):
        tem.Model.open(path, **named).privatize("movie", epsilon=2, calibrated=True)
    trusted.unlink()
    with pytest.raises(tem.CertificateError, match="neither made nor verified"):
        tem.Model.open(path, **named).privatize("movie", epsilon=2, calibrated=True)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "")
    with pytest.raises(tem.UntrustedError, match="HOME"):
        tem.Model.open(path, **named).privatize("movie", epsilon=2, calibrated=True)


def test_calibration_in_memory(built):
    found = built.calibrate(2.5, weights="equal")
    assert found.file is None
    assert built.audit(2.5, calibrated=True).realised <= 2.5
    assert built.audit(2.5, calibrated=True).s == found.s
    with pytest.raises(tem.CertificateError, match=r"^no certificate.*; model\.calibrate\(2\.6, "):
        built.privatize("x", epsilon=2.6, calibrated=True)
    with pytest.raises(tem.CertificateError):
        built.privatize("x", epsilon=2.5, gamma=1, calibrated=True)
    with pytest.raises(tem.ArgumentError):
        built.privatize("x", epsilon=2.5, mechanism="em", calibrated=True)
    with pytest.raises(tem.ArgumentError):
        built.calibrate(2, weights="none")
    with pytest.raises(tem.ArgumentError):
        built.calibrate(2, save=True)
    for epsilon in (0, math.nan, -1):
        with pytest.raises(tem.RangeError):
            built.calibrate(epsilon)


@pytest.mark.parametrize("target", [{"self": 0.5}, {"support": 5}, {"bayes": 0.3},
                                    {"self": 0.5, "calibrated": True},
                                    {"bayes": 0.6, "calibrated": True, "beta": 0.01},
                                    {"self": 0.3, "gamma": 3}, {"support": 3, "prior": "zipf:1.2"}])
def test_choose_is_the_commands(small, small_path, command, target):
    flags = []
    for name, value in target.items():
        flags += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    expected = json.loads(command("choose", "-q", "-m", small_path, "--json", *flags))
    for key in ("certificates", "epsilon_certified", "words", "quantile", "exposed"):
        expected.pop(key)
    found = small.choose(**target, curve=True)
    assert found.to_dict() == expected


def test_choose_for_words(small):
    """The target holds for the most exposed of the words; errors do not name them."""
    found = small.choose(self=0.3, words=["movie", "GREAT"])
    selves = [small.explain(word, found.epsilon).self_probability for word in ("movie", "great")]
    assert max(selves) == pytest.approx(found.answer.self_exposed) and max(selves) <= 0.3
    assert max(selves) > 0.299
    assert small.choose(support=3, quantile=1).answer.support_exposed >= 3
    once = small.choose(self=0.3, words=["movie", "great"], quantile=0.5)
    for repeated in ("movie", "great"):  # a word counts once, as it does for the command
        again = small.choose(self=0.3, words=["movie", "great", repeated], quantile=0.5)
        assert again.epsilon == once.epsilon
    for wrong in ({"words": ["xyzzy"]}, {"words": ["movie great"]}, {"words": []},
                  {"quantile": 1.5}, {"quantile": 0}):
        with pytest.raises(tem.Error) as caught:
            small.choose(self=0.3, **wrong)
        assert "xyzzy" not in str(caught.value) and "great" not in str(caught.value)
    with pytest.raises(tem.ArgumentError, match="not one string"):
        small.choose(self=0.3, words="movie")
    with pytest.raises(tem.ArgumentError, match="bayes"):
        small.choose(bayes=0.3, quantile=0.5)


def test_choose_refuses(small):
    for target in ({}, {"self": 0.5, "bayes": 0.5}, {"self": 1}, {"self": 0}, {"support": 1},
                   {"bayes": math.nan}, {"self": 0.5, "beta": 0}, {"support": 1e9}):
        with pytest.raises(tem.Error):
            small.choose(**target)
    assert "epsilon" in small.choose(self=0.5)._repr_html_()


def test_results_are_readable(small):
    """One line each, however much they hold."""
    report = small.privatize_report(["the movie"] * 100, epsilon=2)[1]
    calibration = small.calibrate(2.5, weights="equal")
    for result in (small.explain("movie", 2, top=1000), small.audit(2, prior="zipf"),
                   small.audit(2, prior="zipf").summary, small.choose(self=0.5, curve=True),
                   small.choose(self=0.5).answer, report, calibration):
        line = repr(result)
        assert line.startswith(type(result).__name__ + "(") and line.count("=") > 5
        assert "\n" not in line and len(line) < 300 and "<table>" in result._repr_html_()
    choice = small.choose(self=0.5, curve=True)
    assert len(str(choice).splitlines()) == 3 + len(choice.curve) and "bayes" in str(choice)
    assert issubclass(tem.Point, tem.Summary)
    assert float(str(small.audit(2)).split("realised")[1].split()[0]) >= small.audit(2).realised


def test_calls_can_be_stopped(medium):
    """Ctrl-C while all pairs are examined; an exception during calibration."""
    def interrupt(stage, done, total):
        os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        medium.audit(2, progress=interrupt)
    stages = set()

    def stop(stage, done, total):
        stages.add(stage)
        if len(stages) > 1:
            raise ArithmeticError
    with pytest.raises(ArithmeticError):
        medium.calibrate(2, weights="equal", progress=stop)
    assert medium.calibrate(2, weights="equal").realised <= 2


def test_ctrl_c_needs_no_progress(default):
    default.release()
    assert interrupt_after(0.3, lambda: default.audit(2, threads=1)) < 10


def test_building_can_be_stopped():
    rows = numpy.random.default_rng(10).normal(size=(60000, 48)).astype("f4")
    words = [f"w{i}" for i in range(len(rows))]
    assert interrupt_after(0.5, lambda: tem.Model.build(rows, words, threads=1)) < 10


def lets_others_run(call, wait=20):
    """Whether another thread runs during the call. No thread is forced to yield, so another thread
    can run only where the call releases the GIL."""
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.0001)
    thread, interval = threading.Thread(target=tick), sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        before, end = ticks[0], time.monotonic() + wait
        while ticks[0] == before and time.monotonic() < end:
            call()
        return ticks[0] > before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()


def test_files_are_read_without_the_gil(small_path, state):
    path = state / "small.tem"
    shutil.copy(small_path, path)
    model = tem.Model.open(path)
    found = model.calibrate(2, weights="equal", save=True)
    # The thread does not come in by itself.
    assert not lets_others_run(lambda: found.hash, wait=0.2)
    read = _tem.find_certificate(found.file, model._handle, 2, 0, 0, None)
    for call in (lambda: _tem.find_certificate(found.file, model._handle, 2, 0, 0, None),
                 lambda: _tem.trust_certificate(read, model._handle, found.file), _tem.trust_ready,
                 lambda: _tem.trust_add(found.hash)):
        assert lets_others_run(call)
