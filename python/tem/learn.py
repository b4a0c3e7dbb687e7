"""Learning from released text, for scikit-learn: the law of the mechanism is public, so learn with
it.

    learner = tem.learn.classifier(epsilon=1.9, public=public_texts)
    learner.fit(released_texts, labels).predict(original_texts)

Released text is the output of `privatize`. All that these estimators do with it is
post-processing: it spends no privacy. Priors, vectors and public texts must be public: they must
not be made from the private texts. docs/LEARNING.md has the formulas and measurements.
"""
from __future__ import annotations

import collections
import copy
import dataclasses
import hashlib
import itertools
import numbers
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy
from scipy.sparse import csr_matrix
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from . import _default, _public, _tem
from ._channel import Channel, Deconvolution, Estimate
from ._containers import unpack
from ._errors import make
from ._model import Model, _count, _threads, as_model
from ._options import Path
from ._released import (NO_WORD, AnyReport, Run, Words, check_released, check_report, counts_of,
                        is_released, known, words_of)

__all__ = ["Channel", "DeconvolvedNB", "Deconvolution", "Estimate", "PosteriorClassifier",
           "PosteriorVectorizer", "classifier"]

Vectors = int | Path | Any
BATCH_LEAST = 100  # texts; the moments of fewer say too little
MISSING_MOST = 0.05  # a warning beyond this share of words without a vector
CONSTANT = 1e-6  # a deviation that is a smaller part of the mean is rounding
TABLES_KEPT = 2
LOOKED_AT, WORDS_LEAST = 100, 100  # texts, words: whether texts look released


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise make("argument", f"{name} is one of {', '.join(map(repr, choices))}")


def _law(estimator: Any) -> dict[str, Any]:
    """The keywords of `Model.channel` that decide about the law."""
    return {name: getattr(estimator, name)
            for name in ("epsilon", "beta", "gamma", "mechanism", "calibrated")}


def _open(estimator: Any) -> tuple[Model, Run]:
    """The model of an estimator, and what is known about the run; refuses another report."""
    _check_choice("kind", estimator.kind, ("released", "original"))
    model = as_model(estimator.model)
    run = check_report(estimator.report, model, _law(estimator))
    return model, run if estimator.unknown is None else run._replace(unknown=estimator.unknown)


def _text_tags(tags: Tags) -> Tags:
    tags.input_tags.string = True
    tags.input_tags.two_d_array = False
    tags.input_tags.allow_nan = True
    return tags


def _known_words(model: Model, texts: Any, kind: str, run: Run) -> Words:
    """The words of texts that count. Skips unknown words; refuses too many in released text."""
    words = words_of(model, texts, run if kind == "released" else None)
    if kind == "released":
        check_released(words)
    elif _look_released(model, texts):
        warnings.warn("these texts look released: they have nothing but words that this model "
                      "releases. The estimator takes them for original texts; kind=\"released\" "
                      "is for released ones", stacklevel=4)
    return known(words)


def _look_released(model: Model, texts: Any) -> bool:
    """Whether the first texts can be the output of the model. Original texts have capitals,
    punctuation and unknown words."""
    first = list(itertools.islice(unpack(texts)[0], LOOKED_AT))
    words = words_of(model, first, Run())
    return len(words.ids) >= WORDS_LEAST and is_released(words)


def _incidence(words: Words, columns: int) -> Any:
    """A sparse matrix with a row per text: how often it has each word."""
    ones = numpy.ones(len(words.ids))
    return csr_matrix((ones, words.ids, words.starts), (words.texts, columns))


# ---- the table of vectors ----

@dataclasses.dataclass(frozen=True)
class _Moments:
    """The mean of each column over texts, and its deviation."""

    mean: Any
    deviation: Any

    def standardise(self, features: Any) -> Any:
        """A column that is constant up to rounding keeps its scale."""
        varies = self.deviation > CONSTANT * numpy.abs(self.mean)
        return (features - self.mean) / numpy.where(varies, self.deviation, 1)


@dataclasses.dataclass(frozen=True)
class _Table:
    """What one fit makes, from public numbers alone."""

    vectors: dict[str, Any]  # by kind: x_w of original words, m(y) of released ones
    mean: Any  # of x_w under the prior, which is that of m(y), too
    moments: dict[str, _Moments]  # by kind, if there is a public text

    def features(self, words: Words, kind: str) -> Any:
        """The mean vector of each text; of a text without words, the mean under the prior."""
        lengths = numpy.diff(words.starts)
        sums = _incidence(words, len(self.vectors[kind])) @ self.vectors[kind]
        means = sums / numpy.maximum(lengths, 1)[:, None]
        means[lengths == 0] = self.mean
        return means


