"""What the workers of a cluster are sent: how to draw, and the hash of the model to draw from.

The driver opens the model and decides what is believed; a worker opens the file that it has under
the name it was told, compares it with that hash, and keeps it for all it has to do. There is no
seed here: with one, every batch of texts would be drawn for with the same random numbers.
"""
import dataclasses
import functools
import operator
import pathlib
import tempfile
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from . import _ledger, _tem
from ._errors import UntrustedError, make
from ._model import Model, _given, _report, as_model
from ._options import ALL, Path, Policies, check, law_and_text
from ._results import Report

T = TypeVar("T")
Counts = tuple[int, int, int, int]  # documents, words, unknown, punctuation


class Vouched(NamedTuple):
    """A certificate that the driver believes: its hash, and the file that has it."""

    hash: str
    content: bytes
    epsilon: float
    beta: float
    gamma: float


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How a worker makes texts private. Pickled into every task."""

    path: str
    hash: str
    certificate: Vouched | None
    options: dict[str, Any]
    # PRIVACY: schedulers run equal tasks once and use the result twice. Two texts would then have
    # the same draws if they are equal, and that would show. So no two calls make equal tasks.
    call: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)

    def privatize(self, texts: T, path: str | None = None) -> tuple[T, Report]:
        """In a worker: the texts, made private, and what that cost. path: of the model's file
        there, if it is not the driver's."""
        model = _open(path or self.path, self.hash, self.certificate)
        return model.privatize_report(texts, **self.options)


def _refuse(policies: Policies) -> None:
    """What a worker must not be sent."""
    for name in ("insecure_seed", "progress"):
        if name in policies:
            raise make("argument", f"{name} has no meaning on a cluster: leave it out")
    # PRIVACY: each worker would charge a file of its own, and a budget would hold for each alone.
    for name in ("ledger", "budget"):
        if name in policies:
            raise make("argument", f"{name}: nobody counts the draws of a lazy frame; privatize_to "
                       "draws once, and charges for it")
    if "by" in policies:
        raise make("argument", "by: people are not told apart on a cluster, not by privatize_to "
                   "either, which charges all texts to one account; Model.privatize does")


def make_recipe(model: Model | Path | None, epsilon: float, threads: int,
                policies: Policies) -> tuple[Recipe, Report]:
    """On the driver: the recipe, and the report of no text at all. What would fail in every worker
    fails here."""
    _refuse(policies)
    check("privatize", {**policies, "epsilon": epsilon}, ALL)
    opened = as_model(model)
    if opened.path is None:
        raise make("argument", "a model in memory cannot be sent: save it, and open the file")
    options: dict[str, Any] = {**policies, "epsilon": epsilon, "threads": threads}
    nothing = opened.privatize_report([], **options)[1]
    certificate = _vouch(opened, epsilon, policies) if policies.get("calibrated") else None
    return Recipe(opened.path, opened.hash, certificate, options), nothing


class Bill:
    """On the driver: what a run may spend, and in the end did. Nothing that was drawn may be where
    others see it before `settle` has returned."""

    def __init__(self, model: Model | Path | None, recipe: Recipe, ledger: Path | None,
                 budget: float | None) -> None:
        self.model, self.how = as_model(model), law_and_text(recipe.options)
        self.charged = _ledger.read(ledger, budget, None, None)
        self._charge((0, 0, 0, 0))  # a ledger that cannot be charged fails before anything is drawn

    def _charge(self, counts: Counts) -> dict[str, Any] | None:
        if self.charged is None:
            return None
        return self.model._make_job(self.how).charge(counts, None, self.charged)

    def settle(self, written: Report, again: Report | None) -> Report:
        """Charges for what was written and for what was drawn again (None: nothing was). The report
        of what was written."""
        balance = self._charge(_counts(written if again is None else written + again))
        return _report(self.model._make_job(self.how), False, _counts(written), self.charged,
                       balance)


def _counts(report: Report) -> Counts:
    """What the library has counted, as far as a report tells."""
    kept = report.unknown if report.oov == "keep-unsafe" else 0
    return report.documents, report.words, report.unknown, report.released_unseen - kept


def refuse_lazy() -> None:
    """What privatize has drawn into its input privatize_to cannot count, nor a ledger."""
    raise make("argument", "the frame has draws of privatize in it, which nobody would count: give "
               "privatize_to all columns at once, as a list; or, for another epsilon, write the "
               "first with it and read that")


def columns_of(column: str | Sequence[str]) -> list[str]:
    """The columns to privatise, each once."""
    columns = [column] if isinstance(column, str) else list(column)
    if not columns or len(set(columns)) != len(columns):
        raise make("argument", "which columns are private? Name each of them once")
    return columns


def times(report: Report, count: int) -> Report | None:
    """What so many cost together."""
    return functools.reduce(operator.add, [report] * count) if count > 0 else None


def _vouch(model: Model, epsilon: float, policies: Policies) -> Vouched:
    """The certificate by which the driver draws."""
    numbers = epsilon, _given("beta", policies.get("beta")), _given("gamma", policies.get("gamma"))
    certificate = model._find_certificate(*numbers)
    with tempfile.TemporaryDirectory(prefix="tem.") as folder:
        file = pathlib.Path(folder, "cert")
        certificate.save(file)
        return Vouched(certificate.info()["hash"], file.read_bytes(), *numbers)


def _receive(sent: Vouched, model: Model) -> _tem.Certificate:
    with tempfile.TemporaryDirectory(prefix="tem.") as folder:
        file = pathlib.Path(folder, "cert")
        file.write_bytes(sent.content)
        found = _tem.find_certificate(file, model._handle, sent.epsilon, sent.beta, sent.gamma)
    # PRIVACY: the worker has proved nothing itself; it believes what the driver has named.
    if found.info()["hash"] != sent.hash:
        raise make("certificate", "this is not the certificate that the driver believes")
    return found


@functools.lru_cache(maxsize=4)
def _open(path: str, expected: str, certificate: Vouched | None) -> Model:
    """Maps a model once a process. PRIVACY: a worker has verified nothing. It trusts what the
    driver trusts, by the hash that it computes from its own bytes."""
    try:
        model = Model.open(path, model_hash=expected, threads=1)
    except UntrustedError:
        raise make("damaged", "this is not the model that the driver opened: the file differs",
                   path) from None
    model._warns = False  # the driver has been told
    if certificate is not None:
        model._believe(_receive(certificate, model), certificate.gamma)
    return model


def decode(texts: Sequence[bytes | None]) -> list[str | None]:
    """UTF-8 as str. The error of Python would quote what it cannot decode."""
    try:
        return [None if text is None else str(text, "utf-8") for text in texts]
    except UnicodeDecodeError:
        raise make("format", "a text of the column is not UTF-8") from None
