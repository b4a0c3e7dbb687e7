# SPDX-License-Identifier: Apache-2.0
"""Draws in context and the attack on them, in floating point.

    P(y | w, past) = a(y) K(w, y) / Z(w, past)

K is the kernel of a mechanism. a comes from a public language model (language.py) and the words of
the document that are released already. Rows of K and a are padded with zeros (language.padded).
"""
import itertools

import numpy

from . import found
from .arrays import host, quick_product, xp
from .language import PAD, padded

NO_RANK = 65535
CHUNK = 512     # words at a time
PAST = 20       # words
NEAR = (10, 100)


def chunks(count):
    return (slice(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK))


# ------------------------------------------------------------------- kernels

class Ranks:
    """The rank of each output around each word of a model's order (docs/FORMAT.md)."""

    def __init__(self, sequence, groups, block_orders, lists, block):
        """sequence: the outputs; groups: of each word; lists: places on the path of the group."""
        self.sequence, self.groups, self.lists = map(xp().asarray, (sequence, groups, lists))
        self.outputs, self.count = len(sequence), len(groups)
        blocks = xp().argsort(xp().asarray(block_orders), axis=1)  # the place of each block
        self.places = blocks * block
        self.block = xp().arange(self.outputs) // block
        self.inside = xp().arange(self.outputs) % block

    def rows(self, words):
        """The ranks of all words around these words; NO_RANK for those that are no outputs."""
        words = xp().asarray(words)
        place = self.places[self.groups[words]][:, self.block] + self.inside
        lists = self.lists[words].astype(numpy.int64)
        at = xp().arange(len(words))[:, None]
        listed = xp().zeros((len(words), self.outputs), numpy.int32)
        listed[at, lists] = 1
        rank = xp().arange(self.outputs) + lists.shape[1] - xp().cumsum(listed, axis=1)
        rank[at, lists] = xp().arange(lists.shape[1])
        rows = xp().full((len(words), padded(self.count)), NO_RANK, numpy.uint16)
        rows[:, self.sequence] = xp().take_along_axis(rank, place, 1).astype(numpy.uint16)
        return rows


def exact_ranks(vectors, is_output, words):
    """The same for the order of all outputs by closeness to each word."""
    words = xp().asarray(words)
    close = vectors[words] @ vectors.T
    close[xp().arange(len(words)), words] = 9
    close[:, ~is_output] = -9
    order = xp().argsort(-close, axis=1)[:, :int(is_output.sum())]
    rows = xp().full((len(words), padded(len(vectors))), NO_RANK, numpy.uint16)
    rows[xp().arange(len(words))[:, None], order] = xp().arange(order.shape[1]).astype(numpy.uint16)
    return rows


def table(make, count, words=None):
    """The rows of some words, or of all, as one array."""
    words = numpy.arange(count) if words is None else words
    whole = None
    for part in chunks(len(words)):
        rows = make(xp().asarray(words[part]))
        if whole is None:
            whole = xp().empty((len(words), rows.shape[1]), rows.dtype)
        whole[part] = rows
    return whole


# A kernel has rows(at), of all outputs for some words, and columns(outputs, made), which sets made
# to the transposed kernel of a slice of the outputs: a row per output, with all words.

class Rank:
    """h(r) = (1 + (r/c)^power)^(-s/power) around each word. The word itself may be moved from the
    rank 0 to the rank `own`."""

    def __init__(self, ranks, outputs, s, c=1.0, power=1.0, own=0, turned=None):
        """turned: the ranks with a row per output."""
        self.ranks, self.turned = ranks, turned
        h = (1 + (numpy.arange(outputs) / c) ** power) ** (-s / power)
        self.bound = float(numpy.log(h[0] / h[-1]))
        order = numpy.concatenate(([own], numpy.arange(own), numpy.arange(own + 1, outputs)))
        wide = numpy.zeros(NO_RANK + 1, numpy.float32)
        wide[:outputs] = h[order]
        self.h = xp().asarray(wide)

    def rows(self, at):
        return self.h[self.ranks[at]]

    def columns(self, outputs, made):
        xp().take(self.h, self.turned[outputs], out=made, **({} if xp() is not numpy
                                                            else {"mode": "clip"}))


class Exponential:
    """exp(-s min(d, gamma))."""

    def __init__(self, distances, is_output, s, reach):
        self.distances, self.s, self.reach = distances, s, reach
        self.mask = wide_mask(is_output)

    def rows(self, at):
        return xp().exp(-xp().minimum(self.distances[at] * numpy.float32(self.s), self.reach)
                        ) * self.mask

    def columns(self, outputs, made):
        """Distances are symmetric."""
        made[:] = xp().exp(-xp().minimum(self.distances[outputs, :made.shape[1]]
                                         * numpy.float32(self.s), self.reach))
        made *= self.mask[outputs][:, None]


class Coin:
    """1 for the word itself, exp(-s) for all others."""

    def __init__(self, words, is_output, s):
        """words: those of the rows."""
        self.words, self.bound, self.mask = xp().asarray(words), float(s), wide_mask(is_output)
        self.other = numpy.float32(numpy.exp(-s))

    def rows(self, at):
        words = self.words[at]
        rows = xp().repeat(self.mask[None] * self.other, len(words), 0)
        rows[xp().arange(len(words)), words] = self.mask[words]
        return rows

    def columns(self, outputs, made):
        made[:] = self.mask[outputs][:, None] * self.other
        at = xp().arange(len(made))
        made[at, at + outputs.start] = self.mask[outputs]


def wide_mask(is_output):
    mask = numpy.zeros(padded(len(is_output)), numpy.float32)
    mask[:len(is_output)] = is_output
    return xp().asarray(mask)


