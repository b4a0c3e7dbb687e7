"""The data sent to the workers of a cluster: how to draw, and the hash of the model to draw from.

The driver opens the model and decides what to trust. A worker opens its own file of the given name,
compares it with that hash, and keeps it open for all its tasks. There is no seed here: with a seed,
every batch of texts would use the same random numbers.
"""
import dataclasses
import functools
import operator
import pathlib
import tempfile
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from . import _language, _ledger, _tem
from ._errors import UntrustedError, make
from ._model import Model, _given, as_model
from ._options import Path, Policies, check, law_and_text, read_weights
from ._results import Report
from ._tokens import make_report

T = TypeVar("T")
# documents, words, unknown, punctuation, charged
Counts = tuple[int, int, int, int, int]


class Vouched(NamedTuple):
    """A certificate that the driver trusts: its hash, and the content of its file."""

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
    # PRIVACY: schedulers run equal tasks once and use the result twice. Equal texts would then get
    # the same draws, which would show that they are equal. So no two calls make equal tasks.
    call: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def language(self) -> _language.Sent | None:
        """The file of a language model that the driver trusts."""
        given = self.options.get("language_model")
        return given if isinstance(given, _language.Sent) else None

    def privatize(self, texts: T, path: str | None = None,
                  language_path: str | None = None) -> tuple[T, Report]:
        """In a worker: returns the private texts and their cost. path, language_path: the worker's
        files of the model and of the language model, if they differ from the driver's."""
        model = _open(path or self.path, self.hash, self.certificate)
        options = self.options
        if language_path is not None and self.language is not None:
            language = self.language._replace(path=language_path)
            options = {**options, "language_model": language}
        return model.privatize_report(texts, **options)


def _refuse(policies: Policies) -> None:
    """Refuses options that a worker must not get."""
    for name in ("insecure_seed", "progress"):
        if name in policies:
            raise make("argument", f"{name} has no meaning on a cluster: leave it out")
    # PRIVACY: each worker would charge its own file, and a budget would hold for each worker alone.
    for name in ("ledger", "budget", "budget_worst"):
        if name in policies:
            raise make("argument", f"{name}: tem cannot count the draws of a lazy frame; use "
                       "privatize_to, which draws once and charges for it")
    if "by" in policies:
        raise make("argument", "by: people are not told apart on a cluster; privatize_to charges "
                   "all texts to one account. Use Model.privatize instead")


def make_recipe(model: Model | Path | None, epsilon: float, threads: int,
                policies: Policies) -> tuple[Recipe, Report]:
    """On the driver: returns the recipe, and the report of an empty run. Errors that would happen
    in every worker happen here."""
    _refuse(policies)
    check("privatize", epsilon, policies)
    opened = as_model(model)
    if opened.path is None:
        raise make("argument", "a model in memory cannot be sent: save it, and open the file")
    options: dict[str, Any] = {**policies, "epsilon": epsilon, "threads": threads}
    if "language_model" in options:
        options["language_model"] = _language.sent(options["language_model"], opened)
    nothing = opened.privatize_report([], **options)[1]
    certificate = _vouch(opened, epsilon, policies) if policies.get("calibrated") else None
    return Recipe(opened.path, opened.hash, certificate, options), nothing


class Bill:
    """On the driver: the allowed and the actual cost of a run. No draw may be visible to others
    before `settle` has returned."""

    def __init__(self, model: Model | Path | None, recipe: Recipe, ledger: Path | None,
                 budget: float | None, budget_worst: float | None) -> None:
        opened, how = as_model(model), law_and_text(recipe.options["epsilon"], recipe.options)
        self.job = opened._jobs.get(how) or opened._make_job(how)
        self.charged = _ledger.read(ledger, budget, budget_worst, None, None)
        # A ledger that cannot be charged fails before anything is drawn.
        self._charge((0, 0, 0, 0, 0))

    def _charge(self, counts: Counts) -> dict[str, Any] | None:
        if self.charged is None:
            return None
        return self.job.charge(counts, None, self.charged)

    def settle(self, written: Report, again: Report | None) -> Report:
        """Charges for the written texts and for those that were drawn again (None: there were
        none). Returns the report of the written texts."""
        balance = self._charge(_counts(written if again is None else written + again))
        return make_report(self.job, False, _counts(written), self.charged, balance)


def _counts(report: Report) -> Counts:
    """The counts of the library, as far as a report has them."""
    kept = report.unknown if report.oov == "keep-unsafe" else 0
    return (report.documents, report.words, report.unknown, report.released_unseen - kept,
            report.words_charged)


def refuse_lazy() -> None:
    """Refuses a frame that already contains draws of privatize: neither privatize_to nor a ledger
    can count them."""
    raise make("argument", "the frame contains draws of privatize, which tem cannot count: give "
               "privatize_to all columns at once, as a list; for another epsilon, write the first "
               "column with privatize_to and read the result")


def columns_of(column: str | Sequence[str]) -> list[str]:
    """The columns to privatize, each named once."""
    columns = [column] if isinstance(column, str) else list(column)
    if not columns or len(set(columns)) != len(columns):
        raise make("argument", "name each private column exactly once")
    return columns


def times(report: Report, count: int) -> Report | None:
    """The total cost of `count` runs like this."""
    return functools.reduce(operator.add, [report] * count) if count > 0 else None


def _vouch(model: Model, epsilon: float, policies: Policies) -> Vouched:
    """The certificate that the driver draws with."""
    numbers = epsilon, _given("beta", policies.get("beta")), _given("gamma", policies.get("gamma"))
    weights = read_weights(policies.get("weights"))
    certificate = model._find_certificate(*numbers, weights if isinstance(weights, str) else None)
    with tempfile.TemporaryDirectory(prefix="tem.") as folder:
        file = pathlib.Path(folder, "cert")
        certificate.save(file)
        return Vouched(certificate.info()["hash"], file.read_bytes(), *numbers)


def _receive(sent: Vouched, model: Model) -> _tem.Certificate:
    with tempfile.TemporaryDirectory(prefix="tem.") as folder:
        file = pathlib.Path(folder, "cert")
        file.write_bytes(sent.content)
        found = _tem.find_certificate(file, model._handle, sent.epsilon, sent.beta, sent.gamma,
                                      None)
    # PRIVACY: the worker has proved nothing itself; it trusts the certificate that the driver
    # named.
    if found.info()["hash"] != sent.hash:
        raise make("certificate", "this is not the certificate that the driver trusts")
    return found


@functools.lru_cache(maxsize=4)
def _open(path: str, expected: str, certificate: Vouched | None) -> Model:
    """Maps a model once per process. PRIVACY: a worker has verified nothing. It trusts what the
    driver trusts, by the hash that it computes from its own bytes."""
    try:
        model = Model.open(path, model_hash=expected, threads=1)
    except UntrustedError:
        raise make("damaged", "this is not the model that the driver opened: the file differs",
                   path) from None
    model._warns = False  # the driver has shown the warnings
    if certificate is not None:
        model._believe(_receive(certificate, model), certificate.gamma)
    return model


def decode(texts: Sequence[bytes | None]) -> list[str | None]:
    """Decodes UTF-8. Python's own error would quote the undecodable text."""
    try:
        return [None if text is None else str(text, "utf-8") for text in texts]
    except UnicodeDecodeError:
        raise make("format", "a text of the column is not UTF-8") from None
