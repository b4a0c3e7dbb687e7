"""For scikit-learn: a transformer that makes texts private.

    pipeline = make_pipeline(tem.sklearn.Privatizer(epsilon=3), TfidfVectorizer(),
                             LogisticRegression())

Its parameters are public and never learned from the texts: `fit` learns nothing.
"""
from typing import Any, Self, Unpack

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from ._model import Model, as_model
from ._options import DEFAULTS, SETTINGS, Path, Settings, check_names, explained

__all__ = ["Privatizer"]


class Privatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces every word of each text, as `tem.Model.privatize` does.

    model: a Model, the path of one, or None for the default one. The other parameters are those of
    `Model.privatize`. Every call draws anew: two transforms of a text differ, and their costs add
    up.
    """

    @explained("epsilon", *SETTINGS)  # scikit-learn reads the parameters from the signature
    def __init__(self, *, epsilon: float, model: Model | Path | None = None,
                 **options: Unpack[Settings]) -> None:
        """{options}"""
        # scikit-learn sets parameters at any time: transform refuses their values, not __init__.
        check_names("Privatizer", epsilon, options, SETTINGS)
        self.epsilon, self.model = epsilon, model
        for name in SETTINGS:
            setattr(self, name, options.get(name, DEFAULTS[name]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        tags.requires_fit = False
        tags.non_deterministic = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learns nothing; opens the model."""
        self.model_ = as_model(self.model)
        return self

    def transform(self, X: Any) -> Any:
        """Returns the private texts, in the same kind of container. A frame keeps its columns."""
        if not hasattr(self, "model_"):
            self.fit(X)
        options = {name: value for name, value in self.get_params(deep=False).items()
                   if name != "model"}
        if hasattr(X, "columns") and hasattr(X, "assign"):
            private = X.assign(**{name: self.model_.privatize(X[name], **options)
                                  for name in X.columns})
            private.attrs = {}  # PRIVACY: they may hold anything about the texts
            return private
        return self.model_.privatize(X, **options)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the input."""
        return input_features
