# SPDX-License-Identifier: Apache-2.0
"""Orders of all outputs around each word, for the mechanism rank: one permutation per word.

Closeness is the dot product of centered unit vectors, in steps of 2^-14, ties by id. `parse` makes
an order from its name:

  exact          all outputs by closeness to the word
  own:K:C        the K nearest; then C clusters (k-means), by their centroids' closeness to that of
                 the word's cluster
  word:K:C       the same, by their centroids' closeness to the word
  member:K:B     the K nearest; then blocks of B words, by their nearest member's closeness to the
                 word
  groups:K:B:G   the K nearest to a smoothed query; then blocks of B words, by their nearest
                 member's closeness to the centroid of the word's group of at most G words
  groups:K:B:G:P the same with P percent of the smoothing; with 0 the list has the K nearest words

Within a cluster or block the words stand by id. The word itself is first, if it is an output. An
order's ranks(chosen) returns, for some words, the rank of all words: 0 to m - 1 for the m outputs,
and m for a word that is no output.
"""
import numpy

from .arrays import host, stable_order, xp
from .laws import block_rows

CANDIDATES, SMOOTHED, GROUP_WEIGHT = 384, 10, 0.5
MEANS, CUTS = 12, 8   # passes of k-means, and of a cut in two
FAR = -9.0            # closer than no word


