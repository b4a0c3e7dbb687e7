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
import numpy

from . import laws, outputs
from .arrays import host, sparse, xp

SMOOTHING = 30.0   # the bigrams of a word weigh as much as its single words after 30 occurrences
NEAR = (10, 100)
LINKED = (10, 30)  # words of a text that is linked to its source
AT_ONCE = 100      # texts that the attack reads together
ROWS = 256         # words at once, where a step needs all their cosines
DRAWN = 300        # of each word, where there is no law
LEAST = 1e-30      # below it a float32 loses digits


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

class Scene:
    """What is the same for all laws: the attacked texts, a row of words for each, all as long; what
    the attacker knows; the vectors that say which words are near. `candidates` are texts of which
    one is said to be the source; the first are the attacked ones. `frequencies`, of words, are
    those that the guess is weighed with: by default those of the attacked texts."""

    def __init__(self, model, vectors, original, is_function, candidates=None, frequencies=None):
        self.model, self.original, self.content = model, original, ~is_function[original]
        self.candidates = candidates
        counted = numpy.bincount(original.ravel(), minlength=model.count)
        self.frequencies = counted / counted.sum() if frequencies is None else frequencies
        self.tokens = outputs.Tokens(original.ravel(), model.count)
        self.vectors, self.words = xp().asarray(vectors), numpy.unique(original)
        self.near = xp().concatenate([self._nearest(self.words[first:first + ROWS])
                                      for first in range(0, len(self.words), ROWS)])

    def cosines(self, words):
        return self.vectors[xp().asarray(words)] @ self.vectors.T

    def _nearest(self, words):
        cosines = self.cosines(words)
        cosines[xp().arange(len(words)), xp().asarray(words)] = -2
        return xp().argsort(-cosines, axis=1)[:, :max(NEAR)]


class Words:
    """What a law does to the words of a scene: exact sums over all outputs."""

    def __init__(self, scene):
        size = len(scene.words)
        self.scene = scene
        self.stays, self.support = numpy.zeros(size), numpy.zeros(size)  # N_w, S_w
        self.near = numpy.zeros((size, len(NEAR)))  # P(y among the nearest, y is not w)
        self.cosine = numpy.zeros(size)             # the mean, w itself included

    def add(self, first, p):
        begin, end = numpy.searchsorted(self.scene.words, (first, first + len(p)))
        if begin < end:
            self.put(slice(begin, end), p[xp().asarray(self.scene.words[begin:end] - first)])

    def put(self, here, rows):
        """The rows of the law for some of the words."""
        words = self.scene.words[here]
        logs = xp().log(xp().maximum(rows, LEAST))
        self.support[here] = host(xp().exp(-(rows * logs).sum(1)))
        self.cosine[here] = host((rows * self.scene.cosines(words)).sum(1))
        self.stays[here] = host(rows[xp().arange(len(words)), xp().asarray(words)])
        shares = xp().take_along_axis(rows, self.scene.near[here], 1)
        self.near[here] = host(xp().stack([shares[:, :k].sum(1) for k in NEAR], 1))

    def describe(self):
        """The measures over the content words of the texts."""
        at = numpy.searchsorted(self.scene.words, self.scene.original[self.scene.content])
        stays, support, cosine = self.stays[at], self.support[at], self.cosine[at]
        changed = max((1 - stays).sum(), 1e-12)
        near = self.near[at].sum(0) / changed
        return {"near10": float(near[0]), "near100": float(near[1]),
                "cosine_content": float(cosine.mean()),
                "cosine_changed": float((cosine - stays).sum() / changed),
                "stays_mean": float(stays.mean()), "stays_median": float(numpy.median(stays)),
                "stays_95": float(numpy.quantile(stays, 0.95)),
                "support_median": float(numpy.median(support)),
                "support_5": float(numpy.quantile(support, 0.05))}


