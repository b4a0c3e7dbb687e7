# SPDX-License-Identifier: Apache-2.0
"""The mechanisms that tem compares, written anew in NumPy or CuPy: an independent check of the
shipped ones, and quick enough on a GPU to draw 25,000 reviews many times.

A mechanism with a law has blocks(), which yields (first, p): rows of P(y|w) for the words from
`first` on. A mechanism without one has draw(words). `Learned` makes a law of the latter from drawn
pairs: what an attacker knows of it, or a learner. It does so in the way of tem_learned_create in C,
with a law of the distance that is constant in bins.
"""
import numpy

from . import laws
from .arrays import host, xp

T, LAMBDA, STAYS, LISTS, NEIGHBOURS = 0.75, 0.5, 0.7, 5, 128  # as the shipped ones
AT_ONCE = 8192
NODES = 48          # of the integral in permute-and-flip's law
PAIRS = 1 << 23     # drawn to learn a law from
BINS = 1024         # of distances
PAIRS_A_BIN = 4000  # at least: neighboring bins with fewer become one
FIT_STEPS = 200
SMOOTHING = [10 ** (power / 2) for power in range(-4, 17)]


def normalised(p):
    p /= p.sum(1, keepdims=True)
    return p


# --------------------------------------------------------------------- laws

class Exponential:
    """tem: P(y|w) in proportion to exp(-s min(d, gamma)), s = epsilon / 2."""

    def __init__(self, model, epsilon):
        self.space, self.s = laws.Space(model.vectors, model.excluded), epsilon / 2
        self.excluded = xp().asarray(self.space.excluded)
        self.bound = 2 * laws.reach(self.space.count)

    def weights(self, d):
        p = xp().exp(-xp().minimum(d, laws.reach(self.space.count)))
        p[:, self.excluded] = 0
        return p

    def rows(self, first, d):
        return normalised(self.weights(d))

    def blocks(self):
        for first, _, d in self.space.blocks(self.s):
            yield first, self.rows(first, d)


class Ranked:
    """rank: P(y|w) in proportion to (1 + r_w(y) / c)^-s. `ranks` has a row per input; a word that
    is no output has the rank `outputs`."""

    def __init__(self, ranks, outputs, s, c=1.0):
        h = (1 + numpy.arange(outputs) / c) ** -s
        self.ranks, self.bound = ranks, float(numpy.log(h[0] / h[-1]))
        self.law = xp().asarray(numpy.append(h / h.sum(), 0).astype(numpy.float32))

    def blocks(self):
        rows = laws.block_rows()
        for first in range(0, len(self.ranks), rows):
            yield first, self.law[self.ranks[first:first + rows]]


class Coin:
    """coin: the word itself weighs exp(epsilon) times as much as any other output. An excluded word
    behaves like its nearest output."""

    def __init__(self, vectors, excluded, epsilon):
        is_output = numpy.ones(len(vectors), bool)
        is_output[excluded] = False
        self.kept = numpy.arange(len(vectors))
        for word in excluded:
            d = numpy.where(is_output, ((vectors - vectors[word]) ** 2).sum(1), numpy.inf)
            self.kept[word] = d.argmin()
        total = numpy.exp(epsilon) + is_output.sum() - 1
        self.bound, self.stays = epsilon, numpy.float32(numpy.exp(epsilon) / total)
        self.other = xp().asarray((is_output / total).astype(numpy.float32))

    def blocks(self):
        rows = laws.block_rows()
        for first in range(0, len(self.kept), rows):
            kept = xp().asarray(self.kept[first:first + rows])
            p = xp().empty((len(kept), len(self.other)), numpy.float32)
            p[:] = self.other
            p[xp().arange(len(kept)), kept] = self.stays
            yield first, p


