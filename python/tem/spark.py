"""For Apache Spark: makes a column of texts private on the executors.

    report = tem.spark.privatize_to(frame, "text", 3, "private.parquet")   # draws once, and writes
    tem.spark.privatize_to(..., ledger="spent.jsonl", budget=10_000)       # if the budget allows
    private = tem.spark.privatize(frame, "text", 3)                        # lazy, like all of Spark

Every evaluation of a lazy frame draws again: if you show it, cache it and lose a part of the cache,
or use it twice, more has been drawn than you see. docs/CLUSTERS.md explains the cost. tem must be
installed where the executors run; tem sends the model's file there, and a language model's.
"""
import functools
import os
import pathlib
import tempfile
import uuid
from collections.abc import Sequence
from typing import Any, Unpack

from ._cluster import Bill, Recipe, columns_of, decode, make_recipe, refuse_lazy, times
from ._errors import make
from ._model import Model
from ._options import POLICIES, Path, Policies, explained
from ._results import Report

__all__ = ["privatize", "privatize_to"]


# The draws of each task whose output counts, by stage and partition.
Reports = dict[tuple[int, int], Report]

# What the files of the model and of the language model are called on the executors, if sent.
Names = tuple[str | None, str | None]

# Formats that write only into a directory.
FILES = ("parquet", "orc", "json", "csv", "text")

# The name by which a plan shows that it draws.
DRAW = "tem_draws_for"


class _Sum:
    """How Spark's accumulators add reports."""

    def zero(self, value: Reports) -> Reports:
        return {}

    def addInPlace(self, value: Reports, other: Reports) -> Reports:
        for task, report in other.items():
            value[task] = value[task] + report if task in value else report
        return value


@explained(*POLICIES)
def privatize(frame: Any, column: str, epsilon: float, *, model: Model | Path | None = None,
              ship: bool = True, threads: int = 1, **policies: Unpack[Policies]) -> Any:
    """Returns the frame with a private column; null becomes "", unless missing="keep".

    model: a Model that was opened from a file, the path of one, or None for the default one.
    ship: send the files of the model and of the language model to the executors; else each opens
    the same paths. threads: of a task, as many as `spark.task.cpus`.
    {options}
    """
    recipe, _ = make_recipe(model, epsilon, threads, policies)
    return _with_private(frame, column, recipe, ship, None)


@explained(*POLICIES)
def privatize_to(frame: Any, column: str | Sequence[str], epsilon: float, path: str, *,
                 model: Model | Path | None = None, ship: bool = True, threads: int = 1,
                 format: str = "parquet", write_options: dict[str, Any] | None = None,
                 ledger: Path | None = None, budget: float | None = None,
                 budget_worst: float | None = None,
                 **policies: Unpack[Policies]) -> Report:
    """Writes the frame with one or more private columns, and returns the cost: the draws of the
    tasks whose output was written, each counted once. The report and the output do not include the
    draws of tasks that failed or were slower than their copies.

    path: a directory to create; if it exists, nothing is drawn. format, write_options: those of
    `frame.write`. ledger, budget, budget_worst: as in `tem.Model.privatize`, a file of the
    driver; people are not told apart. The output gets its name when it is paid for, including the
    tasks that ran again. Until then it is in a directory that only you can read, if the file system
    supports this. The other parameters are those of `privatize`.
    """
    recipe, nothing = make_recipe(model, epsilon, threads, policies)
    columns = columns_of(column)
    _refuse_drawn(frame)
    context = frame.sparkSession.sparkContext
    if ledger is not None and format not in FILES:
        raise make("argument", "a ledger needs a format whose output is a folder of files: "
                   f"{', '.join(FILES)}")
    bill = Bill(model, recipe, ledger, budget, budget_worst)
    spent = context.accumulator({}, _Sum())
    # PRIVACY: texts are drawn and written in the same stage. With a shuffle between, new draws
    # would replace a lost executor's while some of its old ones are already written.
    private = frame
    for name in columns:
        private = _with_private(private, name, recipe, ship, spent)
    writer = private.write.format(format).options(**write_options or {})
    if ledger is None:
        writer.save(path)
        return bill.settle(sum(spent.value.values(), nothing), None)
    with _Unpaid(context, path) as unpaid:
        writer.save(unpaid.name)
        report = bill.settle(sum(spent.value.values(), nothing), _drawn_again(context, spent.value))
        unpaid.publish()
    return report


def _refuse_drawn(frame: Any) -> None:
    plan = frame._jdf.queryExecution().analyzed()
    if f"{DRAW}(" in plan.treeString(True, False, 2 ** 31 - 1, False):  # with all fields
        refuse_lazy()


