"""For Dask: makes a column of texts private on the workers.

    report = tem.dask.privatize_to(frame, "text", 3, "private")   # draws once, and writes Parquet
    private = tem.dask.privatize(frame, "text", 3)                # lazy, like all of Dask

Every `compute` draws again, and so does a worker that repeats the lost work of another:
docs/CLUSTERS.md. tem must be installed where the workers run, and the model's file be there under
the same path.
"""
import functools
import operator
import os
import pathlib
import shutil
import uuid
from collections.abc import Sequence
from typing import Any, Unpack

from ._cluster import Bill, Recipe, columns_of, make_recipe, refuse_lazy, times
from ._errors import make
from ._model import Model
from ._options import POLICIES, Path, Policies, explained
from ._results import Report

__all__ = ["privatize", "privatize_to"]


@explained(*POLICIES)
def privatize(data: Any, column: str | None, epsilon: float, *, model: Model | Path | None = None,
              threads: int = 1, **policies: Unpack[Policies]) -> Any:
    """Returns a Dask frame with a private column, or a private Dask series (column None).

    model: a Model that was opened from a file, the path of one, or None for the default one.
    threads: of a task.
    {options}
    """
    recipe, _ = make_recipe(model, epsilon, threads, policies)
    if column is not None:
        plain = data.map_partitions(_without_attrs, meta=_without_attrs(data._meta))
        return plain.assign(**{column: _series(plain[column], recipe)})
    if data.ndim != 1:
        raise make("argument", "which column of the frame is private?")
    return _series(data, recipe)


def _series(series: Any, recipe: Recipe) -> Any:
    meta = recipe.privatize(series._meta)[0]  # no texts: only the type, which loses its categories
    return series.map_partitions(_draw, recipe, meta=meta)


def _without_attrs(frame: Any) -> Any:
    """PRIVACY: attrs may hold anything about the texts, and pandas writes them into Parquet."""
    copy = frame.copy(deep=False)
    copy.attrs = {}
    return copy


def _draw(texts: Any, recipe: Recipe) -> Any:
    return recipe.privatize(texts)[0]


@explained(*POLICIES)
def privatize_to(frame: Any, column: str | Sequence[str], epsilon: float, path: Path, *,
                 model: Model | Path | None = None, threads: int = 1, ledger: Path | None = None,
                 budget: float | None = None, budget_worst: float | None = None,
                 **policies: Unpack[Policies]) -> Report:
    """Writes a Dask frame with one or more private columns as Parquet, and returns the cost: the
    draws of the written texts.

    path: a directory to create, visible to all workers; if it exists, nothing is drawn. ledger,
    budget, budget_worst: as in `tem.Model.privatize`, a file of the driver; people are not told
    apart. The output gets its name when it is paid for, including the tasks that ran again. Until
    then it is in a directory that only you can read. The other parameters are those of
    `privatize`.
    """
    import dask

    recipe, nothing = make_recipe(model, epsilon, threads, policies)
    columns = columns_of(column)
    if any(operand is _draw for node in frame.expr.walk() for operand in node.operands):
        refuse_lazy()
    there = pathlib.Path(os.path.abspath(path))
    bill = Bill(model, recipe, ledger, budget, budget_worst)
    _refuse_existing(there)
    unpaid = there.with_name(f"{there.name}.unpaid-{uuid.uuid4().hex}")
    here = unpaid / "out"
    unpaid.mkdir(mode=0o700)  # PRIVACY: if this process dies, nobody has paid for the content
    try:
        here.mkdir()
        write = dask.delayed(_write)
        written = dask.compute(*[write(part, columns, recipe, str(here), number)
                                 for number, part in enumerate(frame.to_delayed())])
        report = bill.settle(sum(written, nothing), _drawn_again(here, written))
        _refuse_existing(there)
        here.rename(there)
    finally:
        shutil.rmtree(unpaid, ignore_errors=True)  # empty if the output was published
    return report


def _refuse_existing(path: pathlib.Path) -> None:
    if path.exists():
        raise make("exists", "the output already exists", str(path))


def _write(part: Any, columns: list[str], recipe: Recipe, folder: str, number: int) -> Report:
    """In a worker: writes a part of the output. Each run leaves a note before it draws."""
    run = pathlib.Path(folder, f".{number}-{uuid.uuid4().hex}")
    run.touch()
    drawn = {column: recipe.privatize(part[column]) for column in columns}
    file = run.with_suffix(".new")
    private = _without_attrs(part).assign(**{name: texts for name, (texts, _) in drawn.items()})
    private.to_parquet(file)
    file.rename(run.with_name(f"part.{number}.parquet"))  # complete, or not at all
    return functools.reduce(operator.add, [report for _, report in drawn.values()])


def _drawn_again(folder: pathlib.Path, written: tuple[Report, ...]) -> Report | None:
    """An upper bound on the draws of tasks that ran again, from their notes; removes the notes and
    other leftovers of dead workers."""
    runs = [0] * len(written)
    for note in folder.glob(".*"):
        runs[int(note.name[1:].partition("-")[0])] += note.suffix == ""
        note.unlink()
    again = [times(report, count - 1) for report, count in zip(written, runs)]
    drawn = [report for report in again if report is not None]
    return functools.reduce(operator.add, drawn) if drawn else None
