"""Words that the caller has cut: tokens as str, and ids of a vocabulary of tokens.

PRIVACY: every token is drawn for, or a policy that the caller named decides about it. Special ids
stay only if the caller lists them, and tem never draws one. The number of tokens is public.
"""
from __future__ import annotations

import dataclasses
import itertools
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _ledger, _tem
from ._containers import unpack
from ._errors import make
from ._options import Progress
from ._results import Report

if TYPE_CHECKING:
    from ._model import Model

MASK = "<unk>"  # as in src/job/replacer.c


class Drawn(NamedTuple):
    """Ids as bytes of uint32, and the report of the run."""

    ids: bytes
    report: Report


class Drawing(NamedTuple):
    """How to draw: what `Model` has made of the keywords."""

    job: _tem.Job
    seed: int | None
    threads: int
    progress: Progress | None
    charged: _ledger.Charged | None
    oov: str
    missing: str

    def run(self, ids: bytes, lengths: tuple[int, ...]) -> Drawn:
        """Draws for documents of ids, one after the other. Charges before it returns."""
        drawn, counts, balance = self.job.ids(ids, lengths, self.threads, self.seed, self.progress,
                                              self.charged)
        return Drawn(drawn, make_report(self.job, self.seed is not None, counts, self.charged,
                                        balance))


def make_report(job: _tem.Job, seeded: bool, counts: tuple[int, int, int, int, int],
                charged: _ledger.Charged | None, balance: dict[str, Any] | None) -> Report:
    """The report of a run, as the library writes it."""
    report = Report.from_json(_tem.report(job, seeded, counts, charged, balance))
    if charged is None or balance is None:
        return report
    return dataclasses.replace(report, ledger=charged[0])  # JSON has no bytes that are not UTF-8


# ---- tokens ----

class _Documents(NamedTuple):
    """The tokens of each document, None for a missing one; and how to make such a container from
    others."""

    tokens: list[Sequence[str] | None]
    rebuild: Callable[[list[list[str] | None]], Any]


def _is_missing(item: Any) -> bool:
    """None, NaN or pandas.NA."""
    return (item is None or type(item).__name__ == "NAType"
            or isinstance(item, float) and item != item)


def _each(documents: Iterable[Any]) -> tuple[list[Sequence[str] | None], list[Any]]:
    """The tokens of each document, and the function that makes such a document from others."""
    tokens: list[Any] = []
    rebuilds: list[Any] = []
    for number, document in enumerate(documents):
        if _is_missing(document):
            tokens.append(None)
            rebuilds.append(list)
            continue
        if isinstance(document, str):
            raise TypeError(f"documents[{number}]: expected a list of tokens, not a str; "
                            "`privatize` takes whole texts")
        values, rebuild = unpack(document)
        tokens.append(values)
        rebuilds.append(rebuild)
    return tokens, rebuilds


def _read(given: Any) -> _Documents:
    """The documents of a container. The result is a container of the same kind."""
    if isinstance(given, str):
        raise TypeError("expected lists of tokens, not a str; `privatize` takes texts")
    pandas, numpy, pyarrow = (sys.modules.get(name) for name in ("pandas", "numpy", "pyarrow"))
    make_outer: Callable[[list[Any]], Any] = tuple if isinstance(given, tuple) else list
    items: Any = given
    if pandas is not None and isinstance(given, pandas.Series):
        dtype = given.dtype
        items = given.tolist()

        def make_outer(new: list[Any]) -> Any:  # PRIVACY: no attrs, as in _containers.py
            return pandas.Series(new, index=given.index, name=given.name, dtype=dtype)
    elif numpy is not None and isinstance(given, numpy.ndarray):
        if given.dtype.kind in "UT" and given.ndim == 2:
            return _Documents(given.tolist(),
                              lambda new: numpy.array(new).reshape(given.shape[0], -1))
        if given.dtype.kind != "O" or given.ndim != 1:
            raise TypeError("expected an array of lists, or a table of str; `draw` takes an array "
                            "of tokens")
        items = given.tolist()

        def make_outer(new: list[Any]) -> Any:
            made = numpy.empty(len(new), dtype=object)
            made[:] = new
            return made
    elif pyarrow is not None and isinstance(given, (pyarrow.Array, pyarrow.ChunkedArray)):
        kind = pyarrow.large_list if pyarrow.types.is_large_list(given.type) else pyarrow.list_
        if not (pyarrow.types.is_list(given.type) or pyarrow.types.is_large_list(given.type)):
            raise TypeError(f"expected an Arrow array of lists of strings, not of {given.type}")
        items = given.to_pylist()

        def make_outer(new: list[Any]) -> Any:
            return pyarrow.array(new, type=kind(pyarrow.string()))
    elif not isinstance(given, (list, tuple)):
        raise TypeError(f"expected lists of tokens, not {type(given)}")
    tokens, rebuilds = _each(items)

    def rebuild(new: list[list[str] | None]) -> Any:
        return make_outer([original if words is None else make_one(words)
                           for words, make_one, original in zip(new, rebuilds, items)])
    return _Documents(tokens, rebuild)