class _Unpaid:
    """A directory inside a closed one beside `path`. It gets its name once it is paid for;
    otherwise it is removed."""

    def __init__(self, context: Any, path: str) -> None:
        closed = f"{path.rstrip('/')}.unpaid-{uuid.uuid4().hex}"
        self.name = f"{closed}/out"
        hadoop = context._jvm.org.apache.hadoop.fs
        self.here, self.there, self.closed = map(hadoop.Path, (self.name, path, closed))
        self.files = self.there.getFileSystem(context._jsc.hadoopConfiguration())
        self._refuse_existing()
        # PRIVACY: if this process dies, nobody has paid for the content.
        if not self.files.mkdirs(self.closed, hadoop.permission.FsPermission("700")):
            raise make("file", "no folder can be made beside the output", str(self.there))

    def _refuse_existing(self) -> None:
        if self.files.exists(self.there):
            raise make("exists", "the output already exists", str(self.there))

    def publish(self) -> None:
        self._refuse_existing()  # rename would move it into an existing directory
        if not self.files.rename(self.here, self.there):
            raise make("file", "the output is paid for, and cannot be given its name",
                       str(self.there))

    def __enter__(self) -> "_Unpaid":
        return self

    def __exit__(self, *failure: object) -> None:
        self.files.delete(self.closed, True)  # empty if the output was published


def _drawn_again(context: Any, reports: Reports) -> Report | None:
    """An upper bound on the draws of tasks that failed, were killed or ran twice. They report
    nothing, but none draws for more words than the largest task that reports."""
    if not reports:
        return None
    spark = context._jsc.sc()
    spark.listenerBus().waitUntilEmpty()
    runs = 0
    for stage in {stage for stage, _ in reports}:
        runs += _runs_of(spark.statusStore(), context, stage)
    return times(max(reports.values(), key=lambda report: report.words), runs)


def _runs_of(store: Any, context: Any, stage: int) -> int:
    """The number of task starts of a stage, over all attempts, beyond one each."""
    nothing = context._gateway.new_array(context._jvm.double, 0)
    empty = context._jvm.java.util.ArrayList()
    attempts = store.stageData(stage, False, empty, False, nothing)
    attempts = [attempts.apply(i) for i in range(attempts.length())]
    started = sum(each.numActiveTasks() + each.numCompleteTasks() + each.numFailedTasks()
                  + each.numKilledTasks() for each in attempts)
    return int(started - max(each.numTasks() for each in attempts))


def _with_private(frame: Any, column: str, recipe: Recipe, ship: bool, spent: Any) -> Any:
    from pyspark.sql.types import StringType

    if not isinstance(frame.schema[column].dataType, StringType):
        raise make("argument", "the column to privatize must have the type string")
    sent = _send_files(frame.sparkSession.sparkContext, recipe) if ship else (None, None)
    draw = _make_udf(recipe, sent, spent)
    # As bytes, so that tem, not Arrow, refuses text that is not UTF-8. tem does not quote it.
    return frame.withColumn(column, draw(frame[column].cast("binary")))


def _send_files(context: Any, recipe: Recipe) -> Names:
    """Makes the executors fetch the files of the model and of the language model; returns their
    names there."""
    model = _send(context, recipe.path, f"{recipe.hash}.tem")  # no other model has this name
    if recipe.language is None:
        return model, None
    return model, _send(context, recipe.language.path, f"{recipe.language.hash}.temlm")


def _send(context: Any, path: str, name: str) -> str:
    from pyspark import SparkFiles

    if not os.path.exists(SparkFiles.get(name)):
        link = pathlib.Path(_links().name, name)
        link.unlink(missing_ok=True)
        link.symlink_to(path)
        context.addFile(link.as_uri())  # a bare path would lose the name of the link
    return name


@functools.cache
def _links() -> tempfile.TemporaryDirectory[str]:
    """A directory that stays until this process ends: in local mode tasks read from it."""
    return tempfile.TemporaryDirectory(prefix="tem.")


def _make_udf(recipe: Recipe, sent: Names, spent: Any) -> Any:
    import pandas
    from pyspark import TaskContext
    from pyspark.sql.functions import pandas_udf

    def draw(texts: pandas.Series) -> pandas.Series:  # type: ignore[type-arg, unused-ignore]
        private, report = recipe.privatize(decode(texts.tolist()), *map(_find, sent))
        if spent is not None:
            task = TaskContext.get()
            spent.add({(task.stageId(), task.partitionId()): report})
        return pandas.Series(private, dtype=object)

    draw.__name__ = DRAW
    # PRIVACY: Spark may evaluate a function of its input more than once, such as in a filter and
    # again in its result. One frame would then show several draws for a text.
    return pandas_udf(draw, "string").asNondeterministic()


def _find(name: str | None) -> str | None:
    from pyspark import SparkFiles

    return None if name is None else SparkFiles.get(name)

