"""Containers of texts: the result has the same kind as the input.

This module imports no library. It recognizes only the kinds of libraries that the caller imported.
"""
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Texts = Sequence[str | None]
Rebuild = Callable[[list[str | None]], Any]


def unpack(texts: Any) -> tuple[Texts, Rebuild]:
    """Returns the texts of a container, and a function that makes such a container from other
    texts."""
    if isinstance(texts, str):
        return [texts], lambda new: new[0]
    if isinstance(texts, list):
        return texts, lambda new: new
    if isinstance(texts, tuple):
        return texts, tuple
    for name, kind, unpack_kind in _KINDS:
        module = sys.modules.get(name)
        if module is not None and isinstance(texts, getattr(module, kind, ())):
            return unpack_kind(texts)
    raise TypeError("texts must be a str, or a list, tuple, pandas Series, NumPy or Arrow array of "
                    f"them, not {type(texts).__name__}{_advice(texts)}")


def _advice(texts: Any) -> str:
    """What to pass instead."""
    if isinstance(texts, bytes):
        return ": decode it, texts.decode()"
    if hasattr(texts, "columns"):  # a table of pandas, polars or Arrow
        return ": name one column, such as df['text']"
    if isinstance(texts, Mapping):
        return ": name one value, such as record['text']"
    if hasattr(texts, "to_list"):
        return ": pass texts.to_list()"
    return ": pass list(texts)" if isinstance(texts, Iterable) else ""


def _series(series: Any) -> tuple[Texts, Rebuild]:
    """Index, name and dtype stay. Categories would show which texts are equal, so they become
    objects. A column of another type, in which all texts were missing, becomes objects too. `attrs`
    may hold anything about the texts, so the result has none."""
    import pandas

    missing = series.isna()
    values = series.tolist()
    plain = pandas.api.types.is_object_dtype(series.dtype)
    if not plain and missing.any():  # objects keep None and NaN apart
        values = [None if gone else value for value, gone in zip(values, missing)]
    categories = isinstance(series.dtype, pandas.CategoricalDtype)
    holds_texts = plain or series.dtype.type is str

    def rebuild(new: list[str | None]) -> Any:
        other = categories or not holds_texts and _has_texts(new)
        dtype = object if other else series.dtype
        # PRIVACY: not __finalize__, which copies attrs.
        return pandas.Series(new, index=series.index, dtype=dtype, name=series.name)
    return values, rebuild


def _has_texts(new: list[str | None]) -> bool:
    return any(isinstance(text, str) for text in new)


def _index(index: Any) -> tuple[Texts, Rebuild]:
    raise TypeError("an Index names rows; privatize a column instead")


def _array(array: Any) -> tuple[Texts, Rebuild]:
    import numpy

    if array.dtype.kind not in "OUT":
        raise TypeError(f"expected an array of str or object, not of {array.dtype}")

    def rebuild(new: list[str | None]) -> Any:
        if array.dtype.kind == "U":
            return numpy.array(new, dtype=str).reshape(array.shape)
        made = numpy.empty(len(new), dtype=array.dtype)
        made[:] = new
        return made.reshape(array.shape)
    return array.ravel().tolist(), rebuild


def _arrow_type(given: Any) -> Any:
    """The type of the result. A dictionary would show which texts are equal."""
    import pyarrow

    kind = given.value_type if pyarrow.types.is_dictionary(given) else given
    if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
            or pyarrow.types.is_null(kind) or str(kind) == "string_view"):
        raise TypeError(f"expected an Arrow array of strings, not of {given}")
    return kind


def _arrow_result(kind: Any, new: list[str | None]) -> Any:
    """A column of nulls may have texts now, and then becomes a column of strings."""
    import pyarrow

    return pyarrow.string() if pyarrow.types.is_null(kind) and _has_texts(new) else kind


def _arrow(array: Any) -> tuple[Texts, Rebuild]:
    import pyarrow

    kind = _arrow_type(array.type)
    return array.to_pylist(), lambda new: pyarrow.array(new, type=_arrow_result(kind, new))


def _arrow_chunks(array: Any) -> tuple[Texts, Rebuild]:
    import pyarrow

    kind = _arrow_type(array.type)

    def rebuild(new: list[str | None]) -> Any:
        chunks, at, result = [], 0, _arrow_result(kind, new)
        for chunk in array.chunks:
            chunks.append(pyarrow.array(new[at:at + len(chunk)], type=result))
            at += len(chunk)
        return pyarrow.chunked_array(chunks, type=result)
    return array.to_pylist(), rebuild


_KINDS = [("pandas", "Series", _series), ("pandas", "Index", _index), ("numpy", "ndarray", _array),
          ("pyarrow", "Array", _arrow), ("pyarrow", "ChunkedArray", _arrow_chunks)]