def _without(charged: _ledger.Charged | None, kept: list[bool]) -> _ledger.Charged | None:
    """The ledger, for the documents that are there."""
    people = None if charged is None else charged[-1]
    if charged is None or people is None:
        return charged
    if len(people) != len(kept):
        raise make("argument", f"expected the person of each of {len(kept)} documents")
    return (*charged[:-1], tuple(itertools.compress(people, kept)))


def _apply(oov: str, words: list[str | None], tokens: Sequence[str]) -> list[str]:
    """The words, and where there is none what the policy for unknown tokens says."""
    if oov == "drop":
        return [word for word in words if word is not None]
    if oov == "mask":
        return [MASK if word is None else word for word in words]
    # PRIVACY: only the policy that has "unsafe" in its name releases a token.
    if oov == "keep-unsafe":
        return [token if word is None else word for word, token in zip(words, tokens)]
    if None in words:
        raise AssertionError("a token without a draw")
    return words  # type: ignore[return-value]


def privatize_tokens(model: Model, how: Drawing, documents: Any) -> tuple[Any, Report]:
    """What `Model.privatize_tokens` does, and the report."""
    tokens, rebuild = _read(documents)
    # PRIVACY: a missing document counts as one without tokens, unless the caller wants it kept.
    kept = [found is not None or how.missing == "empty" for found in tokens]
    there: list[Sequence[str]] = [found or () for found in itertools.compress(tokens, kept)]
    lengths = tuple(map(len, there))
    flat = tuple(itertools.chain.from_iterable(there))
    ids = model._handle.find_tokens(flat, how.progress)
    drawn = how._replace(charged=_without(how.charged, kept)).run(ids, lengths)
    words = iter(model._handle.words_at(drawn.ids))
    results = iter([_apply(how.oov, list(itertools.islice(words, len(each))), each)
                    for each in there])
    return rebuild([next(results) if stays else None for stays in kept]), drawn.report


def draw_tokens(model: Model, how: Drawing, tokens: Any) -> Any:
    """What `Model.draw` does: one document in any flat container."""
    if isinstance(tokens, str):
        raise TypeError("expected a list of tokens, not a str; `privatize` takes texts")
    values, rebuild = unpack(tokens)
    if how.oov == "drop" and not isinstance(tokens, (list, tuple)):
        raise make("argument", 'oov="drop" changes the number of tokens: use a list')
    (drawn,), _ = privatize_tokens(model, how, [list(values)])
    return rebuild(drawn)


# ---- ids ----

class _Ids(NamedTuple):
    """Ids of all documents as one array, the length of each, and how to make such a container."""

    flat: Any
    lengths: tuple[int, ...]
    rebuild: Callable[[Any], Any]


