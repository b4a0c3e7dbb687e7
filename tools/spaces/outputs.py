# SPDX-License-Identifier: Apache-2.0
"""What outputs tell, and outputs themselves, from the laws that laws.measure hands on.

Posterior and Draws get blocks of rows of P by add(first, p), and stay on the GPU if P is there.
"""
import numpy

from .arrays import host, xp

STEPS = 2.0 ** 52  # of a probability; the sum of a block of up to 1,024 rows stays below 2^63


class Posterior:
    """For each output y the mean of columns of numbers over the words that it may come from:
    sum_w prior(w) P(y|w) x_w / sum_w prior(w) P(y|w)."""

    def __init__(self, prior, columns):
        prior = prior / prior.sum()
        self.mean = prior @ columns
        self.variance = prior @ (columns - self.mean) ** 2
        self.prior = xp().asarray(prior.astype(numpy.float32))
        # Less the mean, so that the small differences between outputs survive in float32.
        self.columns = xp().asarray((columns - self.mean).astype(numpy.float32))
        self.sums = xp().zeros(columns.shape, numpy.float32)
        self.weight = xp().zeros(len(prior), numpy.float32)

    def add(self, first, p):
        last = first + len(p)
        prior = self.prior[first:last]
        self.weight += prior @ p
        self.sums += p.T @ (self.columns[first:last] * prior[:, None])

    def _less_the_mean(self):
        """Words that are never outputs get the mean."""
        weight = host(self.weight).astype(float)[:, None]
        return host(self.sums) / numpy.where(weight > 0, weight, 1), weight

    def vectors(self):
        """One row per output."""
        return self._less_the_mean()[0] + self.mean

    def explained(self):
        """The share of the variance of each column that the output explains, under the prior."""
        vectors, weight = self._less_the_mean()
        return (weight * vectors ** 2).sum(0) / weight.sum() / self.variance


class Tokens:
    """Words of texts in the order of their ids, so that a block of rows has a run of them."""

    def __init__(self, words, count):
        self.count = len(words)
        order = numpy.argsort(words, kind="stable")
        self.order = xp().asarray(order.astype(numpy.int32))
        self.words = xp().asarray(words[order].astype(numpy.int32))
        self.ends = numpy.concatenate(([0], numpy.cumsum(numpy.bincount(words, minlength=count))))


class Draws:
    """Draws an output for each token, once for each seed. outputs[i] has those of seeds[i], in the
    order of the words given.

    Probabilities become whole numbers. Their sums are exact, so that the order in which a GPU adds
    does not matter, and a word of probability 0 is never drawn."""

    def __init__(self, tokens, seeds):
        self.tokens = tokens
        self.outputs = [xp().zeros(tokens.count, numpy.int32) for _ in seeds]
        self.random = [numpy.random.default_rng(seed) for seed in seeds]

    def add(self, first, p):
        begin, end = (int(self.tokens.ends[at]) for at in (first, first + len(p)))
        if begin == end or not self.outputs:
            return
        sums = xp().cumsum(xp().rint(p.astype(numpy.float64) * STEPS).astype(numpy.int64).ravel())
        ends = sums[p.shape[1] - 1::p.shape[1]]  # of the rows
        starts = xp().concatenate((xp().zeros(1, numpy.int64), ends[:-1]))
        row = self.tokens.words[begin:end].astype(numpy.int64) - first
        start, size = starts[row], (ends - starts)[row]
        for outputs, random in zip(self.outputs, self.random):
            # Below `size` also after rounding: random() is at most 1 - 2^-53, and size near 2^52.
            at = (xp().asarray(random.random(end - begin)) * size).astype(numpy.int64)
            drawn = xp().searchsorted(sums, start + at, side="right") - row * p.shape[1]
            outputs[self.tokens.order[begin:end]] = drawn.astype(numpy.int32)
