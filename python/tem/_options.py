"""The keywords of `Model.privatize`, in one place: their types, defaults and meanings.

The TypedDicts are what type checkers see. Everything else that lists keywords is made from them:
defaults, signatures, the help, and the check that refuses an unknown name.
"""
import array
import difflib
import inspect
import operator
import os
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import (Annotated, Any, Literal, NamedTuple, Required, SupportsIndex, TypedDict,
                    TypeVar, get_args, get_origin, get_type_hints)

from . import _ledger
from ._errors import make
from ._language import Language, as_key

Progress = Callable[[str, int, int], object]
Path = str | os.PathLike[str]
F = TypeVar("F", bound=Callable[..., Any])

# The names of the library's policies and kinds, as the command line has them.
Oov = Literal["uniform", "drop", "mask", "keep-unsafe"]
Punctuation = Literal["drop", "keep", "word"]
Missing = Literal["empty", "keep"]
Order = Literal["kept", "shuffled", "counts"]
Style = Literal["words", "joined", "sentence"]
Repeat = Literal["each", "once"]
WeightsKind = Literal["equal", "balanced", "tuned"]
Metric = Literal["euclidean", "angular", "l1", "linf", "hyperbolic", "matrix"]
Space = Literal["raw", "sphere"]

Weights = WeightsKind | Iterable[SupportsIndex]


class Option(NamedTuple):
    """The default of a keyword, and its line of the help."""

    default: Any
    meaning: str


MissingOption = Annotated[Missing, Option(
    "empty", 'None, NaN and null become "" or [] ("empty"), or stay ("keep"), which tells them '
    "from texts without words")]


class Law(TypedDict, total=False):
    """Keywords that decide about the law: the same wherever a word is drawn."""

    beta: Annotated[float | None, Option(
        None, "where distances are cut off: all but so much of the probability is within; None for "
        "0.001")]
    gamma: Annotated[float | None, Option(None, "the distance itself, instead of beta")]
    mechanism: Annotated[str, Option(
        "tem", '"tem", "em", or another one for comparison; tem.mechanisms() lists them')]
    numbers: Annotated[Mapping[str, float] | None, Option(
        None, 'numbers of the mechanism\'s own, such as {"lambda": 0.5}')]
    listed: Annotated[Collection[str] | None, Option(
        None, "the public list of words that the mechanism needs")]
    allow_no_guarantee: Annotated[bool, Option(
        False, "also use a mechanism that has no guarantee in the model's metric")]
    calibrated: Annotated[bool, Option(
        False, "draw with the larger exponent that `calibrate` has proved for this epsilon")]
    weights: Annotated[Weights | None, Option(
        None, "how often each word is an output, apart from distances: a whole number, 0 or more, "
        "for each of `model.words`, made from public data. The guarantee does not depend on them. "
        'With `calibrated`: the kind of the certificate, "balanced", "equal" or "tuned"; None for '
        "the first of these that exists")]
    language_model: Annotated[Language | None, Option(
        None, "a public language model, which weighs the words by those that the document shows "
        'before, so that the output reads like text: "english", a path, a tem.LanguageModel, or an '
        "object with a method weights(past_ids), which is asked on one thread. The guarantee does "
        "not depend on it. Not with `calibrated` or `weights`")]
    never: Annotated[Collection[str] | None, Option(
        None, "words that are never released; they must be public")]


class Words(Law, total=False):
    """Keywords that decide about words."""

    oov: Annotated[Oov, Option(
        "uniform", 'words that the model does not have are drawn from all words ("uniform"), left '
        'out ("drop"), become "<unk>" ("mask"), or are released as they are ("keep-unsafe": not '
        "private)")]


class Policies(Words, total=False):
    """Keywords that decide about texts: the same wherever a text is privatized."""

    punctuation: Annotated[Punctuation, Option(
        "drop", '"drop", "keep" (released as it is) or "word" (drawn like a word)')]
    strip_tags: Annotated[bool, Option(False, "leave out HTML tags")]
    keep_lines: Annotated[bool, Option(
        False, "keep the lines of a text, which tells how many words each has; else it becomes one "
        "line")]
    missing: MissingOption
    order: Annotated[Order, Option(
        "kept", 'words come out in the order of the text ("kept"), in a random one ("shuffled"), '
        'or as a JSON object of counts ("counts"); without their order, texts are protected as '
        "bags of words (docs/BAGS.md)")]
    style: Annotated[Style | None, Option(
        None, 'the drawn words as they are ("words"), with pieces such as "don" and "t" joined '
        'again ("joined"), or also with a capital at the beginning and a full stop at the end '
        '("sentence"): nothing of it tells about the text; None for "joined" with a language '
        'model, and "words" without')]
    repeat: Annotated[Repeat, Option(
        "each", 'every word is drawn for ("each"), or a content word that a text says again gets '
        'the output that it had and costs once ("once"): then the output shows where words repeat, '
        "and the bound holds only between texts whose content words repeat at the same places")]


