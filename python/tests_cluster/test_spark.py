"""tem.spark on a cluster of two executors: each is a JVM with its own Python process."""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pandas
import pytest
from conftest import (COMMAND, DOCUMENTS, FLUENT, SURE, SURE_OPTIONS, assert_in_context, charges,
                      count_words, make_texts)
from pyspark.sql.functions import pandas_udf

import tem
import tem.spark
from tem import _cluster, _language

SECRET = "verysecret"


def make_frame(spark, texts, parts=4):
    return spark.createDataFrame(list(enumerate(texts)), "id int, text string").repartition(parts)


def collect(frame):
    return dict(sorted((row.id, row.text) for row in frame.collect()))


@pytest.fixture(scope="module")
def texts():
    return make_texts(200)


def test_texts_keep_their_rows(spark, model, texts):
    """null becomes "", unless it is to be kept."""
    given = [*texts, None, ""]
    for missing in ("empty", "keep"):
        private = tem.spark.privatize(make_frame(spark, given), "text", model=model,
                                      oov="mask", missing=missing, **SURE)
        expected = [text and text.replace("elsewhere", "<unk>") for text in given]
        expected[-2] = None if missing == "keep" else ""
        assert collect(private) == dict(enumerate(expected))
        assert private.schema == make_frame(spark, given).schema


def test_draws_differ(spark, model_path):
    """Between equal rows, between partitions, between evaluations."""
    private = tem.spark.privatize(make_frame(spark, ["word1 word2 word3 word4"] * 40), "text", 0.01,
                                  model=model_path)
    first, second = collect(private), collect(private)
    assert len(set(first.values())) > 35 and len(set(first.values()) | set(second.values())) > 75


def test_one_frame_shows_one_draw(spark, model):
    """Also where Spark would evaluate a function again instead of keeping its result."""
    private = tem.spark.privatize(make_frame(spark, ["word1"] * 200), "text", 0.01, model=model)
    chosen = private.filter("text < 'word2'")
    rows = chosen.selectExpr("text", "text as again").collect()
    assert 20 < len(rows) < 180
    assert all(row.text < "word2" and row.text == row.again for row in rows)


def test_each_process_opens_the_model_once(spark, model, texts):
    @pandas_udf("string")
    def look(numbers: pandas.Series) -> pandas.Series:
        seen = _cluster._open.cache_info()
        return pandas.Series([f"{os.getpid()} {seen.misses} {seen.hits}"] * len(numbers))
    tem.spark.privatize(make_frame(spark, texts, 8), "text", 3, model=model).collect()
    rows = spark.range(8, numPartitions=8).select(look("id")).collect()
    seen = [tuple(map(int, row[0].split())) for row in rows]
    assert {misses for _, misses, _ in seen} <= {0, 1} and max(hits for *_, hits in seen) > 1
    assert os.getpid() not in {process for process, *_ in seen}


def test_report(spark, model, texts, tmp_path):
    given = [*texts, None]
    report = tem.spark.privatize_to(make_frame(spark, given), "text", 3, f"{tmp_path}/out",
                                    model=model)
    written = collect(spark.read.parquet(f"{tmp_path}/out"))
    assert list(written) == list(range(len(given))) and written[len(texts)] == ""
    assert report.documents == len(given) and report.words == count_words(texts)
    assert count_words(written.values()) == report.words
    assert (report.unknown, report.spent, report.private) == (20, report.words * 3, True)
    assert report.model == model.hash and report.spent_worst > report.spent


def test_in_context(spark, default, tmp_path):
    """At a tiny epsilon the language model alone decides. It comes to the executors with the model:
    they need no file of the driver."""
    @pandas_udf("string")
    def look(numbers: pandas.Series) -> pandas.Series:
        from pyspark import SparkFiles

        opened = _cluster._open(SparkFiles.get(f"{default.hash}.tem"), default.hash, None)
        paths = [key.path for made in opened._mechanisms for key in made
                 if isinstance(key, _language.Sent)]
        return pandas.Series([",".join(paths)] * len(numbers))
    report = tem.spark.privatize_to(make_frame(spark, DOCUMENTS, 2), "text", path=f"{tmp_path}/out",
                                    ledger=tmp_path / "spent", **FLUENT)
    assert_in_context(list(collect(spark.read.parquet(f"{tmp_path}/out")).values()), report)
    charge, = charges(tmp_path / "spent")
    assert charge["language_model_hash"] == report.language_model_hash
    assert charge["words"] == report.charged
    sent = f"{report.language_model_hash}.temlm"
    rows = [row[0] for row in spark.range(8, numPartitions=8).select(look("id")).collect()]
    assert any(rows) and all(os.path.basename(row) == sent for row in rows if row)
    lazy = tem.spark.privatize(make_frame(spark, DOCUMENTS, 2), "text", ship=False, **FLUENT)
    assert_in_context(list(collect(lazy).values()))


