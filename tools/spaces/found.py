# SPDX-License-Identifier: Apache-2.0
"""Found: how often an attacker names the content word behind a released word.

The attacker knows the law of each word, all released words of a text, and a language model of
public text of the same kind: bigrams, smoothed with the counts of single words. For each position
the attacker names the likeliest word, of all words, by the forward-backward posterior. Found is the
share of right names over the positions whose original is a content word: a known word that is not
on a list of function words.

A law is an object with blocks(), which yields (first, p): rows of P(y|w) for the words from `first`
on, as in mechanisms.py.
"""
import dataclasses

import numpy

from . import laws
from .arrays import host, xp

SMOOTHING = 30.0  # the bigrams of a word weigh as much as its single words after 30 occurrences
NEAR = (10, 100)
AT_ONCE = 100     # texts that the attack reads together
LEAST = 1e-30     # below it a float32 loses digits


def sparse():
    if xp() is numpy:
        import scipy.sparse
        return scipy.sparse
    import cupyx.scipy.sparse
    return cupyx.scipy.sparse


def count_bigrams(texts):
    """Returns pairs of neighbors in the same document and how often each occurs."""
    first = numpy.ones(len(texts.ids), bool)
    first[texts.starts[:-1][numpy.diff(texts.starts) > 0]] = False
    after = numpy.flatnonzero(first)
    size = int(texts.ids.max(initial=0)) + 1
    keys = texts.ids[after - 1].astype(numpy.int64) * size + texts.ids[after]
    keys, counts = numpy.unique(keys, return_counts=True)
    return keys // size, keys % size, counts


class Bigrams:
    """P(b|a) = (c(a b) + k prior(b)) / (c(a) + k), where c(a) counts the bigrams that begin with a;
    prior(b) is the share of b in the text after 1/2 was added to each count. The first word of a
    text has the prior."""

    def __init__(self, texts, count, smoothing=SMOOTHING):
        a, b, counts = count_bigrams(texts)
        prior = numpy.bincount(texts.ids, minlength=count) + 0.5
        self.prior = prior / prior.sum()
        self.count = count
        total = numpy.bincount(a, counts, minlength=count) + smoothing
        self.single = xp().asarray(self.prior.astype(numpy.float32))[:, None]
        self.left = xp().asarray((smoothing / total).astype(numpy.float32))[:, None]
        share = (counts / total[a]).astype(numpy.float32)
        shape = {"shape": (count, count)}
        self.pairs = sparse().csr_matrix((xp().asarray(share), (xp().asarray(a), xp().asarray(b))),
                                         **shape)
        self.turned = self.pairs.T.tocsr()

    def forward(self, now):
        """The sums over a of now(a) P(b|a); a column of `now` is a text."""
        return self.turned @ now + self.single * (self.left * now).sum(0)

    def backward(self, after):
        """The sums over b of P(b|a) after(b)."""
        return self.pairs @ after + self.left * (self.single * after).sum(0)


# ------------------------------------------------------------------- attack

def normalised(columns):
    return columns / xp().maximum(columns.sum(0), LEAST)


def posteriors(model, columns, places):
    """Yields, from the last position to the first, the posterior of all words: an array with a
    column per text. `columns` has a row of P(y|.) per released word y, and places[i, t] is the row
    of the word at position t of text i."""
    likely = [xp().ascontiguousarray(columns[xp().asarray(places[:, t])].T)
              for t in range(places.shape[1])]
    return posteriors_of(model, likely)


def posteriors_of(model, likely):
    """The same from the likelihoods of all words at each position: a column per text."""
    before, now = [], xp().broadcast_to(model.single, likely[0].shape)
    for t, like in enumerate(likely):
        now = normalised(like * (model.forward(now) if t else now))
        before.append(now)
    after = xp().ones_like(now)
    for t in reversed(range(len(likely))):
        yield t, before[t] * after
        after = normalised(model.backward(after * likely[t]))