def unit(x):
    return x / numpy.maximum(numpy.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def chunks(count):
    rows = block_rows()
    return (numpy.arange(first, min(first + rows, count)) for first in range(0, count, rows))


def nearest(vectors, chosen, excluded, number):
    """The nearest outputs of some words, themselves first."""
    close = vectors[chosen] @ vectors.T
    close[:, excluded] = FAR
    close[numpy.arange(len(chosen)), chosen] = 9
    return numpy.argsort(-close, axis=1, kind="stable")[:, :number]


class Words:
    """Centered unit vectors, the outputs, the nearest outputs of each word, itself first, and the
    rank of each output by closeness."""

    def __init__(self, vectors, excluded):
        self.x, self.count = vectors, len(vectors)
        self.is_output = numpy.ones(self.count, bool)
        self.is_output[excluded] = False
        self.outputs, self.excluded = numpy.flatnonzero(self.is_output), excluded
        self.there = xp().asarray(vectors)
        self.blocks, self.groups = {}, {}  # made once, by their sizes
        self._sort()

    def closeness(self, queries, words):
        """Of all words to the queries of these; of excluded ones FAR, of the word itself 9."""
        close = xp().asarray(queries) @ self.there.T
        close[:, xp().asarray(self.excluded)] = FAR
        own = numpy.flatnonzero(self.is_output[words])
        close[xp().asarray(own), xp().asarray(words[own])] = 9
        return close

    def _sort(self):
        number = min(CANDIDATES, len(self.outputs))
        self.near = numpy.empty((self.count, number), numpy.int32)
        self.exact = xp().empty((self.count, self.count), numpy.uint16)
        for rows in chunks(self.count):
            order = by_closeness(self.closeness(self.there[rows[0]:rows[-1] + 1], rows))
            self.near[rows] = host(order[:, :number])
            self.exact[rows[0]:rows[-1] + 1] = ranks_of(order, len(self.outputs))


def by_closeness(close):
    """All words, the closest first: 16-bit numbers are sorted ten times as fast as floats."""
    steps = (xp().clip(1 - close, 0, 3) * 2 ** 14 + 1).astype(numpy.uint16)
    steps[close == 9] = 0
    steps[close == FAR] = 65535
    return stable_order(steps)


def ranks_of(order, outputs):
    """The place of each word in each row of `order`, at most `outputs`."""
    ranks = xp().empty(order.shape, numpy.uint16)
    places = xp().minimum(xp().arange(order.shape[1]), outputs).astype(numpy.uint16)
    ranks[xp().arange(len(order))[:, None], order] = places
    return ranks


# ----------------------------------------------------------------- clusters

def means_of(x, parts, count):
    order = numpy.argsort(parts, kind="stable")
    starts = numpy.searchsorted(parts[order], numpy.arange(count))
    sums = numpy.add.reduceat(x[order], numpy.minimum(starts, len(x) - 1), axis=0)
    sums[numpy.bincount(parts, minlength=count) == 0] = 0
    return unit(sums)


def k_means(words, count):
    """The cluster of each word, and the unit centroids."""
    random = numpy.random.default_rng(1)
    centroids = words.x[random.choice(words.count, count, replace=False)]
    for _ in range(MEANS):
        there = xp().asarray(centroids.T)
        parts = host(xp().concatenate([(words.there[rows[0]:rows[-1] + 1] @ there).argmax(1)
                                       for rows in chunks(words.count)]))
        centroids = means_of(words.x, parts, count)
    return parts, centroids


def cut_in_two(x, left):
    """Which `left` of the rows to put on one side: two means, begun with the row farthest from the
    mean, each step cutting at the place that the size of the side asks for."""
    mean = x.mean(0)
    direction = x[((x - mean) ** 2).sum(1).argmax()] - mean
    for _ in range(CUTS):
        order = numpy.argsort(x @ direction, kind="stable")
        direction = x[order[left:]].mean(0) - x[order[:left]].mean(0)
    order = numpy.argsort(x @ direction, kind="stable")
    return numpy.sort(order[:left]), numpy.sort(order[left:])


def into_blocks(words, size):
    """All outputs in a sequence whose every `size` words are a block: halves of halves, in whole
    blocks. The last block may be shorter."""
    if size in words.blocks:
        return words.blocks[size]
    done, todo = [], [words.outputs]
    while todo:
        part = todo.pop()
        blocks = -(-len(part) // size)
        if blocks == 1:
            done.append(part)
        else:
            left, right = cut_in_two(words.x[part], blocks // 2 * size)
            todo += [part[right], part[left]]
    words.blocks[size] = numpy.concatenate(done)
    return words.blocks[size]


def into_groups(words, largest):
    """The group of each word. Words join their nearest word, the closest pairs first, then their
    next four, as long as a group has at most `largest` words."""
    if largest in words.groups:
        return words.groups[largest]
    parent, size = list(range(words.count)), [1] * words.count

    def find(word):
        while parent[word] != word:
            parent[word] = parent[parent[word]]
            word = parent[word]
        return word

    for first, last in ((1, 2), (2, 6)):
        one = numpy.repeat(numpy.arange(words.count), last - first)
        other = words.near[:, first:last].ravel()
        close = (words.x[one] * words.x[other]).sum(1)
        for i in numpy.argsort(-close, kind="stable"):
            a, b = find(int(one[i])), find(int(other[i]))
            if a != b and size[a] + size[b] <= largest:
                parent[a], size[b] = b, size[a] + size[b]
    sets = [find(word) for word in range(words.count)]
    words.groups[largest] = numpy.unique(sets, return_inverse=True)[1]
    return words.groups[largest]


# ------------------------------------------------------------------- orders

class Exact:
    """All outputs by closeness to the word itself."""

    bytes = 0

    def __init__(self, words):
        self.words = words

    def ranks(self, chosen):
        return self.words.exact[xp().asarray(chosen)]


class Listed:
    """A list per word, then clusters: consecutive parts of `sequence`, which begin at `starts`.

    The clusters in the order around a word are a path through all outputs. The ranks are the list,
    then the path without the words of the list."""

    def __init__(self, count, sequence, starts):
        self.count, self.sequence, self.starts = count, sequence, starts
        sizes = numpy.diff(numpy.append(starts, len(sequence)))
        self.sizes = xp().asarray(sizes)
        self.cluster = xp().asarray(numpy.repeat(numpy.arange(len(sizes)), sizes))
        self.inside = xp().asarray(numpy.arange(len(sequence)) - numpy.repeat(starts, sizes))
        self.place = numpy.zeros(count, numpy.int64)  # of an output in the sequence
        self.place[sequence] = numpy.arange(len(sequence))

    def paths(self, chosen):
        """The place on the path around each of the words, for each place of the sequence."""
        at, clusters = xp().arange(len(chosen))[:, None], xp().asarray(self.clusters(chosen))
        sizes = self.sizes[clusters]
        begins = xp().empty_like(sizes)
        begins[at, clusters] = xp().cumsum(sizes, axis=1) - sizes
        return begins[:, self.cluster] + self.inside

    def ranks(self, chosen):
        paths, at = self.paths(chosen), xp().arange(len(chosen))[:, None]
        listed = xp().asarray(self.place)[self.lists(chosen)]
        taken, length = paths[at, listed], listed.shape[1]
        before = xp().zeros(paths.shape, numpy.int32)
        before[at, taken] = 1
        before = xp().cumsum(before, axis=1)
        on_path = length + xp().arange(paths.shape[1]) - before
        on_path[at, taken] = xp().arange(length)
        ranks = xp().full((len(chosen), self.count), len(self.sequence), numpy.uint16)
        on_path = on_path.astype(numpy.uint16)
        ranks[:, xp().asarray(self.sequence)] = xp().take_along_axis(on_path, paths, 1)
        return ranks


class Nearest(Listed):
    """Lists of the nearest words."""

    def __init__(self, words, length, sequence, starts):
        super().__init__(words.count, sequence, starts)
        self.words, self.length = words, length

    def lists(self, chosen):
        return xp().asarray(self.words.near[chosen, :self.length])


class Clusters(Nearest):
    """Far words by k-means clusters, in the order of their centroids."""

    def __init__(self, words, length, count, by_word):
        self.parts, self.centroids = k_means(words, count)
        parts = self.parts[words.outputs]
        sequence = words.outputs[numpy.argsort(parts, kind="stable")]
        super().__init__(words, length, sequence, numpy.searchsorted(numpy.sort(parts),
                                                                     numpy.arange(count)))
        self.by_word = by_word
        self.bytes = 2 * (words.count * length + (words.count if by_word else count) * count)

    def clusters(self, chosen):
        if self.by_word:
            return numpy.argsort(-(self.words.x[chosen] @ self.centroids.T), axis=1, kind="stable")
        own = self.parts[chosen]
        close = self.centroids[own] @ self.centroids.T
        close[numpy.arange(len(own)), own] = 9
        return numpy.argsort(-close, axis=1, kind="stable")


class Blocks(Nearest):
    """Far words by equal blocks, in the order of their nearest members; the last block is last."""

    def __init__(self, words, length, size):
        sequence = into_blocks(words, size)
        super().__init__(words, length, sequence, numpy.arange(0, len(sequence), size))
        self.size = size
        self.bytes = 2 * words.count * (length + len(self.starts))
        self.members = words.there[xp().asarray(sequence)].T

    def by_members(self, queries):
        whole = len(self.starts) * self.size
        close = xp().full((len(queries), whole), FAR, numpy.float32)
        close[:, :len(self.sequence)] = xp().asarray(queries) @ self.members
        close = close.reshape(len(queries), -1, self.size).max(2)
        close[:, -1] = FAR
        return stable_order(-close)

    def clusters(self, chosen):
        return self.by_members(self.words.x[chosen])


class Groups(Blocks):
    """The same, with one order of the blocks for all words of a group, and smoothed lists."""

    def __init__(self, words, length, size, largest, percent=100):
        super().__init__(words, length, size)
        self.smoothing = percent / 100
        self.groups = into_groups(words, largest)
        count = int(self.groups.max()) + 1
        self.centroids = means_of(words.x, self.groups, count)
        self.orders = numpy.concatenate([host(self.by_members(self.centroids[rows]))
                                         for rows in chunks(count)]).astype(numpy.uint16)
        self.bytes = 2 * (words.count * length + self.orders.size)

    def lists(self, chosen):
        """The candidates nearest to the word, the mean of its nearest words and its group."""
        words, near = self.words, xp().asarray(self.words.near[chosen])
        around = unit(words.x[words.near[chosen, 1:SMOOTHED + 1]].mean(1))
        group = self.centroids[self.groups[chosen]]
        queries = words.x[chosen] + self.smoothing * (around + GROUP_WEIGHT * group)
        close = xp().take_along_axis(words.closeness(queries, chosen), near, 1)
        order = stable_order(-close)[:, :self.length]
        return xp().take_along_axis(near, order, 1)

    def clusters(self, chosen):
        return self.orders[self.groups[chosen]].astype(numpy.int64)


class Stored(Listed):
    """The order in the section of a model (docs/FORMAT.md)."""

    def __init__(self, section):
        count, outputs, length, self.size, groups = numpy.frombuffer(section, "<u4", 5).tolist()
        blocks, at = -(-outputs // self.size), 64

        def take(kind, *shape):
            nonlocal at
            size = int(numpy.prod(shape))
            part = numpy.frombuffer(section, kind, size, at).reshape(shape)
            at += -(-part.nbytes // 64) * 64
            return part.astype(numpy.int64)

        sequence, self.groups = take("<u4", outputs), take("<u4", count)
        self.orders = take("<u2", groups, blocks)
        self.places = take("<u4" if outputs > 1 << 16 else "<u2", count, length)
        super().__init__(count, sequence, numpy.arange(0, outputs, self.size))
        self.bytes = len(section)

    def clusters(self, chosen):
        return self.orders[self.groups[chosen]]

    def lists(self, chosen):
        places = self.places[chosen]
        blocks = numpy.take_along_axis(self.clusters(chosen), places // self.size, 1)
        return xp().asarray(self.sequence[blocks * self.size + places % self.size])


def all_ranks(order, count):
    """The ranks around all words: two bytes for each pair of words."""
    ranks = xp().empty((count, count), numpy.uint16)
    for rows in chunks(count):
        ranks[rows[0]:rows[-1] + 1] = order.ranks(rows)
    return ranks


def parse(name, words):
    """The order of this name."""
    kind, *numbers = name.split(":")
    try:
        numbers = [int(number) for number in numbers]
    except ValueError:
        raise ValueError(f"unknown order: {name}") from None
    makers = {("exact", 0): Exact, ("own", 2): lambda w, k, c: Clusters(w, k, c, False),
              ("word", 2): lambda w, k, c: Clusters(w, k, c, True),
              ("member", 2): Blocks, ("groups", 3): Groups, ("groups", 4): Groups}
    if (kind, len(numbers)) not in makers or min(numbers[:3], default=1) < 1 or \
            min(numbers, default=0) < 0:
        raise ValueError(f"unknown order: {name}")
    if numbers and numbers[0] > words.near.shape[1]:
        raise ValueError(f"order {name}: a list has at most {words.near.shape[1]} words")
    return makers[kind, len(numbers)](words, *numbers)
