# SPDX-License-Identifier: Apache-2.0
"""What everybody runs: TF-IDF with logistic regression, and naive Bayes, by dense matrices, so that
a GPU trains them in a second. The same objective as scikit-learn's LogisticRegression."""
import numpy

from .arrays import host, xp

PENALTIES = (1.0, 4.0, 0.3)   # C, as in scikit-learn
STEPS, KEPT, ROWS = 150, 8, 512
ALPHA = 0.3                   # of naive Bayes


def counts_of(ids, kept):
    """How often each document (a row of ids, -1 after its end) has each word of `kept`."""
    counts = xp().zeros((len(ids), len(kept)), numpy.float32)
    column = xp().full(int(kept.max()) + 2, -1, numpy.int64)
    column[kept] = xp().arange(len(kept))
    for first in range(0, len(ids), ROWS):
        part = ids[first:first + ROWS]
        at = column[xp().where(part < len(column) - 1, part, -1)]
        row, place = xp().nonzero(at >= 0)
        flat = row * len(kept) + at[row, place]
        sums = xp().bincount(flat, minlength=len(part) * len(kept))
        counts[first:first + ROWS] = sums.reshape(len(part), len(kept))
    return counts


def tf_idf(train, test):
    """Sublinear counts, weighed by the smoothed inverse document frequency, at unit length."""
    weights = xp().log((1 + len(train)) / (1 + (train > 0).sum(0))) + 1
    made = []
    for counts in (train, test):
        x = xp().where(counts > 0, 1 + xp().log(xp().maximum(counts, 1)), 0) * weights
        made.append((x / xp().maximum(xp().sqrt((x * x).sum(1, keepdims=True)), 1e-12))
                    .astype(numpy.float32))
    return made


class Logistic:
    """|W|^2 / 2 + C times the sum of the losses; the intercepts cost nothing. Two classes have one
    row of W."""

    def __init__(self, x, labels, classes, penalty):
        self.x, self.penalty, self.rows = x, penalty, 1 if classes == 2 else classes
        self.one = xp().eye(classes, dtype=numpy.float32)[labels][:, -self.rows:]
        self.w = minimise(self.value, numpy.zeros((self.rows, x.shape[1] + 1), numpy.float32))

    def scores(self, x, w):
        return x @ w[:, :-1].T + w[:, -1]

    def value(self, w):
        z = self.scores(self.x, w)
        if self.rows == 1:
            p = 1 / (1 + xp().exp(-z))
            loss = (xp().maximum(z, 0) + xp().log1p(xp().exp(-abs(z))) - self.one * z).sum(
                dtype=numpy.float64)
        else:
            z -= z.max(1, keepdims=True)
            p = xp().exp(z)
            sums = p.sum(1, keepdims=True)
            loss = (xp().log(sums[:, 0]) - (self.one * z).sum(1)).sum(dtype=numpy.float64)
            p /= sums
        rest = self.penalty * (p - self.one)
        slope = xp().concatenate([rest.T @ self.x + w[:, :-1], rest.sum(0)[:, None]], 1)
        return float(self.penalty * loss + (w[:, :-1] ** 2).sum(dtype=numpy.float64) / 2), slope

    def classes_of(self, x):
        z = self.scores(x, self.w)
        return (z[:, 0] > 0).astype(numpy.int64) if self.rows == 1 else z.argmax(1)


def minimise(value, start):
    """L-BFGS with a search that halves the step."""
    w = xp().asarray(start)
    f, g = value(w)
    pairs = []
    for _ in range(STEPS):
        d = -direction(g, pairs)
        step, slope = (1.0 if pairs else 1.0 / max(1.0, float(abs(g).sum()))), float((g * d).sum())
        for _ in range(25):
            new = w + numpy.float32(step) * d
            f_new, g_new = value(new)
            if f_new <= f + 1e-4 * step * slope:
                break
            step /= 2
        else:
            return w
        s, y = new - w, g_new - g
        if float((s * y).sum()) > 1e-10:
            pairs = (pairs + [(s, y)])[-KEPT:]
        done = f - f_new <= 1e-6 * max(abs(f), 1)
        w, f, g = new, f_new, g_new
        if done:
            break
    return w


def direction(g, pairs):
    """Numbers stay where the arrays are: a GPU is asked for none."""
    q, kept = g.copy(), []
    for s, y in reversed(pairs):
        rho = 1 / (s * y).sum()
        a = rho * (s * q).sum()
        q -= a * y
        kept.append((a, rho))
    if pairs:
        s, y = pairs[-1]
        q *= (s * y).sum() / (y * y).sum()
    for (s, y), (a, rho) in zip(pairs, reversed(kept)):
        q += (a - rho * (y * q).sum()) * s
    return q


def accuracy(released, labels, test, test_labels, penalty=None):
    """In percent, for released training documents and test documents (rows of ids; -1 after the
    end): logistic regression and naive Bayes. Without a penalty the last quarter of the training
    documents chooses one, which costs up to 4 points where two of them do as well there.
    Documents must be in random order. Words of one document alone are left out."""
    released, test, labels = map(xp().asarray, (released, test, labels))
    everything = counts_of(released, xp().arange(int(released.max()) + 1))
    kept = xp().flatnonzero((everything > 0).sum(0) > 1)
    counts = everything[:, kept]
    del everything
    tests = counts_of(test, kept)
    a, b = tf_idf(counts, tests)
    classes, part = int(labels.max()) + 1, len(labels) * 3 // 4
    rights = [float((Logistic(a[:part], labels[:part], classes, c).classes_of(a[part:])
                     == labels[part:]).mean()) for c in ((penalty,) if penalty else PENALTIES)]
    best = penalty or PENALTIES[int(numpy.argmax(rights))]
    linear = host(Logistic(a, labels, classes, best).classes_of(b))
    one = xp().eye(classes, dtype=numpy.float32)[labels]
    sums = one.T @ counts + ALPHA
    logs = xp().log(sums / sums.sum(1, keepdims=True))
    bayes = host((tests @ logs.T + xp().log(one.mean(0))).argmax(1))
    return {"linear": 100 * float((linear == test_labels).mean()), "penalty": best,
            "linear_released": 100 * max(rights),
            "bayes": 100 * float((bayes == test_labels).mean())}
