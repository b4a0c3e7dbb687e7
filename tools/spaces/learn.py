# SPDX-License-Identifier: Apache-2.0
"""The regularized linear classifier: multinomial logistic regression on standardized features.

`train` chooses the penalty by the rule of eval/validation.h, the same for every mechanism, model
and learner: every fifth training text of each class is held out, and the penalty counts with which
the other texts predict these best. It never sees a text to test on.

Each side, training and test, is standardized by its own mean and deviation. That needs no label.
The mean vector of a private text lies nearer to the mean of all, so that the other way (both sides
by the training's numbers) moves the test texts out of the range that was learned.

`fit` finds the minimum by Newton's method in double precision, so that its answers are the same
with a GPU and without one. `accuracy` finds it by SciPy's L-BFGS, as an independent check.
"""
import numpy

from .arrays import host, sparse, xp

# Times half the sum of the squared weights, beside the mean cross entropy; the largest first.
PENALTIES = [10 ** (1 - step / 2) for step in range(11)]
VALIDATION_STEP = 5  # every how many texts of a class one is held out
STEPS = 200
NEWTON_STEPS, SOLVER_STEPS = 50, 500
TOLERANCE = 1e-6  # of every number of the gradient


def standardised(x):
    deviation = x.std(0)
    return (x - x.mean(0)) / numpy.where(deviation > 0, deviation, 1)


def loss_and_gradient(point, x, hot, penalty):
    """Mean cross entropy and penalty at these weights; the last row of the weights is the bias."""
    weights = point.reshape(x.shape[1] + 1, hot.shape[1])
    there = xp().asarray(weights.astype(numpy.float32))
    scores = x @ there[:-1] + there[-1]
    scores -= scores.max(1, keepdims=True)
    share = xp().exp(scores)
    total = share.sum(1, keepdims=True)
    loss = float(xp().mean(xp().log(total[:, 0]) - (scores * hot).sum(1)))
    difference = (share / total - hot) / len(x)
    gradient = host(xp().vstack((x.T @ difference, difference.sum(0)))).astype(float)
    gradient[:-1] += penalty * weights[:-1]
    return loss + penalty / 2 * float((weights[:-1] ** 2).sum()), gradient.ravel()


def accuracy(train, labels, test, test_labels, penalty):
    """Trains on one side and returns the share of right answers on the other."""
    from scipy.optimize import minimize
    classes = int(max(labels.max(), test_labels.max())) + 1
    x = xp().asarray(standardised(train).astype(numpy.float32))
    hot = xp().asarray(numpy.eye(classes, dtype=numpy.float32)[labels])
    found = minimize(loss_and_gradient, numpy.zeros((x.shape[1] + 1) * classes),
                     (x, hot, penalty),
                     "L-BFGS-B", jac=True, options={"maxiter": STEPS})
    weights = found.x.reshape(-1, classes)
    answers = (standardised(test) @ weights[:-1] + weights[-1]).argmax(1)
    return float((answers == test_labels).mean())


# ------------------------------------------------------------ Newton's method

class Loss:
    """The same loss, with its gradient and products with its second derivative. Weights have a row
    per feature and one for the bias, and a column per class. The features are standardized, or a
    sparse matrix as it is."""

    def __init__(self, x, labels, classes, penalty):
        self._take(x)
        self.count = x.shape[0]
        self.hot = xp().asarray(numpy.eye(classes)[labels])
        self.penalty = xp().full((self.x.shape[1], 1), float(penalty))
        self.penalty[-1] = 0

    def _take(self, x):
        if isinstance(x, numpy.ndarray):
            self.x = xp().asarray(numpy.hstack((x, numpy.ones((len(x), 1)))))
            self.turned = self.x.T
        else:
            from scipy.sparse import csr_matrix, hstack
            whole = hstack((x, csr_matrix(numpy.ones((x.shape[0], 1)))))
            self.x, self.turned = (sparse().csr_matrix(part.tocsr()) for part in (whole, whole.T))

    def at(self, weights):
        """Returns the loss, and keeps the shares of the classes for the two functions below."""
        scores = self.x @ weights
        scores -= scores.max(1, keepdims=True)
        share = xp().exp(scores)
        total = share.sum(1, keepdims=True)
        self.weights, self.share = weights, share / total
        entropy = xp().mean(xp().log(total[:, 0]) - (scores * self.hot).sum(1))
        return float(entropy + (self.penalty * weights ** 2).sum() / 2)

    def gradient(self):
        return self.turned @ ((self.share - self.hot) / self.count) + self.penalty * self.weights

    def curve(self, direction):
        change = self.x @ direction
        change -= (self.share * change).sum(1, keepdims=True)
        return self.turned @ (self.share * change / self.count) + self.penalty * direction