class Runs(TypedDict, total=False):
    """Keywords that decide about the cost and the run."""

    ledger: Annotated[Path | None, Option(
        None, "a file in which what is spent is written down, before you get the texts: that of "
        "`tem privatize --ledger`")]
    budget: Annotated[float | None, Option(
        None, "the most that all runs together may spend, each words times epsilon; else "
        "BudgetError, and nothing is spent")]
    budget_worst: Annotated[float | None, Option(
        None, "the same for the worst case: words times the bound between any two inputs, which "
        "adds up over all models and mechanisms")]
    threads: Annotated[int | None, Option(None, "at most this many; None for one per CPU")]
    insecure_seed: Annotated[int | None, Option(
        None, "for experiments and tests: repeatable, NOT private")]


class Settings(Policies, Runs, total=False):
    """All keywords that have a default and a plain value: those that a configuration can hold."""


class Calls(TypedDict, total=False):
    """Keywords that only a call can have."""

    by: Annotated[_ledger.People | None, Option(
        None, '{"user": the person of each text}, or a Series with a name, and the index of '
        "`texts`: each person has the budget to themselves")]
    progress: Annotated[Progress | None, Option(
        None, "called with (stage, done, total); what it raises stops the call, as Ctrl-C does")]


class Keywords(Settings, Calls, total=False):
    """All keywords of `Model.privatize` except epsilon, which may also be given by its place."""


class IdKeywords(Law, Runs, Calls, total=False):
    """The keywords of `Model.draw_ids`."""


class TokenKeywords(Words, Runs, Calls, total=False):
    """The keywords of `Model.draw`."""


class TokenListKeywords(TokenKeywords, total=False):
    """The keywords of `Model.privatize_tokens`."""

    missing: MissingOption


class Options(Keywords, total=False):
    """How to privatize: the keywords of `Model.privatize`."""

    epsilon: Required[Annotated[float, Option(
        inspect.Parameter.empty, "the privacy lost per unit of distance; smaller is more private. "
        "It has no default: see `explain` and `choose`")]]


# The default of `epsilon` in a signature: a call without it gets a message that helps.
NO_EPSILON: Any = None


def _read(keywords: Any) -> dict[str, tuple[Any, Option]]:
    """The type and the Option of each keyword, in the order of the classes above; epsilon first."""
    hints = get_type_hints(keywords, include_extras=True)
    found = {name: get_args(hint)[0] if get_origin(hint) is Required else hint
             for name, hint in hints.items()}
    order = sorted(found, key=lambda name: name != "epsilon")
    return {name: (found[name].__origin__, found[name].__metadata__[0]) for name in order}


ALL = _read(Options)
POLICIES, SETTINGS = tuple(_read(Policies)), tuple(_read(Settings))
ID_KEYWORDS, TOKEN_KEYWORDS = tuple(_read(IdKeywords)), tuple(_read(TokenKeywords))
TOKEN_LIST_KEYWORDS = tuple(_read(TokenListKeywords))
DEFAULTS: dict[str, Any] = {name: ALL[name][1].default for name in ALL if name != "epsilon"}


def read_weights(given: Weights | None) -> str | bytes | None:
    """The weights as a key and for C: a kind, or 32-bit numbers."""
    if given is None or isinstance(given, (str, bytes)):
        return given
    try:
        return array.array("I", map(operator.index, given)).tobytes()
    except (TypeError, OverflowError):
        raise make("argument", "weights: expected whole numbers from 0 to 2^32 - 1, one for each "
                   "of model.words") from None


def read_never(given: Collection[str] | None) -> tuple[str, ...] | None:
    """The words that are never released, as a key."""
    if isinstance(given, str):
        raise make("argument", "never: give a list of words, not one text")
    return None if given is None else tuple(given)


