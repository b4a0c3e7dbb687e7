"""For Dask: a column of texts, made private on the workers.

    private = tem.dask.privatize(frame, "text", 3)
    private.to_parquet("private")

Every `compute` draws anew, and so does a worker for what another lost: docs/CLUSTERS.md. tem must be
installed where the workers run, and the model's file be there under the same path.
"""
from typing import Any, Unpack

from ._cluster import Recipe, make_recipe
from ._errors import make
from ._model import Model, Path, Policies

__all__ = ["privatize"]


def privatize(data: Any, column: str | None, epsilon: float, *, model: Model | Path | None = None,
              threads: int = 1, **policies: Unpack[Policies]) -> Any:
    """A Dask frame with the texts of a column made private, or a Dask series of them (column None).

    model: a Model that was opened from a file, the path of one, or None for the default one.
    threads: of a task. The other keywords are those of `tem.Model.privatize`.
    """
    recipe, _ = make_recipe(model, epsilon, threads, policies)
    if column is not None:
        return data.assign(**{column: _series(data[column], recipe)})
    if data.ndim != 1:
        raise make("argument", "which column of the frame is private?")
    return _series(data, recipe)


def _series(series: Any, recipe: Recipe) -> Any:
    meta = recipe.privatize(series._meta)[0]  # no texts: only the type, which categories lose
    return series.map_partitions(_draw, recipe, meta=meta)


def _draw(texts: Any, recipe: Recipe) -> Any:
    return recipe.privatize(texts)[0]
