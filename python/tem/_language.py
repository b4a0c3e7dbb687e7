"""Public language models: tem.LanguageModel, and objects of your own.

PRIVACY: the guarantee holds for all weights that are made of public data and of released words, so
nothing here decides about it. It needs one set of weights for each word that is drawn: the library
asks an object once, and draws by the integers that it got.
"""
from __future__ import annotations

import array
import contextlib
import math
import os
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from . import _default, _tem
from ._errors import FileError, TrustWarning, UntrustedError, make

if TYPE_CHECKING:
    from ._model import Model
    from ._options import Path, Progress

ENGLISH = "english"  # the name of the language model that comes with tem; a file is ./english
LARGEST = 2 ** 31  # what the largest of weights that are floats becomes, before 1 is added


@runtime_checkable
class Weigher(Protocol):
    """A language model of your own: any object with this method.

    weights: says how much each word of the model weighs, given the words that the document shows
    before: their ids, the numbers of `model.words`, from its beginning. A negative number is
    something that nobody drew: -1 an unknown word that was kept, -2 <unk>, -3 punctuation, -4 a
    line end. Returns one number for each word of the model, as an array or a list: 0 or more, not
    all 0, finite. tem draws by integers:

    - whole numbers as they are. Where one is 0, no word of a text becomes that word. Their sum must
      be below 2^63.
    - floats w become floor(2^31 w / max) + 1, where max is the largest float of a word that the
      model does not exclude. So no word has the weight 0.

    tem asks once for each word that it draws, from the thread that called tem, one document after
    the other, and works on one thread. PRIVACY: use nothing but public data and this list, else the
    guarantee does not hold. What `weights` raises, or a result that is refused, stops the call,
    which then releases nothing.

    past_words, an attribute, may say how many of the words before it needs to see.
    """

    def weights(self, past_ids: list[int], /) -> Any: ...


class Evaluation(NamedTuple):
    """How well a language model fits a public text. perplexity: per known word, by the weights
    alone; without: the same without context."""

    documents: int
    words: int
    unknown: int
    perplexity: float
    without: float


# ---- numbers of an object become integers ----

def _refuse(why: str) -> Exception:
    return make("range", f"the weights of the language model {why}: expected numbers of 0 or more, "
                "finite, not all 0")


def _refuse_count(given: int, count: int) -> Exception:
    return make("argument", f"the language model gave {given:,} weights: expected one for each of "
                f"{count:,} words")


def _rounded(numpy: Any, values: Any, outputs: Any) -> Any:
    """Floats as integers, by the rule above."""
    values = values.astype("f8")
    if not numpy.isfinite(values).all():
        raise _refuse("are infinite or NaN")
    if (values < 0).any():
        raise _refuse("are negative")
    largest = values[outputs].max(initial=0.0)
    if not largest > 0:
        raise _refuse("are all 0")
    # A word that the model excludes may weigh more than the largest; the library takes it as 0.
    return (numpy.minimum(values, largest) / largest * LARGEST).astype("u8") + 1


def _from_array(numpy: Any, values: Any, outputs: bytes) -> Any:
    if values.shape != (len(outputs),):
        raise _refuse_count(values.size, len(outputs))
    if values.dtype.kind == "f":
        return _rounded(numpy, values, numpy.frombuffer(outputs, dtype="?"))
    if values.dtype.kind not in "iu":
        raise make("argument", "the weights of a language model are numbers, not "
                   f"{values.dtype}")
    if values.dtype.kind == "i" and (values < 0).any():
        raise _refuse("are negative")
    return numpy.ascontiguousarray(values, dtype="u8")


