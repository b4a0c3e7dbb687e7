"""The ledger that a call is charged to. The file, the rules and the code are those of `tem
privatize --ledger`."""
import math
import operator
import os
from collections.abc import Mapping
from typing import Any

from ._errors import make

Path = str | os.PathLike[str]
People = Mapping[str, Any] | Any  # {field: the person of each text}, or a Series with a name
Charged = tuple[str, float, float, str | None, tuple[str, ...] | None]


def _name(person: object) -> str:
    """The name as the command reads it from a record: a str, or a whole number. A missing person is
    "", which the library refuses."""
    if isinstance(person, str):
        return person
    if person is None or isinstance(person, float) and math.isnan(person):
        return ""
    if isinstance(person, bool) or not hasattr(person, "__index__"):
        raise make("argument", "the name of a person must be a str or a whole number")
    return str(operator.index(person))


def _same_rows(texts: Any, people: Any) -> bool:
    """False for two Series that pandas would not align row by row."""
    rows: Any = getattr(texts, "index", None)
    others: Any = getattr(people, "index", None)
    if not hasattr(rows, "equals") or not hasattr(others, "equals"):
        return True
    return bool(rows.equals(others))


def _people(by: People, texts: Any) -> tuple[str, tuple[str, ...]]:
    if isinstance(by, Mapping) and len(by) == 1:
        (field, people), = by.items()
    else:
        field, people = getattr(by, "name", None), by
    if not isinstance(field, str) or not field:
        raise make("argument", 'by={"user": PEOPLE}: the field that names people, and the person '
                   "of each text; or a Series with a name")
    if not _same_rows(texts, people):
        raise make("argument", "texts and people are Series with different indexes, so tem cannot "
                   "match them: use people.reindex(texts.index)")
    if isinstance(people, (str, int)):
        people = [people]
    names = people.tolist() if hasattr(people, "tolist") else list(people)
    return field, tuple(map(_name, names))


def _limit(name: str, budget: float | None) -> float:
    if budget is not None and not 0 < budget < math.inf:
        raise make("range", f"{name} must be above 0 and finite")
    return budget or 0.0


def read(ledger: Path | None, budget: float | None, budget_worst: float | None,
         by: People | None, texts: Any) -> Charged | None:
    """The arguments in the form that C takes."""
    if ledger is None:
        if budget is not None or budget_worst is not None or by is not None:
            raise make("argument", "budget, budget_worst and by need ledger=FILE, which records "
                       "what was spent")
        return None
    limits = _limit("budget", budget), _limit("budget_worst", budget_worst)
    field, people = (None, None) if by is None else _people(by, texts)
    return os.fsdecode(ledger), *limits, field, people
