# SPDX-License-Identifier: Apache-2.0
"""Public language models as additive levels, and the weights of all words after a past.

    a(y) = e3(g,h,y) + left2(g,h) (e2(h,y) + left1(h) single(y))

h is the last released word, g the one before. A word that a level lists gets at least what the
levels below give it, so a listed probability below the back-off weight counts as none.
"""
import numpy

from .arrays import host, quick_product, sparse, xp

SMOOTHING2, SMOOTHING3 = 30.0, 8.0   # of models that are counted
PAD = 256                            # rows of weights are as long as the next multiple
DENSE, AT_ONCE = 3000, 256           # entries of a row whose product is quicker with a whole row;
#                                      such rows at a time


def padded(count):
    return -(-count // PAD) * PAD


def spans(first, length):
    """The numbers first[i], ..., first[i] + length[i] - 1 for all i, and i for each of them."""
    ends = xp().cumsum(length)
    total = int(ends[-1]) if len(length) else 0
    at = xp().arange(total)
    row = xp().searchsorted(ends, at, side="right")
    return row, at - (ends - length)[row] + first[row]


class Levels:
    def __init__(self, single, left1, pairs, triples):
        """pairs: h, y, e2, left2, sorted by (h, y); triples: the number of the pair (g, h), y, e3,
        sorted."""
        self.count, self.width = len(single), padded(len(single))
        wide = numpy.zeros(self.width, numpy.float32)
        wide[:self.count] = single
        self.single, self.left1 = xp().asarray(wide), as_floats(left1)
        h, y, e2, left2 = pairs
        self.pair_starts = xp().asarray(numpy.searchsorted(h, numpy.arange(self.count + 1)))
        self.pair_keys = xp().asarray(h.astype(numpy.int64) * self.count + y)
        self.pair_y, self.e2, self.left2 = xp().asarray(y), as_floats(e2), as_floats(left2)
        context, y, e3 = triples
        self.starts = xp().asarray(numpy.searchsorted(context, numpy.arange(len(h) + 1)))
        self.y, self.e3 = xp().asarray(y), as_floats(e3)

    def add(self, rows, first, length, words, values):
        row, at = spans(first, length)
        rows[row, words[at]] += values[at]

    def after(self, past):
        """A row of weights per past. past: a list of arrays, the released words so far."""
        if not past:
            return self.single[None]
        h = past[-1]
        rows = self.left1[h][:, None] * self.single
        first = self.pair_starts[h]
        self.add(rows, first, self.pair_starts[h + 1] - first, self.pair_y, self.e2)
        if len(past) > 1:
            left2, first, length = self.find_pairs(past[-2], h)
            rows *= left2[:, None]
            self.add(rows, first, length, self.y, self.e3)
        return rows


    def sums(self, turned, released):
        """Yields, for each position of the released words (a row per document), the sums over y of
        a(y) K(w, y) for all words w, a row per document. turned: K with a row per output y. What a
        level adds after a history is summed once, however often the history occurs."""
        base = self.single @ turned
        histories = numpy.unique(host(released[:, :-1]))
        first = self.pair_starts[histories]
        two = product(self.rows(first, self.pair_starts[histories + 1] - first, self.pair_y,
                                self.e2), turned)
        index = xp().zeros(self.count, numpy.int64)
        index[xp().asarray(histories)] = xp().arange(len(histories))
        yield xp().repeat(base[None], len(released), 0)
        for t in range(1, released.shape[1]):
            h = released[:, t - 1]
            z = two[index[h]] + self.left1[h][:, None] * base
            if t > 1:
                left2, first, length = self.find_pairs(released[:, t - 2], h)
                z *= left2[:, None]
                z += product(self.rows(first, length, self.y, self.e3), turned)
            yield z

    def rows(self, first, length, words, values):
        """Slices of the entries as a sparse matrix."""
        _, at = spans(first, length)
        starts = xp().concatenate([xp().zeros(1, numpy.int64), xp().cumsum(length)])
        return sparse().csr_matrix((values[at], words[at], starts), (len(length), self.width))

    def find_pairs(self, g, h):
        """The factor after each pair of words, and where its entries are."""
        keys = g * self.count + h
        at = xp().minimum(xp().searchsorted(self.pair_keys, keys), len(self.pair_keys) - 1)
        listed = self.pair_keys[at] == keys
        first = self.starts[at]
        return (xp().where(listed, self.left2[at], numpy.float32(1)), first,
                xp().where(listed, self.starts[at + 1] - first, 0))


def product(rows, turned):
    """A sparse matrix times a dense one: long rows as dense ones, which is quicker."""
    made = xp().empty((rows.shape[0], turned.shape[1]), numpy.float32)
    length = host(xp().diff(rows.indptr))
    short, long = numpy.flatnonzero(length <= DENSE), numpy.flatnonzero(length > DENSE)
    made[short] = rows[short] @ turned[:rows.shape[1]]
    for first in range(0, len(long), AT_ONCE):
        part = long[first:first + AT_ONCE]
        made[part] = quick_product(rows[part].toarray(), turned[:rows.shape[1]])
    return made


def as_floats(values):
    return xp().asarray(numpy.asarray(values, numpy.float32))


# ------------------------------------------------------------------- models

def from_trigrams(model):
    """Levels of a model with back-off (english.Trigrams)."""
    n = len(model.single)
    single, left1 = numpy.exp(model.single), numpy.exp(model.single_left)
    h, y, p2, left2 = model.pairs
    e2 = numpy.maximum(numpy.exp(p2) - left1[h] * single[y], 0)
    keys = h.astype(numpy.int64) * n + y
    g, b, c, p3 = model.triples
    context, found = look_up(keys, g.astype(numpy.int64) * n + b)
    g, b, c, p3, context = (part[found] for part in (g, b, c, p3, context))
    lower, listed = look_up(keys, b.astype(numpy.int64) * n + c)
    below = left1[b] * single[c] + numpy.where(listed, e2[lower], 0)
    e3 = numpy.exp(p3) - numpy.exp(left2[context]) * below
    keep = e3 > 0
    return single, left1, (h, y, e2, numpy.exp(left2)), (context[keep], c[keep], e3[keep])


def settled(levels, temper, lift):
    """What `tem ngram` makes of these levels: probabilities are cut to `lift` times those without
    context, and taken to the power of `temper`. lift: a number per word."""
    single, left1, (h, y, e2, left2), (context, c, e3) = levels
    keys = h.astype(numpy.int64) * len(single) + y
    p2 = e2 + left1[h] * single[y]
    lower, listed = look_up(keys, y[context].astype(numpy.int64) * len(single) + c)
    p3 = e3 + left2[context] * numpy.where(listed, p2[lower], left1[y[context]] * single[c])
    p2, p3 = (numpy.minimum(p, (lift * single)[word]) ** temper for p, word in ((p2, y), (p3, c)))
    single, left1, left2 = single ** temper, left1 ** temper, left2 ** temper
    e2 = numpy.maximum(p2 - left1[h] * single[y], 0)
    below = left1[y[context]] * single[c] + numpy.where(listed, e2[lower], 0)
    return (single, left1, (h, y, e2, left2),
            (context, c, numpy.maximum(p3 - left2[context] * below, 0)))


def look_up(keys, wanted):
    at = numpy.minimum(numpy.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


def counted(texts, count):
    """Levels of interpolated counts of public text, with one constant per level."""
    single = numpy.bincount(texts.ids, minlength=count) + 0.5
    single = single / single.sum()
    first = numpy.zeros(len(texts.ids), numpy.int64)   # how many words of the document are before
    first[texts.starts[:-1][numpy.diff(texts.starts) > 0]] = 1
    ids = texts.ids.astype(numpy.int64)
    start = numpy.flatnonzero(first)
    place = numpy.arange(len(ids)) - numpy.repeat(start, numpy.diff(numpy.append(start, len(ids))))
    at = numpy.flatnonzero(place >= 1)
    keys, counts = numpy.unique(ids[at - 1] * count + ids[at], return_counts=True)
    h, y = keys // count, keys % count
    total = numpy.bincount(h, counts, count)
    e2 = counts / (total + SMOOTHING2)[h]
    at = numpy.flatnonzero(place >= 2)
    context = numpy.searchsorted(keys, ids[at - 2] * count + ids[at - 1])
    keys3, counts3 = numpy.unique(context * count + ids[at], return_counts=True)
    context, c = keys3 // count, keys3 % count
    total3 = numpy.bincount(context, counts3, len(keys))
    return (single, SMOOTHING2 / (total + SMOOTHING2),
            (h, y, e2, SMOOTHING3 / (total3 + SMOOTHING3)),
            (context, c, counts3 / (total3 + SMOOTHING3)[context]))


# -------------------------------------------------------------------- packed

FINE, SMALL = 16.0, 255   # logarithms are stored in steps of 1/16, in one byte; 255: nothing


def to_bytes(values):
    with numpy.errstate(divide="ignore"):
        steps = numpy.rint(-numpy.log(values) * FINE) + 16
    return numpy.clip(steps, 0, SMALL).astype(numpy.uint8)


def from_bytes(steps):
    values = numpy.exp((16 - steps.astype(numpy.float64)) / FINE)
    return numpy.where(steps == SMALL, 0, values)


def pack(levels):
    """The levels as small arrays, to within 3 %."""
    single, left1, (h, y, e2, left2), (context, c, e3) = levels
    return {"single": single.astype(numpy.float32), "left1": left1.astype(numpy.float32),
            "pair_counts": numpy.bincount(h, minlength=len(single)).astype(numpy.uint16),
            "pair_y": y.astype(numpy.uint16), "e2": to_bytes(e2), "left2": to_bytes(left2),
            "counts": numpy.bincount(context, minlength=len(h)).astype(numpy.uint16),
            "y": c.astype(numpy.uint16), "e3": to_bytes(e3)}


def unpack(file):
    h = numpy.repeat(numpy.arange(len(file["single"])), file["pair_counts"])
    context = numpy.repeat(numpy.arange(len(h)), file["counts"])
    return (file["single"], file["left1"],
            (h, file["pair_y"].astype(numpy.int64), from_bytes(file["e2"]),
             from_bytes(file["left2"])),
            (context, file["y"].astype(numpy.int64), from_bytes(file["e3"])))
