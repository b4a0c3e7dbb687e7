"""Public text: the prior and the vectors that a learner uses. No private text may come here.

A public text is the path of a file with a document per line, or a list of texts.
"""
from __future__ import annotations

import contextlib
import math
import os
import pathlib
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _tem
from ._containers import unpack
from ._errors import make
from ._options import Path

if TYPE_CHECKING:
    from ._model import Model

Prior = Path | float | Sequence[str] | _tem.Prior

_ONE_LINE = str.maketrans("\r\n\t", "   ")


def is_text(given: Any) -> bool:
    """Whether this is a public text, and not the name of a law or a file of counts."""
    if isinstance(given, (int, float, _tem.Prior)) or given is None:
        return False
    if not isinstance(given, (str, os.PathLike)):
        return True
    if str(given).partition(":")[0] == "zipf":
        return False
    with open(given, encoding="utf-8", errors="replace") as lines:
        return "\t" not in lines.readline()  # the rule of tem_prior_load


def documents(given: Any) -> list[str]:
    """The documents of a public text."""
    if isinstance(given, (str, os.PathLike)):
        return pathlib.Path(given).read_text(encoding="utf-8").split("\n")
    return [text or "" for text in unpack(given)[0]]


@contextlib.contextmanager
def as_file(given: Any) -> Iterator[str]:
    """The path of a public text."""
    if isinstance(given, (str, os.PathLike)):
        yield os.fspath(given)
        return
    with tempfile.TemporaryDirectory(prefix="tem-public.") as folder:
        path = pathlib.Path(folder, "text")
        try:
            with open(path, "w", encoding="utf-8", newline="\n") as lines:
                for text in documents(given):
                    lines.write(text.translate(_ONE_LINE) + "\n")
        except UnicodeEncodeError:
            raise make("format", "a public text contains a lone surrogate") from None
        yield str(path)


def prior(model: Model, given: Prior) -> _tem.Prior:
    """The prior of a model, of any kind that learners take."""
    if isinstance(given, _tem.Prior):
        return given
    if isinstance(given, (str, os.PathLike, int, float)):
        return model._prior(given)
    with as_file(given) as path:
        return model._prior(path)


# ---- numbers in the form of tem_learn.h ----

def unknown(share: float | None) -> float:
    """Below 0: the prior's own share."""
    if share is None:
        return -1.0
    if not 0 <= share < 1:
        raise make("argument", "unknown is a share from 0 to below 1, or None")
    return float(share)


def ratio(value: float | None) -> float:
    """0: the default."""
    if value is None:
        return 0.0
    if not 1 < value < math.inf:
        raise make("argument", "ratio is a number above 1, or None")
    return float(value)