def _moments_of(features: Any) -> _Moments:
    return _Moments(features.mean(0), features.std(0))


def _public_moments(table: _Table, channel: Channel, words: Words, unknown: float | None,
                    threads: int | None) -> dict[str, _Moments]:
    """The moments of both sides over public texts.

    Those of the released side are exact, nothing is drawn: a released text is the mean of
    independent m(Y), so its mean and variance follow from P m and P m^2. The variance over texts
    and draws is that of the means, and the mean of the variances."""
    original = known(words)
    has_words = numpy.diff(original.starts) > 0
    if not has_words.any():
        raise make("argument", "the public texts have no known word")
    drawn = original if unknown == 0 else Words(
        numpy.where(words.ids == NO_WORD, channel.outputs, words.ids), words.starts)
    lengths = numpy.diff(drawn.starts)
    posterior = table.vectors["released"]
    means, squares = numpy.hsplit(channel.backward(numpy.hstack((posterior, posterior ** 2)),
                                                   threads=threads), 2)
    of_texts = _incidence(drawn, channel.inputs)[lengths > 0]
    lengths = lengths[lengths > 0][:, None]
    centres = of_texts @ means / lengths
    noise = of_texts @ numpy.maximum(squares - means ** 2, 0) / lengths ** 2
    released = _Moments(centres.mean(0), numpy.sqrt(centres.var(0) + noise.mean(0)))
    return {"original": _moments_of(table.features(original, "original")[has_words]),
            "released": released}


def _file_vectors(model: Model, path: Path, threads: int | None) -> Any:
    made, columns, missing = _tem.align_vectors(model._handle, path, _threads(threads), None)
    if missing > MISSING_MOST * len(model):
        warnings.warn(f"{missing:,} of {len(model):,} words have no vector in this file: they get "
                      "the mean of the others", stacklevel=4)
    return numpy.frombuffer(made).reshape(len(model), columns)


def _vectors(model: Model, vectors: Vectors, public: Any, threads: int | None) -> Any:
    """x_w of all words."""
    if vectors is None:
        return _file_vectors(model, _default.learning_vectors(model.path), threads)
    if isinstance(vectors, numbers.Integral):
        if not _public.is_text(public):
            raise make("argument", "vectors of a number of columns are made from public texts: "
                       "name them as the prior")
        columns = _count("vectors", int(vectors))
        made: Any = numpy.empty((len(model), columns))
        with _public.as_file(public) as path:
            _tem.text_vectors(model._handle, path, columns, made, _threads(threads), None)
        return made
    if isinstance(vectors, (str, os.PathLike)):
        return _file_vectors(model, vectors, threads)
    given = numpy.asarray(vectors, dtype=numpy.float64)
    if given.ndim != 2 or len(given) != len(model):
        raise make("argument", f"expected a row of numbers for each of {len(model):,} words")
    return given


