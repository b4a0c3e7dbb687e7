"""tem.dask on two worker processes."""
import os
import pathlib
import signal
import time
import uuid

import dask
import dask.dataframe
import pandas
import pytest
from conftest import (DOCUMENTS, FLUENT, SURE, assert_in_context, charges, count_words, make_texts)

import tem
import tem.dask
from tem import _cluster


@pytest.fixture
def frame():
    texts = [*make_texts(100), None]
    return dask.dataframe.from_pandas(
        pandas.DataFrame({"text": texts, "id": range(len(texts))}), npartitions=4)


def test_frame(dask_client, frame, model_path):
    private = tem.dask.privatize(frame, "text", model=model_path, oov="mask", **SURE)
    given, found = frame.compute(), private.compute()
    expected = given["text"].str.replace("elsewhere", "<unk>")
    pandas.testing.assert_series_equal(found["text"], expected.fillna(""))
    assert list(found.columns) == ["text", "id"] and list(found["id"]) == list(given["id"])
    pandas.testing.assert_series_equal(private.dtypes, found.dtypes)
    kept = tem.dask.privatize(frame, "text", model=model_path, oov="mask", missing="keep",
                              **SURE).compute()
    pandas.testing.assert_series_equal(kept["text"], expected)


@pytest.mark.parametrize("kind", [object, "string", "category"])
def test_series(dask_client, model, kind):
    with dask.config.set({"dataframe.convert-string": False}):
        given = pandas.Series(["word1", "word2", "word1"], dtype=kind, name="t", index=[5, 6, 7])
        private = tem.dask.privatize(dask.dataframe.from_pandas(given, npartitions=2), None,
                                     model=model, **SURE)
        found = private.compute()
    assert private.dtype == found.dtype == (object if kind == "category" else kind)
    assert found.tolist() == given.tolist() and list(found.index) == [5, 6, 7]
    assert found.name == private.name == "t"


def test_attrs_stay_behind(dask_client, model, tmp_path):
    """The attrs of a frame are neither in the result nor in the written files."""
    given = pandas.DataFrame({"text": ["word1 word2"] * 4, "id": range(4)})
    given.attrs["first"] = given["text"].attrs["first"] = "word1 word2"
    frame = dask.dataframe.from_pandas(given, npartitions=2)
    assert frame.compute().attrs
    for private in (tem.dask.privatize(frame, "text", 0.01, model=model).compute(),
                    tem.dask.privatize(frame["text"], None, 0.01, model=model).compute()):
        assert private.attrs == {} and getattr(private, "text", private).attrs == {}
    tem.dask.privatize_to(frame, "text", 0.01, tmp_path / "out", model=model)
    for part in (tmp_path / "out").iterdir():
        assert pandas.read_parquet(part).attrs == {}


def test_draws(dask_client, model):
    """Equal texts, and equal frames, get separate draws; one frame shows one draw."""
    texts = pandas.DataFrame({"text": ["word1 word2 word3 word4 word5"] * 40})
    frames = [dask.dataframe.from_pandas(texts.copy(), npartitions=2) for _ in range(2)]
    drawn = [tem.dask.privatize(frame, "text", 0.01, model=model) for frame in frames]
    first, second = dask.compute(*drawn)
    assert len({*first["text"], *second["text"]}) > 75
    private = drawn[0].assign(again=drawn[0]["text"])
    chosen = private[private["text"] < "word2"].compute()
    assert 0 < len(chosen) < 40 and (chosen["text"] < "word2").all()
    assert (chosen["text"] == chosen["again"]).all()


def test_each_process_opens_the_model_once(dask_client, frame, model):
    private = tem.dask.privatize(frame.repartition(npartitions=10), "text", 3, model=model)
    assert count_words(private.compute()["text"].dropna()) == count_words(make_texts(100))
    seen = dask_client.run(lambda: (os.getpid(), *_cluster._open.cache_info()[:2]))
    assert os.getpid() not in {process for process, *_ in seen.values()}
    assert {misses for *_, misses in seen.values()} == {1}
    assert all(hits > 1 for _, hits, _ in seen.values())


