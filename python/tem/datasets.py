"""For Hugging Face datasets: a function for `Dataset.map`.

    private = dataset.map(tem.datasets.privatize_batch("text", epsilon=3), batched=True)

It can be pickled, so `num_proc` works, and each process draws its own words. Mind the cache of
`map`: it keeps private results, and gives the same ones again for the same options; that costs
nothing more. `load_from_cache_file=False` draws anew, and costs anew.
"""
from collections.abc import Mapping
from typing import Any, Unpack

from ._model import Model, as_model
from ._options import ALL, Options, Path, check, explained

__all__ = ["PrivatizeBatch", "privatize_batch"]


class PrivatizeBatch:
    """Makes columns of a batch private. The model is opened where it is first needed."""

    def __init__(self, columns: tuple[str, ...], model: Model | Path | None,
                 options: Options) -> None:
        self.columns, self.model, self.options = columns, model, options

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        model = as_model(self.model)
        return {name: model.privatize(batch[name], **self.options) for name in self.columns}


@explained(*ALL)
def privatize_batch(*columns: str, model: Model | Path | None = None,
                    **options: Unpack[Options]) -> PrivatizeBatch:
    """A function from a batch to its named columns, made private.

    model: a Model, the path of one, or None for the default one.
    {options}
    """
    check("privatize_batch", options)
    if not columns:
        raise ValueError("which columns are private?")
    return PrivatizeBatch(columns, model, options)