def test_what_is_there_is_not_drawn_again(spark, model, texts, tmp_path):
    frame = make_frame(spark, texts)
    tem.spark.privatize_to(frame, "text", 3, f"{tmp_path}/out", model=model, format="json",
                           ship=False)
    before = collect(spark.read.json(f"{tmp_path}/out"))
    with pytest.raises(Exception, match="already exists"):
        tem.spark.privatize_to(frame, "text", 3, f"{tmp_path}/out", model=model, format="json")
    assert collect(spark.read.json(f"{tmp_path}/out")) == before


def test_ledger(spark, model, texts, tmp_path):
    """The charge comes before the output gets its name; if the budget is too small, it gets
    none."""
    frame, ledger, words = make_frame(spark, texts), tmp_path / "spent", count_words(texts)
    paid = {"model": model, "ledger": ledger, "budget": 5 * words}
    report = tem.spark.privatize_to(frame, "text", 3, f"{tmp_path}/one", **paid)
    assert (report.words, report.spent_before, report.left) == (words, 0, 2 * words)
    assert spark.read.parquet(f"{tmp_path}/one").count() == len(texts)
    with pytest.raises(tem.BudgetError, match=f"costs {3 * words}, and {2 * words} of"):
        tem.spark.privatize_to(frame, "text", 3, f"{tmp_path}/two", **paid)
    tem.spark.privatize_to(frame, "text", 2, f"{tmp_path}/two/", format="json", **paid)
    assert collect(spark.read.json(f"{tmp_path}/two")).keys() == set(range(len(texts)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "spent", "two"]
    assert [charge["words"] for charge in charges(ledger)] == [words, words]
    assert sum(charge["spent"] for charge in charges(ledger)) == 5 * words


def test_ledger_fails_before_anything_is_drawn(spark, model, texts, tmp_path):
    plain, ledger, drawn = make_frame(spark, texts), tmp_path / "spent", tmp_path / "drawn"
    lazy = tem.spark.privatize(plain, "text", 3, model=model)
    (tmp_path / "there").mkdir()

    def note(batches):
        for batch in batches:
            drawn.touch()
            yield batch
    frame = plain.mapInPandas(note, plain.schema)
    for call, error in (({"format": "jdbc"}, tem.ArgumentError),
                        ({"path": f"{tmp_path}/there"}, tem.ExistsError),
                        ({"oov": "mask"}, tem.ArgumentError), ({"budget": 0}, tem.RangeError),
                        ({"by": {"user": []}}, tem.ArgumentError),
                        ({"frame": lazy.mapInPandas(note, lazy.schema)}, tem.ArgumentError),
                        ({"column": ["text", "text"]}, tem.ArgumentError),
                        ({"ledger": tmp_path}, tem.FileError)):
        paid = {"frame": frame, "column": "text", "path": f"{tmp_path}/out", "ledger": ledger,
                "budget": 10 ** 6, **call}
        with pytest.raises(error):
            tem.spark.privatize_to(epsilon=3, model=model, **paid)
    other = tem.Model.open(os.environ["TEM_MODEL"])
    other.privatize("film", epsilon=3, ledger=ledger)
    with pytest.raises(tem.BudgetError, match="another model"):
        tem.spark.privatize_to(frame, "text", 3, f"{tmp_path}/out", model=model, ledger=ledger,
                               budget=10 ** 6)
    assert not drawn.exists()
    with pytest.raises(Exception, match="not today"):
        tem.spark.privatize_to(plain.selectExpr("cast(raise_error('not today') as string) as text"),
                               "text", 3, f"{tmp_path}/out", model=other, ledger=ledger)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spent", "there"]
    assert len(charges(ledger)) == 1
    tem.spark.privatize_to(frame, "text", 3, f"{tmp_path}/out", model=other, ledger=ledger)
    assert drawn.exists()  # this file would have shown it


def test_unpaid_is_closed(spark, model, texts, tmp_path):
    """Nobody else can read output before it is paid for. It is not moved into a directory that has
    taken its name."""
    def look(batches):
        for closed in tmp_path.glob("one.unpaid-*"):
            (tmp_path / f"mode-{closed.stat().st_mode & 0o777:o}").touch()
        yield from batches

    def come_between(batches):
        (tmp_path / "two").mkdir(exist_ok=True)
        yield from batches
    frame, ledger = make_frame(spark, texts), tmp_path / "spent"
    tem.spark.privatize_to(frame.mapInPandas(look, frame.schema), "text", 3, f"{tmp_path}/one",
                           model=model, ledger=ledger)
    with pytest.raises(tem.ExistsError):
        tem.spark.privatize_to(frame.mapInPandas(come_between, frame.schema), "text", 3,
                               f"{tmp_path}/two", model=model, ledger=ledger)
    assert not list((tmp_path / "two").iterdir()) and len(charges(ledger)) == 2
    assert (tmp_path / "one").stat().st_mode == (tmp_path / "two").stat().st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mode-700", "one", "spent", "two"]


def test_no_rows(spark, model, tmp_path):
    report = tem.spark.privatize_to(make_frame(spark, ["x"]).limit(0), "text", 3,
                                    f"{tmp_path}/out", model=model)
    assert (report.documents, report.words, report.spent) == (0, 0, 0)


def test_certificate_is_sent(spark, model, texts, tmp_path):
    """The certificate is only in the driver's memory, and the executors' user has verified
    nothing."""
    with pytest.raises(tem.CertificateError):
        tem.spark.privatize(make_frame(spark, texts), "text", 2, model=model, calibrated=True)
    made = model.calibrate(2)
    report = tem.spark.privatize_to(make_frame(spark, texts), "text", 2, f"{tmp_path}/out",
                                    model=model, calibrated=True)
    assert report.certificate == made.hash and report.s == made.s > 1
    assert report.words == count_words(texts)


def executor_of(spark, process):
    """The executor of a Python process, if it belongs to this session: the process is a child of
    its JVM."""
    while process > 1:
        parent = int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        if parent == spark.sparkContext._gateway.proc.pid:
            return process
        process = parent
    raise AssertionError("not a process of this cluster")


def test_executor_dies(spark, model, tmp_path):
    """An executor dies in the middle of a task, which then runs again elsewhere. No document is
    lost or doubled. The report counts the draws of the written texts once. The ledger also counts
    the draws of the dead executor."""
    texts = make_texts(240)
    note, killed = tmp_path / "victim", []

    def stop_once(batches):
        for batch in batches:
            yield batch[:5]
            if 7 in batch["id"].values and not note.exists():
                note.with_suffix(".new").write_text(str(os.getpid()))
                note.with_suffix(".new").rename(note)
                time.sleep(60)
            yield batch[5:]

    def kill():
        while not note.exists():
            time.sleep(0.02)
        killed.append(executor_of(spark, int(note.read_text())))
        os.kill(killed[0], signal.SIGKILL)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    frame = make_frame(spark, texts, 6)
    report = tem.spark.privatize_to(frame.mapInPandas(stop_once, frame.schema), "text", 3,
                                    f"{tmp_path}/out", model=model, ledger=tmp_path / "spent",
                                    budget=10 ** 6)
    killer.join(10)
    assert killed
    rows = spark.read.parquet(f"{tmp_path}/out").collect()
    assert sorted(row.id for row in rows) == list(range(len(texts)))
    assert report.documents == len(texts)
    assert report.words == count_words(texts) == count_words(row.text for row in rows)
    charge, = charges(tmp_path / "spent")
    largest = max(count_words(row.text for row in part) for part in frame.rdd.glom().collect())
    assert charge["words"] >= report.words + largest and report.left == 10 ** 6 - charge["spent"]
    assert (charge["words"] - report.words) % largest == 0


def test_shuffled_lazy_frame_loses_documents(spark, model, tmp_path):
    """Why docs/CLUSTERS.md forbids this: an executor dies after some of the shuffled rows were
    written. Its texts are drawn again and fall into other partitions; Spark reports no error. Half
    of the output exists when it dies, the other half waits."""
    parts, count, waiting = 8, 400, tmp_path / "waiting"
    waiting.mkdir()

    def wait(batches):
        from pyspark import TaskContext
        if TaskContext.get().partitionId() >= parts // 2 and not (waiting / "killed").exists():
            (waiting / str(os.getpid())).touch()
            while not (waiting / "killed").exists():
                time.sleep(0.02)
        yield from batches

    def kill():
        while len(list(waiting.iterdir())) < 2:  # both executors have reached the second half
            time.sleep(0.02)
        os.kill(executor_of(spark, int(min(waiting.iterdir()).name)), signal.SIGKILL)
        (waiting / "killed").touch()
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    lazy = tem.spark.privatize(make_frame(spark, make_texts(count)), "text", 0.01, model=model)
    lazy = lazy.repartition(parts)
    lazy.mapInPandas(wait, lazy.schema).write.parquet(f"{tmp_path}/out")
    killer.join(10)
    rows = spark.read.parquet(f"{tmp_path}/out").collect()
    written = {row.id for row in rows}
    assert len(written) < count and len(rows) > len(written)
    assert len({(row.id, row.text) for row in rows}) > len(written) + 10  # two draws of a text


def message_of(action):
    with pytest.raises(Exception) as caught:
        action()
    return str(caught.value)


def test_errors_do_not_quote(spark, model, model_path, tmp_path):
    frame = make_frame(spark, [f"{SECRET} word1"] * 8, 1)
    broken = frame.selectExpr("id", f"cast(concat(cast('{SECRET}' as binary), X'FF') as string) "
                              "as text")
    told = message_of(lambda: tem.spark.privatize(broken, "text", 3, model=model).collect())
    assert "not UTF-8" in told and SECRET not in told and "0xff" not in told
    path = tmp_path / "changed.tem"
    path.write_bytes(model_path.read_bytes())
    late = tem.spark.privatize(frame, "text", 3, model=tem.Model.open(path), ship=False)
    other = tem.Model.build([[0.0], [1.0]], ["a", "b"])
    other.save(path, overwrite=True)
    told = message_of(late.collect)
    assert "not the model that the driver opened" in told and SECRET not in told


def test_refused_on_the_driver(spark, model, built_in_memory):
    frame = make_frame(spark, ["word1"])
    for policies in ({"insecure_seed": 1}, {"epsilon": 0}, {"column": "id"}, {"oov": "no"},
                     {"model": built_in_memory}, {"threads": 0}):
        call = {"column": "text", "epsilon": 3, "model": model, **policies}
        with pytest.raises(tem.Error):
            tem.spark.privatize(frame, **call)


@pytest.fixture
def built_in_memory():
    return tem.Model.build([[0.0], [1.0]], ["a", "b"])


def test_pipe(spark, model, model_path, texts):
    """rdd.pipe: the command itself, once per partition, without a home directory."""
    command = (f"tem privatize -q --threads 1 -m {model_path} --model-hash {model.hash} "
               f"{SURE_OPTIONS}")
    path = {"PATH": os.path.dirname(COMMAND)}
    lines = spark.sparkContext.parallelize(texts, 4)
    assert lines.pipe(command, path, checkCode=True).collect() == [
        text.replace("elsewhere", "<unk>") for text in texts]
    failing = lines.pipe(f"{command} --beta 7", path, checkCode=True)
    assert texts[3] not in message_of(failing.collect)


LOCAL = """
import sys, tem.spark
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.createDataFrame([("word1", "word2 word3"), ("word4", None)],
                              "title string, text string")
report = tem.spark.privatize_to(frame, ["title", "text"], 3, "out", model=sys.argv[1],
                                ledger="spent", budget=15)
print(report.words, report.left, spark.read.parquet("out").count())
"""


def test_local_mode(folders, model_path, tmp_path):
    """Without a cluster, with two columns, in a separate process, because a JVM has one session."""
    done = subprocess.run([sys.executable, "-c", LOCAL, model_path], cwd=tmp_path, text=True,
                          capture_output=True, timeout=120)
    assert done.stdout.split() == ["4", "3.0", "2"], done.stderr[-2000:]


def test_default_model(spark, tmp_path):
    if not os.path.exists(os.environ.get("TEM_MODEL", "")):
        pytest.skip("$TEM_MODEL does not name a default model")
    report = tem.spark.privatize_to(make_frame(spark, ["what a wonderful movie", "boring"]),
                                    "text", 3, f"{tmp_path}/out")
    assert (report.words, report.unknown) == (5, 0)
