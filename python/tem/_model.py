"""tem.Model: a vocabulary with its distances, and all that is done with it."""
import array
import contextlib
import dataclasses
import functools
import itertools
import math
import operator
import os
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeVar, Unpack, overload

from . import _default, _ledger, _tem, _tokens
from ._containers import unpack
from ._errors import (CertificateError, DamagedError, FileError, FormatError, NotFoundError,
                      NotPrivateWarning, PrivacyWarning, RoundingWarning, TrustWarning,
                      UntrustedError, UtilityWarning, VersionError, make)
from ._language import Language, Own, as_key, handle_of
from ._options import (ALL, ID_KEYWORDS, NO_EPSILON, POLICIES, TOKEN_KEYWORDS, TOKEN_LIST_KEYWORDS,
                       IdKeywords, Keywords, Metric, Path, Progress, Space, TokenKeywords,
                       TokenListKeywords, Weights, WeightsKind, check, check_types, explained,
                       law_and_text, read_never, read_weights)
from ._results import (Audit, Calibration, Choice, DocumentDistance, Entry, Explanation, Pair,
                       Paper, Point, Report, Summary, Tail)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._channel import Channel

T = TypeVar("T")

BETA_DEFAULT = 0.001
# A mechanism caches what it has computed about words, a kilobyte per word.
MECHANISMS_KEPT, JOBS_KEPT = 8, 64
UNREACHABLE_MOST = 0.01  # a warning beyond this share of words that no text can contain
POLICY_NAMES = frozenset(POLICIES)


class Words(Sequence[str]):
    """The words of a model, in its order. A view: nothing is copied."""

    def __init__(self, handle: _tem.Model) -> None:
        self._handle = handle
        self._count = int(handle.info()["words"])

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._handle.word(i) for i in range(*place.indices(self._count))]
        return self._handle.word(range(self._count)[place])

    def __contains__(self, word: object) -> bool:
        return self._handle.find(word) is not None

    def __iter__(self) -> Iterator[str]:
        return map(self._handle.word, range(self._count))

    def index(self, word: Any, start: int = 0, stop: int | None = None) -> int:
        """The position of a word; ValueError if the model does not have it."""
        found = self._handle.find(word)
        if found is None or found not in range(self._count)[start:stop]:
            raise ValueError("the model does not have this word; model.words has them as they are, "
                             "most in lower case")
        return found

    def __repr__(self) -> str:
        return f"<{self._count:,} words>"


def _count(name: str, value: int | None) -> int:
    """Returns 0, which means "not given" in tem.h, for None."""
    if value is None:
        return 0
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    if not 1 <= operator.index(value) < 2 ** 31:
        raise make("argument", f"{name} is a whole number from 1, or None")
    return operator.index(value)


def _order(text: str | None) -> tuple[int, int, int] | None:
    """The numbers of an order, 0 for "choose"; None for no order."""
    if text is None or text == "auto":
        return None if text is None else (0, 0, 0)
    numbers = text.split(":") if isinstance(text, str) else []
    if not 1 <= len(numbers) <= 3 or not all(n.isascii() and n.isdigit() for n in numbers):
        raise make("argument", 'order is "auto", or whole numbers such as "128:16:12"')
    given = [int(n) for n in numbers] + [0, 0]
    if max(given) >= 2 ** 31:
        raise make("argument", "the numbers of an order are below 2^31")
    return given[0], given[1], given[2]


def _threads(threads: int | None) -> int:
    return _count("threads", threads)


def _workers(options: Mapping[str, Any]) -> int:
    """The threads to draw on. An object of the user's own is asked on the caller's thread alone."""
    threads = _threads(options.get("threads"))
    return 1 if isinstance(as_key(options.get("language_model")), Own) else threads


def _takes_certificate(mechanism: str) -> bool:
    """Whether a mechanism takes a certificate. The library refuses names that it does not know."""
    known = {found["name"]: bool(found["takes_certificate"]) for found in _tem.mechanisms()}
    return known.get(mechanism, True)


def _kind_and_outputs(weights: str | bytes | None,
                      calibrated: bool) -> tuple[str | None, bytes | None]:
    """`weights` as read_weights returns it: the kind of a certificate, or the user's own."""
    if isinstance(weights, str) and not calibrated and weights != "equal":
        raise make("argument", f"weights={weights!r} are those of a certificate: add "
                   "calibrated=True, or give a number for each of model.words")
    return (weights, None) if isinstance(weights, str) else (None, weights)


def _given(name: str, value: float | None) -> float:
    """0 means "not given" in tem.h, so a user may not pass it."""
    if value is None:
        return 0.0
    if not 0 < value < math.inf:
        raise make("range", f"{name} must be above 0 and finite")
    return float(value)


def _prior_name(prior: Path | float) -> str:
    """The name as in a certificate: the file name without its directory, at most 63 bytes."""
    if isinstance(prior, (int, float)):
        return f"zipf:{prior:g}"
    return os.path.basename(os.fspath(prior)).encode(errors="replace")[-63:].decode(errors="ignore")


def _charged(options: Mapping[str, Any], texts: Any) -> _ledger.Charged | None:
    return _ledger.read(options.get("ledger"), options.get("budget"), options.get("budget_worst"),
                        options.get("by"), texts)


def _known(value: float) -> float | None:
    return value if 0 < value < math.inf else None


def _numpy(what: str) -> Any:
    """The package NumPy, which is optional."""
    try:
        import numpy
    except ImportError:
        raise make("unsupported", f"{what} needs NumPy: pip install 'tem[numpy]'") from None
    return numpy


def _check_shape(rows: int, columns: int, words: int, metric: str) -> None:
    if rows != words or rows == 0 or columns == 0:
        raise make("argument", f"expected a row of numbers for each of {words:,} words")
    if metric == "matrix" and columns != rows:
        raise make("argument", "expected a distance for each pair of words")


def _plain_numbers(rows: Sequence[Sequence[float]], kind: str) -> memoryview:
    """The numbers of rows that are lists or tuples; needs no NumPy."""
    if any(len(row) != len(rows[0]) for row in rows):
        raise make("argument", "expected rows of the same length")
    try:
        return memoryview(array.array(kind, itertools.chain.from_iterable(rows)))
    except (TypeError, OverflowError):
        raise make("argument", "expected rows of numbers") from None