def test_ledger(dask_client, frame, model, tmp_path):
    ledger, words = tmp_path / "spent", count_words(make_texts(100))
    paid = {"model": model, "ledger": ledger, "budget": 5 * words}
    report = tem.dask.privatize_to(frame, "text", 3, tmp_path / "one", **paid)
    assert (report.documents, report.words, report.left) == (101, words, 2 * words)
    found = dask.dataframe.read_parquet(tmp_path / "one").compute()
    assert list(found["id"]) == list(range(101)) and (found["text"] == "").sum() == 1
    assert count_words(found["text"]) == words
    with pytest.raises(tem.BudgetError, match=f"costs {3 * words}, and {2 * words} of"):
        tem.dask.privatize_to(frame, "text", 3, tmp_path / "two", **paid)
    with pytest.raises(tem.ExistsError):
        tem.dask.privatize_to(frame, "text", 2, tmp_path / "one", **paid)
    assert tem.dask.privatize_to(frame, "text", 2, tmp_path / "two", **paid).left == 0
    with pytest.raises(KeyError):
        tem.dask.privatize_to(frame, "no such column", 3, tmp_path / "three", model=model)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "spent", "two"]
    assert not list((tmp_path / "one").glob(".*")) and len(charges(ledger)) == 2


def test_in_context(dask_client, default, tmp_path):
    """At a tiny epsilon the language model alone decides."""
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"text": DOCUMENTS}), npartitions=2)
    report = tem.dask.privatize_to(frame, "text", path=tmp_path / "out", ledger=tmp_path / "spent",
                                   **FLUENT)
    found = dask.dataframe.read_parquet(tmp_path / "out").compute()["text"].tolist()
    assert_in_context(found, report)
    charge, = charges(tmp_path / "spent")
    assert charge["language_model_hash"] == report.language_model_hash
    assert charge["words"] == report.charged
    assert_in_context(tem.dask.privatize(frame["text"], None, **FLUENT).compute().tolist())


def test_columns(dask_client, frame, model, tmp_path):
    """All draws are charged, or refused."""
    ledger, words = tmp_path / "spent", count_words(make_texts(100))
    both = frame.assign(title=frame["text"])
    paid = {"model": model, "ledger": ledger, "budget": 10 ** 6}
    report = tem.dask.privatize_to(both, ["title", "text"], 0.01, tmp_path / "out", **paid)
    assert (report.documents, report.words) == (202, 2 * words)
    assert [charge["words"] for charge in charges(ledger)] == [2 * words]
    found, given = dask.dataframe.read_parquet(tmp_path / "out").compute(), both.compute()
    assert list(found.columns) == list(given.columns)
    for column in ("title", "text"):
        assert (found[column] == given[column]).sum() < 50
        assert count_words(found[column].dropna()) == words
    lazy = tem.dask.privatize(both, "title", 3, model=model)
    for drawn in (lazy, lazy.repartition(npartitions=2), lazy.assign(other=1)):
        with pytest.raises(tem.ArgumentError, match="draws of privatize"):
            tem.dask.privatize_to(drawn, "text", 3, tmp_path / "two", **paid)
    for columns in ([], ["text", "text"]):
        with pytest.raises(tem.ArgumentError, match="each private column exactly once"):
            tem.dask.privatize_to(both, columns, 3, tmp_path / "two", **paid)
    assert len(charges(ledger)) == 1


