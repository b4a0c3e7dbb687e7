"""Plots of results. They need matplotlib, which is optional; nothing else imports this module."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import make
from ._results import Choice, Explanation, _shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SURE = 0.99  # beyond this probability the curves tell nothing new
COLOUR, MARKED, OTHERS = "#4477aa", "#cc6677", "#bbbbbb"


def _axes(ax: Axes | None) -> Axes:
    """The axes to draw on: the caller's, or new ones."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'tem[plot]'") from None
    if ax is not None:
        return ax
    made: Any = pyplot.subplots(layout="constrained")[1]
    made.spines[["top", "right"]].set_visible(False)
    return made  # type: ignore[no-any-return]


def _label(word: str) -> str:
    """A word as a label. matplotlib would take text between dollars as a formula."""
    return _shown(word).replace("$", r"\$")


def explanation(found: Explanation, ax: Axes | None) -> Axes:
    """The law of a word as bars, the nearest word first, all others together last."""
    axes = _axes(ax)
    names = [*[_label(entry.word) for entry in found.entries],
             f"all {found.tail.words:,} others"]
    values = [*[entry.probability for entry in found.entries], found.tail.probability]
    colours = [MARKED if found.known and entry.word == found.word else COLOUR
               for entry in found.entries] + [OTHERS]
    places = range(len(names))
    axes.barh(places, values, color=colours)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0, max(values) * 1.05)
    axes.set_xlabel("probability that this word comes out")
    word = f"“{_label(found.word)}”" if found.known else "an unknown word"
    axes.set_title(f"What becomes of {word} at epsilon {found.epsilon:g} ({found.mechanism}"
                   f"{', calibrated' if found.certificate else ''})", fontsize="medium")
    return axes


def choice(found: Choice, ax: Axes | None, marked: bool = True) -> Axes:
    """The effects of all epsilons of the curve; marked: also the epsilon that was found."""
    if not found.curve:
        raise make("argument", "there is no curve to plot: choose(..., curve=True) computes one")
    axes = _axes(ax)
    epsilons = [point.epsilon for point in found.curve]
    axes.plot(epsilons, [point.self_median for point in found.curve], color=COLOUR, marker=".",
              label="the median word stays itself")
    axes.plot(epsilons, [point.bayes for point in found.curve], color=MARKED, marker=".",
              label="an attacker's best guess is right")
    if marked:
        axes.axvline(found.epsilon, color=OTHERS, linestyle="--",
                     label=f"epsilon {found.epsilon:g}, for {found.target} = {found.wanted:g}")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, next((point.epsilon for point in found.curve
                           if min(point.self_median, point.bayes) > SURE), epsilons[-1]))
    axes.set_xlabel("epsilon (smaller is more private)")
    axes.set_ylabel("probability, per word")
    words = ("by Zipf's law" if found.prior.startswith("zipf")
             else f"as often as in {_label(found.prior)}")
    axes.set_title(f"What epsilon does to a text with words {words}"
                   f"{', calibrated' if found.calibrated else ''}", fontsize="medium")
    axes.legend(frameon=False)
    return axes