def solve(loss, right, tolerance):
    """Conjugate gradients: the direction whose curve is `right`."""
    found, rest = xp().zeros_like(right), right.copy()
    step, square = rest.copy(), float((rest ** 2).sum())
    for _ in range(SOLVER_STEPS):
        if square ** .5 <= tolerance:
            break
        curved = loss.curve(step)
        factor = square / float((step * curved).sum())
        found += factor * step
        rest -= factor * curved
        before, square = square, float((rest ** 2).sum())
        step = rest + square / before * step
    return found


def fit(x, labels, classes, penalty):
    """The weights of the least loss; the last row is the bias."""
    return fit_standardised(standardised(x.astype(float)), labels, classes, penalty)


def fit_standardised(x, labels, classes, penalty, tolerance=TOLERANCE):
    """The same for features that are standardized, or sparse."""
    loss = Loss(x, labels, classes, penalty)
    weights = xp().zeros((loss.x.shape[1], classes))
    value = loss.at(weights)
    for _ in range(NEWTON_STEPS):
        gradient = loss.gradient()
        if float(xp().abs(gradient).max()) <= tolerance:
            break
        size = float((gradient ** 2).sum()) ** .5
        step = solve(loss, gradient, size * min(0.1, size))
        slope = float((gradient * step).sum())
        factor, start = 1.0, weights
        while True:
            weights = start - factor * step
            new = loss.at(weights)
            if new <= value - 1e-4 * factor * slope + 1e-14 or factor < 1e-6:
                break
            factor /= 2
        value = new
    return host(weights)


# ----------------------------------------------------------------- validation

def held_out(labels):
    """Whether each text is held out: every fifth of its class, in the order of the texts."""
    marks = numpy.zeros(len(labels), bool)
    for label in numpy.unique(labels):
        marks[numpy.flatnonzero(labels == label)[VALIDATION_STEP - 1::VALIDATION_STEP]] = True
    return marks


def choose_penalty(x, labels, classes, penalties=PENALTIES, tolerance=TOLERANCE):
    """The penalty with the least mean cross entropy on the held-out texts; of equal ones the
    first."""
    held = held_out(labels)
    x = standardised(x.astype(float)) if isinstance(x, numpy.ndarray) else x
    if not held.any():
        raise ValueError(f"too few training texts: a label needs {VALIDATION_STEP} of them")

    def loss(penalty):
        weights = fit_standardised(x[~held], labels[~held], classes, penalty, tolerance)
        return Loss(x[held], labels[held], classes, 0).at(xp().asarray(weights))

    return min(penalties, key=loss)


def train(x, labels, classes, penalty=None):
    """The weights, and the penalty: the one given, or else the one that the texts choose."""
    penalty = penalty or choose_penalty(x, labels, classes)
    return fit(x, labels, classes, penalty), penalty


# -------------------------------------------------------------------- answers

def scores(weights, x):
    """The score of each class for each row, standardized by themselves."""
    return standardised(x.astype(float)) @ weights[:-1] + weights[-1]


def share_right(weights, x, labels):
    return float((scores(weights, x).argmax(1) == labels).mean())


def area(weights, x, labels):
    """The area under the ROC curve for two classes: how often a document of class 1 has a larger
    score than one of class 0. 0.5 is blind."""
    both = scores(weights, x)
    score = both[:, 1] - both[:, 0]
    ones, zeros = score[labels == 1], numpy.sort(score[labels == 0])
    below = numpy.searchsorted(zeros, ones, "left") + numpy.searchsorted(zeros, ones, "right")
    return float(below.mean() / 2 / len(zeros))
