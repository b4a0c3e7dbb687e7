# SPDX-License-Identifier: Apache-2.0
"""Orders of all outputs around each word, for the mechanism rank: one permutation per word.

Closeness is the dot product of centered unit vectors. `parse` makes an order from its name:

  exact         all outputs by closeness to the word
  smooth        the same, by closeness to the word plus the unit mean of its 10 nearest
  own:K:C       the K nearest; then C clusters (k-means), by their centroids' closeness to that of
                the word's cluster
  word:K:C      the same, by their centroids' closeness to the word
  member:K:B    the K nearest; then blocks of B words, by their nearest member's closeness to the
                word
  groups:K:B:G  the K nearest to a smoothed query; then blocks of B words, by their nearest member's
                closeness to the centroid of the word's group of at most G words

Within a cluster or block the words stand by id. The word itself is first, if it is an output.
"""
import numpy

CANDIDATES, SMOOTHED, GROUP_WEIGHT = 384, 10, 0.5
ROWS = 256
MEANS, CUTS = 12, 8   # passes of k-means, and of a cut in two


def unit(x):
    return x / numpy.maximum(numpy.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


class Words:
    """Centered unit vectors, the outputs, and the nearest outputs of each word, itself first."""

    def __init__(self, vectors, excluded, nearest=None):
        self.x, self.count = vectors, len(vectors)
        self.is_output = numpy.ones(self.count, bool)
        self.is_output[excluded] = False
        self.outputs = numpy.flatnonzero(self.is_output)
        self.excluded = excluded
        self.near = find_nearest(self) if nearest is None else nearest

    def closeness(self, queries, words):
        """Of all words to the queries of these words; excluded ones -9, the word itself 9."""
        close = queries @ self.x.T
        close[:, self.excluded] = -9
        own = numpy.flatnonzero(self.is_output[words])
        close[own, words[own]] = 9
        return close


def chunks(count, rows=ROWS):
    return (numpy.arange(first, min(first + rows, count)) for first in range(0, count, rows))


def find_nearest(words):
    found = []
    number = min(CANDIDATES, len(words.outputs))
    for rows in chunks(words.count):
        close = words.closeness(words.x[rows], rows)
        near = numpy.sort(numpy.argpartition(-close, number - 1, axis=1)[:, :number], axis=1)
        order = numpy.argsort(-numpy.take_along_axis(close, near, 1), axis=1, kind="stable")
        found.append(numpy.take_along_axis(near, order, 1).astype(numpy.int32))
    return numpy.concatenate(found)


def smoothed(words, rows):
    return words.x[rows] + unit(words.x[words.near[rows, 1:SMOOTHED + 1]].mean(1))


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
        parts = numpy.concatenate([(words.x[rows] @ centroids.T).argmax(1)
                                   for rows in chunks(words.count)])
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
    done, todo = [], [words.outputs]
    while todo:
        part = todo.pop()
        blocks = -(-len(part) // size)
        if blocks == 1:
            done.append(part)
        else:
            left, right = cut_in_two(words.x[part], blocks // 2 * size)
            todo += [part[right], part[left]]
    return numpy.concatenate(done)


def into_groups(words, largest):
    """The group of each word. Words join their nearest word, the closest pairs first, then their
    next four, as long as a group has at most `largest` words."""
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
    return numpy.unique([find(word) for word in range(words.count)], return_inverse=True)[1]


# ------------------------------------------------------------------- orders

class Exact:
    """All outputs by closeness to the word itself, or to a smoothed query: in steps of 2^-14, ties
    by id, because 16-bit numbers are sorted ten times as fast."""

    bytes = 0

    def __init__(self, words, smooth=False):
        self.words, self.smooth = words, smooth

    def rows(self, chosen):
        queries = unit(smoothed(self.words, chosen)) if self.smooth else self.words.x[chosen]
        close = self.words.closeness(queries, chosen)
        steps = (numpy.clip(1 - close, 0, 3) * 2 ** 14 + 1).astype(numpy.uint16)
        steps[close == 9] = 0
        return numpy.argsort(steps, axis=1, kind="stable")[:, :len(self.words.outputs)]


class Listed:
    """A list per word, then clusters: consecutive parts of `sequence`, which begin at `starts`."""

    def __init__(self, words, length, sequence, starts):
        self.words, self.length = words, length
        self.sequence, self.starts = sequence, starts
        self.sizes = numpy.diff(numpy.append(starts, len(sequence)))

    def lists(self, chosen):
        return self.words.near[chosen, :self.length]

    def rows(self, chosen):
        made = numpy.empty((len(chosen), len(self.sequence)), numpy.int64)
        is_listed = numpy.zeros(self.words.count, bool)
        for row, listed, clusters in zip(made, self.lists(chosen), self.clusters(chosen)):
            sizes = self.sizes[clusters]
            ends = numpy.cumsum(sizes)
            far = self.sequence[numpy.repeat(self.starts[clusters] - (ends - sizes), sizes)
                                + numpy.arange(len(self.sequence))]
            is_listed[listed] = True
            row[:len(listed)], row[len(listed):] = listed, far[~is_listed[far]]
            is_listed[listed] = False
        return made


class Clusters(Listed):
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


class Blocks(Listed):
    """Far words by equal blocks, in the order of their nearest members; the last block is last."""

    def __init__(self, words, length, size):
        sequence = into_blocks(words, size)
        super().__init__(words, length, sequence, numpy.arange(0, len(sequence), size))
        self.bytes = 2 * words.count * (length + len(self.starts))

    def by_members(self, queries):
        close = numpy.maximum.reduceat(queries @ self.words.x[self.sequence].T, self.starts, axis=1)
        close[:, -1] = -9
        return numpy.argsort(-close, axis=1, kind="stable")

    def clusters(self, chosen):
        return self.by_members(self.words.x[chosen])


class Groups(Blocks):
    """The same, with one order of the blocks for all words of a group, and smoothed lists."""

    def __init__(self, words, length, size, largest):
        super().__init__(words, length, size)
        self.groups = into_groups(words, largest)
        count = int(self.groups.max()) + 1
        self.centroids = means_of(words.x, self.groups, count)
        self.orders = numpy.concatenate([self.by_members(self.centroids[rows])
                                         for rows in chunks(count)]).astype(numpy.uint16)
        self.bytes = 2 * (words.count * length + self.orders.size)

    def lists(self, chosen):
        words = self.words
        queries = smoothed(words, chosen) + GROUP_WEIGHT * self.centroids[self.groups[chosen]]
        near = words.near[chosen]
        close = numpy.einsum("wd,wkd->wk", queries, words.x[near])
        close[near == chosen[:, None]] = 9
        order = numpy.argsort(-close, axis=1, kind="stable")[:, :self.length]
        return numpy.take_along_axis(near, order, 1)

    def clusters(self, chosen):
        return self.orders[self.groups[chosen]]


def parse(name, words):
    """The order of this name."""
    kind, *numbers = name.split(":")
    try:
        numbers = [int(number) for number in numbers]
    except ValueError:
        raise ValueError(f"unknown order: {name}") from None
    makers = {("exact", 0): Exact, ("smooth", 0): lambda w: Exact(w, True),
              ("own", 2): lambda w, k, c: Clusters(w, k, c, False),
              ("word", 2): lambda w, k, c: Clusters(w, k, c, True),
              ("member", 2): Blocks, ("groups", 3): Groups}
    if (kind, len(numbers)) not in makers or min(numbers, default=1) < 1:
        raise ValueError(f"unknown order: {name}")
    if numbers and numbers[0] > words.near.shape[1]:
        raise ValueError(f"order {name}: a list has at most {words.near.shape[1]} words")
    return makers[kind, len(numbers)](words, *numbers)
