# SPDX-License-Identifier: Apache-2.0
"""The laws of all words at once, for plain TEM: P(y|w) in proportion to exp(-s min(d(w,y), gamma)).

One pass computes the n x n probabilities in blocks of rows, in float32, and keeps sums of them.
"""
import dataclasses

import numpy

from .arrays import host, xp

BETA = 0.001
ROWS = 128           # of a block: 128 x 33,845 floats are 17 MB
ROWS_GPU = 1024      # fewer and longer steps
TYPICAL_SLOPE = 7.5  # of logit(guess) over log(s), for the first step
NEAR = (10, 100)     # how many nearest words count as near


def reach(count):
    """s gamma, as tem computes gamma from beta."""
    return float(numpy.log1p(-BETA) + numpy.log(count - 1) - numpy.log(BETA))


def block_rows():
    return ROWS if xp() is numpy else ROWS_GPU


class Space:
    def __init__(self, vectors, excluded=()):
        """Excluded words are inputs, never outputs."""
        x = numpy.asarray(vectors, numpy.float64)
        self.x = x - x.mean(0)  # smaller numbers, smaller rounding errors; the distances stay
        self.count = len(x)
        self.excluded = numpy.asarray(excluded, numpy.int64)

    def blocks(self, s):
        """Yields (first, last, s d) for all blocks of rows; the array is used again."""
        rows = block_rows()
        x = self.x * s
        squares = (x * x).sum(1, keepdims=True)
        ones = numpy.ones_like(squares)
        left = xp().asarray(numpy.hstack((-2 * x, squares, ones)).astype(numpy.float32))
        right = xp().ascontiguousarray(xp().asarray(
            numpy.hstack((x, ones, squares)).T.astype(numpy.float32)))
        block = xp().empty((rows, self.count), numpy.float32)
        for first in range(0, self.count, rows):
            last = min(first + rows, self.count)
            d = block[:last - first]
            xp().matmul(left[first:last], right, out=d)
            xp().maximum(d, 0, out=d)
            d[xp().arange(last - first), xp().arange(first, last)] = 0
            yield first, last, xp().sqrt(d, out=d)


def nearest(vectors, count):
    """The `count` nearest words of each word, itself left out, nearest first."""
    space = Space(vectors)
    found = numpy.empty((space.count, count), numpy.int32)
    for first, last, d in space.blocks(1.0):
        d = host(d)
        d[numpy.arange(last - first), numpy.arange(first, last)] = numpy.inf
        near = numpy.argpartition(d, count - 1, axis=1)[:, :count]
        order = numpy.argsort(numpy.take_along_axis(d, near, 1), axis=1, kind="stable")
        found[first:last] = numpy.take_along_axis(near, order, 1)
    return found


class Draws:
    """Draws an output for each of many words, in the order of the words given."""

    def __init__(self, words, count, seed):
        self.order = numpy.argsort(words, kind="stable")
        self.ends = numpy.cumsum(numpy.bincount(words, minlength=count))
        self.outputs = numpy.empty(len(words), numpy.int32)
        self.random = numpy.random.default_rng(seed)
        self.sums = numpy.empty((block_rows(), count))

    def add(self, first, probabilities):
        sums = numpy.cumsum(probabilities, axis=1, dtype=numpy.float64,
                            out=self.sums[:len(probabilities)])
        for row, word in enumerate(range(first, first + len(probabilities))):
            begin, end = self.ends[word - 1] if word else 0, self.ends[word]
            if begin < end:
                at = self.random.random(end - begin) * sums[row, -1]
                drawn = numpy.searchsorted(sums[row], at, side="right")
                self.outputs[self.order[begin:end]] = numpy.minimum(drawn, sums.shape[1] - 1)


class BestGuess:
    """For each output the word that an attacker names: the one with the largest prior(w) P(y|w)."""

    def __init__(self, prior):
        self.prior = xp().asarray((prior / prior.sum()).astype(numpy.float32))
        self.best = xp().full(len(prior), -1, numpy.float32)
        self.word = xp().zeros(len(prior), numpy.int64)

    def add(self, first, probabilities, scratch):
        joint = xp().multiply(probabilities, self.prior[first:first + len(probabilities), None],
                              out=scratch)
        top = joint.max(0)
        better = xp().flatnonzero(top > self.best)
        self.word[better] = first + joint[:, better].argmax(0)
        self.best[better] = top[better]

    def success(self, frequencies):
        probability = host(self.best.astype(float) / self.prior[self.word])
        return float((frequencies[host(self.word)] * probability).sum())