def _table(vectors: Any, words: Iterable[str], metric: str,
           most: int | None) -> tuple[tuple[str, ...], memoryview]:
    """Words and numbers in the form that C takes; only the first `most`."""
    kind, columns = ("d", most) if metric == "matrix" else ("f", None)
    names = tuple(words)
    plain = (list, tuple)
    if isinstance(vectors, plain) and all(isinstance(row, plain) for row in vectors):
        _check_shape(len(vectors), len(vectors[0]) if vectors else 0, len(names), metric)
        return names[:most], _plain_numbers([row[:columns] for row in vectors[:most]], kind)
    numpy = _numpy("a table other than a list of lists")
    rows = numpy.asarray(vectors, dtype=kind)
    count, width = rows.shape if rows.ndim == 2 else (0, 0)
    _check_shape(count, width, len(names), metric)
    return names[:most], numpy.ascontiguousarray(rows[:most, :columns]).data


def _measured(points: Iterable[Any], words: Iterable[str], metric: Callable[[Any, Any], float],
              most: int | None, progress: Progress | None) -> tuple[tuple[str, ...], memoryview]:
    """Words, and the distances of all pairs by the user's function. Each pair is measured in both
    orders, and each point with itself, so that the library can check symmetry and zeros."""
    names, items = tuple(words)[:most], list(points)[:most]
    _check_shape(len(items), len(items), len(names), "matrix")
    if len(items) > _tem.MATRIX_WORDS_MAX:
        raise make("range", f"metric: a function can measure at most {_tem.MATRIX_WORDS_MAX:,} "
                   "words; use limit=")
    distances = array.array("d")
    for row, a in enumerate(items, 1):
        distances.extend([float(metric(a, b)) for b in items])
        if progress is not None:
            progress("measuring", row, len(items))
    return names, memoryview(distances)


def _find(path: Path | None, threads: int, progress: Progress | None) -> _default.Found:
    """The model file to use, and whether it came with the program."""
    return (_default.find(threads, progress) if path is None
            else _default.Found(os.fspath(path), False))


def _advise(refused: UntrustedError, path: str, model_hash: str | None) -> Exception:
    """The error, with advice for Python users."""
    if model_hash is not None:
        return refused
    if refused.file and refused.file != path:  # the list of trusted models is at fault
        return refused
    return make("untrusted", f"{refused.detail}; tem.Model.verify({path!r}) checks it, or name the "
                "hash that it had where it was verified: model_hash=", path)


def _warn_unnoted(reason: str, model_hash: str) -> None:
    warnings.warn(f"tem could not note that you trust this model ({reason}): open it with "
                  f"model_hash={model_hash!r}", TrustWarning, stacklevel=3)