def attack(model, columns, released, outputs):
    """The word that the attacker names at each position. `columns` has a row per word of `outputs`,
    which are sorted; all texts have the same length."""
    named = numpy.empty(released.shape, numpy.int64)
    for first in range(0, len(released), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        places = numpy.searchsorted(outputs, released[part])
        for t, posterior in posteriors(model, columns, places):
            named[part, t] = host(posterior.argmax(0))
    return named


class Columns:
    """Gathers P(y|.) for some outputs y from the blocks of a law, a row per output, each divided by
    its largest value: the attack needs ratios only."""

    def __init__(self, count, outputs):
        self.outputs = xp().asarray(outputs)
        self.rows = xp().empty((len(outputs), count), numpy.float32)

    def add(self, first, p):
        self.rows[:, first:first + len(p)] = p[:, self.outputs].T

    def finish(self):
        self.rows /= xp().maximum(self.rows.max(1, keepdims=True), LEAST)
        return self.rows


# ----------------------------------------------------------------- measures

@dataclasses.dataclass
class Words:
    """What the law does to some words: exact sums over all outputs. Cosines and the nearest words
    are by the centered unit vectors."""
    words: numpy.ndarray
    stays: numpy.ndarray     # N_w
    support: numpy.ndarray   # S_w
    near: numpy.ndarray      # a column per number of NEAR: P(y among the nearest, y is not w)
    cosine: numpy.ndarray    # the mean, w itself included

    @classmethod
    def of(cls, words):
        size = len(words)
        return cls(words, *(numpy.zeros(size) for _ in range(2)), numpy.zeros((size, len(NEAR))),
                   numpy.zeros(size))

    def add(self, first, p, vectors):
        here = slice(*numpy.searchsorted(self.words, (first, first + len(p))))
        words = self.words[here]
        if len(words) == 0:
            return
        rows, at = p[xp().asarray(words - first)], xp().arange(len(words))
        logs = xp().log(xp().maximum(rows, LEAST))
        self.support[here] = host(xp().exp(-(rows * logs).sum(1)))
        cosines = vectors[xp().asarray(words)] @ vectors.T
        self.cosine[here] = host((rows * cosines).sum(1))
        self.stays[here] = host(rows[at, xp().asarray(words)])
        cosines[at, xp().asarray(words)] = -2
        order = xp().argsort(-cosines, axis=1)[:, :max(NEAR)]
        shares = xp().take_along_axis(rows, order, 1)
        self.near[here] = host(xp().stack([shares[:, :k].sum(1) for k in NEAR], 1))


def centred(vectors):
    """Unit length, less the mean, and unit length again."""
    for shift in (0, 1):
        x = vectors - vectors.mean(0) if shift else vectors
        vectors = x / numpy.maximum(numpy.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return vectors.astype(numpy.float32)


def first_words(texts, count, length):
    """The first `length` known words of the first `count` documents that have as many."""
    long = numpy.flatnonzero(numpy.diff(texts.starts) >= length)[:count]
    if len(long) == 0:
        raise ValueError(f"no document has {length} known words")
    return texts.ids[texts.starts[long][:, None] + numpy.arange(length)].astype(numpy.int64)


def interval(hits, content):
    """Half of the 95 % interval of found: texts are drawn, not words."""
    share = hits.sum() / content.sum()
    rest = hits.sum(1) - share * content.sum(1)
    return float(1.96 * numpy.sqrt((rest ** 2).sum()) / content.sum())


def describe(words, original, content):
    """The exact measures over the content words of the text."""
    at = numpy.searchsorted(words.words, original[content])
    stays, support, cosine = words.stays[at], words.support[at], words.cosine[at]
    changed = max((1 - stays).sum(), 1e-12)
    near = [float(share) for share in words.near[at].sum(0) / changed]
    return {"near10": near[0], "near100": near[1], "cosine_content": float(cosine.mean()),
            "cosine_changed": float((cosine - stays).sum() / changed),
            "stays_mean": float(stays.mean()), "stays_median": float(numpy.median(stays)),
            "support_median": float(numpy.median(support))}


def measure(law, model, vectors, original, is_function, seed=1, released=None):
    """All measures of a law on texts of equal length. `released` replaces the draw."""
    count = model.count
    words = Words.of(numpy.unique(original))
    vectors = xp().asarray(vectors)
    frequencies = numpy.bincount(original.ravel(), minlength=count) / original.size
    guess = laws.BestGuess(model.prior)
    draws = laws.Draws(original.ravel(), count, seed)
    for first, p in law.blocks():
        words.add(first, p, vectors)
        draws.add(first, host(p))
        guess.add(first, p, xp().empty_like(p))
    released = draws.outputs.reshape(original.shape) if released is None else released
    outputs = numpy.unique(released)
    columns = Columns(count, outputs)
    for first, p in law.blocks():
        columns.add(first, p)
    named = attack(model, columns.finish(), released, outputs)
    content = ~is_function[original]
    hits = (named == original) & content
    return {"found": float(hits.sum() / content.sum()), "interval": interval(hits, content),
            "guess": guess.success(frequencies), "texts": len(original),
            "positions": int(content.sum())} | describe(words, original, content)
