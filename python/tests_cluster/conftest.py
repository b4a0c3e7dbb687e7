"""Clusters on this machine, on its loopback, and a small model that they share."""
import json
import os
import pathlib
import random
import sys

import numpy
import pytest

import tem

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
from trusting import trust_what_came_with  # noqa: E402

COMMAND = os.environ.get("TEM_COMMAND", "")
VOCABULARY = [f"word{i}" for i in range(300)]


def make_texts(count):
    """Texts of one or more words, all different; every tenth has an unknown word."""
    draw = random.Random(5)
    return [" ".join(draw.choices(VOCABULARY, k=1 + i % 7) + ["elsewhere"] * (i % 10 == 0))
            for i in range(count)]


# With these options words stay unchanged: the nearest are farther apart than gamma, and even at
# that distance all 300 together have a share of exp(-54).
SURE = {"epsilon": 60, "gamma": 2}
SURE_OPTIONS = "--epsilon 60 --gamma 2 --oov mask"


def count_words(texts):
    return sum(len(text.split()) for text in texts if text is not None)


def charges(path):
    """The charges of a ledger."""
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


@pytest.fixture(scope="session")
def model_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.tem"
    rows = numpy.random.default_rng(6).normal(scale=10, size=(len(VOCABULARY), 8))
    tem.Model.build(rows, VOCABULARY).save(path)
    return path


@pytest.fixture(scope="session")
def model(model_path):
    return tem.Model.open(model_path)


@pytest.fixture(scope="session", autouse=True)
def folders(tmp_path_factory):
    """The user's state has no certificate; nothing listens beyond the loopback."""
    patch = pytest.MonkeyPatch()
    state = tmp_path_factory.mktemp("state")
    if COMMAND:
        trust_what_came_with(COMMAND, state)
    patch.setenv("XDG_STATE_HOME", str(state))
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    patch.setenv("SPARK_LOCAL_HOSTNAME", "127.0.0.1")
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("SPARK_WORKER_DIR", str(tmp_path_factory.mktemp("workers")))
    patch.setenv("SPARK_SCALA_VERSION", "2.12")  # local-cluster looks for it in a source tree
    yield
    patch.undo()


@pytest.fixture(scope="session")
def default(folders):
    if not os.path.exists(os.environ.get("TEM_MODEL", "")):
        pytest.skip("$TEM_MODEL does not name a default model")
    return tem.Model.open()


# With this epsilon distances decide next to nothing.
FLUENT = {"epsilon": 0.02, "mechanism": "rank", "language_model": "english", "never": ["the"],
          "repeat": "once"}
DOCUMENTS = ["movie what a movie that was and what did they say about the movie"] * 100


def assert_in_context(private, report=None):
    """Whether the outputs of DOCUMENTS were drawn as FLUENT says. Their perplexity was 159 to 197
    in 4 runs; of words that were drawn each by itself it was 1.3 million."""
    language = tem.LanguageModel.open("english")
    words = [text.split() for text in private]
    assert len(words) == len(DOCUMENTS) == len(set(private))
    assert "the" not in sum(words, [])
    assert language.evaluate(private).perplexity < 1000
    same = tem.Model.open().privatize(DOCUMENTS, **{**FLUENT, "language_model": None})
    assert language.evaluate(same).perplexity > 100_000
    if report is not None:
        assert (report.language_model, report.never) == ("english", 1)
        assert report.language_model_hash == language.hash and report.private
        assert (report.repeat, report.words) == ("once", 14 * len(DOCUMENTS))
        assert report.charged == 12 * len(DOCUMENTS)  # "movie" is drawn once


@pytest.fixture(scope="session")
def spark(folders, tmp_path_factory):
    """Two executors in separate processes."""
    from pyspark.sql import SparkSession

    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # runs of seconds need no optimized code
    settings = {
        "spark.driver.extraJavaOptions": quick, "spark.executor.extraJavaOptions": quick,
        "spark.sql.codegen.wholeStage": "false", "spark.task.maxFailures": "2",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false", "spark.executor.memory": "512m", "spark.driver.memory": "512m",
        "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tem")
    session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    gateway = session.sparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(30)


@pytest.fixture(scope="session")
def dask_client(folders, tmp_path_factory):
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
                      dashboard_address=None, memory_limit="1GiB",
                      local_directory=str(tmp_path_factory.mktemp("dask"))) as cluster:
        with Client(cluster) as client:
            yield client