def _read_ids(numpy: Any, given: Any, what: str) -> _Ids:
    """An array of any shape, whose rows along the last axis are documents; a list of numbers; or a
    list of lists, which may have different lengths."""
    if isinstance(given, (list, tuple)) and any(isinstance(row, (list, tuple)) for row in given):
        rows = [numpy.asarray(row, dtype=None if len(row) else "i8") for row in given]
        if any(row.ndim != 1 or row.dtype.kind not in "iu" for row in rows):
            raise TypeError(f"{what}: expected whole numbers, or lists of them")
        lengths = tuple(map(len, rows))
        cuts = numpy.cumsum(lengths)[:-1]
        return _Ids(numpy.concatenate(rows), lengths,
                    lambda new: [part.tolist() for part in numpy.split(new, cuts)])
    array = numpy.asarray(given, dtype=None if not isinstance(given, (list, tuple)) or len(given)
                          else "i8")
    if array.dtype.kind not in "iu" or array.ndim == 0:
        raise TypeError(f"{what}: expected an array or lists of whole numbers, not {array.dtype}")
    width = array.shape[-1]
    lengths = (width,) * (array.size // width if width else 0)
    return _Ids(array.ravel(), lengths, lambda new: (
        new.tolist() if isinstance(given, (list, tuple)) else new.reshape(array.shape)))


def _special(model: Model, numpy: Any, special_ids: Iterable[int]) -> Any:
    """The public list, checked: tem must never draw one of them."""
    listed = numpy.asarray(sorted(set(map(operator.index, special_ids))), dtype="i8")
    drawable = sum(not model._handle.is_excluded(int(number))
                   for number in listed if 0 <= number < len(model))
    # PRIVACY: an output that may also be a special token would mix what is drawn and what stays.
    if drawable:
        raise make("argument", f"special_ids: this model draws {drawable} of them; build it with "
                   "Model.from_embeddings(..., special_ids=...)")
    return listed


def _check_mask(numpy: Any, mask: Any, ids: _Ids, stays: Any) -> None:
    """Positions that attention leaves out must hold special ids: they come back as they are."""
    given = _read_ids(numpy, mask, "attention_mask")
    if given.lengths != ids.lengths:
        raise make("argument", "attention_mask: expected the shape of the ids")
    if not numpy.isin(given.flat, (0, 1)).all():
        raise make("argument", "attention_mask: expected 0 and 1")
    # PRIVACY: a token that is not special would be released unseen.
    unseen = int(((given.flat == 0) & ~stays).sum())
    if unseen:
        raise make("argument", f"attention_mask: {unseen:,} positions with 0 hold ids that are not "
                   "in special_ids; tem would release them unseen")


def draw_ids(model: Model, how: Drawing, numpy: Any, given: Any, mask: Any,
             special_ids: Iterable[int]) -> tuple[Any, Report]:
    """What `Model.draw_ids` does, and the report."""
    ids = _read_ids(numpy, given, "ids")
    # PRIVACY: the public list decides alone which positions stay.
    stays = numpy.isin(ids.flat, _special(model, numpy, special_ids))
    if mask is not None:
        _check_mask(numpy, mask, ids, stays)
    # A dtype that cannot hold every id of the model would make other ids of those drawn, perhaps
    # special ones.
    if len(model) - 1 > numpy.iinfo(ids.flat.dtype).max:
        raise make("argument", f"ids: {ids.flat.dtype} cannot hold the ids of this model, which "
                   f"has 0 to {len(model) - 1:,}")
    seen = ids.flat[~stays]
    wrong = int(((seen < 0) | (seen >= len(model))).sum())
    if wrong:
        raise make("argument", f"{wrong:,} ids are not of this model, which has 0 to "
                   f"{len(model) - 1:,}")
    ends = numpy.cumsum((0, *ids.lengths))
    before = numpy.concatenate(([0], numpy.cumsum(~stays)))
    lengths = tuple(numpy.diff(before[ends]).tolist())
    drawn = how.run(seen.astype("u4").tobytes(), lengths)
    out = ids.flat.copy()
    out[~stays] = numpy.frombuffer(drawn.ids, dtype="u4")  # PRIVACY: all of them, none left
    report = dataclasses.replace(drawn.report, special=int(stays.sum()))
    return ids.rebuild(out), report


# ---- a model over ids ----

def _is_clean(token: Any) -> bool:
    """Whether a token can be a word of a model file."""
    return (isinstance(token, str) and 0 < len(token.encode(errors="replace")) <= 4096
            and not set(token) & {"\0", "\t", "\n", "\r"}
            and not any("\ud800" <= c <= "\udfff" for c in token))


def name_tokens(tokens: Sequence[str] | Mapping[str, int] | None, rows: int) -> list[str | None]:
    """A word for each row, None for a row without a token. Tokens that cannot be words, such as a
    line end, are named by their id."""
    if tokens is None:
        return [str(row) for row in range(rows)]
    by_id: dict[int, str] = ({number: token for token, number in tokens.items()}
                             if isinstance(tokens, Mapping) else dict(enumerate(tokens)))
    if any(not 0 <= number < rows for number in by_id):
        raise make("argument", f"tokens: expected ids from 0 to {rows - 1:,}, a row of embeddings "
                   "for each")
    names: list[str | None] = [None] * rows
    used: set[str] = set()
    for number, token in sorted(by_id.items()):
        name = token if _is_clean(token) and token not in used else f"<id {number}>"
        used.add(name)
        names[number] = name
    return names


class Rows(NamedTuple):
    """What `Model.build` takes."""

    vectors: Any
    words: list[str]
    exclude: list[str]


def prepare(numpy: Any, embeddings: Any, tokens: Sequence[str] | Mapping[str, int] | None,
            special_ids: Iterable[int], exclude_ids: Iterable[int]) -> Rows:
    """Word number i is id i. Special ids and rows without a token are never outputs, and take no
    part in the distances: they get the vector of an ordinary token, since theirs may be zero."""
    vectors = numpy.array(embeddings, dtype="f4")
    if vectors.ndim != 2:
        raise make("argument", "embeddings: expected a row of numbers for each id")
    names = name_tokens(tokens, len(vectors))
    special, excluded = (set(map(operator.index, ids)) for ids in (special_ids, exclude_ids))
    if any(not 0 <= number < len(vectors) for number in special | excluded):
        raise make("argument", f"special_ids and exclude_ids: expected ids from 0 to "
                   f"{len(vectors) - 1:,}")
    idle = special | {number for number, name in enumerate(names) if name is None}
    ordinary = next((number for number in range(len(vectors)) if number not in idle), None)
    if ordinary is None:
        raise make("argument", "no id is left to draw")
    vectors[sorted(idle)] = vectors[ordinary]
    words = [f"<row {number}>" if name is None else name for number, name in enumerate(names)]
    return Rows(vectors, words, [words[number] for number in sorted(idle | excluded)])