def _from_list(values: Sequence[Any], outputs: bytes) -> array.array[int]:
    """The same without NumPy."""
    if len(values) != len(outputs):
        raise _refuse_count(len(values), len(outputs))
    if all(isinstance(value, int) for value in values):
        if min(values) < 0:
            raise _refuse("are negative")
        if max(values) >= 2 ** 63:
            raise _refuse("add up to 2^63 or more")
        return array.array("Q", values)
    try:
        floats = [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        raise make("argument", "the weights of a language model are numbers") from None
    if not all(map(math.isfinite, floats)):
        raise _refuse("are infinite or NaN")
    if min(floats) < 0:
        raise _refuse("are negative")
    largest = max((value for value, is_output in zip(floats, outputs) if is_output), default=0.0)
    if not largest > 0:
        raise _refuse("are all 0")
    return array.array("Q", [int(min(value, largest) / largest * LARGEST) + 1 for value in floats])


class Own:
    """A user's object as a key: two are equal if they are the same object."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and other.given is self.given

    def __hash__(self) -> int:
        return id(self.given)

    def handle(self, model: Model) -> _tem.Language:
        """The language model for this model."""
        most = getattr(self.given, "past_words", 0)
        name = type(self.given).__name__.encode()[:63].decode(errors="ignore")
        outputs = bytes(not model._handle.is_excluded(number) for number in range(len(model)))
        return _tem.wrap_language(model._handle, name, most, _asking(self.given.weights, outputs))


def _asking(weights: Callable[[list[int]], Any],
            outputs: bytes) -> Callable[[list[int]], Any]:
    """The function that the library calls: it gives the integers as bytes."""
    def ask(past: list[int]) -> Any:
        given = weights(past)
        if isinstance(given, (list, tuple, array.array)):
            return _from_list(given, outputs)
        numpy = sys.modules.get("numpy")
        if numpy is None or not hasattr(given, "__array__"):
            raise make("argument", "a language model returns an array or a list of weights, not "
                       f"{type(given).__name__}")
        return _from_array(numpy, numpy.asarray(given), outputs)
    return ask


# ---- language models as files ----

@contextlib.contextmanager
def _public_files(texts: Path | Iterable[str]) -> Iterator[tuple[bytes, ...]]:
    """The paths of public texts: those given, or a file that has one text in a line."""
    if isinstance(texts, (str, os.PathLike)):
        yield (os.fsencode(texts),)
        return
    items: list[Any] = list(texts)
    if items and all(isinstance(item, os.PathLike) for item in items):
        yield tuple(map(os.fsencode, items))
        return
    if not all(isinstance(item, str) for item in items):
        raise TypeError("texts: expected a path, or texts as str")
    with tempfile.TemporaryDirectory(prefix="tem.") as folder:
        file = pathlib.Path(folder, "texts")
        try:
            file.write_text("".join(" ".join(item.split("\n")).replace("\r", " ") + "\n"
                                    for item in items), encoding="utf-8", newline="\n")
        except UnicodeEncodeError:
            raise make("format", "a text has a lone surrogate, which is not UTF-8") from None
        yield (os.fsencode(file),)


def _default_model(model: Model | Path | None) -> Model:
    from ._model import as_model

    return as_model(model)


class LanguageModel:
    """A public language model of n-grams: how much each word weighs after the words before.

    Made by `LanguageModel.open`, `LanguageModel.verify` or `LanguageModel.train`, and frozen: any
    number of threads may use one. It is made of PUBLIC text: whoever has the file learns which
    words that text has, and in which order. It is for all models with the same words.
    """

    _handle: _tem.Language
    _model: Model
    _path: str | None
    _info: dict[str, Any]

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("a LanguageModel is made by LanguageModel.open, LanguageModel.verify or "
                        "LanguageModel.train")

    @classmethod
    def _wrap(cls, handle: _tem.Language, model: Model, path: str | None = None) -> Self:
        language = cls.__new__(cls)
        language._handle, language._model, language._path = handle, model, path
        language._info = handle.info()
        return language

    @classmethod
    def open(cls, path: Path, model: Model | Path | None = None, *,
             language_hash: str | None = None) -> Self:
        """Opens a file `NAME.temlm` that you trust: that you have made or verified.

        path: the file; "english" for general English, which comes with the default model, and is
        made in your cache on first use where it is not beside the model (a second, 30 MB).
        model: the model that it is for, or the path of one; None for the default model.
        language_hash: the hash of the file you mean, from whoever has made or verified it, where
        you have done neither; then `open` refuses any other file.
        """
        opened, is_own = _default_model(model), False
        if path == ENGLISH:
            path, is_own, _ = _default.find_english(opened.path, opened._is_own)
        name = os.path.abspath(path)
        try:
            handle = _tem.open_language(opened._handle, name, language_hash, is_own)
        except UntrustedError as refused:
            if language_hash is not None or refused.file not in ("", name):
                raise
            raise make("untrusted", f"{refused.detail}; tem.LanguageModel.verify({name!r}) checks "
                       "it, or name the hash that it had where it was made: language_hash=",
                       name) from None
        return cls._wrap(handle, opened, name)

    @classmethod
    def verify(cls, path: Path, model: Model | Path | None = None, *,
               progress: Progress | None = None) -> Self:
        """Opens another person's file, and checks all of it: what tem relies on, not whether the
        text that it was made of is what it says. From then on you trust it: `open` opens it."""
        opened, name = _default_model(model), os.path.abspath(path)
        language = cls._wrap(_tem.verify_language(opened._handle, name, progress), opened, name)
        language._note_trust()
        return language

    @classmethod
    def train(cls, model: Model | Path | None, texts: Path | Iterable[str], *, order: int = 3,
              name: str = "", origin: str = "", license: str = "", temper: float = 1,
              lift: float | None = None, progress: Progress | None = None) -> Self:
        """Makes a language model of PUBLIC texts.

        texts: the path of a file with one document per line, plain or gzip, or a list of such
        paths (pathlib.Path); or the texts themselves.
        order: how many words an n-gram has at most: 2 or 3. name, origin, license: for whoever gets
        the file. temper: below 1 the output is less fluent, and likely words are lifted less.
        lift: the most that the context may lift a word above its own frequency, a factor from 1;
        None: not bounded. It bounds how much the context can make a word stay.

        >>> import tem
        >>> small = tem.Model.build([[0.0, 0], [1, 0], [0, 1]], ["good", "great", "bad"])
        >>> language = LanguageModel.train(small, ["good great", "great good great"], order=2)
        >>> language.order, language.evaluate(["good great good great"]).words
        (2, 4)
        """
        opened = _default_model(model)
        if temper == 0:
            raise make("argument", "temper must be above 0 and at most 4")
        with _public_files(texts) as paths:
            handle = _tem.train_language(opened._handle, paths, order, name, origin, license,
                                         float(temper), 0.0 if lift is None else float(lift),
                                         progress)
        return cls._wrap(handle, opened)

    def _note_trust(self) -> None:
        try:
            _tem.trust_add(self.hash)
        except (UntrustedError, FileError) as unnoted:
            warnings.warn(f"tem could not note that you trust this language model "
                          f"({unnoted.detail}): open it with language_hash={self.hash!r}",
                          TrustWarning, stacklevel=3)

    def save(self, path: Path, *, overwrite: bool = False,
             progress: Progress | None = None) -> None:
        """Writes the file, completely or not at all, and records that you trust it."""
        self._handle.save(path, overwrite, progress)
        self._note_trust()

    def evaluate(self, texts: Path | Iterable[str], *,
                 progress: Progress | None = None) -> Evaluation:
        """How well it fits PUBLIC texts, given as for `train`: a path, or texts."""
        with _public_files(texts) as paths:
            if len(paths) != 1:
                raise make("argument", "one path is needed, or texts")
            return Evaluation(*self._handle.evaluate(self._model._handle, paths[0], progress))

    @property
    def model(self) -> Model:
        """The model that it was opened for, or made for."""
        return self._model

    @property
    def info(self) -> dict[str, Any]:
        """The numbers of the file, its name, origin and license."""
        return dict(self._info)

    @property
    def name(self) -> str:
        return str(self._info["name"])

    @property
    def hash(self) -> str:
        """The hash of its content, in hex."""
        return str(self._info["hash"])

    @property
    def order(self) -> int:
        """How many words an n-gram has at most."""
        return int(self._info["order"])

    @property
    def path(self) -> str | None:
        """The file that it was opened from, or None."""
        return self._path

    def __repr__(self) -> str:
        name = self.name or (os.path.basename(self._path) if self._path else "in memory")
        return (f"<tem.LanguageModel {name}: order {self.order}, {self._info['words']:,} words, "
                f"{self._info['bigrams']:,} bigrams, {self._info['trigrams']:,} trigrams>")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LanguageModel) and other.hash == self.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is None:
            raise make("argument", "a language model in memory cannot be pickled: save it, and "
                       "open the file")
        return _reopen, (self._path, self.hash, self._model)


def _reopen(path: str, expected: str, model: Model) -> LanguageModel:
    """Returns a pickled language model. tem trusts it because the process that pickled it did; the
    hash must be equal."""
    try:
        return LanguageModel._wrap(_tem.open_language(model._handle, path, expected, False), model,
                                   path)
    except UntrustedError:
        raise make("damaged", "this is not the language model that was pickled: the file has "
                   "changed", path) from None


# ---- the keyword ----

class Sent(NamedTuple):
    """A file that a driver trusts, for its workers: they open their own file of this name for their
    own model. PRIVACY: a worker has verified nothing; the hash must be the driver's."""

    path: str
    hash: str

    def handle(self, model: Model) -> _tem.Language:
        try:
            return _tem.open_language(model._handle, self.path, self.hash, False)
        except UntrustedError:
            raise make("damaged", "this is not the language model that the driver opened: the file "
                       "differs", self.path) from None


def sent(given: Any, model: Model) -> Any:
    """What a worker gets for the keyword."""
    key = as_key(given)
    if isinstance(key, str):
        key = LanguageModel.open(key, model)
    if not isinstance(key, LanguageModel):
        return given
    if key.path is None:
        raise make("argument", "a language model in memory cannot be sent: save it, and open the "
                   "file")
    return Sent(key.path, key.hash)


Language = str | os.PathLike[str] | LanguageModel | Weigher


def as_key(given: Any) -> Any:
    """The keyword `language_model` as a key: a path, a LanguageModel, an Own, or None."""
    if given is None or isinstance(given, (LanguageModel, Own, Sent)):
        return given
    if isinstance(given, (str, os.PathLike)):
        return given if given == ENGLISH else os.path.abspath(given)
    if callable(getattr(given, "weights", None)):
        return Own(given)
    raise TypeError("language_model must be a path, a tem.LanguageModel, or an object with a "
                    f"method weights(past_ids), not {type(given).__name__}")


def handle_of(key: Any, model: Model) -> _tem.Language | None:
    """The language model of a key, for this model."""
    if key is None:
        return None
    if isinstance(key, (Own, Sent)):
        return key.handle(model)
    if isinstance(key, str):
        key = LanguageModel.open(key, model)
    handle: _tem.Language = key._handle
    return handle
