"""Clusters on this machine, on its loopback, and a small model that they share."""
import json
import os
import random
import subprocess
import sys

import numpy
import pytest

import tem

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


def trust_default_model(state):
    """The model and its language model came with the command; $TEM_MODEL names the model here, so
    the user's list must have both."""
    unnamed = {name: value for name, value in os.environ.items() if name != "TEM_MODEL"}
    told = [json.loads(subprocess.check_output([COMMAND, "info", "--json", *named], env=unnamed))
            for named in ([], ["english"])]
    (state / "tem").mkdir(mode=0o700)
    (state / "tem/trusted").write_text("".join(each["hash"] + "\n" for each in told))
    (state / "tem/trusted").chmod(0o600)


@pytest.fixture(scope="session", autouse=True)
def folders(tmp_path_factory):
    """The user's state has no certificate; nothing listens beyond the loopback."""
    patch = pytest.MonkeyPatch()
    state = tmp_path_factory.mktemp("state")
    if COMMAND:
        trust_default_model(state)
    patch.setenv("XDG_STATE_HOME", str(state))
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    patch.setenv("SPARK_LOCAL_HOSTNAME", "127.0.0.1")
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("SPARK_WORKER_DIR", str(tmp_path_factory.mktemp("workers")))
    patch.setenv("SPARK_SCALA_VERSION", "2.12")  # local-cluster looks for it in a source tree
    yield
    patch.undo()


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
