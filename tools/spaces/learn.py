# SPDX-License-Identifier: Apache-2.0
"""The regularised linear classifier: multinomial logistic regression on standardised features.

Each side, training and test, is standardised by its own mean and deviation. That needs no label.
The mean vector of a private text lies nearer to the mean of all, so that the other way (both sides
by the training's numbers) moves the test texts out of the range that was learned.

`accuracy` minimises by SciPy's L-BFGS, as the rows of docs/spaces were made. `fit` finds the same
minimum by Newton's method, without SciPy and in double precision, so that its answers are the same
with a GPU and without one.
"""
import numpy

from .arrays import host, xp

PENALTY = 0.1  # times half the sum of the squared weights, beside the mean cross entropy
STEPS = 200
NEWTON_STEPS, SOLVER_STEPS = 50, 500
TOLERANCE = 1e-6  # of every number of the gradient


def standardised(x):
    deviation = x.std(0)
    return (x - x.mean(0)) / numpy.where(deviation > 0, deviation, 1)


def loss_and_gradient(point, x, hot):
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
    gradient[:-1] += PENALTY * weights[:-1]
    return loss + PENALTY / 2 * float((weights[:-1] ** 2).sum()), gradient.ravel()


def accuracy(train, labels, test, test_labels):
    """Trains on one side and returns the share of right answers on the other."""
    from scipy.optimize import minimize
    classes = int(max(labels.max(), test_labels.max())) + 1
    x = xp().asarray(standardised(train).astype(numpy.float32))
    hot = xp().asarray(numpy.eye(classes, dtype=numpy.float32)[labels])
    found = minimize(loss_and_gradient, numpy.zeros((x.shape[1] + 1) * classes), (x, hot),
                     "L-BFGS-B", jac=True, options={"maxiter": STEPS})
    weights = found.x.reshape(-1, classes)
    answers = (standardised(test) @ weights[:-1] + weights[-1]).argmax(1)
    return float((answers == test_labels).mean())


# ------------------------------------------------------------ Newton's method

class Loss:
    """The same loss, with its gradient and products with its second derivative. Weights have a row
    per feature and one for the bias, and a column per class."""

    def __init__(self, x, labels, classes, penalty):
        ones = numpy.ones((len(x), 1))
        self.x = xp().asarray(numpy.hstack((standardised(x.astype(float)), ones)))
        self.hot = xp().asarray(numpy.eye(classes)[labels])
        self.penalty = xp().full((self.x.shape[1], 1), float(penalty))
        self.penalty[-1] = 0

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
        return self.x.T @ ((self.share - self.hot) / len(self.x)) + self.penalty * self.weights

    def curve(self, direction):
        change = self.x @ direction
        change -= (self.share * change).sum(1, keepdims=True)
        return self.x.T @ (self.share * change / len(self.x)) + self.penalty * direction


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
    """The weights of the least loss, for standardised features; the last row is the bias."""
    loss = Loss(x, labels, classes, penalty)
    weights = xp().zeros((loss.x.shape[1], classes))
    value = loss.at(weights)
    for _ in range(NEWTON_STEPS):
        gradient = loss.gradient()
        if float(xp().abs(gradient).max()) <= TOLERANCE:
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


def scores(weights, x):
    """The score of each class for each row, standardised by themselves."""
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