def words_drawn(law, scene, seed):
    """The same from DRAWN draws of each word, for a mechanism whose law is only estimated."""
    words = Words(scene)
    for first in range(0, len(scene.words), ROWS):
        chosen = scene.words[first:first + ROWS]
        drawn = law.draw(numpy.repeat(chosen, DRAWN), 1000003 * seed + first)
        cells = xp().repeat(xp().arange(len(chosen)), DRAWN) * scene.model.count + drawn
        counts = xp().bincount(cells, minlength=len(chosen) * scene.model.count)
        words.put(slice(first, first + len(chosen)),
                  (counts.reshape(len(chosen), -1) / DRAWN).astype(numpy.float32))
    return words


class Pairs:
    """The rows of a law for the words of some pairs, and the loss of each pair: the largest
    |ln P(y|w) - ln P(y|v)| over all outputs y."""

    def __init__(self, pairs, count):
        self.pairs = pairs  # {kind: (words, other words)}
        self.words = numpy.unique(numpy.concatenate([side for pair in pairs.values()
                                                     for side in pair]))
        self.rows = xp().empty((len(self.words), count), numpy.float32)

    def add(self, first, p):
        begin, end = numpy.searchsorted(self.words, (first, first + len(p)))
        self.rows[begin:end] = p[xp().asarray(self.words[begin:end] - first)]

    def losses(self, outputs):
        logs = xp().log(self.rows[:, xp().asarray(outputs)])
        return {kind: numpy.array([float(xp().abs(logs[a] - logs[b]).max()) for a, b in
                                   zip(*(numpy.searchsorted(self.words, side) for side in pair))])
                for kind, pair in self.pairs.items()}


# ------------------------------------------------------------------ linkage

def linkage(columns, places, candidates):
    """How often the likeliest of the candidates, by the law, is the source: for each number of
    LINKED words. Where several are the likeliest, one of them is named at random."""
    linked, likely = {}, xp().zeros((len(places), len(candidates)))
    for t in range(min(max(LINKED), candidates.shape[1])):
        p = columns[xp().asarray(places[:, t])[:, None], xp().asarray(candidates[:, t])[None]]
        likely += xp().log(xp().maximum(p, LEAST))
        if t + 1 in LINKED:
            best = likely >= likely.max(1, keepdims=True) - 1e-3
            right = best[xp().arange(len(places)), xp().arange(len(places))]
            linked[f"linked{t + 1}"] = float((right / best.sum(1)).mean())
    return linked


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


def guess_of(law, scene, listeners):
    """Hands the law on to the listeners; returns how often the best guess is right."""
    guess = laws.BestGuess(scene.model.prior)
    for first, p in law.blocks():
        guess.add(first, p, xp().empty_like(p))
        for listener in listeners:
            listener.add(first, p)
    return guess.success(scene.frequencies)


def measure(law, scene, seeds=(1,), listeners=(), released=None):
    """All measures of a law: for each seed those of one draw of the texts, beside the exact ones.
    `released` replaces the draws. A law with a function draw is an estimate: the words are drawn by
    this function, and the law is what the attacker knows."""
    words, shape = Words(scene), scene.original.shape
    draws = outputs.Draws(scene.tokens, [[seed, 1] for seed in seeds])
    guess = guess_of(law, scene, (words, draws, *listeners))
    if hasattr(law, "draw"):
        support, words = words.support, words_drawn(law, scene, 1)
        words.support = support
        released = [host(law.draw(scene.original.ravel(), seed)) for seed in seeds]
    elif released is None:
        released = [host(part) for part in draws.outputs]
    released = [part.reshape(shape) for part in released]
    seen = numpy.unique(numpy.concatenate([part.ravel() for part in released]))
    columns = Columns(scene.model.count, seen)
    for first, p in law.blocks():
        columns.add(first, p)
    columns = columns.finish()
    exact = {"guess": guess, "texts": len(scene.original),
             "positions": int(scene.content.sum())} | words.describe()
    return [attacked(scene, columns, seen, part) | exact for part in released]


def attacked(scene, columns, seen, released):
    """What an attacker achieves on one draw. `columns` has a row per word of `seen`."""
    named = attack(scene.model, columns, released, seen)
    hits = (named == scene.original) & scene.content
    row = {"found": float(hits.sum() / scene.content.sum()),
           "interval": interval(hits, scene.content)}
    if scene.candidates is not None:
        row |= linkage(columns, numpy.searchsorted(seen, released), scene.candidates)
    return row
