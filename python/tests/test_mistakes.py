"""Mistakes that people make: the message names the argument and the next step, and no text."""
import pathlib
import re
import subprocess
import sys

import numpy
import pandas
import pytest

import tem
import tem.prompts

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/prompt_guard.py"
SECRET = "canary"

# What somebody typed, and what the message must have.
MISTAKES = [
    (lambda m: m.privatize(pandas.DataFrame({"text": [SECRET]}), 2), r"DataFrame.*df\['text'\]"),
    (lambda m: m.privatize({"text": SECRET}, 2), r"dict.*record\['text'\]"),
    (lambda m: m.privatize(SECRET.encode(), 2), r"bytes.*texts\.decode\(\)"),
    (lambda m: m.privatize(iter([SECRET]), 2), r"list\(texts\)"),
    (lambda m: m.privatize(5, 2), "texts must be a str.*not int"),
    (lambda m: m.privatize(SECRET, "2"), "epsilon must be a number, not str"),
    (lambda m: m.privatize(2, SECRET), "epsilon must be a number, not str"),
    (lambda m: m.privatize(SECRET, True), "epsilon must be a number, not bool"),
    (lambda m: m.privatize(SECRET, 2, beta="0.1"), "beta must be a number, not str"),
    (lambda m: m.privatize(SECRET, 2, strip_tags="no"), "strip_tags must be True or False"),
    (lambda m: m.privatize(SECRET, 2, allow_no_guarantee="False"), "allow_no_guarantee must be"),
    (lambda m: m.privatize(SECRET, 2, threads="4"), "threads must be a whole number, not str"),
    (lambda m: m.privatize(SECRET, 2, mechanism=None), "mechanism must be a str"),
    (lambda m: m.privatize(SECRET, 2, mechanism="madlip"), "did you mean 'madlib'"),
    (lambda m: m.privatize(SECRET, 2, mechanism="laplace"), "the mechanism is tem, em, .* or "),
    (lambda m: m.privatize(SECRET, epsilom=2), "did you mean 'epsilon'"),
    (lambda m: m.draw([SECRET, 5], 2), r"tokens\[1\]: expected a str"),
    (lambda m: m.explain("movie", "2"), "epsilon must be a number, not str"),
    (lambda m: m.explain([SECRET], 2), "word must be a str, or a number below"),
    (lambda m: m.explain(" ", 2), "the word is empty"),
    (lambda m: m.nearest("movie", top="3"), "top must be a whole number, not str"),
    (lambda m: m.distance("movie", "MOVIE"), "model.words"),
    (lambda m: m.choose(bayes=12), "12 % is 0.12"),
    (lambda m: tem.Model("default.tem"), "Model.open"),
    (lambda m: tem.Model.build([[1.0], [2.0]]), "Pass words"),
    (lambda m: tem.Model.build([[1.0], [2.0]], "ab"), "words is a list"),
    (lambda m: tem.Model.open(__file__), r"not a tem model; tem\.Model\.build"),
    (lambda m: tem.privatize(SECRET, 2), r"tem\.Model\.open\(\)\.privatize"),
    (lambda m: tem.nothing, "no attribute 'nothing'$"),
]


@pytest.mark.parametrize("place", range(len(MISTAKES)))
def test_mistakes(small, place):
    mistake, wanted = MISTAKES[place]
    with pytest.raises((TypeError, ValueError, AttributeError)) as refused:
        mistake(small)
    assert re.search(wanted, str(refused.value)), refused.value
    assert SECRET not in str(refused.value)


def test_what_is_no_mistake(small):
    assert small.privatize("the movie", numpy.float64(90), gamma=1, strip_tags=numpy.bool_(True),
                           threads=numpy.int64(1), beta=None) == "the movie"


@pytest.mark.parametrize("message, wanted", [
    ({"role": "tool", "content": SECRET}, r"messages\[1\] has the role 'tool'.*private=.*public="),
    ({"role": f"{SECRET} {SECRET}", "content": "x"}, r"messages\[1\] has a role that is no name"),
    ({"role": ["user"], "content": SECRET}, r"messages\[1\] has a role that is no name"),
    ({"role": "user", "content": 5}, r"messages\[1\]: the content.*not int"),
    ({"role": "user", "content": [{"type": "image", "url": SECRET}]}, r"messages\[1\], part 0 is"),
    ({"role": "user", "content": SECRET, "name": SECRET}, r"messages\[1\] must be a dict with")])
def test_messages_of_a_prompt(small, message, wanted):
    guard = tem.prompts.guard(small, epsilon=2)
    with pytest.raises(tem.ArgumentError, match=wanted) as refused:
        guard([{"role": "user", "content": "the movie"}, message])
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("columns, wanted", [
    ("text", r"columns is a list of names, not one string: \['text'\]"),
    (["Text"], "'Text'; did you mean 'text'"),
    (["body"], r"'body'; it has \['id', 'text'\]"),
    (["id"], "'id' has int64")])
def test_columns_of_parquet(small, tmp_path, columns, wanted):
    import tem.parquet
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pandas.DataFrame({"id": [1], "text": [SECRET]}).to_parquet(source)
    with pytest.raises((TypeError, ValueError), match=wanted) as refused:
        tem.parquet.privatize(source, target, columns, 2, model=small)
    assert SECRET not in str(refused.value) and not target.exists()


@pytest.mark.parametrize("arguments", [[], ["three"], ["--help"]])
def test_the_example_prints_its_usage(arguments):
    done = subprocess.run([sys.executable, EXAMPLE, *arguments], capture_output=True, text=True)
    assert done.returncode == 1 and "usage: prompt_guard.py EPSILON" in done.stderr
    assert "Traceback" not in done.stderr