def _file_identity(path: Path) -> tuple[Any, ...]:
    name = os.path.abspath(path)
    found = os.stat(name) if os.path.exists(name) else None
    return name, found and (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _prior_identity(prior: Any) -> Any:
    """A value that tells priors apart: of a file, which one it is; of texts, a hash."""
    if prior is None or isinstance(prior, (int, float)):
        return prior
    if isinstance(prior, (str, os.PathLike)):
        return _file_identity(prior)
    digest = hashlib.sha256()
    for text in _public.documents(prior):
        digest.update(text.encode(errors="surrogatepass") + b"\0")
    return digest.hexdigest()


def _vectors_identity(vectors: Vectors) -> Any:
    if vectors is None or isinstance(vectors, numbers.Integral):
        return vectors
    if isinstance(vectors, (str, os.PathLike)):
        return _file_identity(vectors)
    given = numpy.ascontiguousarray(vectors, dtype=numpy.float64)
    return given.shape, hashlib.sha256(given.tobytes()).hexdigest()


# Folds of a cross validation and steps of a grid search share a table: it depends on the settings
# alone, never on the texts that are passed to `fit`.
_tables: collections.OrderedDict[Any, _Table] = collections.OrderedDict()
_tables_lock = threading.Lock()


def _make_table(vectorizer: PosteriorVectorizer, model: Model, unknown: float | None) -> _Table:
    threads = vectorizer.threads
    given = _vectors(model, vectorizer.vectors, vectorizer.prior, threads)
    channel = model.channel(**_law(vectorizer), threads=threads)
    prior = _public.prior(model, vectorizer.prior)
    shares = channel.expect(prior=prior, unknown=unknown)[:-1]
    posterior = channel.posterior(given, prior=prior, unknown=unknown, threads=threads)
    table = _Table({"original": given, "released": posterior}, shares @ given / shares.sum(), {})
    if vectorizer.match != "public":
        return table
    words = words_of(model, _public.documents(vectorizer.prior), None)
    return dataclasses.replace(
        table, moments=_public_moments(table, channel, words, unknown, threads))


def _table(vectorizer: PosteriorVectorizer, model: Model, unknown: float | None) -> _Table:
    key = (model, tuple(_law(vectorizer).items()), _prior_identity(vectorizer.prior),
           _vectors_identity(vectorizer.vectors), unknown, vectorizer.match == "public")
    with _tables_lock:
        if key not in _tables:
            _tables[key] = _make_table(vectorizer, model, unknown)
            while len(_tables) > TABLES_KEPT:
                _tables.popitem(last=False)
        _tables.move_to_end(key)
        return _tables[key]


class PosteriorVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns released texts into means of posterior vectors, and original texts into means of
    vectors of the same space. So a learner can train on released texts and be applied to original
    ones.

    The posterior vector of a released word is the mean of the vectors of the words that may be
    behind it. `fit` looks at the settings and at no text. Skips words that have no vector; of
    released text at most 1 % may be such words, otherwise it is refused.

    epsilon, beta, gamma, mechanism, calibrated, model: as the text was released. model: a Model,
    the path of one, or None for the default one.
    report: the `Report` of the run that released the text, its dict, or the path of its JSON; fit
    refuses options that differ from it.
    prior: how often words are expected: "zipf", the path of a PUBLIC text (a document per line) or
    of a file of counts, or a list of public texts.
    vectors: None for the 300 columns of GloVe that come with tem; the path of a file of vectors; an
    array with a row per word of the model; or a number of columns: tem then makes vectors from the
    public texts of the prior (50 is a good number).
    unknown: the share of unknown words among the words that were drawn for; None for that of the
    prior, or 0 if the report says that the run dropped or masked them.
    kind: what `transform` turns: "released" or "original" texts. `original()` returns a twin for
    original texts.
    match: how features are standardized, so that both sides have the same scale. "public": each
    side by the mean and deviation that it has over the public texts of the prior; those of the
    released side are computed from the law, and nothing is drawn. "batch": each call of `transform`
    by the mean and deviation of its own texts, at least 100; this assumes that classes are equally
    common on both sides. None: not at all.
    threads: at most this many; None for one per CPU.
    """

    def __init__(self, *, epsilon: float, model: Model | Path | None = None,
                 beta: float | None = None, gamma: float | None = None, mechanism: str = "tem",
                 calibrated: bool = False, prior: _public.Prior = "zipf", vectors: Vectors = None,
                 unknown: float | None = None, kind: str = "released", match: str | None = None,
                 report: AnyReport | None = None, threads: int | None = None) -> None:
        self.epsilon, self.model = epsilon, model
        self.beta, self.gamma = beta, gamma
        self.mechanism, self.calibrated = mechanism, calibrated
        self.prior, self.vectors, self.unknown = prior, vectors, unknown
        self.kind, self.match = kind, match
        self.report, self.threads = report, threads

    def __sklearn_tags__(self) -> Tags:
        return _text_tags(super().__sklearn_tags__())

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Makes the table of vectors from the settings. Looks at no text."""
        model, run = _open(self)
        _check_choice("match", self.match, ("public", "batch", None))
        if self.match == "public" and not _public.is_text(self.prior):
            raise make("argument", 'match="public" needs public texts: name them as the prior')
        self.table_ = _table(self, model, run.unknown)
        self.model_, self.run_ = model, run
        return self

    def transform(self, X: Any) -> Any:
        """The mean vector of each text, a row per text."""
        check_is_fitted(self, "table_")
        if self.match == "public" and not self.table_.moments:
            raise make("argument", 'match="public" was set after `fit`: fit again')
        features = self.table_.features(_known_words(self.model_, X, self.kind, self.run_),
                                        self.kind)
        if self.match is None:
            return features
        if self.match == "public":
            return self.table_.moments[self.kind].standardise(features)
        if len(features) < BATCH_LEAST:
            raise make("argument", f'match="batch" needs at least {BATCH_LEAST} texts at a time')
        return _moments_of(features).standardise(features)

    def original(self) -> PosteriorVectorizer:
        """A twin for original texts, with the same table."""
        return self._twin("original")

    def _twin(self, kind: str) -> PosteriorVectorizer:
        return copy.copy(self).set_params(kind=kind)  # type: ignore[no-any-return]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """posterior0, posterior1, ..."""
        check_is_fitted(self, "table_")
        return numpy.array([f"posterior{i}" for i in range(len(self.table_.mean))], dtype=object)


# ---- classifiers ----

def _check_labels(y: Any) -> Any:
    """The labels of the texts: one of several classes for each."""
    check_classification_targets(y)
    if type_of_target(y) not in ("binary", "multiclass"):
        raise make("argument", "expected one label for each text, not several: fit a classifier "
                   "for each label, as MultiOutputClassifier does")
    return numpy.asarray(y).ravel()


def _delegated(name: str) -> Callable[[Any], bool]:
    return lambda self: self.classifier is None or hasattr(self.classifier, name)


class PosteriorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Trains a classifier on released texts and applies it to original ones.

    vectorizer: a `PosteriorVectorizer`. classifier: any classifier of scikit-learn; None for
    logistic regression that minimizes the mean cross entropy + penalty * half the squared norm of
    the weights. kind: the texts that `predict` gets: "original", or "released", for instance to
    compare settings by cross validation where there is no original text.
    """

    def __init__(self, vectorizer: PosteriorVectorizer, classifier: Any = None, *,
                 penalty: float = 0.01, kind: str = "original") -> None:
        self.vectorizer, self.classifier = vectorizer, classifier
        self.penalty, self.kind = penalty, kind

    def __sklearn_tags__(self) -> Tags:
        return _text_tags(super().__sklearn_tags__())

    def _untrained(self, texts: int) -> Any:
        if self.classifier is not None:
            return clone(self.classifier)
        if not self.penalty > 0:
            raise make("argument", "penalty must be above 0")
        return LogisticRegression(C=1 / (self.penalty * texts), max_iter=1000)

    def fit(self, X: Any, y: Any) -> Self:
        """Trains on released texts."""
        check_consistent_length(X, y)
        _check_choice("kind", self.kind, ("released", "original"))
        labels = _check_labels(y)
        self.vectorizer_ = clone(self.vectorizer).set_params(kind="released").fit()
        features = self.vectorizer_.transform(X)
        self.classifier_ = self._untrained(len(labels)).fit(features, labels)
        self.classes_ = self.classifier_.classes_
        return self

    def _features(self, X: Any) -> Any:
        check_is_fitted(self, "classifier_")
        return self.vectorizer_._twin(self.kind).transform(X)

    def predict(self, X: Any) -> Any:
        """The class of each text."""
        features = self._features(X)
        return self.classifier_.predict(features)

    @available_if(_delegated("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, a row per text."""
        features = self._features(X)
        return self.classifier_.predict_proba(features)

    @available_if(_delegated("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The scores of the classifier."""
        features = self._features(X)
        return self.classifier_.decision_function(features)


def classifier(*, epsilon: float, public: Path | Sequence[str], columns: int = 50,
               penalty: float = 0.01, kind: str = "original",
               **settings: Any) -> PosteriorClassifier:
    """The recommended learner: trained on released texts, applied to original ones.

    It is logistic regression on posterior vectors, whose space tem makes from the public texts;
    each side is standardized by its own moments over the public texts.
    public: PUBLIC texts about the same subject: a list, or the path of a file with a document per
    line. columns: of the vectors. penalty, kind: of `PosteriorClassifier`. settings: other
    parameters of `PosteriorVectorizer`, such as model, calibrated or report.
    """
    made = PosteriorVectorizer(epsilon=epsilon, prior=public, vectors=columns,
                               **{"match": "public", **settings})
    return PosteriorClassifier(made, penalty=penalty, kind=kind)


class DeconvolvedNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes with the word shares of the original texts of each class, which it estimates from
    released texts.

    `fit` counts the released words of each class, and finds the shares of the input words that
    explain them, by expectation maximization from the prior. Many steps fit the noise. So it holds
    out some texts of each class and stops where their released words are likeliest.

    epsilon, beta, gamma, mechanism, calibrated, model, report, prior, unknown, threads: as for
    `PosteriorVectorizer`. kind: the texts that `predict` gets: "original", or "released", which it
    compares with the expected released shares of each class.
    steps: at most this many (100). held_out: the share of the texts that are held out; None: make
    exactly `steps` steps. fit_prior: whether classes count by how common they are among the texts.
    random_state: which texts are held out.
    """

    def __init__(self, *, epsilon: float, model: Model | Path | None = None,
                 beta: float | None = None, gamma: float | None = None, mechanism: str = "tem",
                 calibrated: bool = False, prior: _public.Prior = "zipf",
                 unknown: float | None = None, kind: str = "original", steps: int | None = None,
                 held_out: float | None = 0.1, fit_prior: bool = True,
                 report: AnyReport | None = None, random_state: Any = 0,
                 threads: int | None = None) -> None:
        self.epsilon, self.model = epsilon, model
        self.beta, self.gamma = beta, gamma
        self.mechanism, self.calibrated = mechanism, calibrated
        self.prior, self.unknown, self.kind = prior, unknown, kind
        self.steps, self.held_out, self.fit_prior = steps, held_out, fit_prior
        self.report, self.random_state, self.threads = report, random_state, threads

    def __sklearn_tags__(self) -> Tags:
        return _text_tags(super().__sklearn_tags__())

    def _split(self, words: Words, codes: Any, classes: int) -> Any:
        """Which texts are held out: a share of those of each class that have words."""
        if self.held_out is None:
            return numpy.zeros(words.texts, dtype=bool)
        if not 0 < self.held_out < 1:
            raise make("argument", "held_out is a share between 0 and 1, or None")
        random, out = check_random_state(self.random_state), numpy.zeros(words.texts, dtype=bool)
        for number in range(classes):
            texts = numpy.flatnonzero((codes == number) & (numpy.diff(words.starts) > 0))
            if len(texts) < 2:
                raise make("argument", "each class needs two texts with words, to hold out one of "
                           "them; or held_out=None")
            most = max(1, min(len(texts) - 1, round(len(texts) * self.held_out)))
            out[random.permutation(texts)[:most]] = True
        return out

    def fit(self, X: Any, y: Any) -> Self:
        """Learns from released texts."""
        check_consistent_length(X, y)
        labels = _check_labels(y)
        model, run = _open(self)
        self.classes_, codes = numpy.unique(labels, return_inverse=True)
        classes = len(self.classes_)
        words = _known_words(model, X, "released", run)
        held = self._split(words, codes, classes)
        counts = counts_of(words, numpy.where(held, classes + codes, codes), 2 * classes,
                           len(model))
        if (counts[:, :classes].sum(0) == 0).any():
            raise make("argument", "a class has no released word")
        channel = model.channel(**_law(self), threads=self.threads)
        found = channel.deconvolve(
            counts[:, :classes], held_out=None if self.held_out is None else counts[:, classes:],
            steps=self.steps, prior=self.prior, unknown=run.unknown,
            threads=self.threads)
        self._keep(found, channel, numpy.bincount(codes) / len(codes))
        self.model_, self.run_ = model, run
        return self

    def _keep(self, found: Deconvolution, channel: Channel, common: Any) -> None:
        """Keeps the logarithms that `predict` needs. A share that underflowed counts as the
        smallest number."""
        least = numpy.finfo(float).tiny
        released = channel.forward(found.shares, threads=self.threads)
        self.shares_, self.n_iter_ = found.shares, found.steps
        self.word_log_prob_ = {"original": numpy.log(numpy.maximum(found.shares[:-1], least)),
                               "released": numpy.log(numpy.maximum(released, least))}
        self.class_log_prior_ = numpy.log(common if self.fit_prior
                                          else numpy.full(len(common), 1 / len(common)))

    def _joint(self, X: Any) -> Any:
        check_is_fitted(self, "shares_")
        _check_choice("kind", self.kind, ("released", "original"))
        words = _known_words(self.model_, X, self.kind, self.run_)
        return (_incidence(words, len(self.model_)) @ self.word_log_prob_[self.kind]
                + self.class_log_prior_)

    def predict(self, X: Any) -> Any:
        """The likeliest class of each text."""
        joint = self._joint(X)
        return self.classes_[joint.argmax(1)]

    def predict_log_proba(self, X: Any) -> Any:
        """ln(probability) of each class, a row per text."""
        joint = self._joint(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, a row per text. Naive Bayes is sure of itself."""
        return numpy.exp(self.predict_log_proba(X))
