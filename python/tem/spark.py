"""For Apache Spark: a column of texts, made private on the executors.

    report = tem.spark.privatize_to(frame, "text", 3, "private.parquet")   # draws once, and writes
    private = tem.spark.privatize(frame, "text", 3)                        # lazy, like all of Spark

Every evaluation of a lazy frame draws anew: show it, cache it and lose a part of the cache, or use
it twice, and more has been drawn than you see. docs/CLUSTERS.md says what that costs. tem must be
installed where the executors run; the model's file is sent there.
"""
import functools
import os
import pathlib
import tempfile
from typing import Any, Unpack

from ._cluster import Recipe, decode, make_recipe
from ._errors import make
from ._model import Model, Path, Policies
from ._results import Report

__all__ = ["privatize", "privatize_to"]


class _Sum:
    """How Spark's accumulators add reports."""

    def __init__(self, nothing: Report) -> None:
        self.nothing = nothing

    def zero(self, value: Report) -> Report:
        return self.nothing

    def addInPlace(self, value: Report, other: Report) -> Report:
        return value + other


def privatize(frame: Any, column: str, epsilon: float, *, model: Model | Path | None = None,
              ship: bool = True, threads: int = 1, **policies: Unpack[Policies]) -> Any:
    """The frame with the texts of a column made private; null stays null.

    model: a Model that was opened from a file, the path of one, or None for the default one.
    ship: send the file to the executors; else each opens the same path. threads: of a task, as
    many as `spark.task.cpus`. The other keywords are those of `tem.Model.privatize`.
    """
    recipe, _ = make_recipe(model, epsilon, threads, policies)
    return _with_private(frame, column, recipe, ship, None)


def privatize_to(frame: Any, column: str, epsilon: float, path: str, *,
                 model: Model | Path | None = None, ship: bool = True, threads: int = 1,
                 format: str = "parquet", write_options: dict[str, Any] | None = None,
                 **policies: Unpack[Policies]) -> Report:
    """Writes the frame with a private column, and tells what that cost: what was drawn by the tasks
    whose output was written, each counted once. What others drew, which failed or were slower than
    their copies, is not in it, nor in the output.

    path: a folder to be made; if it is there, nothing is drawn. format, write_options: those of
    `frame.write`. The other parameters are those of `privatize`.
    """
    recipe, nothing = make_recipe(model, epsilon, threads, policies)
    spent = frame.sparkSession.sparkContext.accumulator(nothing, _Sum(nothing))
    # PRIVACY: what is drawn is written in the same stage. Were there a shuffle between, a lost
    # executor would be replaced by new draws while some of the old ones are already written.
    private = _with_private(frame, column, recipe, ship, spent)
    private.write.format(format).options(**write_options or {}).save(path)
    total: Report = spent.value
    return total


def _with_private(frame: Any, column: str, recipe: Recipe, ship: bool, spent: Any) -> Any:
    from pyspark.sql.types import StringType

    if not isinstance(frame.schema[column].dataType, StringType):
        raise make("argument", "the column to privatise must have the type string")
    name = _send(frame.sparkSession.sparkContext, recipe) if ship else None
    draw = _make_udf(recipe, name, spent)
    # As bytes: what is not UTF-8 is refused by tem, without quoting it, and not by Arrow.
    return frame.withColumn(column, draw(frame[column].cast("binary")))


def _send(context: Any, recipe: Recipe) -> str:
    """Has the executors fetch the model's file; returns its name there."""
    from pyspark import SparkFiles

    name = f"{recipe.hash}.tem"  # no other model has it
    if not os.path.exists(SparkFiles.get(name)):
        link = pathlib.Path(_links().name, name)
        link.unlink(missing_ok=True)
        link.symlink_to(recipe.path)
        context.addFile(link.as_uri())  # a bare path would lose the name of the link
    return name


@functools.cache
def _links() -> tempfile.TemporaryDirectory[str]:
    """A folder that stays until this process ends: in local mode tasks read from it."""
    return tempfile.TemporaryDirectory(prefix="tem.")


def _make_udf(recipe: Recipe, name: str | None, spent: Any) -> Any:
    import pandas
    from pyspark.sql.functions import pandas_udf

    def draw(texts: pandas.Series) -> pandas.Series:  # type: ignore[type-arg, unused-ignore]
        private, report = recipe.privatize(decode(texts.tolist()), _find(name))
        if spent is not None:
            spent.add(report)
        return pandas.Series(private, dtype=object)

    # PRIVACY: Spark may evaluate what it takes for a function of its input more than once, such as
    # in a filter and again in its result, and one frame would show several draws for a text.
    return pandas_udf(draw, "string").asNondeterministic()


def _find(name: str | None) -> str | None:
    from pyspark import SparkFiles

    return None if name is None else SparkFiles.get(name)

