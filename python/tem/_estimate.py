"""tem.estimate: how often words were used in the original texts, from released text alone."""
from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _public, _tem
from ._errors import make
from ._model import Model, _numpy, as_model
from ._options import Path, Progress

if TYPE_CHECKING:
    from ._channel import Channel, Estimate
    from ._released import AnyReport, Run

Sets = Mapping[str, Iterable[str]] | Path


def _read_lexicon(path: Path) -> dict[str, list[str]]:
    """The sets of a lexicon: lines of a category, a tab and a word. Empty lines and lines that
    begin with # do not count."""
    sets: dict[str, list[str]] = {}
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, tab, word = line.partition("\t")
        if not tab or not name or not word.strip():
            raise make("format", "expected a category, a tab and a word", os.fspath(path), place)
        sets.setdefault(name, []).append(word.strip())
    return sets


def _members(model: Model, sets: Mapping[str, Iterable[str]]) -> Any:
    """A row per input, a column per set: 1 if the word belongs to it. Leaves out words that the
    model does not have, with a warning: no estimate is about them."""
    import numpy

    from ._released import NO_WORD, words_of

    members, unknown, given = numpy.zeros((len(model) + 1, len(sets))), 0, 0
    for column, words in enumerate(sets.values()):
        if isinstance(words, str):
            raise make("argument", "a set is a list of words, not one string")
        found = words_of(model, list(words), None)
        if (numpy.diff(found.starts) != 1).any():
            raise make("argument", f"set {column + 1}: expected one word at a time")
        ids = found.ids[found.ids != NO_WORD]
        if len(ids) == 0:
            raise make("argument", f"set {column + 1}: the model has none of its words")
        members[ids, column] = 1
        given, unknown = given + len(found.ids), unknown + len(found.ids) - len(ids)
    if unknown > 0:
        warnings.warn(f"the model does not have {unknown:,} of the {given:,} words of the sets: "
                      "the estimates are about the others", stacklevel=3)
    return members


class _Groups(NamedTuple):
    """The groups of texts: their names, their numbers of texts, and the counts of their words."""

    names: list[Any]
    documents: list[int]
    counts: Any


def _count_groups(model: Model, texts: Any, groups: Any, run: Run) -> _Groups:
    import numpy
    import pandas

    from ._released import check_released, counts_of, words_of

    words = words_of(model, texts, run)
    check_released(words)
    given = pandas.Series("all", index=texts.index) if groups is None else groups
    if given.isna().any():
        raise make("argument", "a text has no group")
    codes, names = pandas.factorize(given, sort=True)
    counts = counts_of(words, codes, len(names), len(model))
    if len(names) == 0 or (counts.sum(0) == 0).any():
        raise make("argument", "a group has no released word")
    return _Groups(list(names), numpy.bincount(codes).tolist(), counts)


def _as_frame(groups: _Groups, sets: list[str], estimates: list[list[Estimate]]) -> Any:
    """A row per group and set."""
    import pandas

    rows = [(name, one_set, documents, int(words), one.share, one.low, one.high, one.expected,
             one.tells)
            for name, documents, words, each in zip(groups.names, groups.documents,
                                                    groups.counts.sum(0), estimates)
            for one_set, one in zip(sets, each)]
    return pandas.DataFrame(rows, columns=["group", "set", "documents", "words", "share", "low",
                                           "high", "expected", "tells"])


def _unknown_share(channel: Channel, prior: _tem.Prior, given: float | None, run: Run) -> float:
    """The share of unknown words: as given, else as the run implies, else as in the prior.

    Refuses a prior without unknown words. They share one law, so they explain much of any released
    text: a wrong 0 gives narrow intervals that are wrong."""
    if given is not None:
        return given
    if run.unknown is not None:
        return run.unknown
    share = float(channel.expect(prior=prior)[-1])
    if share == 0:
        raise make("argument", "the share of unknown words is not known: give unknown=SHARE (0 if "
                   "the text was released with unknown words dropped or masked), or as prior a "
                   "public text that has unknown words, or report= of a run that drew for none")
    return share


def estimate(frame: Any, *, sets: Sets, epsilon: float, prior: _public.Prior, text: str = "text",
             by: str | None = None, unknown: float | None = None, ratio: float | None = None,
             model: Model | Path | None = None, beta: float | None = None,
             gamma: float | None = None, mechanism: str = "tem", calibrated: bool = False,
             report: AnyReport | None = None, threads: int | None = None,
             progress: Progress | None = None) -> Any:
    """Estimates which share of the words of the original texts belongs to sets of words, from
    released texts alone. Needs pandas.

    frame: a pandas DataFrame of released texts. text: the column that has them. by: the column that
    names the group of each text; None for a single group.
    sets: {name: words}, or the path of a lexicon: lines of a category, a tab and a word.
    epsilon, beta, gamma, mechanism, calibrated, model: as the text was released. report: the
    `Report` of the run that released the text, its dict, or the path of its JSON; tem refuses
    options that differ from it.
    prior: how often words are expected: a PUBLIC text or file of counts, or "zipf" (`Channel`).
    unknown: the share of unknown words; None for 0 if the report says that the run did not draw for
    them, else for that of the prior, which must then have unknown words. ratio: no word is more
    than this many times as frequent in a group as expected (4).

    Returns a DataFrame with a row per group and set: group, set, documents, words, share, low,
    high, expected, tells. `low` to `high` holds the true share with a probability of about 95 % or
    more if `ratio` is right. tells: False if the released text says hardly anything about it. The
    estimate spends no privacy: whoever has the released text can compute it.
    """
    _numpy("an estimate")
    from ._released import check_report

    found = as_model(model)
    how: dict[str, Any] = {"epsilon": epsilon, "beta": beta, "gamma": gamma,
                           "mechanism": mechanism, "calibrated": calibrated}
    run = check_report(report, found, how)
    wanted = sets if isinstance(sets, Mapping) else _read_lexicon(sets)
    if not wanted:
        raise make("argument", "`sets` is empty")
    members = _members(found, wanted)
    groups = _count_groups(found, frame[text], None if by is None else frame[by], run)
    channel = found.channel(**how, threads=threads, progress=progress)
    public = _public.prior(found, prior)
    estimates = channel.estimate(groups.counts, members, prior=public, ratio=ratio,
                                 unknown=_unknown_share(channel, public, unknown, run),
                                 threads=threads, progress=progress)
    return _as_frame(groups, list(wanted), estimates)
