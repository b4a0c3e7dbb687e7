"""The ledger: the same file, sums and refusals as the command's."""
import json
import os
import subprocess
import sys
import threading
import traceback

import pandas
import pytest
from conftest import COMMAND, SURE

import tem

FIVE = ["the movie was", "great", None, "bad"]


def charges(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "spent.jsonl"


def test_budget_to_the_last_word(small, ledger):
    """Ten words at a tenth cost 1, exactly; a refused text is neither charged nor returned."""
    options = {"epsilon": 0.1, "ledger": ledger, "budget": 1}
    private, report = small.privatize_report(FIVE, **options)
    assert private[2] == "" and report.words == 5
    assert (report.ledger, report.spent_before, report.budget) == (str(ledger), 0, 1)
    assert report.left == 0.5 and report.people is None
    with pytest.raises(tem.BudgetError, match="costs 0.6, and 0.5 of the budget of 1") as caught:
        small.privatize(["the movie was great bad a"], **options)
    assert caught.value.status == "budget" and caught.value.file == str(ledger)
    assert "nothing was released" in caught.value.detail
    assert len(small.privatize("the movie was great bad", **options).split()) == 5
    with pytest.raises(tem.BudgetError):
        small.privatize("the", **options)
    assert small.privatize(["", "!"], **options) == ["", ""]
    assert sum(charge["words"] for charge in charges(ledger)) == 10


def test_worst_case_over_models(small, ledger):
    """Bounds between any two inputs add up, whatever their epsilon is per."""
    report = small.privatize_report("the movie", epsilon=0.1, ledger=ledger)[1]
    assert report.unit.startswith("distance/") and report.bound == report.epsilon_gamma
    limit = 5 * report.bound
    options = {"epsilon": 0.1, "ledger": ledger, "budget_worst": limit}
    report = small.privatize_report("the movie", **options)[1]
    assert (report.budget_worst, report.budget) == (limit, None)
    assert report.worst_before == pytest.approx(2 * report.bound)
    assert report.left_worst == pytest.approx(report.bound)
    with pytest.raises(tem.BudgetError, match="costs in the worst case"):
        small.privatize("the movie", **options)
    with pytest.raises(tem.RangeError, match="budget_worst must be above 0"):
        small.privatize("the", epsilon=1, ledger=ledger, budget_worst=-1)


def test_refused_text_is_nowhere(small, ledger):
    """Not even in the variables that a traceback shows. Drawn words are in lower case."""
    with pytest.raises(tem.BudgetError) as caught:
        small.privatize_report(["The MOVIE"], ledger=ledger, budget=1, **SURE)
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)
              if frame.f_code.co_filename.startswith(os.path.dirname(tem.__file__) + "/")]
    assert frames and not any("the movie" in repr(frame.f_locals) for frame in frames)


def test_shared_with_the_command(small, small_path, ledger, command):
    arguments = ("privatize", "-m", small_path, "--epsilon", "2", "--ledger", ledger,
                 "--budget", "20")
    command(*arguments, stdin="the movie was great\n")
    options = {"epsilon": 2, "ledger": ledger, "budget": 20}
    report = small.privatize_report(FIVE, **options)[1]
    assert (report.spent_before, report.left) == (8, 2)
    refused = subprocess.run([COMMAND, *map(str, arguments)], input="the movie\n", text=True,
                             capture_output=True)
    assert refused.returncode == 1 and refused.stdout == ""
    command(*arguments, stdin="the\n")
    with pytest.raises(tem.BudgetError):
        small.privatize("the", **options)
    by_command, by_python, _ = charges(ledger)
    assert list(by_command) == list(by_python) and by_python["words"] == 5
    differ = {"time", "words", "documents", "spent", "spent_worst", "check"}
    assert {key for key in by_python if by_python[key] != by_command[key]} <= differ


def test_report_is_the_commands(small, small_path, tmp_path, command):
    lines = ["the movie", "great"]
    records = "".join(json.dumps({"text": text, "who": who}) + "\n"
                      for text, who in zip(lines, ["ann", "bob"]))
    for by in (None, {"who": ["ann", "bob"]}):
        extra = [] if by is None else ["--by", "who"]
        command("privatize", "-q", "-f", "-m", small_path, "--epsilon", "1.5", "--report",
                tmp_path / "report", "--ledger", tmp_path / f"command{len(extra)}", "--budget", "9",
                "--format", "jsonl", "--field", "text", *extra, stdin=records)
        expected = json.loads((tmp_path / "report").read_text())
        report = small.privatize_report(lines, epsilon=1.5, ledger=tmp_path / f"python{len(extra)}",
                                        budget=9, by=by)[1]
        found = json.loads(report.to_json())
        for name in ("time", "ledger", "dry_run", "format", "fields"):
            expected.pop(name), found.pop(name, None)
        assert found == expected


def test_people(small, small_path, ledger, command):
    """Each person has three words, at 2 per word. Whole numbers name the same people as in the
    command."""
    options = {"epsilon": 2, "ledger": ledger, "budget": 6}
    series = pandas.Series([17, 18, 17], name="user")
    report = small.privatize_report(["the movie", "great", "bad"], by=series, **options)[1]
    assert (report.by, report.people, report.left) == ("user", 2, 0)
    expected = "for 1 of the 2 people who have words: the person of record 2"
    with pytest.raises(tem.BudgetError, match=expected):
        small.privatize(["the movie", "bad"], by={"user": [18, "17"]}, **options)
    command("privatize", "-m", small_path, "--epsilon", "2", "--ledger", ledger, "--budget", "6",
            "--by", "user", "--format", "jsonl", "--field", "text",
            stdin='{"user": 18, "text": "the movie"}\n')
    with pytest.raises(tem.BudgetError):
        small.privatize("the", by={"user": "18"}, **options)
    small.privatize("the", by={"user": 19}, **options)
    assert "18" not in [line for charge in charges(ledger) for line in charge["people"]]


