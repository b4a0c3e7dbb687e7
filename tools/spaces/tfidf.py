# SPDX-License-Identifier: Apache-2.0
"""What anybody runs on texts: TF-IDF with logistic regression, and naive Bayes.

Both learn from the words of some texts and are tested on the words of others. They know nothing of
a mechanism. A word that stands once in all texts to learn from is left out.
"""
import numpy

from . import learn

STRENGTHS = (1.0, 4.0, 16.0)  # 1 / (penalty x texts), the smallest first
PRIOR = 0.3                   # of each word in naive Bayes
TOLERANCE = 1e-4              # of every number of the gradient


def counts_of(ids, side, kept):
    """How often each document has each word of `kept`."""
    from scipy.sparse import csr_matrix
    size = int(max(ids.max(), kept.max())) + 1
    counts = csr_matrix((numpy.ones(len(ids)), ids, side.starts), (len(side.labels), size),
                        copy=True)
    counts.sum_duplicates()  # in place: of the copy
    return counts[:, kept]


def weigh(counts, documents, texts):
    """(1 + ln(count)) (1 + ln((1 + texts) / (1 + documents))), each document at unit length."""
    from scipy.sparse import diags
    weighed = counts.tocsr(copy=True)
    weighed.data = 1 + numpy.log(weighed.data)
    weighed = weighed @ diags(1 + numpy.log((1 + texts) / (1 + documents)))
    lengths = numpy.sqrt(numpy.asarray(weighed.multiply(weighed).sum(1)).ravel())
    return (diags(1 / numpy.maximum(lengths, 1e-12)) @ weighed).tocsr()


def bayes(x, labels, classes):
    """The logarithms of each word's share in each class, and of the classes."""
    hot = numpy.eye(classes)[labels]
    sums = (x.T @ hot) + PRIOR
    return numpy.log(sums / sums.sum(0)), numpy.log(numpy.maximum(hot.mean(0), 1e-12))


class Task:
    """Texts to learn from, which are released, and texts to test on, which are original."""

    def __init__(self, name, train, test):
        self.name, self.train, self.test = name, train, test
        self.classes = int(max(train.labels.max(), test.labels.max())) + 1
        self.ids = train.ids.astype(numpy.int64)

    def features(self, outputs):
        """TF-IDF of both sides, if `outputs` replace the words to learn from."""
        kept = numpy.flatnonzero(numpy.bincount(outputs) > 1)
        train = counts_of(outputs, self.train, kept)
        documents = numpy.bincount(train.indices, minlength=len(kept))
        return [weigh(counts, documents, len(self.train.labels))
                for counts in (train, counts_of(self.test.ids, self.test, kept))]

    def accuracy(self, outputs, penalty=None):
        """In percent, of logistic regression and of naive Bayes, and the penalty."""
        train, test = self.features(outputs)
        labels, classes = self.train.labels, self.classes
        if penalty is None:
            penalties = [1 / (strength * len(labels)) for strength in STRENGTHS]
            penalty = learn.choose_penalty(train, labels, classes, penalties, TOLERANCE)
        weights = learn.fit_standardised(train, labels, classes, penalty, TOLERANCE)
        shares, prior = bayes(train, labels, classes)
        answers = (test @ weights[:-1] + weights[-1], test @ shares + prior)
        linear, naive = (100 * float((scores.argmax(1) == self.test.labels).mean())
                         for scores in answers)
        return linear, naive, penalty
