"""tem.learn.Channel: the laws of all words as a matrix, and what they tell about released text.

Only public numbers and released text go in: nothing here spends privacy. docs/LEARNING.md has the
formulas.
"""
from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy

from . import _public, _tem
from ._errors import make
from ._model import Model, _count, _threads
from ._options import Progress


class Deconvolution(NamedTuple):
    """The shares of the input words, a row per input; the number of steps made; and the mean
    ln(probability) of a released word, of a held-out one if there are any."""

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


class Channel:
    """The laws of all words of a model at once: the matrix P with P[w, y] = P(y | w).

    Made by `Model.channel`. P has a row per input: the words of the model in their order and, as
    the last row, all unknown words, which share one law. It has a column per word of the model.
    tem does not store P: each product computes it anew, in seconds for the default model. Matrices
    are NumPy arrays; a matrix of one column may have one axis.

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
    def _wrap(cls, model: Model, handle: _tem.Channel) -> Self:
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
        given = _matrix(shares, self.inputs)
        out = _empty(self.outputs, given.shape[1])
        self._handle.forward(given, given.shape[1], out, _threads(threads), progress)
        return _as_given(out, shares)

    def backward(self, values: Any, *, threads: int | None = None,
                 progress: Progress | None = None) -> Any:
        """P values: the mean of a function of the released word, for each input word."""
        given = _matrix(values, self.outputs)
        out = _empty(self.inputs, given.shape[1])
        self._handle.backward(given, given.shape[1], out, _threads(threads), progress)
        return _as_given(out, values)

    def expect(self, *, prior: _public.Prior = "zipf", unknown: float | None = None) -> Any:
        """The shares of all inputs that the prior expects. They add up to 1."""
        shares = _empty(self.inputs)
        self._handle.expect(_public.prior(self._model, prior), _public.unknown(unknown), shares)
        return shares

    def posterior(self, vectors: Any, *, prior: _public.Prior = "zipf",
                  unknown: float | None = None, threads: int | None = None,
                  progress: Progress | None = None) -> Any:
        """For each output word, the mean of the vectors of the words that may be behind it.

        vectors: a row per word of the model."""
        given = _matrix(vectors, self.outputs)
        out = numpy.empty_like(given)
        self._handle.posterior(_public.prior(self._model, prior), _public.unknown(unknown), given,
                               given.shape[1], out, _threads(threads), progress)
        return _as_given(out, vectors)

    def deconvolve(self, counts: Any, *, held_out: Any = None, steps: int | None = None,
                   prior: _public.Prior = "zipf", unknown: float | None = None,
                   threads: int | None = None, progress: Progress | None = None) -> Deconvolution:
        """Estimates the shares of the input words of groups of texts from the counts of their
        released words.

        counts: a row per word of the model, a column per group. held_out: counts of other texts of
        the same groups; tem stops at the step after which their likelihood is largest. None: tem
        makes exactly `steps` steps. steps: at most this many (100)."""
        given = _matrix(counts, self.outputs)
        others = None if held_out is None else _matrix(held_out, self.outputs)
        if others is not None and others.shape != given.shape:
            raise make("argument", "counts and held_out have different groups")
        out = _empty(self.inputs, given.shape[1])
        made, likelihood = self._handle.deconvolve(
            _public.prior(self._model, prior), _public.unknown(unknown), given, others,
            given.shape[1], _count("steps", steps), out, _threads(threads), progress)
        return Deconvolution(_as_given(out, counts), made, likelihood)

    def estimate(self, counts: Any, members: Any, *, prior: _public.Prior = "zipf",
                 unknown: float | None = None, ratio: float | None = None,
                 steps: int | None = None, threads: int | None = None,
                 progress: Progress | None = None) -> list[list[Estimate]]:
        """Estimates, for each group, the share of each set of words among the words of the original
        texts: a list for each group with an `Estimate` for each set.

        counts: as in `deconvolve`. members: a row per input, a column per set; 1 if the word
        belongs to the set, else 0. ratio: no input word is more than this many times as frequent in
        a group as expected (4). steps: at most this many (30)."""
        given, wanted = _matrix(counts, self.outputs), _matrix(members, self.inputs)
        sets = wanted.shape[1]
        found = self._handle.estimate(
            _public.prior(self._model, prior), _public.unknown(unknown), _public.ratio(ratio),
            _count("steps", steps), given, given.shape[1], wanted, sets,
            _threads(threads), progress)
        each = [Estimate(*one) for one in found]
        return [each[at:at + sets] for at in range(0, len(each), sets)]

    def __repr__(self) -> str:
        return f"<tem.learn.Channel: {self.inputs:,} inputs, {self.outputs:,} outputs>"


def _empty(*shape: int) -> Any:
    return numpy.empty(shape)


def _matrix(given: Any, rows: int) -> Any:
    """The matrix in the form that C takes."""
    numbers = numpy.ascontiguousarray(given, dtype=numpy.float64)
    if numpy.ndim(given) not in (1, 2) or len(numbers) != rows or numbers.size == 0:
        raise make("argument", f"expected {rows:,} rows of numbers")
    return numbers.reshape(rows, -1)


def _as_given(out: Any, given: Any) -> Any:
    """The result, with one axis if the given matrix had one."""
    return out if numpy.ndim(given) == 2 else out[:, 0]