class Model:
    """A vocabulary, its distances and its index. All of this is public, and tem draws from it.

    Made by `Model.open`, `Model.verify` or `Model.build`, and frozen: any number of threads may use
    one at the same time, and calls release the GIL. A model that was opened from a file can be
    pickled: as the path and the hash of that file.
    """

    _handle: _tem.Model
    _path: str | None
    _is_own: bool
    _info: dict[str, Any]
    _mechanisms: dict[tuple[Any, ...], _tem.Mechanism]
    _jobs: dict[tuple[Any, ...], _tem.Job]  # by law_and_text(options)
    _quick: dict[tuple[Any, ...], _tem.Job]  # by options as given, if law_and_text uses all of them
    _judged: set[_tem.Mechanism]
    _warns: bool
    _certificates: dict[tuple[float, float, float, str | None], _tem.Certificate]
    _accountant: _tem.Accountant | None

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("a Model is made by Model.open, Model.verify or Model.build")

    @classmethod
    def _wrap(cls, handle: _tem.Model, path: str | None = None, is_own: bool = False) -> Self:
        model = cls.__new__(cls)
        model._handle, model._path, model._is_own = handle, path, is_own
        model._info = handle.info()
        model._mechanisms = {}
        model._jobs = {}
        model._quick = {}
        model._judged = set()
        model._warns = True
        model._certificates = {}
        model._accountant = None
        if path is not None:
            _opened[path, model.hash] = model
        return model

    # ---- making ----

    @classmethod
    def open(cls, path: Path | None = None, *, model_hash: str | None = None,
             threads: int | None = None, progress: Progress | None = None) -> Self:
        """Opens a model file that you trust: that you have built or verified, or that came with
        tem.

        path: the file; None for the default model, which is the one $TEM_MODEL names, or came with
        tem, or is made in your cache on first use (about ten seconds, 75 MB).
        model_hash: the hash of the model you mean, from whoever has built or verified it, where you
        have done neither; then `open` refuses any other model. The hash of the whole file is
        computed, at about 1 GB/s per CPU. `UntrustedError` says what to do. A damaged model in your
        cache is made again, with a warning.
        """
        workers = _threads(threads)
        found = _find(path, workers, progress)
        try:
            handle = _tem.open_model(found.path, model_hash, found.is_own, workers, progress)
        except UntrustedError as refused:
            raise _advise(refused, found.path, model_hash) from None
        except (DamagedError, FormatError, VersionError) as why:
            if not found.is_cached:
                if isinstance(why, FormatError) and why.detail == "not a tem model":
                    raise make("format", "not a tem model; tem.Model.build makes one from vectors",
                               why.file) from None
                raise
            handle = _default.make_again(found, why, workers, progress)
        return cls._wrap(handle, os.path.abspath(found.path), found.is_own)

    @classmethod
    def verify(cls, path: Path | None = None, *, threads: int | None = None,
               progress: Progress | None = None) -> Self:
        """Opens another person's model file, and recomputes every distance, list and bound.

        Takes as long as building it. Certificates beside it are computed anew, too. From then on
        you trust a model or certificate that holds, as after `tem verify`: `Model.open` opens it.
        You no longer trust one that does not hold, and `DamagedError` or `CertificateError` says
        which it is.
        """
        workers = _threads(threads)
        found = _find(path, workers, progress)
        handle, unnoted = _tem.verify_model(found.path, f"{found.path}.cert", found.is_own, workers,
                                             progress)
        model = cls._wrap(handle, os.path.abspath(found.path), found.is_own)
        if unnoted is not None:
            _warn_unnoted(unnoted, model.hash)
        return model

    @classmethod
    def build(cls, vectors: Any, words: Iterable[str] | None = None, *,
              metric: Metric | Callable[[Any, Any], float] = "euclidean",
              neighbours: int | None = None, limit: int | None = None,
              allow_coarse: bool = False, space: Space | None = None,
              dimensions: int | None = None, remove: int | None = None,
              drop_degenerate: bool = False, exclude: Iterable[str] = (), fold: bool = True,
              order: str | None = None, order_vectors: Path | None = None,
              threads: int | None = None, progress: Progress | None = None) -> Self:
        """Builds a model from vectors.

        vectors: an array, or a list of lists, with one row for each of `words`; or gensim's
        KeyedVectors, which has its own words; or the path of a file (GloVe or word2vec text,
        word2vec binary, fastText .vec, plain or gzip). With the metric "matrix": the distance of
        each pair of `words`.
        metric: "euclidean", "angular", "l1", "linf", "hyperbolic" or "matrix"; or a function that
        returns the distance of two rows of `vectors`, which may then be any objects, or None for
        the words themselves. tem calls it for each pair in both orders, at most 32,768 words. The
        guarantee then holds only if your function is a metric: tem checks symmetry, zeros, and the
        triangle inequality (all triangles up to 400 words, four million beyond).
        neighbours: the length of each word's list (256). limit: use only the first words.
        allow_coarse: build even if rounding moves distances by more than half of the median
        distance to the nearest word, which happens if a single value is very large; otherwise
        RangeError. A RoundingWarning reports more than 1 %.
        space: "sphere" puts all words at one distance from the middle, so that an epsilon protects
        them more alike; "raw" takes the vectors as they are. The default is "sphere" for the
        euclidean metric from 1,000 words with 50 numbers on, else "raw". A sphere needs OpenBLAS
        (Debian: libopenblas0).
        dimensions: the principal components that a sphere keeps (50). remove: the number of
        components that it removes before these (0). drop_degenerate: leave out words whose vectors
        have no direction; otherwise RangeError.
        exclude: words that are never outputs, written as in the vocabulary; they stay inputs. tem
        ignores words that the vocabulary does not have. Not with the metric "matrix".
        fold: fold the words, and those to exclude, as tem folds texts before it looks up their
        words: "Paris" becomes "paris", and a German sharp s "ss". Of words that become the same,
        the first one stays. Not with distances of your own, nor for tem's own vectors (.temv).
        A warning counts words that no text can contain, if they are more than 1 %.
        order: order all words around each word, which the mechanism "rank" needs: "auto", or
        "LIST:BLOCK:GROUP" such as "128:16:12" (docs/RANK.md). order_vectors: a file with other
        vectors of the same words, which then decide the order.

        >>> small = Model.build([[0.0, 0], [1, 0], [0, 1]], ["good", "great", "bad"])
        >>> small.distance("good", "great")
        1.0
        """
        model = cls._from_vectors(vectors, words, metric, neighbours, limit, allow_coarse, space,
                                  dimensions, remove, drop_degenerate, exclude, fold, threads,
                                  progress, _order(order), order_vectors)
        model._warn_unreachable(stacklevel=3)
        return model

    @classmethod
    def _from_vectors(cls, vectors: Any, words: Iterable[str] | None,
                      metric: Metric | Callable[[Any, Any], float], neighbours: int | None,
                      limit: int | None, allow_coarse: bool, space: Space | None,
                      dimensions: int | None, remove: int | None, drop_degenerate: bool,
                      exclude: Iterable[str], fold: bool, threads: int | None,
                      progress: Progress | None, order: tuple[int, int, int] | None = None,
                      order_vectors: Path | None = None) -> Self:
        if order_vectors is not None and order is None:
            raise make("argument", 'order_vectors needs order, such as order="auto"')
        own = callable(metric) or metric == "matrix"
        number = _tem.MATRIX if callable(metric) or own else _tem.parse_metric(metric)
        if own and (space is not None or dimensions or remove):
            raise make("argument", "a matrix of distances has no vectors to prepare")
        if isinstance(exclude, str):
            raise make("argument", "exclude is a list of words, not one string")
        excluded = tuple(exclude)
        if excluded and own:
            raise make("argument", "a matrix of distances excludes no words")
        if order is not None and own:
            raise make("argument", "a matrix of distances gets no order")
        rest = (number, _count("neighbours", neighbours), allow_coarse, space,
                _count("dimensions", dimensions), _count("remove", remove or None),
                drop_degenerate, fold, _threads(threads), progress, excluded, order,
                order_vectors)
        most = _count("limit", limit)
        if isinstance(vectors, (str, os.PathLike)):
            if words is not None or own:
                raise make("argument", "a file of vectors has its own words")
            return cls._built(_tem.build_file(vectors, most, *rest))
        if words is None:
            if not hasattr(vectors, "index_to_key"):
                raise make("argument", "which words are these the vectors of? Pass words, "
                           "one for each row")
            vectors, words = vectors.vectors, vectors.index_to_key
        if isinstance(words, str):
            raise make("argument", "words is a list of words, not one string")
        if callable(metric):
            words = tuple(words)
            names, numbers = _measured(words if vectors is None else vectors, words, metric,
                                       most or None, progress)
        else:
            names, numbers = _table(vectors, words, metric, most or None)
        return cls._built(_tem.build_rows(names, numbers, *rest))

    @classmethod
    def from_embeddings(cls, embeddings: Any, *,
                        tokens: Sequence[str] | Mapping[str, int] | None = None,
                        special_ids: Iterable[int] = (), exclude_ids: Iterable[int] = (),
                        metric: Metric = "euclidean", neighbours: int | None = None,
                        allow_coarse: bool = False, space: Space | None = None,
                        dimensions: int | None = None, remove: int | None = None,
                        threads: int | None = None, progress: Progress | None = None) -> Self:
        """Builds a model over the ids of a tokenizer, for `draw_ids`; needs NumPy.

        embeddings: the rows of a public embedding matrix: row i is the vector of id i.
        tokens: the token of each id, as a list or as {token: id}, such as `tokenizer.get_vocab()`;
        None names each id by its number. tem never draws a row that has no token.
        special_ids: ids that stay where they are and that tem never draws, such as [CLS], [SEP] and
        [PAD]. Do not list [UNK]: it would show where an unknown token was.
        exclude_ids: ids that tem draws for, and never draws, such as [UNK] and unused ids.
        The other parameters are those of `build`.

        >>> model = Model.from_embeddings([[9.0, 9], [0, 0], [1, 0], [0, 1]], special_ids=[0])
        >>> len(model), model.excluded
        (4, 1)
        """
        rows = _tokens.prepare(_numpy("from_embeddings"), embeddings, tokens, special_ids,
                               exclude_ids)
        model = cls._from_vectors(rows.vectors, rows.words, metric, neighbours, None, allow_coarse,
                                  space, dimensions, remove, False, rows.exclude, False, threads,
                                  progress)
        idle = set(rows.exclude)
        changed = 0 if tokens is None else sum(
            _tem.fold(word) != word for word in rows.words if word not in idle)
        if changed > UNREACHABLE_MOST * len(model):
            warnings.warn(f"{changed:,} of {len(model):,} tokens have capitals, or other forms "
                          "that tem folds: `draw` never finds them as inputs; `draw_ids` does",
                          UserWarning, stacklevel=2)
        return model

    @classmethod
    def _built(cls, handle: _tem.Model) -> Self:
        why = handle.why_coarse()
        if why is not None:
            warnings.warn(why, RoundingWarning, stacklevel=4)
        return cls._wrap(handle)

    def _warn_unreachable(self, stacklevel: int) -> None:
        count = self._handle.count_unreachable()
        if count > UNREACHABLE_MOST * len(self):
            warnings.warn(f"no text can contain {count:,} of the {len(self):,} words, because tem "
                          "folds text to one case and cuts it at word boundaries: they are "
                          "outputs, and never inputs", UserWarning, stacklevel)

    def save(self, path: Path, *, overwrite: bool = False,
             progress: Progress | None = None) -> None:
        """Writes the model to a file, completely or not at all, and records that you trust it."""
        self._handle.save(path, overwrite, progress)
        made = self._handle.hash(progress)
        try:
            _tem.trust_add(made)
        except (UntrustedError, FileError) as unnoted:
            _warn_unnoted(unnoted.detail, made)

    # ---- looking ----

    def __len__(self) -> int:
        return int(self._info["words"])

    def __contains__(self, word: object) -> bool:
        return self._handle.find(word) is not None

    @property
    def words(self) -> Words:
        """The words in the model's order, which is usually the order of frequency."""
        return Words(self._handle)

    @property
    def excluded(self) -> int:
        """The number of words that are never outputs."""
        return int(self._info["excluded"])

    @property
    def dimension(self) -> int:
        """Numbers per word; 0 for a matrix of distances."""
        return int(self._info["dimension"])

    @property
    def metric(self) -> str:
        return str(self._info["metric"])

    @property
    def deviation(self) -> float:
        """The largest difference, caused by rounding, between a distance and that of the vectors
        given, or of the prepared ones."""
        return float(self._info["deviation"])

    @property
    def space(self) -> str:
        """"sphere" if the vectors were prepared as a sphere, else "raw"."""
        return "raw" if self.recipe is None else str(self.recipe["space"])

    @property
    def recipe(self) -> dict[str, Any] | None:
        """How the vectors were prepared, with the keys of `tem info --json`; None for a raw
        space."""
        return self._handle.recipe()

    @property
    def nearest_median(self) -> float:
        """The median distance of a word to the nearest word at another point. Examines all
        words."""
        return self._handle.nearest_median()

    @property
    def hash(self) -> str:
        """The hash of the file's whole content, in hex; "" if the model does not come from a
        file."""
        return str(self._info["hash"])

    @property
    def path(self) -> str | None:
        """The file that the model was opened from, or None."""
        return self._path

    def distance(self, a: str, b: str) -> float:
        """The distance of two words that tem uses for drawing."""
        return self._handle.distance(self.words.index(a), self.words.index(b))

    def neighbours(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The nearest words with their distances; the word itself comes first."""
        nearest = self._handle.neighbours(self.words.index(word))[:count]
        return [(self._handle.word(number), distance) for number, distance in nearest]

    def _looked_up(self, word: str | int) -> int | None:
        """The number of a word, cut and folded as text is, or None. No message repeats the
        word."""
        if not isinstance(word, str):
            if not hasattr(word, "__index__"):
                raise TypeError(f"word must be a str, or a number below {len(self)}, not "
                                f"{type(word).__name__}")
            return range(len(self))[word]
        if not word.strip():
            raise make("argument", "the word is empty")
        pieces, number = self._handle.first_piece(word)
        if pieces == 0:  # punctuation, for which punctuation="word" draws
            number = self._handle.find(word)
        elif pieces > 1:
            raise make("argument", f"that is {pieces} words to tem; name one at a time")
        return number

    def _number(self, word: str) -> int:
        number = self._looked_up(word)
        if number is None:
            raise make("argument", "the model does not have this word, so it has no distances")
        return number

    def _others(self, number: int, found: list[tuple[int, float]]) -> list[tuple[str, float]]:
        return [(self._handle.word(other), distance) for other, distance in found
                if other != number]

    def nearest(self, word: str, top: int = 10) -> list[tuple[str, float]]:
        """The `top` nearest other words with their distances, which are exact; nearest first, and
        of equally near words the one that comes first in the model."""
        number, top = self._number(word), min(_count("top", top), len(self) - 1)
        return self._others(number, self._handle.nearest(number, top + 1))[:top]

    def within(self, word: str, distance: float) -> list[tuple[str, float]]:
        """All other words within a distance of a word, as `nearest` orders them."""
        if not 0 <= distance < math.inf:
            raise make("range", "distance must be 0 or more, and finite")
        steps = min(math.floor(distance * 2 ** 16), 2 ** 32 - 1)
        number = self._number(word)
        return self._others(number, self._handle.within(number, steps))

    def document_distance(self, a: str, b: str, *, gamma: float | None = None,
                          threads: int | None = None,
                          progress: Progress | None = None) -> DocumentDistance:
        """The exact Earth Mover's distance of two texts, without the order of their words.

        gamma: cut distances there, and count unknown words as words at that distance from all
        others, as the mechanism with this gamma treats them. By default tem leaves unknown words
        out, and counts them.
        """
        cut = min(math.ceil(_given("gamma", gamma) * 2 ** 16), 2 ** 32 - 1)
        return DocumentDistance(**self._handle.bag_distance(a, b, cut, _threads(threads), progress))

    def vector(self, word: str) -> Any:
        """The stored vector of a word, as an array of NumPy, which this call needs; rotated in the
        default model."""
        numpy = _numpy("a vector as an array")
        return numpy.frombuffer(self._handle.vector(self.words.index(word)), dtype="f4")

    def __repr__(self) -> str:
        name = os.path.basename(self._path) if self._path else "in memory"
        # distances that the user gave have no dimensions
        dimensions = f"{self.dimension} dimensions, " if self.dimension > 0 else ""
        return f"<tem.Model {name}: {len(self):,} words, {dimensions}{self.metric}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{key}</td><td>{value}</td></tr>"
                       for key, value in self._info.items())
        return f"<table><caption>tem.Model</caption>{rows}</table>"

    # ---- being copied ----

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is None:
            raise make("argument", "a model in memory cannot be pickled: save it, and open the "
                       "file")
        return _reopen, (self._path, self.hash, self._is_own)

    # ---- mechanisms ----

    def _believe(self, certificate: _tem.Certificate, gamma: float) -> None:
        """Uses the certificate from now on for calls that ask for what it certifies."""
        info = certificate.info()
        for kind in (None, info["weights"]):
            self._certificates[info["epsilon"], info["beta"], gamma, kind] = certificate
        self._forget()

    def _find_certificate(self, epsilon: float, beta: float, gamma: float,
                          kind: str | None = None) -> _tem.Certificate:
        """The certificate made here, or the one beside the model if the user trusts it."""
        made = self._certificates.get((epsilon, beta or (0 if gamma else BETA_DEFAULT), gamma,
                                       kind))
        if made is not None:
            return made
        weights = "" if kind is None else f"weights={kind!r}, "
        advice = f"model.calibrate({epsilon:g}, {weights}save=True) makes one"
        if self._path is None:
            raise make("certificate", f"no certificate for this epsilon; {advice}")
        path = self._path + ".cert"
        try:
            found = _tem.find_certificate(path, self._handle, epsilon, beta, gamma, kind)
        except (CertificateError, NotFoundError) as none:
            raise make("certificate", f"{none.detail}; {advice}") from None
        try:  # PRIVACY: a certificate that nobody here has computed proves nothing.
            _tem.trust_certificate(found, self._handle, path)
        except CertificateError as refused:
            raise make("certificate", f"{refused.detail}; tem.Model.verify({self._path!r}) checks "
                       f"it, or {advice}", path) from None
        return found

    def _marks(self, words: Collection[str] | None, name: str = "listed") -> bytes | None:
        """A byte for each word of the model: 1 if it is in the list. A word is folded as text is.
        Words that the model does not have are left out, with a warning that counts them."""
        if words is None:
            return None
        if isinstance(words, str):
            raise make("argument", f"{name}: give a list of words, not one text")
        marks, missing = bytearray(len(self)), 0
        for word in words:
            pieces, number = self._handle.first_piece(word)
            found = self._handle.find(word) if pieces == 0 else number if pieces == 1 else None
            if found is None:
                missing += 1
            else:
                marks[found] = 1
        if missing:
            warnings.warn(f"{name}: {missing} of {len(words)} are not one word of the model, and "
                          "are left out", UserWarning, 5)
        return bytes(marks)

    def _mechanism(self, epsilon: float, beta: float | None = None, gamma: float | None = None,
                   mechanism: str = "tem",
                   numbers: Mapping[str, float] | tuple[tuple[str, float], ...] | None = None,
                   listed: Collection[str] | None = None, allow_no_guarantee: bool = False,
                   calibrated: bool = False,
                   weights: str | bytes | None = None, language_model: Any = None,
                   never: Collection[str] | None = None) -> _tem.Mechanism:
        """weights, language_model and never as `law_and_text` has them."""
        own = tuple(sorted(dict(numbers or ()).items()))
        marks, left_out = self._marks(listed), self._marks(never, "never")
        key = (epsilon, beta, gamma, mechanism, own, marks, allow_no_guarantee, calibrated, weights,
               language_model, left_out)
        made = self._mechanisms.get(key)
        if made is None:
            check_types({"epsilon": epsilon, "beta": beta, "gamma": gamma, "mechanism": mechanism})
            given = epsilon, _given("beta", beta), _given("gamma", gamma)
            if calibrated and not _takes_certificate(mechanism):
                raise make("argument",
                           f"calibrated: the mechanism {mechanism} takes no certificate")
            if calibrated and language_model is not None:
                raise make("argument", "calibrated: a certificate is for draws without a language "
                           "model: leave out one of the two")
            kind, outputs = _kind_and_outputs(weights, calibrated)
            certificate = self._find_certificate(*given, kind) if calibrated else None
            made = _tem.make_mechanism(self._handle, mechanism, *given, certificate, own, marks,
                                       outputs, allow_no_guarantee,
                                       handle_of(language_model, self), left_out)
            if len(self._mechanisms) >= MECHANISMS_KEPT:
                self._forget()
            self._mechanisms[key] = made
        return made

    def _forget(self) -> None:
        self._mechanisms.clear()
        self._jobs.clear()
        self._quick.clear()
        self._judged.clear()

    def _make_job(self, how: tuple[Any, ...], stacklevel: int = 4) -> _tem.Job:
        """how: the result of `law_and_text`."""
        after = 1 + POLICIES.index("oov")  # how begins with epsilon
        law, text = how[:after], how[after:]
        drawn = self._mechanism(*law)
        job = _tem.Job(drawn, *text)
        self._warn_not_private(job, False, stacklevel)
        self._warn(drawn, stacklevel)
        if len(self._jobs) >= JOBS_KEPT:
            self._jobs.clear()
            self._quick.clear()
        self._jobs[how] = job
        return job

    def _warn_not_private(self, job: _tem.Job, seeded: bool, stacklevel: int) -> None:
        why = job.why_not_private(seeded)
        if why is not None and self._warns:
            warnings.warn(f"the output is NOT private: {why}", NotPrivateWarning, stacklevel)

    def _warn(self, drawn: _tem.Mechanism, stacklevel: int) -> None:
        """Warns if there is effectively no privacy, or no text left; once for each mechanism."""
        if drawn in self._judged or not self._warns:
            return
        self._judged.add(drawn)
        beside, smaller = "", "; choose(self=0.5{}) finds one"
        if drawn.has_language():
            beside = " (without the language model; words that the context expects stay more often)"
            smaller = ""
        exposed = drawn.self_quantile()
        if exposed is not None and exposed > _tem.SELF_QUANTILE_LARGE:
            warnings.warn("at this epsilon one word in 20 of the vocabulary stays itself more than "
                          f"about {math.floor(1000 * exposed) / 10:g} % of the time{beside}: these "
                          "words have nearly no privacy. Use a smaller epsilon"
                          + smaller.format(", quantile=0.95"),
                          PrivacyWarning, stacklevel)
        median = drawn.self_median()
        if median is not None and median > _tem.SELF_MEDIAN_LARGE:
            warnings.warn("at this epsilon the median word of a text (words by Zipf's law) stays "
                          f"itself about {math.floor(1000 * median) / 10:g} % of the time{beside}: "
                          "most of the text comes out unchanged. Use a smaller epsilon for more "
                          "privacy" + smaller.format(""),
                          PrivacyWarning, stacklevel)
        elif median is not None and median < _tem.SELF_MEDIAN_SMALL:
            warnings.warn("at this epsilon the median word of a text (words by Zipf's law) stays "
                          f"itself only about {100 * median:.2g} % of the time{beside}: nearly no "
                          "text is left. Use a larger epsilon",
                          UtilityWarning, stacklevel)

    # ---- privatizing ----

    @explained(*ALL)
    def privatize(self, texts: T, epsilon: float = NO_EPSILON, **options: Unpack[Keywords]) -> T:
        """Replaces every word of a text, or of many, by a word drawn at random, near
        words being likelier.

        texts: a str; or a list, tuple, pandas Series, NumPy or Arrow array of them, which comes
        back as the same kind. What comes back depends on the words that were drawn and on how many
        pieces a text has, not on its spacing, case or line ends.
        {options}
        """
        if type(texts) is str:
            try:
                known = self._quick.get((epsilon, *options.items()))
            except TypeError:  # no policy is a value that has no hash
                known = None
            if known is not None:
                return self._draw_one(known, texts)  # type: ignore[arg-type, return-value]
        check("privatize", epsilon, options)
        how = law_and_text(epsilon, options)
        job = self._jobs.get(how)
        if job is None:
            job = self._make_job(how)
        charged = _charged(options, texts)
        if type(texts) is str and charged is None and options.get("insecure_seed") is None:
            if options.keys() <= POLICY_NAMES:
                with contextlib.suppress(TypeError):  # an option without a hash, such as a dict
                    self._quick[epsilon, *options.items()] = job
            return self._draw_one(job, texts)  # type: ignore[arg-type, return-value]
        result: T = self._run(job, texts, options, charged)[0]
        return result

    @explained(*ALL)
    def privatize_report(self, texts: T, epsilon: float = NO_EPSILON,
                         **options: Unpack[Keywords]) -> tuple[T, Report]:
        """The same as `privatize`, and what was done and spent: (texts, `Report`).

        {options}
        """
        check("privatize_report", epsilon, options)
        charged = _charged(options, texts)
        job = self._make_job(law_and_text(epsilon, options))
        private, counts, balance = self._run(job, texts, options, charged)
        seeded = options.get("insecure_seed") is not None
        return private, _tokens.make_report(job, seeded, counts, charged, balance)

    def _run(self, job: _tem.Job, texts: Any, options: Keywords, charged: _ledger.Charged | None
             ) -> tuple[Any, tuple[int, int, int, int, int], dict[str, Any] | None]:
        seed = self._seed(job, options, stacklevel=5)
        values, rebuild = unpack(texts)
        private, counts, balance, concerns = job.texts(
            values, _workers(options), seed, options.get("progress"), charged)
        if concerns:
            self._warn_of_texts(concerns)
        return rebuild(private), counts, balance

    def _draw_one(self, job: _tem.Job, text: str) -> str:
        private, concerns = job.text(text)
        if concerns:
            self._warn_of_texts(concerns)
        return private

    def _warn_of_texts(self, concerns: int) -> None:
        if concerns & 2 and self._warns:
            warnings.warn("most of the texts are lines of the text that the language model was "
                          "made of, and whoever has its file learns much of them. Use a language "
                          "model that was made of other texts",
                          PrivacyWarning, stacklevel=4)
        if concerns & 1 and self._warns:  # the same words each time: Python shows them once
            warnings.warn("the texts are mostly not in the language of the model, which does not "
                          "know many of their words. An unknown word becomes any word. Use a "
                          "model of the language of the texts; Model.build makes one from its "
                          "word vectors",
                          UtilityWarning, stacklevel=4)

    def _seed(self, job: _tem.Job, options: Mapping[str, Any], stacklevel: int) -> int | None:
        given = options.get("insecure_seed")
        if given is None:
            return None
        self._warn_not_private(job, True, stacklevel)
        seed = operator.index(given)
        if not 0 <= seed < 2 ** 64:
            raise make("argument", "insecure_seed takes a whole number from 0 to 2^64 - 1")
        return seed

    # ---- words that are cut already ----

    def _drawing(self, epsilon: float, options: Mapping[str, Any],
                 documents: Any) -> _tokens.Drawing:
        """How to draw for words, every one of which is drawn for."""
        how = law_and_text(epsilon, {**options, "punctuation": "word"})
        job = self._jobs.get(how) or self._make_job(how, stacklevel=5)
        return _tokens.Drawing(
            job, self._seed(job, options, stacklevel=5), _workers(options),
            options.get("progress"), _charged(options, documents), options.get("oov", "uniform"),
            options.get("missing", "empty"))

    @explained(*TOKEN_KEYWORDS)
    def draw(self, tokens: T, epsilon: float = NO_EPSILON, **options: Unpack[TokenKeywords]) -> T:
        """Draws a word for each token of one document.

        tokens: a list, tuple, pandas Series, NumPy array of any shape, or Arrow array of str, which
        comes back as the same kind, with as many tokens. tem folds a token as it folds text, and
        takes it as one word, whatever is in it: also punctuation. The number of tokens is public.
        {options}
        """
        check("draw", epsilon, options, TOKEN_KEYWORDS)
        result: T = _tokens.draw_tokens(self, self._drawing(epsilon, options, None), tokens)
        return result

    @explained(*TOKEN_LIST_KEYWORDS)
    def privatize_tokens(self, documents: T, epsilon: float = NO_EPSILON,
                         **options: Unpack[TokenListKeywords]) -> T:
        """Draws a word for each token of many documents, each a list of tokens.

        documents: a list, tuple, pandas Series or NumPy array of lists of str, a NumPy table of
        str, or an Arrow array of lists, which comes back as the same kind. Tokens as in `draw`; the
        number of tokens of each document is public.
        {options}
        """
        check("privatize_tokens", epsilon, options, TOKEN_LIST_KEYWORDS)
        how = self._drawing(epsilon, options, documents)
        result: T = _tokens.privatize_tokens(self, how, documents)[0]
        return result

    @explained(*TOKEN_LIST_KEYWORDS)
    def privatize_tokens_report(self, documents: T, epsilon: float = NO_EPSILON,
                                **options: Unpack[TokenListKeywords]) -> tuple[T, Report]:
        """The same as `privatize_tokens`, and what was done and spent: (documents, `Report`).

        {options}
        """
        check("privatize_tokens_report", epsilon, options, TOKEN_LIST_KEYWORDS)
        how = self._drawing(epsilon, options, documents)
        return _tokens.privatize_tokens(self, how, documents)

    @explained(*ID_KEYWORDS)
    def draw_ids(self, ids: T, epsilon: float = NO_EPSILON, *, attention_mask: Any = None,
                 special_ids: Iterable[int] = (), **options: Unpack[IdKeywords]) -> T:
        """Draws an id for each id of a tokenizer's vocabulary; needs NumPy.

        The guarantee is per token: a word that the tokenizer cuts into k tokens costs k draws. The
        number of tokens of each row, and where special ids are, is public.

        ids: a NumPy array of whole numbers, of any shape, whose rows along the last axis are
        documents; or a list, or list of lists, of them. The result has the same kind, shape and
        dtype. An id is the number of a word of this model, as `from_embeddings` makes it.
        special_ids: a PUBLIC list of ids that stay as they are, such as [CLS], [SEP] and [PAD].
        The model must never draw them: name them to `from_embeddings`, too.
        attention_mask: 0 where there is padding, in the shape of ids. Such a position must hold a
        special id; else tem refuses the call, because the id would be released unseen.
        {options}
        """
        check("draw_ids", epsilon, options, ID_KEYWORDS)
        how = self._drawing(epsilon, options, None)
        result: T = _tokens.draw_ids(self, how, _numpy("draw_ids"), ids, attention_mask,
                                     special_ids)[0]
        return result

    @explained(*ID_KEYWORDS)
    def draw_ids_report(self, ids: T, epsilon: float = NO_EPSILON, *, attention_mask: Any = None,
                        special_ids: Iterable[int] = (),
                        **options: Unpack[IdKeywords]) -> tuple[T, Report]:
        """The same as `draw_ids`, and what was done and spent: (ids, `Report`). The report counts
        the positions that stayed in `special`.

        {options}
        """
        check("draw_ids_report", epsilon, options, ID_KEYWORDS)
        how = self._drawing(epsilon, options, None)
        return _tokens.draw_ids(self, how, _numpy("draw_ids"), ids, attention_mask, special_ids)

    # ---- accounting ----

    def explain(self, word: str | int, epsilon: float, *, beta: float | None = None,
                gamma: float | None = None, mechanism: str = "tem",
                numbers: Mapping[str, float] | None = None,
                listed: Collection[str] | None = None, calibrated: bool = False,
                weights: Weights | None = None, language_model: Language | None = None,
                never: Collection[str] | None = None, after: Iterable[str] | None = None,
                top: int = 10) -> Explanation:
        """The possible outputs of a word and their probabilities: the `top` nearest, and all
        others. word: a word, or its number in the model. The other keywords are those of
        `privatize`.

        after: with a language model, the words that the document shows before, in order; None for
        the beginning of a document. `entries` are then the `top` likeliest outputs.
        """
        shown = min(_count("top", top), len(self))
        drawn = self._mechanism(epsilon, beta, gamma, mechanism, numbers, listed, True, calibrated,
                                read_weights(weights), as_key(language_model), read_never(never))
        if isinstance(after, str):
            raise make("argument", "after: give a list of words, not one text")
        shown_before = None if after is None and language_model is None else [
            self._number(word) for word in after or ()]
        number = self._looked_up(word)
        known = -1 if number is None else number
        before = None if shown_before is None else array.array("I", shown_before).tobytes()
        law, info = drawn.law(known, shown, before), drawn.info()
        paper = self._mechanism(epsilon, beta, gamma).law(known, 1, None) if calibrated else None
        entries = [Entry(self._handle.word(i), distance, p) for i, distance, p in law["entries"]]
        return Explanation(
            word=str(word) if number is None else self._handle.word(number),
            known=number is not None,
            mechanism=info["mechanism"], epsilon=info["epsilon"], s=info["s"], gamma=info["gamma"],
            bound=info["bound"], entries=entries, tail=Tail(len(self) - len(entries), law["tail"]),
            self_probability=law["self"], support=law["support"], entropy=law["entropy"],
            certificate=info["certificate"] or None,
            paper=None if paper is None else Paper(paper["self"], paper["support"]),
            after=None if shown_before is None else list(map(self._handle.word, shown_before)))

    def channel(self, epsilon: float, *, beta: float | None = None, gamma: float | None = None,
                mechanism: str = "tem", calibrated: bool = False,
                weights: Weights | None = None, threads: int | None = None,
                progress: Progress | None = None) -> "Channel":
        """The laws of all words as a matrix, to learn from released text; needs NumPy.

        The keywords are those with which the text was released. `tem.learn` and `tem.estimate` do
        the usual things with it.
        """
        _numpy("a channel")
        from ._channel import Channel

        drawn = self._mechanism(epsilon, beta, gamma, mechanism, calibrated=calibrated,
                                weights=read_weights(weights))
        return Channel._wrap(self, _tem.make_channel(drawn, _threads(threads), progress))

    def _prior(self, prior: Path | float) -> _tem.Prior:
        if isinstance(prior, (int, float)):
            return _tem.zipf_prior(self._handle, prior)
        name = os.fspath(prior)
        if name == "zipf":
            return _tem.zipf_prior(self._handle, 1)
        if name.startswith("zipf:"):
            return _tem.zipf_prior(self._handle, float(name[5:]))
        return _tem.load_prior(self._handle, name)

    def _account(self, threads: int, progress: Progress | None,
                 drawn: _tem.Mechanism | None = None) -> _tem.Accountant:
        """Looks at all pairs of words. Keeps the result, 4 kB per word, if the weights are
        equal."""
        if drawn is not None and drawn.info()["weights"] != "equal":
            return _tem.make_accountant(self._handle, drawn, threads, progress)
        if self._accountant is None:
            self._accountant = _tem.make_accountant(self._handle, None, threads, progress)
        return self._accountant

    def release(self) -> None:
        """Frees the cached memory for drawing and accounting."""
        self._forget()
        self._accountant = None

    def audit(self, epsilon: float, *, beta: float | None = None, gamma: float | None = None,
              mechanism: str = "tem", calibrated: bool = False, weights: Weights | None = None,
              prior: Path | float | None = None, threads: int | None = None,
              progress: Progress | None = None) -> Audit:
        """The real protection of an epsilon on this model: the worst pair's loss, proved over all.

        prior: also reports the effect on words with these frequencies: "zipf", "zipf:POWER", or
        the path of a file of counts or text, which must be public.
        """
        drawn = self._mechanism(epsilon, beta, gamma, mechanism, calibrated=calibrated,
                                weights=read_weights(weights))
        info, workers = drawn.info(), _threads(threads)
        accountant = self._account(workers, progress, drawn)
        found = accountant.audit(drawn, workers, progress)
        summary = None if prior is None else Summary(
            **accountant.summarise(drawn, self._prior(prior), True, workers, progress))
        worst = found.pop("worst")
        return Audit(
            mechanism=info["mechanism"], epsilon=info["epsilon"], s=info["s"], gamma=info["gamma"],
            beta=_known(info["beta"]), epsilon_gamma=info["epsilon_gamma"],
            weights=info["weights"],
            certificate=info["certificate"] or None, effects=info["effects"], summary=summary,
            worst=worst and Pair(self._handle.word(worst[0]), self._handle.word(worst[1]),
                                 worst[2]), **found)

    def calibrate(self, epsilon: float, *, beta: float | None = None, gamma: float | None = None,
                  weights: WeightsKind = "balanced", prior: Path | float = "zipf",
                  save: bool = False, threads: int | None = None,
                  progress: Progress | None = None) -> Calibration:
        """Finds an exponent above epsilon/2, and weights, proved to keep the promise of epsilon.

        weights: "balanced"; "equal" (seconds); or "tuned" for the smallest expected distance under
        the prior (minutes), which leaves some words far more exposed. `privatize(...,
        calibrated=True)` uses the result from now on. save: also write the certificate beside the
        model, as `tem calibrate` does, for other and later processes.
        """
        numbers = epsilon, _given("beta", beta), _given("gamma", gamma)
        self._mechanism(epsilon, beta, gamma)  # refuses values out of range at once
        expected, workers = self._prior(prior), _threads(threads)
        file = self._certificate_file() if save else None
        certificate = self._account(workers, progress).calibrate(
            *numbers, weights, expected, _prior_name(prior), workers, progress)
        info = certificate.info()
        if file is not None:
            certificate.save(file)
            _tem.trust_add(info["hash"])
        self._believe(certificate, numbers[2])
        return Calibration(**{**info, "beta": _known(info["beta"])}, file=file)

    def _certificate_file(self) -> str:
        """The path for a certificate; fails before all the work if it cannot be written."""
        if self._path is None:
            raise make("argument", "a model in memory has no file beside which to save")
        file = self._path + ".cert"
        if not os.access(file if os.path.exists(file) else os.path.dirname(file), os.W_OK):
            raise make("file", "cannot write; link or copy the model into a folder of yours", file)
        _tem.trust_ready()
        return file

    def _numbers(self, words: Iterable[str]) -> list[int]:
        """The numbers of words in the model, each once. No message contains a word: it may be
        sensitive."""
        if isinstance(words, str):
            raise make("argument", "`words` is a list of words, not one string")
        numbers = []
        for place, word in enumerate(words, 1):
            pieces, number = self._handle.first_piece(word)
            if pieces == 0:
                number = self._handle.find(word)
            if pieces > 1 or number is None:
                why = "is several words to tem" if pieces > 1 else "is not in the vocabulary"
                raise make("argument", f"word {place} of `words` {why}")
            numbers.append(number)
        if not numbers:
            raise make("argument", "`words` is empty")
        return list(dict.fromkeys(numbers))

    def choose(model, /, *, self: float | None = None, support: float | None = None,
               bayes: float | None = None, words: Iterable[str] | None = None,
               quantile: float | None = None, beta: float | None = None,
               gamma: float | None = None, prior: Path | float = "zipf", calibrated: bool = False,
               curve: bool = False, threads: int | None = None,
               progress: Progress | None = None) -> Choice:
        """The largest epsilon that does not disclose more than the target allows.

        Give one target. self: the median word stays unchanged with at most this probability;
        support: the median word is spread over at least this many words; bayes: the best guess at
        a word is right with at most this probability. curve: also report other epsilons.

        words: self or support holds for each of these words, which must be public, instead of the
        median word; quantile: it holds for this share of `words`, or of the words that a text can
        contain.
        """
        targets = {"self": self, "support": support, "bayes": bayes}
        given = {name: float(value) for name, value in targets.items() if value is not None}
        if len(given) != 1:
            raise make("argument", "one target is needed: self=P, support=N or bayes=P")
        (target, wanted), = given.items()
        expected, workers = model._prior(prior), _threads(threads)
        numbers = wanted, _given("beta", beta), _given("gamma", gamma)
        found, others = model._account(workers, progress).choose(
            target, *numbers, expected, calibrated,
            [] if words is None else model._numbers(words), _given("quantile", quantile), curve,
            workers, progress)
        answer = _point(*found)
        return Choice(answer.epsilon, calibrated, target, wanted, _prior_name(prior), answer,
                      [_point(*other) for other in others])

    def plot_curve(self, *, prior: Path | float = "zipf", beta: float | None = None,
                   gamma: float | None = None, calibrated: bool = False,
                   threads: int | None = None, progress: Progress | None = None,
                   ax: "Axes | None" = None) -> "Axes":
        """Plots what each epsilon does to words: how often the median word stays itself, and how
        often the best guess of an attacker is right. Needs matplotlib.

        ax: the axes to draw on, or None for a new figure. The other parameters are those of
        `choose`. Returns the axes.
        """
        from . import _plot

        found = self.choose(self=0.5, prior=prior, beta=beta, gamma=gamma, calibrated=calibrated,
                            curve=True, threads=threads, progress=progress)
        return _plot.choice(found, ax, marked=False)


def _point(epsilon: float, epsilon_paper: float, s: float, gamma: float,
           summary: dict[str, float]) -> Point:
    return Point(**summary, epsilon=epsilon, epsilon_paper=epsilon_paper, s=s, gamma=gamma)


@functools.lru_cache(maxsize=4)
def _opened_once(path: str | None, signature: tuple[int, ...]) -> Model:
    return Model.open(path)


def as_model(model: Model | Path | None) -> Model:
    """Returns a Model as it is; for a path, or for None (the default model), opens the model, only
    once as long as the file is the same."""
    if isinstance(model, Model):
        return model
    found = None if model is None else os.stat(model)
    signature = (found.st_dev, found.st_ino, found.st_mtime_ns) if found else ()
    return _opened_once(None if model is None else os.path.abspath(model), signature)


_opened: weakref.WeakValueDictionary[tuple[str, str], Model] = weakref.WeakValueDictionary()


def _reopen(path: str, expected: str, is_own: bool) -> Model:
    """Returns a pickled model: the one that is open already, or one from the file, which must be
    the same. tem trusts the model because the process that pickled it did; the hash, computed from
    the bytes mapped here, must be equal."""
    known = _opened.get((path, expected))
    if known is not None:
        return known
    try:
        return Model._wrap(_tem.open_model(path, expected, is_own, 0, None), path, is_own)
    except UntrustedError:
        raise make("damaged", "this is not the model that was pickled: the file has changed",
                   path) from None