def law_and_text(epsilon: float, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values that decide about the words: epsilon and the policies, in their order. All of them
    can be part of a key: `numbers` is a tuple of pairs, `listed` and `never` are tuples, `weights`
    bytes, `language_model` as `as_key` has it."""
    if not _CONTAINERS.isdisjoint(given):
        numbers, listed = given.get("numbers"), given.get("listed")
        given = {**given, "numbers": None if numbers is None else tuple(sorted(numbers.items())),
                 "listed": None if listed is None else tuple(listed),
                 "weights": read_weights(given.get("weights")),
                 "language_model": as_key(given.get("language_model")),
                 "never": read_never(given.get("never"))}
    return (epsilon, *[given.get(name, DEFAULTS[name]) for name in POLICIES])


_CONTAINERS = frozenset(("numbers", "listed", "weights", "language_model", "never"))
_RENAMED = {"unknown": "oov"}


_NUMBERS = frozenset(("epsilon", "beta", "gamma", "budget", "budget_worst"))
_WHOLE = frozenset(("threads", "insecure_seed"))
_FLAGS = frozenset(name for name in DEFAULTS if DEFAULTS[name] is False)
_STRINGS = frozenset(name for name in DEFAULTS if isinstance(DEFAULTS[name], str))


def _expected(name: str, value: Any) -> str | None:
    """What a keyword takes, if the value has another type."""
    if value is None and name in DEFAULTS and DEFAULTS[name] is None:
        return None
    if name in _NUMBERS and (isinstance(value, (str, bool)) or not hasattr(value, "__float__")):
        return "a number"
    if name in _WHOLE and (isinstance(value, bool) or not hasattr(value, "__index__")):
        return "a whole number"
    # PRIVACY: "False" and "no" are true, and would switch on what the caller wants off.
    if name in _FLAGS and not isinstance(value, bool) and getattr(value, "dtype", None) != bool:
        return "True or False"
    return "a str" if name in _STRINGS and not isinstance(value, str) else None


def check_types(given: Mapping[str, Any]) -> None:
    """Refuses a value of another type. No message repeats the value: it may be a text in the wrong
    place."""
    for name, value in given.items():
        expected = _expected(name, value)
        if expected is not None:
            raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")


def check_names(call: str, epsilon: float | None, given: Mapping[str, Any],
                names: Collection[str] = tuple(DEFAULTS)) -> None:
    """Refuses an unknown name, as Python does for a plain signature, and a missing epsilon."""
    for name in given:
        if name not in names:
            offered = ("epsilon", *names)
            near = difflib.get_close_matches(_RENAMED.get(name, name), offered, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(offered)}"
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}: {hint}")
    if epsilon is None:
        raise TypeError(f"{call}() needs epsilon=, the privacy lost per unit of distance: "
                        "model.explain and model.choose help to find one")


def check(call: str, epsilon: float | None, given: Mapping[str, Any],
          names: Collection[str] = tuple(DEFAULTS)) -> None:
    """Refuses unknown names, a missing epsilon, and values of another type."""
    check_names(call, epsilon, given, names)
    check_types({"epsilon": epsilon, **given})


_PLACE = re.compile(r"^( *){options}", re.MULTILINE)


def _help(names: Collection[str], indent: str) -> str:
    """A paragraph for each keyword. Its default is in the signature."""
    return "\n".join(textwrap.fill(f"{name}: {ALL[name][1].meaning}.", 100, break_long_words=False,
                                   initial_indent=indent, subsequent_indent=indent)
                     for name in names)


def parameters(names: Collection[str]) -> list[inspect.Parameter]:
    """Keyword parameters, for a signature."""
    return [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=ALL[name][1].default,
                              annotation=ALL[name][0]) for name in names]


def explained(*names: str) -> Callable[[F], F]:
    """Makes a function that takes `**options` show these keywords in its signature, in the place of
    `**`, and in its help, in the place of "{options}"."""
    def explain(function: F) -> F:
        plain = inspect.signature(function)
        own = [each.replace(default=each.empty) if each.name == "epsilon" else each
               for each in plain.parameters.values() if each.kind is not each.VAR_KEYWORD]
        function.__signature__ = plain.replace(  # type: ignore[attr-defined]
            parameters=own + parameters([name for name in names if name not in plain.parameters]))
        function.__doc__ = _PLACE.sub(lambda place: _help(names, place[1]), function.__doc__ or "")
        return function
    return explain
