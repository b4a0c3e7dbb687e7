"""For pandas: importing this gives every Series of texts `series.tem`.

    import tem.pandas
    frame["private"] = frame["text"].tem.privatize(epsilon=3)
"""
from typing import Any, Unpack

import pandas

from ._model import Model, Options, Path, as_model
from ._results import Report

__all__ = ["Accessor"]


@pandas.api.extensions.register_series_accessor("tem")
class Accessor:
    """What tem does with a Series. `model`: a Model, the path of one, or None for the default."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def privatize(self, model: Model | Path | None = None, **options: Unpack[Options]) -> Any:
        """The texts, made private; see `tem.Model.privatize` for the options."""
        return as_model(model).privatize(self._series, **options)

    def privatize_report(self, model: Model | Path | None = None,
                         **options: Unpack[Options]) -> tuple[Any, Report]:
        """The same, and what was done and spent."""
        return as_model(model).privatize_report(self._series, **options)