def test_unpaid_is_closed(dask_client, frame, model, tmp_path, monkeypatch):
    """Nobody else can read output before it is paid for. A file that has taken its name is not
    replaced."""
    write_part, there = tem.dask._write, tmp_path / "out"

    def write(part, columns, recipe, folder, number):
        closed, = tmp_path.glob("out.unpaid-*")
        assert pathlib.Path(folder).parent == closed
        (tmp_path / f"mode-{closed.stat().st_mode & 0o777:o}").touch()
        return write_part(part, columns, recipe, folder, number)

    def write_late(*arguments):
        there.mkdir(exist_ok=True)
        return write_part(*arguments)
    paid = {"model": model, "ledger": tmp_path / "spent"}
    monkeypatch.setattr(tem.dask, "_write", write_late)
    with pytest.raises(tem.ExistsError):
        tem.dask.privatize_to(frame, "text", 3, there, **paid)
    assert not list(there.iterdir()) and len(charges(tmp_path / "spent")) == 1
    there.rmdir()
    monkeypatch.setattr(tem.dask, "_write", write)
    tem.dask.privatize_to(frame, "text", 3, there, **paid)
    (tmp_path / "usual").mkdir()
    assert there.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mode-700", "out", "spent", "usual"]


def test_worker_dies(dask_client, frame, model, tmp_path, monkeypatch):
    """It dies after it has drawn, and again: texts that are drawn again are written once, and
    charged each time."""
    parts = [count_words(part["text"].dropna()) for part in dask.compute(*frame.to_delayed())]
    runs, write_part = tmp_path / "runs", tem.dask._write
    runs.mkdir()

    class Deadly:
        def __init__(self, recipe):
            self.recipe = recipe

        def privatize(self, texts):
            drawn = self.recipe.privatize(texts)
            if len(list(runs.glob("2-*"))) < 3:
                os.kill(os.getpid(), signal.SIGKILL)
            return drawn

    def write(part, columns, recipe, folder, number):
        (runs / f"{number}-{uuid.uuid4().hex}").touch()
        return write_part(part, columns, Deadly(recipe) if number == 2 else recipe, folder, number)
    monkeypatch.setattr(tem.dask, "_write", write)
    report = tem.dask.privatize_to(frame, "text", 3, tmp_path / "out", model=model,
                                   ledger=tmp_path / "spent")
    assert report.words == sum(parts)
    found = dask.dataframe.read_parquet(tmp_path / "out").compute()
    assert sorted(found["id"]) == list(range(101)) and not list((tmp_path / "out").glob(".*"))
    charge, = charges(tmp_path / "spent")
    numbers = [int(run.name.partition("-")[0]) for run in runs.iterdir()]
    assert numbers.count(2) == 3  # other results may have been lost with the workers
    assert charge["words"] == sum(parts[number] for number in numbers)


def test_lost_draws_are_drawn_anew(dask_client, frame, model):
    """Why docs/CLUSTERS.md says to write once: what a lazy frame has shown may not be what it
    shows."""
    private = tem.dask.privatize(frame, "text", 0.01, model=model).persist()
    before = private.compute()
    victim = next(worker for worker, keys in dask_client.has_what().items() if keys)
    os.kill(dask_client.run(os.getpid)[victim], signal.SIGKILL)
    while victim in dask_client.scheduler_info()["workers"]:
        time.sleep(0.05)
    after = private.compute()
    assert list(after["id"]) == list(before["id"])
    assert (after["text"] != before["text"]).sum() > 10


def test_refuses(dask_client, frame, model):
    for call in ({"column": None}, {"insecure_seed": 1}, {"epsilon": -1}):
        with pytest.raises(tem.Error):
            tem.dask.privatize(frame, **{"column": "text", "epsilon": 3, "model": model, **call})


def test_errors_do_not_quote(dask_client, model_path, tmp_path):
    """Neither the driver's error nor the workers' logs contain the text."""
    path = tmp_path / "changed.tem"
    path.write_bytes(model_path.read_bytes())
    secret = pandas.Series(["verysecret word1"] * 8)
    private = tem.dask.privatize(dask.dataframe.from_pandas(secret, npartitions=2), None, 3,
                                 model=tem.Model.open(path))
    tem.Model.build([[0.0], [1.0]], ["a", "b"]).save(path, overwrite=True)
    with pytest.raises(tem.DamagedError) as caught:
        private.compute()
    logs = str(dask_client.get_worker_logs())
    assert "Compute Failed" in logs and "verysecret" not in logs + str(caught.value)
