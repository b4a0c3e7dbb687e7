"""Released text: its words, and whether it was released with the options that a learner has."""
from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy

from . import _tem
from ._containers import unpack
from ._errors import make
from ._model import Model
from ._options import Path
from ._results import Report

NO_WORD = 2 ** 32 - 1
SKIPPED_MOST = 0.01  # a larger share of strange words means another model, or original text

AnyReport = Report | Mapping[str, Any] | Path


class Run(NamedTuple):
    """What is known about the run that released a text. unknown: the share of unknown words among
    the words that were drawn for, if it is known. keeps_unknown, keeps_punctuation: whether they
    were released as they are."""

    unknown: float | None = None
    keeps_unknown: bool = False
    keeps_punctuation: bool = False


class Words(NamedTuple):
    """The words of texts as ids: those of text i are ids[starts[i]:starts[i + 1]]. NO_WORD is a
    word that the model does not have or, in released text, never draws."""

    ids: Any
    starts: Any

    @property
    def texts(self) -> int:
        return len(self.starts) - 1


def _is_missing(text: Any) -> bool:
    """None, NaN or pandas.NA, which is known by its type: pandas need not be there."""
    return text is None or type(text).__name__ == "NAType" or bool(text != text)


def words_of(model: Model, texts: Any, released: Run | None) -> Words:
    """Finds the words of texts. A missing text has none. Leaves out what a run did not draw: masks,
    and kept punctuation and unknown words.

    released: the run that released the texts; None for original texts."""
    run = released or Run()
    if isinstance(texts, str):
        raise TypeError("expected many texts, not one str")
    parts, starts = [], [0]
    for place, text in enumerate(unpack(texts)[0]):
        known_text = text if isinstance(text, str) else "" if _is_missing(text) else None
        if known_text is None:
            raise TypeError(f"text {place}: expected a str or None, not {type(text)}")
        found = _tem.word_ids(model._handle, known_text, released is not None,
                              run.keeps_unknown, run.keeps_punctuation)
        parts.append(found)
        starts.append(starts[-1] + len(found) // 4)
    return Words(numpy.frombuffer(b"".join(parts), dtype=numpy.uint32),
                 numpy.array(starts, dtype=numpy.int64))


def known(words: Words) -> Words:
    """The same without unknown words."""
    keep = words.ids != NO_WORD
    before = numpy.concatenate(([0], numpy.cumsum(keep)))
    return Words(words.ids[keep], before[words.starts])


def _strange(words: Words) -> int:
    """How many of these words, read as released ones, the model does not release."""
    return int(numpy.count_nonzero(words.ids == NO_WORD))


def is_released(words: Words) -> bool:
    """Whether this model can have released the text."""
    return _strange(words) <= SKIPPED_MOST * len(words.ids)


def check_released(words: Words) -> None:
    """Refuses text that this model cannot have released."""
    strange = _strange(words)
    if not is_released(words):
        raise make("format", f"{strange:,} of {len(words.ids):,} words are none that this model "
                   "releases: is this original text, or the output of another model?")


def counts_of(words: Words, groups: Any, number: int, vocabulary: int) -> Any:
    """How often each word was released in each group: a row per word, a column per group.

    groups: the group of each text, from 0 to below `number`."""
    of_words = numpy.repeat(groups, numpy.diff(words.starts))
    keep = words.ids != NO_WORD
    places = words.ids[keep].astype(numpy.int64) * number + of_words[keep]
    counts = numpy.bincount(places, minlength=vocabulary * number)
    return counts.reshape(vocabulary, number).astype(numpy.float64)


# ---- the report of the run that released the text ----

def read_report(report: AnyReport) -> Report:
    """The report: as `Model.privatize_report` returns it, its dict, or the path of its JSON."""
    if isinstance(report, Report):
        return report
    if isinstance(report, (str, os.PathLike)):
        return Report.from_json(pathlib.Path(report).read_text(encoding="utf-8"))
    return Report.from_json(json.dumps(dict(report)))


def check_report(report: AnyReport | None, model: Model, how: Mapping[str, Any]) -> Run:
    """Refuses a report of other options than the keywords `how` of `Model.channel`, and of a run
    that released nothing. Returns what the report says about the text."""
    if report is None:
        return Run()
    given = read_report(report)
    if given.dry_run:
        raise make("argument", "the report is of a dry run, which released no text")
    if given.order == "counts":
        raise make("argument", 'the run released counts, not words; order="shuffled" releases '
                   "words")
    if given.repeat == "once":
        raise make("argument", "the run gave repeated words the output that they had; this takes "
                   "each word as drawn for itself, and would be wrong")
    if given.language_model is not None:
        raise make("argument", "the run drew each word by the words released before; this takes "
                   "each word as drawn for itself, and would be wrong: release with "
                   "language_model=None")
    drawn = model._mechanism(**how).info()
    expected = {"model": model.hash, "mechanism": drawn["mechanism"], "epsilon": drawn["epsilon"],
                "s": drawn["s"], "gamma": drawn["gamma"],
                "certificate": drawn["certificate"] or None, "numbers": None, "remap": None}
    for name, value in expected.items():
        if getattr(given, name) != value:
            raise make("argument", f"the text was released with another {name}, says its report")
    return Run(None if given.oov == "uniform" else 0.0, given.oov == "keep-unsafe",
               given.punctuation == "keep")
