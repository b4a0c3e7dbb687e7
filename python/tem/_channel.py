"""tem.Channel: the laws of all words as a matrix, and what it tells about released text.

Only public numbers go in, and released text: nothing here spends privacy. docs/LEARNING.md has the
formulas.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _public, _tem
from ._errors import make
from ._options import Path, Progress

if TYPE_CHECKING:
    from ._model import Model

Prior = Path | float | Sequence[str]


class Deconvolution(NamedTuple):
    """The shares of the input words, a row per input; the number of steps made; and the mean
    ln(probability) of a released word, a held-out one if there are any."""

    shares: Any
    steps: int
    likelihood: float


class Estimate(NamedTuple):
    """The estimate of one share in one group. `low` to `high` holds the true share with a
    probability of about 95 % or more, if no word is more than `ratio` times as frequent as
    expected. bias: the mean of the estimate is at most this far from the truth. deviation: its
    standard deviation over the draws, at most. expected: the share that the prior expects. tells:
    False if the interval is hardly narrower than without any released text."""

    share: float
    low: float
    high: float
    bias: float
    deviation: float
    expected: float
    tells: bool


def unknown_share(unknown: float | None) -> float:
    """The number that tem_learn.h takes: below 0 for the prior's own share."""
    if unknown is None:
        return -1.0
    if not 0 <= unknown < 1:
        raise make("argument", "unknown is a share from 0 to below 1, or None")
    return float(unknown)


class Channel:
    """The laws of all words of a model at once: the matrix P with P[w, y] = P(y | w).

    Made by `Model.channel`. P has a row per input: the words of the model in their order and, as
    the last row, all unknown words, which share one law. It has a column per word of the model.
    tem does not store P: each product computes it anew, in seconds for the default model. Matrices
    are NumPy arrays; one with a single column may have one axis only.

    The prior must be public: "zipf", "zipf:POWER", the path of a file of counts or of text, or a
    list of texts. unknown: the share of unknown words among the words that were drawn for; None
    for the share in the file or the texts of the prior; 0 for text that was released with unknown
    words dropped or masked.
    """

    _model: Model
    _handle: _tem.Channel

    def __init__(self) -> None:
        raise TypeError("a Channel is made by Model.channel")

    @classmethod
    def _wrap(cls, model: Model, handle: _tem.Channel) -> Channel:
        channel = cls.__new__(cls)
        channel._model, channel._handle = model, handle
        return channel

    @property
    def inputs(self) -> int:
        """The rows of P: words + 1."""
        return self._handle.inputs()

    @property
    def outputs(self) -> int:
        """The columns of P: words."""
        return self._handle.outputs()

    def forward(self, shares: Any, *, threads: int | None = None,
                progress: Progress | None = None) -> Any:
        """transpose(P) shares: from the shares of input words to the expected shares of released
        words."""
        given, make_like = _matrix(shares, self.inputs)
        out = make_like(self.outputs)
        self._handle.forward(given, given.shape[1], out, _public.threads(threads), progress)
        return out.reshape((-1, *shares_axes(shares)))

    def backward(self, values: Any, *, threads: int | None = None,
                 progress: Progress | None = None) -> Any:
        """P values: the mean of a function of the released word, for each input word."""
        given, make_like = _matrix(values, self.outputs)
        out = make_like(self.inputs)
        self._handle.backward(given, given.shape[1], out, _public.threads(threads), progress)
        return out.reshape((-1, *shares_axes(values)))

    def expect(self, *, prior: Prior = "zipf", unknown: float | None = None) -> Any:
        """The shares of all inputs that the prior expects. They add up to 1."""
        import numpy

        shares = numpy.empty(self.inputs)
        self._handle.expect(_public.prior(self._model, prior), unknown_share(unknown), shares)
        return shares

    def posterior(self, vectors: Any, *, prior: Prior = "zipf", unknown: float | None = None,
                  threads: int | None = None, progress: Progress | None = None) -> Any:
        """For each output word, the mean of the vectors of the words that may be behind it.

        vectors: a row per word of the model."""
        given, make_like = _matrix(vectors, self.outputs)
        out = make_like(self.outputs)
        self._handle.posterior(_public.prior(self._model, prior), unknown_share(unknown), given,
                               given.shape[1], out, _public.threads(threads), progress)
        return out.reshape((-1, *shares_axes(vectors)))

    def deconvolve(self, counts: Any, *, held_out: Any = None, steps: int | None = None,
                   prior: Prior = "zipf", unknown: float | None = None,
                   threads: int | None = None, progress: Progress | None = None) -> Deconvolution:
        """Estimates the shares of the input words of groups of texts from the counts of their
        released words.

        counts: a row per word of the model, a column per group. held_out: counts of other texts of
        the same groups; tem stops at the step after which their likelihood is largest. None: tem
        makes exactly `steps` steps. steps: at most this many (100)."""
        given, make_like = _matrix(counts, self.outputs)
        others = None if held_out is None else _matrix(held_out, self.outputs)[0]
        if others is not None and others.shape != given.shape:
            raise make("argument", "counts and held_out have different groups")
        out = make_like(self.inputs)
        made, likelihood = self._handle.deconvolve(
            _public.prior(self._model, prior), unknown_share(unknown), given, others,
            given.shape[1], _public.count("steps", steps), out, _public.threads(threads), progress)
        return Deconvolution(out.reshape((-1, *shares_axes(counts))), made, likelihood)

    def estimate(self, counts: Any, members: Any, *, prior: Prior = "zipf",
                 unknown: float | None = None, ratio: float | None = None,
                 steps: int | None = None, threads: int | None = None,
                 progress: Progress | None = None) -> list[list[Estimate]]:
        """Estimates, for each group, the share of each set of words among the words of the original
        texts: a list for each group with an `Estimate` for each set.

        counts: as in `deconvolve`. members: a row per input, a column per set; 1 if the word
        belongs to the set, else 0. ratio: no input word is more than this many times as frequent in
        a group as expected (4). steps: at most this many (30)."""
        given, wanted = _matrix(counts, self.outputs)[0], _matrix(members, self.inputs)[0]
        sets = wanted.shape[1]
        found = self._handle.estimate(
            _public.prior(self._model, prior), unknown_share(unknown), ratio or 0.0,
            _public.count("steps", steps), given, given.shape[1], wanted, sets,
            _public.threads(threads), progress)
        each = [Estimate(*one) for one in found]
        return [each[at:at + sets] for at in range(0, len(each), sets)]

    def __repr__(self) -> str:
        return f"<tem.Channel: {self.inputs:,} inputs, {self.outputs:,} outputs>"


def shares_axes(given: Any) -> tuple[int, ...]:
    """The axes of a matrix after the first: none for a single column."""
    import numpy

    return tuple(numpy.shape(given)[1:])


def _matrix(given: Any, rows: int) -> tuple[Any, Any]:
    """The matrix in the form that C takes, and a function that makes an empty one with as many
    columns."""
    import numpy

    numbers = numpy.ascontiguousarray(given, dtype=numpy.float64)
    if numbers.ndim not in (1, 2) or len(numbers) != rows or numbers.size == 0:
        raise make("argument", f"expected {rows:,} rows of numbers")
    matrix = numbers.reshape(rows, -1)
    return matrix, lambda count: numpy.empty((count, matrix.shape[1]))