@dataclasses.dataclass
class Laws:
    stays: numpy.ndarray      # N_w
    support: numpy.ndarray    # S_w
    guess_vocabulary: float
    guess_text: float
    near: numpy.ndarray       # n x 2: the probability of an output among the nearest, less itself


def measure(space, s, prior, frequencies, near=None, draws=None, also=()):
    """One pass over all laws at the exponent s. `near` has the nearest words of each word;
    `draws` gets the laws as well, and so do the objects of `also` (outputs.py)."""
    count, limit = space.count, reach(space.count)
    stays, support = numpy.empty(count), numpy.empty(count)
    shares = numpy.zeros((count, len(NEAR)))
    top = xp().zeros(count, numpy.float32)
    guess = BestGuess(prior)
    buffer = xp().empty((block_rows(), count), numpy.float32)
    excluded = xp().asarray(space.excluded)
    for first, last, d in space.blocks(s):
        xp().minimum(d, limit, out=d)
        p = xp().negative(d, out=buffer[:last - first])
        xp().exp(p, out=p)
        if len(excluded) > 0:
            p[:, excluded] = 0
        z = p.sum(1)
        stays[first:last] = host(1 / z)
        support[first:last] = host(xp().exp(xp().log(z) + xp().einsum("ij,ij->i", p, d) / z))
        p *= (1 / z)[:, None]
        xp().maximum(top, p.max(0), out=top)
        guess.add(first, p, d)
        if near is not None:
            chosen = host(xp().take_along_axis(p, xp().asarray(near[first:last]), 1))
            shares[first:last] = numpy.stack([chosen[:, :k].sum(1) for k in NEAR], 1)
        if draws is not None:
            draws.add(first, host(p))
        for listener in also:
            listener.add(first, p)
    stays[space.excluded] = 0
    return Laws(stays, support, float(host(top).mean(dtype=float)), guess.success(frequencies),
                shares)


def logit(share):
    return numpy.log(share / (1 - share))


def slope_of(points):
    """How fast the logit of the guess grows with log s, from two points."""
    (a, u), (b, v) = points
    return max((logit(v) - logit(u)) / (numpy.log(b) - numpy.log(a)), 1.0)


def next_exponent(points, target):
    """The next s to try, from points (s, guess) in any order: the secant through the two nearest to
    the target, in log s and logit; a step outside of what was tried is at most a quarter."""
    points = sorted(points)
    lower = [point for point in points if point[1] < target]
    upper = [point for point in points if point[1] >= target]
    if lower and upper:
        (a, u), (b, v) = lower[-1], upper[0]
        share = (logit(target) - logit(u)) / (logit(v) - logit(u))
        return float(a * (b / a) ** min(max(share, 0.02), 0.98))
    edge = points[-1] if lower else points[0]
    slope = TYPICAL_SLOPE if len(points) < 2 else slope_of(points[-2:] if lower else points[:2])
    factor = float(numpy.exp((logit(target) - logit(edge[1])) / slope))
    return edge[0] * min(max(factor, 0.8), 1.25)


def find_exponent(evaluate, target, points, start=1.0, tolerance=0.001, tries=20):
    """The s at which the guess is the target, to within the tolerance. evaluate(s) returns the
    guess; points are those known already, and get the new ones."""
    for _ in range(tries):
        near = min(points, key=lambda point: abs(point[1] - target), default=None)
        if near is not None and abs(near[1] - target) <= tolerance:
            return near[0]
        s = next_exponent(points, target) if points else start
        points.append((s, evaluate(s)))
    raise ValueError(f"no exponent found for guess {target}")


def quantiles(values, weights, shares):
    """Weighted quantiles: the smallest value with at least this share of the weight at or below."""
    order = numpy.argsort(values, kind="stable")
    sums = numpy.cumsum(weights[order])
    at = numpy.searchsorted(sums, numpy.asarray(shares) * sums[-1] * (1 - 1e-12), side="left")
    return values[order][numpy.minimum(at, len(values) - 1)]
