"""The keywords of `Model.privatize`, in one place: their types, defaults and meanings.

The TypedDicts are what type checkers see. Everything else that lists keywords is made from them:
defaults, signatures, the help, and the check that refuses an unknown name.
"""
import difflib
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from typing import (Annotated, Any, NamedTuple, Required, TypedDict, TypeVar, get_args,
                    get_origin, get_type_hints)

from . import _ledger

Progress = Callable[[str, int, int], object]
Path = str | os.PathLike[str]
F = TypeVar("F", bound=Callable[..., Any])


class Option(NamedTuple):
    """The default of a keyword, and its line of the help."""

    default: Any
    meaning: str


class Policies(TypedDict, total=False):
    """Keywords that decide about the law and the words: the same wherever a text is privatised."""

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
    unknown: Annotated[str, Option(
        "uniform", 'words that the model does not have are drawn from all words ("uniform"), left '
        'out ("drop"), become "<unk>" ("mask"), or are released as they are ("keep-unsafe": not '
        "private)")]
    punctuation: Annotated[str, Option(
        "drop", '"drop", "keep" (released as it is) or "word" (drawn like a word)')]
    strip_tags: Annotated[bool, Option(False, "leave out HTML tags")]
    keep_lines: Annotated[bool, Option(
        False, "keep the lines of a text, which tells how many words each has; else it becomes one "
        "line")]
    missing: Annotated[str, Option(
        "empty", 'None, NaN and null become "" ("empty"), or stay ("keep"), which tells them from '
        "texts without words")]
    order: Annotated[str, Option(
        "kept", 'words come out in the order of the text ("kept"), in a random one ("shuffled"), '
        'or as a JSON object of counts ("counts"); without their order, texts are protected as '
        "bags of words (docs/BAGS.md)")]


class Settings(Policies, total=False):
    """All keywords that have a default and a plain value: those that a configuration can hold."""

    ledger: Annotated[Path | None, Option(
        None, "a file in which what is spent is written down, before you get the texts: that of "
        "`tem privatize --ledger`")]
    budget: Annotated[float | None, Option(
        None, "the most that all runs together may spend, each words times epsilon; else "
        "BudgetError, and nothing is spent")]
    threads: Annotated[int | None, Option(None, "at most this many; None for one per CPU")]
    insecure_seed: Annotated[int | None, Option(
        None, "for experiments and tests: repeatable, NOT private")]


class Options(Settings, total=False):
    """How to privatise: the keywords of `Model.privatize`."""

    epsilon: Required[Annotated[float, Option(
        inspect.Parameter.empty, "the privacy lost per unit of distance; smaller is more private. "
        "It has no default: see `explain` and `choose`")]]
    by: Annotated[_ledger.People | None, Option(
        None, '{"user": the person of each text}, or a Series with a name, and the index of '
        "`texts`: each person has the budget to themselves")]
    progress: Annotated[Progress | None, Option(
        None, "called with (stage, done, total); what it raises stops the call, as Ctrl-C does")]


def _read(keywords: Any) -> dict[str, tuple[Any, Option]]:
    """The type and the Option of each keyword, in the order of the classes above; epsilon first."""
    hints = get_type_hints(keywords, include_extras=True)
    found = {name: get_args(hint)[0] if get_origin(hint) is Required else hint
             for name, hint in hints.items()}
    order = sorted(found, key=lambda name: name != "epsilon")
    return {name: (found[name].__origin__, found[name].__metadata__[0]) for name in order}


ALL = _read(Options)
POLICIES, SETTINGS = tuple(_read(Policies)), tuple(_read(Settings))
DEFAULTS: dict[str, Any] = {name: ALL[name][1].default for name in ALL if name != "epsilon"}


def law_and_text(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values that decide about the words: epsilon and the policies, in their order. All of them
    can be part of a key: `numbers` is a tuple of pairs, and `listed` a tuple."""
    if "numbers" in given or "listed" in given:
        numbers, listed = given.get("numbers"), given.get("listed")
        given = {**given, "numbers": None if numbers is None else tuple(sorted(numbers.items())),
                 "listed": None if listed is None else tuple(listed)}
    return (given["epsilon"], *[given.get(name, DEFAULTS[name]) for name in POLICIES])


def check(call: str, given: Mapping[str, Any], names: Collection[str] = tuple(ALL)) -> None:
    """Refuses an unknown name, as Python does for a plain signature, and a missing epsilon."""
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}: {hint}")
    if "epsilon" in names and "epsilon" not in given:
        raise TypeError(f"{call}() needs epsilon=, the privacy lost per unit of distance: "
                        "model.explain and model.choose help to find one")


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
        own = [each for each in plain.parameters.values()
               if each.kind is not inspect.Parameter.VAR_KEYWORD]
        function.__signature__ = plain.replace(  # type: ignore[attr-defined]
            parameters=own + parameters([name for name in names if name not in plain.parameters]))
        function.__doc__ = _PLACE.sub(lambda place: _help(names, place[1]), function.__doc__ or "")
        return function
    return explain