# ------------------------------------------------------------------- weights

class Weights:
    """Public functions of the past: a language model, and what bounds the lift of the context.

    soft    a = q soft u / (q + soft u): u are frequencies of words
    near    a(y) = min(q(y), near times the mean of q over the words around y): `around` is the
            matrix of these means
    topic   a(y) = q(y) exp(topic cos(y, the mean of the last released content words))
    """

    def __init__(self, language, soft=None, near=None, topic=None, around=None, vectors=None,
                 is_content=None):
        self.language, self.soft, self.near, self.topic = language, soft, near, topic
        self.around, self.vectors, self.is_content = around, vectors, is_content
        self.is_plain = soft is None and near is None and topic is None

    def after(self, past):
        a = self.language.after(past[-2:])
        if self.near is not None:
            mean, a = quick_product(a, self.around.T), a.copy()
            a[:, :mean.shape[1]] = xp().minimum(a[:, :mean.shape[1]], self.near * mean)
        if self.soft is not None:
            cap = self.soft * self.language.single
            a = a * cap / xp().maximum(a + cap, 1e-30)
        if self.topic is not None and len(past) > 1:
            words = xp().stack(past, 1)
            mean = (self.vectors[words] * self.is_content[words][..., None]).sum(1)
            mean /= xp().maximum(xp().sqrt((mean ** 2).sum(1, keepdims=True)), 1e-6)
            close = mean @ self.vectors.T
            a = a.copy()
            a[:, :close.shape[1]] *= xp().exp(self.topic * close)
        return a

    def sums(self, turned, released):
        """As language.Levels.sums."""
        if self.is_plain:
            yield from self.language.sums(turned, released)
        else:
            for t in range(released.shape[1]):
                yield quick_product(self.after(recent(released, t)), turned)


def recent(released, t):
    """The past at position t, as far as any weights look back."""
    return [released[:, i] for i in range(max(0, t - PAST), t)]


# ---------------------------------------------------------------------- draw

def choose(p, uniform):
    """A column of each row of p, in proportion to p."""
    parts = p.reshape(len(p), -1, PAD)
    sums = xp().cumsum(parts.sum(2, dtype=numpy.float64), axis=1)
    goal = uniform[:, None] * sums[:, -1:]
    part = xp().minimum((sums <= goal).sum(1), sums.shape[1] - 1)
    at = xp().arange(len(p))
    before = xp().where(part > 0, sums[at, xp().maximum(part - 1, 0)], 0)
    inside = xp().cumsum(parts[at, part].astype(numpy.float64), axis=1)
    return part * PAD + xp().minimum((inside <= goal - before[:, None]).sum(1), PAD - 1)


class Measured:
    """Exact means over all outputs, at each position of a draw: how often the word stays, where it
    goes, and how near that is. `near`: the nearest words of each word of the texts."""

    def __init__(self, vectors, near, index, shape):
        self.vectors, self.near, self.index = vectors, near, index
        self.stays, self.cosine = xp().zeros(shape), xp().zeros(shape)
        self.nearby = [xp().zeros(shape) for _ in NEAR]

    def add(self, t, words, p):
        p = p / p.sum(1, keepdims=True)
        self.stays[:, t] = p[xp().arange(len(p)), words]
        cosines = self.vectors[words] @ self.vectors.T
        self.cosine[:, t] = (p[:, :cosines.shape[1]] * cosines).sum(1)
        near = self.near[self.index[words]]
        for count, array in zip(NEAR, self.nearby):
            array[:, t] = xp().take_along_axis(p, near[:, :count], 1).sum(1)


def draw(kernel, weights, original, uniform, index=None, measured=None):
    """Released words for `original`, a row per document; -1 after the end of a document, and longer
    documents come first. index: the row of the kernel for each word."""
    released = xp().full(original.shape, -1, numpy.int64)
    lengths = host((original >= 0).sum(1))
    for t in range(original.shape[1]):
        alive = int((lengths > t).sum())
        if alive == 0:
            break
        words = original[:alive, t]
        p = kernel.rows(words if index is None else index[words])
        if weights is not None:
            p *= weights.after(recent(released[:alive], t))
        if measured is not None:
            measured.add(t, words, p)
        released[:alive, t] = choose(p, uniform[:alive, t])
    return released


# -------------------------------------------------------------------- attack

def likelihoods(turned, weights, released):
    """Yields, for each position, the likelihood of all words, a row per document, divided by the
    largest. turned: the kernel of all words, with a row per output."""
    totals = (itertools.repeat(turned.sum(0)[None]) if weights is None
              else weights.sums(turned, released))
    for t, total in zip(range(released.shape[1]), totals):
        like = turned[released[:, t]] / xp().maximum(total, found.LEAST)
        yield like / xp().maximum(like.max(1, keepdims=True), found.LEAST)


def attack(model, turned, weights, released, candidates):
    """The words that the attacker of found.py names; and for some lengths the share of documents
    whose source, among the candidates, is named rightly: document i comes from candidate i."""
    likely, links, score = [], {}, xp().zeros((len(released), len(candidates)))
    for t, like in enumerate(likelihoods(turned, weights, released)):
        likely.append(xp().ascontiguousarray(like.T))
        score += xp().log(xp().maximum(like[:, candidates[:, t]], found.LEAST))
        if t + 1 in (10, 20, 30, 40):
            right = score.argmax(1) == xp().arange(len(released))
            links[f"linked_{t + 1}"] = float(right.mean())
    named = xp().empty(released.shape, numpy.int64)
    for t, posterior in found.posteriors_of(model, likely):
        named[:, t] = posterior.argmax(0)
    return named, links