class PermuteAndFlip(Exponential):
    """Word y shows heads with probability q(y) = exp(-s min(d, gamma)) / the largest of these, and
    one of the heads comes out: P(y) = q(y) times the integral over u from 0 to 1 of the product of
    1 - u q(z) over z != y."""

    def rows(self, first, d):
        nodes, parts = numpy.polynomial.legendre.leggauss(NODES)
        q = self.weights(d)
        q /= q.max(1, keepdims=True)
        q = xp().minimum(q, numpy.float32(1 - 1e-6))  # 1 / (1 - u q) stays finite
        # Beyond `end` the product is below exp(-40).
        end = xp().minimum(1, 40 / xp().maximum(q.sum(1, keepdims=True) - 1, 1e-9))
        p = xp().zeros_like(q)
        for node, part in zip((nodes + 1) / 2, parts / 2):
            left = 1 - q * (end * node)
            product = xp().exp(xp().log(left).sum(1, keepdims=True, dtype=numpy.float64))
            p += (part * end * product).astype(numpy.float32) / left
        return normalised(p * q)


class SanTextPlus(Exponential):
    """A listed word is drawn from the listed words by the law of em. Another word stays itself, or
    is drawn so with probability 1 - STAYS."""

    def __init__(self, model, epsilon, listed):
        super().__init__(model, epsilon)
        is_listed = numpy.zeros(self.space.count, bool)
        is_listed[listed] = True
        is_listed[model.excluded] = False
        self.listed = xp().asarray(is_listed)
        is_listed[model.excluded] = True  # as inputs
        self.drawn = is_listed

    def rows(self, first, d):
        p = normalised(xp().exp(-d) * self.listed)
        here = numpy.flatnonzero(~self.drawn[first:first + len(p)])
        at = xp().asarray(here)
        p[at] *= 1 - STAYS
        p[at, first + at] += STAYS
        return p


class CusText:
    """Sets of `size` words; P(y|w) in proportion to exp(epsilon u / 2) within the set of w, where u
    falls from 1 for the nearest word of the set to 0 for the farthest. Words of `kept` stay."""

    sets = {}  # by size: the set of each word

    def __init__(self, model, epsilon, size=20, kept=()):
        self.space, self.epsilon = laws.Space(model.vectors, model.excluded), epsilon
        if size not in self.sets:
            self.sets[size] = self._make_sets(model, size)
        self.set_of = xp().asarray(self.sets[size])
        is_output = numpy.ones(self.space.count, bool)
        is_output[model.excluded] = False
        self.is_output = xp().asarray(is_output)
        self.kept = numpy.zeros(self.space.count, bool)
        self.kept[numpy.asarray(kept, numpy.int64)] = True

    @staticmethod
    def _make_sets(model, size):
        count = len(model.vectors)
        set_of, is_output = numpy.full(count, -1), numpy.ones(count, bool)
        is_output[model.excluded] = False
        squares = xp().asarray((model.vectors ** 2).sum(1))
        vectors, free = xp().asarray(model.vectors), xp().asarray(is_output)
        outputs = xp().asarray(is_output)
        for word in range(count):
            if not is_output[word] or set_of[word] >= 0:
                continue
            d = xp().where(free, squares - 2 * (vectors @ vectors[word]), numpy.inf)
            d[word] = -numpy.inf
            members = host(xp().argsort(d)[:size])
            members = members[host(free)[members]]
            set_of[members] = word
            free[members] = False
        for word in model.excluded:  # its set is that of the nearest output
            d = xp().where(outputs, squares - 2 * (vectors @ vectors[word]), numpy.inf)
            set_of[word] = set_of[int(d.argmin())]
        return set_of

    def blocks(self):
        for first, last, d in self.space.blocks(1.0):
            own = (self.set_of[first:last, None] == self.set_of[None, :]) & self.is_output
            far = xp().where(own, d, -numpy.inf).max(1, keepdims=True)
            near = xp().where(own, d, numpy.inf).min(1, keepdims=True)
            u = 1 - (d - near) / xp().where(far > near, far - near, 1)
            p = normalised(xp().where(own, xp().exp(self.epsilon / 2 * (u - 1)), 0))
            at = xp().asarray(numpy.flatnonzero(self.kept[first:last]))
            p[at] = 0
            p[at, first + at] = 1
            yield first, p


