# SPDX-License-Identifier: Apache-2.0
"""The regularised linear classifier: multinomial logistic regression on standardised features.

Each side, training and test, is standardised by its own mean and deviation. That needs no label.
The mean vector of a private text lies nearer to the mean of all, so that the other way (both sides
by the training's numbers) moves the test texts out of the range that was learned.
"""
import numpy
from scipy.optimize import minimize

from .arrays import host, xp

PENALTY = 0.1  # times half the sum of the squared weights, beside the mean cross entropy
STEPS = 200


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
    classes = int(max(labels.max(), test_labels.max())) + 1
    x = xp().asarray(standardised(train).astype(numpy.float32))
    hot = xp().asarray(numpy.eye(classes, dtype=numpy.float32)[labels])
    found = minimize(loss_and_gradient, numpy.zeros((x.shape[1] + 1) * classes), (x, hot),
                     "L-BFGS-B", jac=True, options={"maxiter": STEPS})
    weights = found.x.reshape(-1, classes)
    answers = (standardised(test) @ weights[:-1] + weights[-1]).argmax(1)
    return float((answers == test_labels).mean())
