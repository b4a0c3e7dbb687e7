"""Private text with a proof: tem draws a word for every word, near words likelier.

>>> import tem
>>> model = tem.Model.open()                              # English; built on first use
>>> len(model.privatize("what a wonderful movie", epsilon=3).split(" "))
4
>>> model.explain("wonderful", epsilon=3).entries[1].word
'fantastic'

The guarantee is word-level metric differential privacy, by the Truncated Exponential Mechanism:
P(y | w) <= exp(epsilon d(w, w')) P(y | w') for all words w, w', y. The number of words of a text is
not hidden, and the costs of its words add up. docs/PYTHON.md is the guide, docs/THREAT_MODEL.md
says what to know before trusting it.
"""
from typing import TYPE_CHECKING

from ._errors import (ArgumentError, BudgetError, CancelledError, CertificateError, DamagedError,
                      Error, ExistsError, FileError, FormatError, MetricError, NotFoundError,
                      NotPrivateWarning, OutOfMemoryError, PrivacyWarning, RangeError,
                      RoundingWarning, TrustWarning, UnsupportedError, UntrustedError,
                      UtilityWarning, VersionError)
from ._estimate import estimate
from ._language import Evaluation, LanguageModel, Weigher
from ._mechanisms import Mechanism, Parameter, mechanisms
from ._model import Model, Words
from ._options import Options
from ._results import (Audit, Calibration, Choice, Cost, DocumentDistance, Entry, Explanation,
                       Pair, Paper, Point, Report, Summary, Tail)
from ._tem import version as __version__

__all__ = ["ArgumentError", "Audit", "BudgetError", "Calibration", "CancelledError",
           "CertificateError", "Choice", "Cost", "DamagedError", "DocumentDistance", "Entry",
           "Error", "Evaluation", "ExistsError", "Explanation", "FileError", "FormatError",
           "LanguageModel", "Mechanism", "MetricError", "Model", "NotFoundError",
           "NotPrivateWarning", "Options", "OutOfMemoryError", "Pair", "Paper", "Parameter",
           "Point", "PrivacyWarning", "RangeError", "Report", "RoundingWarning", "Summary", "Tail",
           "TrustWarning", "UnsupportedError", "UntrustedError", "UtilityWarning", "VersionError",
           "Weigher", "Words", "__version__", "estimate", "mechanisms"]

if not TYPE_CHECKING:  # type checkers know what the module has
    def __getattr__(name):
        hint = f": tem.Model.open().{name} is a method of a model" if hasattr(Model, name) else ""
        raise AttributeError(f"module 'tem' has no attribute {name!r}{hint}", name=name)