class Diffractor:
    """LISTS orders of all words in which near words are close together: two-sided geometric noise
    on the place of the word in one of them."""

    orders = None

    def __init__(self, model, epsilon):
        self.epsilon, self.count = epsilon, len(model.vectors)
        if Diffractor.orders is None:
            Diffractor.orders = self._make_orders(model)
        is_output = numpy.ones(self.count, bool)
        is_output[model.excluded] = False
        self.lists = []
        for order in Diffractor.orders:
            outputs = order[is_output[order]]
            passed = numpy.cumsum(is_output[order]) - is_output[order]
            places = numpy.empty(self.count, numpy.int64)
            places[order] = numpy.minimum(passed, len(outputs) - 1)
            self.lists.append((xp().asarray(outputs), xp().asarray(places)))

    @staticmethod
    def _make_orders(model):
        near = nearest(model.vectors, NEIGHBOURS).tolist()
        count = len(near)
        return [chain(near, number * count // LISTS) for number in range(LISTS)]

    def blocks(self):
        a = numpy.exp(-self.epsilon)
        for first in range(0, self.count, laws.block_rows()):
            last = min(first + laws.block_rows(), self.count)
            p = xp().zeros((last - first, self.count), numpy.float32)
            for outputs, places in self.lists:
                at = xp().arange(len(outputs))
                share = xp().full(len(outputs), (1 - a) / (1 + a))
                share[0] = share[-1] = 1 / (1 + a)
                power = xp().exp(-self.epsilon * abs(at[None, :] - places[first:last, None]))
                p[:, outputs] += (share * power / LISTS).astype(numpy.float32)
            yield first, normalised(p)


def nearest(vectors, count):
    """The nearest words of each word, itself included, nearest first."""
    space, found = laws.Space(vectors), []
    for _, _, d in space.blocks(1.0):
        found.append(host(xp().argsort(d, axis=1)[:, :count]))
    return numpy.concatenate(found)


def chain(near, start):
    """From `start` on, always the nearest neighbor of the last word that is not in the chain yet;
    where it has none left, of the word before it, and so on."""
    order, has, seen = [], [False] * len(near), [0] * len(near)
    for begin in (start, *range(len(near))):
        stack = []

        def add(word):
            has[word] = True
            order.append(word)
            stack.append(word)

        if not has[begin]:
            add(begin)
        while stack:
            last = stack[-1]
            while seen[last] < len(near[last]) and has[near[last][seen[last]]]:
                seen[last] += 1
            if seen[last] < len(near[last]):
                add(near[last][seen[last]])
            else:
                stack.pop()
    return numpy.array(order)


# -------------------------------------------------------------------- noise

def shape_of(vectors):
    """A with A A' = lambda S + (1 - lambda) I; S is the covariance, with trace = dimension."""
    covariance = numpy.cov(vectors.T)
    covariance *= len(covariance) / numpy.trace(covariance)
    return numpy.linalg.cholesky(LAMBDA * covariance + (1 - LAMBDA) * numpy.eye(len(covariance)))


class Noise:
    """Noise on the vector of a word, then the nearest word or one of the two nearest: madlib,
    mahalanobis, vickrey, vickrey-exclude."""

    def __init__(self, name, model, epsilon):
        vectors = model.vectors
        self.name, self.epsilon = name, epsilon
        self.vectors = xp().asarray(vectors.astype(numpy.float32))
        self.half_squares = (self.vectors ** 2).sum(1) / 2
        self.half_squares[xp().asarray(model.excluded)] = numpy.inf
        self.shape = xp().asarray(shape_of(vectors).astype(numpy.float32))

    def points(self, words, random):
        count, columns = len(words), self.vectors.shape[1]
        noise = random.standard_normal((count, columns)).astype(numpy.float32)
        noise /= xp().sqrt((noise ** 2).sum(1, keepdims=True))
        noise *= random.standard_gamma(columns, (count, 1)).astype(numpy.float32)
        if self.name == "mahalanobis":
            noise = noise @ self.shape.T
        return self.vectors[words] + noise / numpy.float32(self.epsilon)

    def draw_some(self, words, random):
        points = self.points(words, random)
        scores = points @ self.vectors.T - self.half_squares
        if self.name == "vickrey-exclude":  # the input itself is never an output
            scores[xp().arange(len(words)), words] = -numpy.inf
        first = scores.argmax(1)
        if not self.name.startswith("vickrey"):
            return first
        rows, squares = xp().arange(len(words)), (points ** 2).sum(1)
        near = xp().sqrt(xp().maximum(squares - 2 * scores[rows, first], 0))
        scores[rows, first] = -numpy.inf
        second = scores.argmax(1)
        far = xp().sqrt(xp().maximum(squares - 2 * scores[rows, second], 0))
        takes_second = random.random_sample(len(words)) * (T * near + (1 - T) * far) < T * near
        return xp().where(takes_second, second, first)

    def draw(self, words, seed):
        words, random = xp().asarray(words), xp().random.RandomState(seed)
        drawn = [self.draw_some(words[at:at + AT_ONCE], random)
                 for at in range(0, len(words), AT_ONCE)]
        return xp().concatenate(drawn)


class Gumbel(Noise):
    """Truncated Gumbel noise on the distances of the k nearest words; k has a Poisson distribution
    with the mean log n."""

    MOST = 64  # larger k are rarer than 10^-25

    def __init__(self, name, model, epsilon):
        super().__init__(name, model, epsilon)
        count = len(model.vectors)
        near, least, most = [], numpy.inf, 0.0
        is_excluded = numpy.zeros(count, bool)
        is_excluded[model.excluded] = True
        distances = []
        for first, last, d in laws.Space(model.vectors).blocks(1.0):
            most = max(most, float(d.max()))
            d[:, xp().asarray(is_excluded)] = numpy.inf
            order = xp().argsort(d, axis=1)[:, :self.MOST]
            near.append(order)
            distances.append(xp().take_along_axis(d, order, 1))
            apart = xp().where(order != xp().arange(first, last)[:, None], distances[-1],
                               numpy.inf)
            least = min(least, float(apart.min()))
        self.near, self.distances = xp().concatenate(near), xp().concatenate(distances)
        a = (epsilon - 2 * (1 + numpy.log(count)) / least) / 3
        self.scale = 2 * most / min(lambert(2 * a * most), numpy.log(a * least))
        self.reach, self.mean = most, float(numpy.log(count))

    def draw_some(self, words, random):
        k = xp().clip(random.poisson(self.mean, len(words)), 1, self.MOST)
        lowest = numpy.exp(-numpy.exp(self.reach / self.scale))
        highest = numpy.exp(-numpy.exp(-self.reach / self.scale))
        u = lowest + random.random_sample((len(words), self.MOST)) * (highest - lowest)
        noisy = self.distances[words] - self.scale * xp().log(-xp().log(u))
        noisy = xp().where(xp().arange(self.MOST)[None, :] < k[:, None], noisy, numpy.inf)
        return self.near[words, noisy.argmin(1)]


def lambert(x):
    """W(x), W exp(W) = x, for x > 0."""
    w = numpy.log1p(x)
    for _ in range(50):
        w -= (w * numpy.exp(w) - x) / (numpy.exp(w) * (1 + w))
    return w


# ------------------------------------------------------------------ learned

class Learned:
    """P(y|w) = (count(w,y) + k g(y|w)) / (count(w) + k) from drawn pairs, words by the prior;
    g depends on the distance alone, with a number of its own for y = w. k is the number that
    predicts each pair best from all others."""

    profile = None  # how many outputs are at which distance of each word

    def __init__(self, model, mechanism, prior, pairs, seed):
        self.space = laws.Space(model.vectors, model.excluded)
        self.excluded = xp().asarray(self.space.excluded)
        self.count = self.space.count
        if Learned.profile is None:
            Learned.profile, Learned.step = self._make_profile()
        words = self._draw_words(prior, pairs, seed)
        outputs = mechanism.draw(words, seed + 1)
        d = self._distances(words, outputs)
        self.drawn = xp().bincount(words, minlength=self.count).astype(numpy.float64)
        self._fit(words, outputs, d)
        keys, counts = xp().unique(words * self.count + outputs, return_counts=True)
        self.words, self.outputs = keys // self.count, keys % self.count
        self.counts = counts.astype(numpy.float64)
        self._choose_smoothing()

    def _make_profile(self):
        step = 2.0001 * float(numpy.sqrt((self.space.x ** 2).sum(1)).max()) / BINS
        rows = []
        for first, last, d in self.space.blocks(1.0):
            bins = (d / step).astype(numpy.int64)
            bins[:, self.excluded] = BINS  # counted apart, and forgotten
            at = xp().arange(last - first)
            bins[at, first + at] = BINS
            flat = (bins + at[:, None] * (BINS + 1)).ravel()
            found = xp().bincount(flat, minlength=(last - first) * (BINS + 1))
            rows.append(found.reshape(last - first, BINS + 1)[:, :BINS].astype(numpy.float32))
        return xp().concatenate(rows), step

    def _draw_words(self, prior, pairs, seed):
        sums = xp().asarray(numpy.cumsum(prior / prior.sum()))
        at = xp().random.RandomState(seed).random_sample(pairs) * sums[-1]
        return xp().minimum(xp().searchsorted(sums, at, side="right"), self.count - 1)

    def _distances(self, words, outputs):
        x = xp().asarray(self.space.x.astype(numpy.float32))
        part = PAIRS // 8
        parts = [xp().sqrt(((x[words[at:at + part]] - x[outputs[at:at + part]]) ** 2).sum(1))
                 for at in range(0, len(words), part)]
        return xp().concatenate(parts)

    def _fit(self, words, outputs, d):
        """The likeliest f: iterative scaling. Bins with few pairs share one number."""
        apart = outputs != words
        bins = (d[apart] / self.step).astype(numpy.int64)
        seen = host(xp().bincount(bins, minlength=BINS))[:BINS]
        groups, sum_ = numpy.zeros(BINS, numpy.int64), 0
        for number in range(1, BINS):
            sum_ += seen[number - 1]
            groups[number] = groups[number - 1] + (sum_ >= PAIRS_A_BIN)
            sum_ = 0 if groups[number] > groups[number - 1] else sum_
        observed = numpy.bincount(groups, seen) + 0.5
        merge = groups[:, None] == numpy.arange(groups[-1] + 1)
        cells = self.profile @ xp().asarray(merge.astype(numpy.float32))
        f, own = xp().ones(cells.shape[1]), 1.0
        observed, stayed = xp().asarray(observed), float((~apart).sum()) + 0.5
        is_output = xp().ones(self.count)
        is_output[self.excluded] = 0
        for _ in range(FIT_STEPS):
            z = cells @ f + own * is_output
            share = self.drawn / z
            f *= observed / xp().maximum(f * (cells.T @ share), 1e-9)
            own *= stayed / max(own * float((share * is_output).sum()), 1e-9)
        self.f, self.own, self.groups = f, own, xp().asarray(groups)
        self.z = cells @ f + own * is_output
        self.is_output = is_output

    def _model(self, words, outputs, d):
        bins = xp().minimum((d / self.step).astype(numpy.int64), BINS - 1)
        f = self.f[self.groups[bins]]
        return xp().where(words == outputs, self.own, f) * self.is_output[outputs] / self.z[words]

    def _choose_smoothing(self):
        g = xp().maximum(self._model(self.words, self.outputs,
                                     self._distances(self.words, self.outputs)), 1e-300)
        drawn = self.drawn[self.words]
        values = [float((self.counts * (xp().log(self.counts - 1 + k * g)
                                        - xp().log(drawn - 1 + k))).sum()) for k in SMOOTHING]
        self.k = SMOOTHING[int(numpy.argmax(values))]

    def blocks(self):
        starts = host(xp().searchsorted(self.words, xp().arange(self.count + 1)))
        for first, last, d in self.space.blocks(1.0):
            words = xp().arange(first, last)[:, None]
            g = self._model(words, xp().arange(self.count)[None, :], d)
            p = self.k * g
            here = slice(int(starts[first]), int(starts[last]))
            p[self.words[here] - first, self.outputs[here]] += self.counts[here]
            p /= (self.drawn[first:last] + self.k)[:, None]
            yield first, p.astype(numpy.float32)
