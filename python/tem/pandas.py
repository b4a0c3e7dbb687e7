"""For pandas: importing this module adds `series.tem` to every Series of texts.

    import tem.pandas
    frame["private"] = frame["text"].tem.privatize(epsilon=3)
"""
from typing import Any, Unpack

import pandas

from ._model import Model, as_model
from ._options import ALL, NO_EPSILON, Keywords, Path, explained
from ._results import Report

__all__ = ["Accessor"]


@pandas.api.extensions.register_series_accessor("tem")
class Accessor:
    """The methods of tem for a Series. `model`: a Model, its path, or None for the default
    model."""

    def __init__(self, series: Any) -> None:
        self._series = series

    @explained(*ALL)
    def privatize(self, epsilon: float = NO_EPSILON, *, model: Model | Path | None = None,
                  **options: Unpack[Keywords]) -> Any:
        """The texts, made private.

        model: a Model, the path of one, or None for the default one.
        {options}
        """
        return as_model(model).privatize(self._series, epsilon, **options)

    @explained(*ALL)
    def privatize_report(self, epsilon: float = NO_EPSILON, *, model: Model | Path | None = None,
                         **options: Unpack[Keywords]) -> tuple[Any, Report]:
        """The same, and what was done and spent: (texts, `Report`).

        {options}
        """
        return as_model(model).privatize_report(self._series, epsilon, **options)