def test_people_are_those_of_the_rows(small, ledger):
    """A frame aligns Series by their index; here rows are taken in order."""
    texts = pandas.Series(["the movie", "bad"], index=[4, 5])
    options = {"epsilon": 2, "ledger": ledger}
    for index in ([5, 4], [0, 1], ["4", "5"]):
        people = pandas.Series(["ann", "bob"], index=index, name="user")
        for by in (people, {"user": people}):
            with pytest.raises(tem.ArgumentError, match="different indexes"):
                small.privatize_report(texts, by=by, **options)
            with pytest.raises(tem.ArgumentError, match="different indexes"):
                small.privatize(texts, by=by, **options)
    assert not ledger.exists()
    same = pandas.Series(["ann", "bob"], index=[4, 5], name="user")
    assert small.privatize_report(texts, by=same, **options)[1].people == 2
    assert small.privatize_report(texts, by={"user": ["ann", "bob"]}, **options)[1].people == 2
    assert small.privatize_report(list(texts), by=same, **options)[1].people == 2


@pytest.mark.parametrize("by, error", [
    ({"user": ["ann"]}, ValueError), ({"user": ["ann", ""]}, tem.FormatError),
    ({"user": ["ann", None]}, tem.FormatError), ({"user": ["ann", float("nan")]}, tem.FormatError),
    ({"user": ["ann", 1.5]}, tem.ArgumentError), ({"user": ["ann", True]}, tem.ArgumentError),
    (["ann", "bob"], tem.ArgumentError), (pandas.Series(["ann", "bob"]), tem.ArgumentError),
    ({"user": ["ann", "bob"], "x": []}, tem.ArgumentError)])
def test_nobody_is_charged(small, ledger, by, error):
    with pytest.raises(error):
        small.privatize(["the", "movie"], epsilon=2, ledger=ledger, by=by)
    assert not ledger.exists() or not charges(ledger)


@pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")
def test_refused(small, built, ledger, tmp_path):
    for options in ({"budget": 3}, {"by": {"user": ["ann"]}}, {"ledger": ledger, "budget": 0},
                    {"ledger": ledger, "budget": -1}, {"ledger": ledger, "budget": float("nan")},
                    {"ledger": ledger, "budget": 9, "mechanism": "madlib"},
                    {"ledger": ledger, "budget": 9, "oov": "mask"},
                    {"ledger": "-"}, {"ledger": tmp_path}, {"ledger": "/dev/full"},
                    {"ledger": tmp_path / "no/such/folder"}):
        with pytest.raises(tem.Error):
            small.privatize(["the"], epsilon=2, **options)
    with pytest.raises(tem.ArgumentError, match="opened from a file"):
        built.privatize("the", epsilon=2, ledger=ledger, budget=9)
    assert not ledger.exists()


def test_name_in_bytes(small, tmp_path):
    """As the system has it, UTF-8 or not."""
    for name in (b"spent", b"spent\xff"):
        path = bytes(tmp_path) + b"/" + name
        report = small.privatize_report("the", epsilon=2, ledger=path)[1]
        assert os.fsencode(json.loads(report.to_json())["ledger"]) == path
        assert os.path.getsize(path) > 0


def test_standard_input_is_no_input(small, small_path, ledger):
    """If the texts are in no file, standard input may be anything."""
    small.privatize("the", epsilon=2, ledger=ledger)
    program = ("import sys, tem\n"
               "tem.Model.open(sys.argv[1]).privatize('a', epsilon=2, ledger=sys.argv[2])")
    with open(ledger) as file:
        subprocess.run([sys.executable, "-W", "ignore", "-c", program, small_path, ledger],
                       stdin=file, check=True)
    assert len(charges(ledger)) == 2


def test_what_nothing_bounds_is_written_down(small, ledger):
    with pytest.warns(tem.NotPrivateWarning):
        small.privatize(["the"], epsilon=2, insecure_seed=1, ledger=ledger)
    assert charges(ledger)[0]["spent_worst"] is None and not charges(ledger)[0]["private"]
    with pytest.raises(tem.BudgetError, match="nothing bounds") as caught:
        small.privatize("the", epsilon=2, ledger=ledger, budget=100)
    assert caught.value.line == 2


def test_threads_share_a_budget(small, ledger):
    """The budget allows 33 of 64 calls of 3 words: not one word more than 100 comes out."""
    words = []

    def spend():
        for _ in range(8):
            try:
                words.append(len(small.privatize("the movie was", epsilon=2, ledger=ledger,
                                                 budget=200).split()))
            except tem.BudgetError:
                pass
    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(words) == 99 == sum(charge["words"] for charge in charges(ledger))


def test_progress_stops_the_wait(small, ledger):
    """Another run has the lock; texts that were drawn meanwhile are not returned."""
    import fcntl

    small.privatize("the", epsilon=2, ledger=ledger)

    def stop(stage, done, total):
        if "ledger" in stage:
            raise KeyboardInterrupt
    with open(ledger) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(KeyboardInterrupt):
            small.privatize("movie", epsilon=2, ledger=ledger, progress=stop)
    assert len(charges(ledger)) == 1


def test_transformer(small, ledger):
    from tem.sklearn import Privatizer

    transformer = Privatizer(epsilon=2, model=small, ledger=ledger, budget=8)
    assert len(transformer.fit_transform(["the movie", "bad"])) == 2
    with pytest.raises(tem.BudgetError):
        transformer.transform(["the movie"])
