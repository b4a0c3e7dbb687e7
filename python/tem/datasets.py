"""For Hugging Face datasets: a function for `Dataset.map`.

    private = dataset.map(tem.datasets.privatize_batch("text", epsilon=3), batched=True)

The function can be pickled, so `num_proc` works; each process draws its own words. `map` has a
cache: for the same options it returns the same private results again, which costs nothing more.
`load_from_cache_file=False` draws again, and costs again.
"""
from collections.abc import Mapping
from typing import Any, Unpack

from ._model import Model, as_model
from ._options import ALL, NO_EPSILON, Keywords, Options, Path, check, explained

__all__ = ["PrivatizeBatch", "privatize_batch"]


class PrivatizeBatch:
    """Makes columns of a batch private. It opens the model on first use."""

    def __init__(self, columns: tuple[str, ...], model: Model | Path | None,
                 options: Options) -> None:
        self.columns, self.model, self.options = columns, model, options

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        model = as_model(self.model)
        return {name: model.privatize(batch[name], **self.options) for name in self.columns}


@explained(*ALL)
def privatize_batch(*columns: str, epsilon: float = NO_EPSILON,
                    model: Model | Path | None = None,
                    **options: Unpack[Keywords]) -> PrivatizeBatch:
    """A function from a batch to its named columns, made private.

    model: a Model, the path of one, or None for the default one.
    {options}
    """
    check("privatize_batch", epsilon, options)
    if not columns:
        raise ValueError("name the private columns")
    return PrivatizeBatch(columns, model, {"epsilon": epsilon, **options})
