"""The results of a model's calls: plain values, shown as text and as tables for notebooks."""
import dataclasses
import decimal
import html
import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from . import _tem
from ._errors import make

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _shown(text: str) -> str:
    """Shows a word as the command does. A word may contain anything: characters that a terminal
    obeys or does not show appear as their bytes."""
    def escape(character: str) -> str:
        return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogatepass"))
    return "".join(c if c.isprintable() else escape(c) for c in text.replace("\\", "\\\\"))


def _text(value: object) -> str:
    if isinstance(value, str):
        return _shown(value)
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table. Words of a vocabulary may contain anything, so everything is escaped."""
    def row(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(_text(c))}</{tag}>" for c in cells) + "</tr>"
    lines = [row(head, "th")] if head else []
    lines += [row(cells, "td") for cells in rows]
    return f"<table><caption>{html.escape(caption)}</caption>{''.join(lines)}</table>"


def _up(value: float) -> str:
    """Six digits, rounded up, so that "at most" stays true."""
    return str(decimal.Context(6, decimal.ROUND_CEILING).create_decimal(value).normalize())


_EFFECTS = (("stays itself (N_w, median)", "self"), ("spread over words (S_w, median)", "support"),
            ("expected distance", "distance"), ("best guess right (Bayes)", "bayes"))


def _effects_text(effects: dict[str, Any] | None, weights: str) -> list[str]:
    """The effects of a certified mechanism, beside the paper's at the same epsilon."""
    if effects is None:
        return []
    lines = [f"under the prior {_shown(effects['prior']):<20} {weights:>10}   s = epsilon/2"]
    lines += [f"{what:<36} {effects[name]:10.4f}   {effects['paper'][name]:13.4f}"
              for what, name in _EFFECTS]
    return ["", *lines, "", "The same epsilon is proved of both columns. The left one has less "
            "noise: an attacker guesses", "more. Choose epsilon for what it does."]


def _effects_table(effects: dict[str, Any] | None, weights: str) -> str:
    if effects is None:
        return ""
    return _table(f"what it does under the prior {_shown(effects['prior'])}, beside the paper's "
                  "mechanism at the same epsilon", ("", weights, "s = epsilon/2"),
                  [(what, effects[name], effects["paper"][name]) for what, name in _EFFECTS])


class Result:
    """The base of all results."""

    _SHOWN: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        """The most important values, in one line."""
        shown = [f"{name}={_text(getattr(self, name))}" for name in self._SHOWN]
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, for JSON."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]

    def _repr_html_(self) -> str:
        """The plain values, and below them the effects of a certificate."""
        rows = [(name, value) for name, value in self.to_dict().items()
                if not isinstance(value, (dict, list))]
        effects = _effects_table(getattr(self, "effects", None), getattr(self, "weights", ""))
        return _table(type(self).__name__, (), rows) + effects


@dataclasses.dataclass(frozen=True, repr=False)
class Report(Result):
    """What was done and spent. It depends on the private text: show it only to the text's owner.

    `private` says that a bound holds for what the output tells about the text, whatever the text
    is; `why_not_private` says why none does, and what to change. `spent` is words * epsilon, in
    `unit`; `spent_worst` is words * `bound`, None where no bound holds. With a
    ledger, `spent_before` is the sum of its earlier charges, and `left` is the rest of the
    `budget`; with `by`, both are those of the person who has the least left of the `people` who
    were charged. docs/FORMAT.md has all fields.
    """

    report: str
    time: str
    mechanism: str
    private: bool
    why_not_private: str | None
    released_unseen: int
    dry_run: bool
    epsilon: float
    s: float | None
    gamma: float | None
    beta: float | None
    epsilon_gamma: float | None
    weights: str
    words: int
    unknown: int
    documents: int
    oov: str
    punctuation: str
    missing: str
    keep_lines: bool
    spent: float
    spent_worst: float | None
    model: str
    certificate: str | None
    effects: dict[str, Any] | None
    numbers: str | None = None  # reports of earlier versions lack this and the next three
    remap: str | None = None
    keeps: str | None = None
    order: str = "kept"
    style: str = "words"
    format: str | None = None  # of records in files; None: texts in memory
    fields: dict[str, Any] | None = None  # which fields stayed as they are
    ledger: str | None = None
    by: str | None = None
    people: int | None = None
    spent_before: float | None = None
    budget: float | None = None
    left: float | None = None
    unit: str = "distance"  # of epsilon; reports of earlier versions lack this and the next
    bound: float | None = None
    worst_before: float | None = None
    budget_worst: float | None = None
    left_worst: float | None = None
    condition: str | None = None  # between which texts the bound holds; None: between any two
    repeat: str = "each"
    language_model: str | None = None  # its name; None: words were drawn each by itself
    language_model_hash: str | None = None  # "" for an object of the caller's own
    never: int | None = None  # how many words the run never releases
    charged: int | None = None  # words that cost; None in reports of earlier versions: all
    special: int | None = None  # of draw_ids: positions that stayed, by the caller's public list

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The report that `to_json` or `tem privatize --report` has written. Skips keys that this
        version does not know: a later one may have added them."""
        given = json.loads(text)
        if given.get("report") != _tem.REPORT_FORMAT:
            raise make("version", f"expected a report of the format {_tem.REPORT_FORMAT!r}")
        names = [field.name for field in dataclasses.fields(cls)]
        known = {name: given[name] for name in names if name in given}
        return cls(**{"bound": given["epsilon_gamma"], **known})

    @property
    def words_charged(self) -> int:
        """The words that cost: all, or with `repeat="once"` those that were drawn for."""
        return self.words if self.charged is None else self.charged

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values; the fields of the ledger only if there is one."""
        absent = (() if self.ledger is not None else self._LEDGER) + (
            () if self.special is not None else ("special",))
        return {name: value for name, value in super().to_dict().items() if name not in absent}

    def _with_fields(self, kind: str, fields: dict[str, Any]) -> Self:
        return dataclasses.replace(self, format=kind, fields=fields)

    def to_json(self) -> str:
        """The same object that `tem privatize --report` writes."""
        return json.dumps(self.to_dict(), indent=1)

    def __add__(self, other: Self) -> Self:
        """The total cost of both, if they drew in the same way: costs add up."""
        counted = {name: getattr(self, name) + getattr(other, name) for name in self._COUNTS}
        charged = self.words_charged + other.words_charged
        worst = None
        if None not in (self.spent_worst, other.spent_worst) and self.bound is not None:
            worst = charged * self.bound
        sums = {**counted, "charged": charged, "spent_worst": worst,
                "private": self.private and other.private,
                "why_not_private": self.why_not_private or other.why_not_private,
                "spent": charged * self.epsilon,
                "special": None if self.special is None or other.special is None
                else self.special + other.special,
                **dict.fromkeys(self._LEDGER)}  # these describe a ledger at one time
        total = dataclasses.replace(self, **sums)
        # PRIVACY: epsilon is per distance of one model. Reports that differ in anything else have
        # no such sum.
        if dataclasses.replace(other, **sums, time=self.time) != total:
            raise make("argument", "these reports are of different mechanisms or models: their "
                       "costs are not in the same unit")
        return total

    _SHOWN = ("documents", "words", "unknown", "mechanism", "epsilon", "spent", "spent_worst",
              "private")
    _COUNTS: ClassVar = ("documents", "words", "unknown", "released_unseen")
    _LEDGER: ClassVar = ("ledger", "by", "people", "spent_before", "budget", "left",
                         "worst_before", "budget_worst", "left_worst")


@dataclasses.dataclass(frozen=True, repr=False)
class DocumentDistance(Result):
    """How far two texts are apart. It depends on both texts: it is for their owner only.

    `distance` is the Earth Mover's distance; each text weighs 1, whatever its length. It is
    `numerator` / `denominator` in steps of 2^-16, exactly. `matching` is the least sum of distances
    over all ways to match the words, None if the texts have different numbers of words: after a
    release with order="shuffled" or "counts", the loss between the texts is at most epsilon times
    this sum. `words` and `unknown` are those of both texts.
    """

    distance: float
    matching: float | None
    numerator: int
    denominator: int
    words: tuple[int, int]
    unknown: tuple[int, int]

    _SHOWN = ("distance", "matching", "words", "unknown")


class Entry(NamedTuple):
    """A possible output of a word. `distance` is NaN where an unknown word has none: there is no
    gamma."""

    word: str
    distance: float
    probability: float


def _distance(entry: Entry) -> str:
    return "-" if math.isnan(entry.distance) else f"{entry.distance:.3f}"


class Tail(NamedTuple):
    """All words that are not listed."""

    words: int
    probability: float


class Paper(NamedTuple):
    """The same word under the paper's mechanism at the same epsilon."""

    self_probability: float
    support: float


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation(Result):
    """The possible outputs of a word, computed from the exact law, not by drawing.

    `entries` are the nearest words, `tail` all the others; `self_probability` is the probability
    that the word stays unchanged, N_w; `support` is the effective number of its outputs, S_w.
    `bound` is the most that an output tells any two inputs apart. `s`, `gamma` and `bound` are None
    for a mechanism that has none.
    `paper`, for a calibrated mechanism: these two values without the certificate.
    `after`, for a mechanism with a language model: the words before, in whose context the law is;
    `entries` are then the likeliest words.
    """

    word: str
    known: bool
    mechanism: str
    epsilon: float
    s: float | None
    gamma: float | None
    bound: float | None
    entries: list[Entry]
    tail: Tail
    self_probability: float
    support: float
    entropy: float
    certificate: str | None
    paper: Paper | None
    after: list[str] | None = None

    _SHOWN = ("word", "mechanism", "epsilon", "self_probability", "support", "certificate")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plots the probabilities as bars; needs matplotlib. ax: where to, or None for a new
        figure. Returns the axes."""
        from . import _plot

        return _plot.explanation(self, ax)

    def _exponent(self) -> str:
        s = "" if self.s is None else f": s = {self.s:.6f}"
        if self.gamma is not None:
            return f"{s}, gamma = {self.gamma:.4f}"
        return s if self.bound is None else f"{s}, bound = {_up(self.bound)}"

    def _paper_text(self) -> str:
        return "" if self.paper is None else (
            f"The paper's mechanism at the same epsilon has N_w = "
            f"{self.paper.self_probability:.6f} and S_w = {self.paper.support:.1f}: "
            "this is a tighter proof, and less noise.")

    def _place(self) -> str:
        if self.after is None:
            return ""
        return (f" after {' '.join(map(_shown, self.after))!r}" if self.after
                else " at the beginning")

    def __str__(self) -> str:
        lines = [f"{_shown(self.word) if self.known else 'an unknown word'}{self._place()} under "
                 f"{'calibrated ' if self.certificate else ''}{self.mechanism}, epsilon "
                 f"{self.epsilon:g}{self._exponent()}", "",
                 " distance  probability"]
        lines += [f"{_distance(e):>9}  {e.probability:8.6f}  {_shown(e.word)}"
                  for e in self.entries]
        lines += [f"{'':9}  {self.tail.probability:8.6f}  all {self.tail.words:,} others", "",
                  f"N_w = {self.self_probability:.6f}, S_w = {self.support:.1f}"]
        return "\n".join(lines + ([self._paper_text()] if self.paper else []))

    def _repr_html_(self) -> str:
        rows = [(e.word, _distance(e), f"{e.probability:.6f}") for e in self.entries]
        rows.append((f"all {self.tail.words:,} others", "", f"{self.tail.probability:.6f}"))
        return _table(f"{_shown(self.word) if self.known else 'an unknown word'}, epsilon "
                      f"{self.epsilon:g}: stays itself {100 * self.self_probability:.4g} % of the "
                      f"time, spread over {self.support:.1f} words "
                      f"in effect. {self._paper_text()}".rstrip(),
                      ("word", "distance", "probability"), rows)


class Pair(NamedTuple):
    """Two words and their distance."""

    a: str
    b: str
    distance: float


@dataclasses.dataclass(frozen=True, repr=False)
class Summary(Result):
    """The effect of a mechanism on words drawn from a prior."""

    self_median: float
    self_mean: float
    support_median: float
    self_exposed: float  # largest N_w of a word that a text can contain, or as `choose` was asked
    support_exposed: float  # the same for the least S_w
    entropy_mean: float
    distance_mean: float
    beyond_mean: float
    bayes: float

    _SHOWN: ClassVar[tuple[str, ...]] = ("self_median", "self_mean", "support_median",
                                         "entropy_mean", "distance_mean", "beyond_mean", "bayes")


class Cost(NamedTuple):
    """The largest possible cost of a document."""

    epsilon: float
    rho: float
    epsilon_delta: float


@dataclasses.dataclass(frozen=True, repr=False)
class Audit(Result):
    """The real protection of an epsilon on this vocabulary.

    `realised`: proved, no two words lose more per unit of distance; `realised_least`: proved, the
    worst pair loses that, unless the model excludes words: then the pair may lose less; `local`:
    proved, no two inputs can be told apart by more. Where `is_metric` is False, a matrix of more
    than 400 words, nothing is proved: it may be no metric. `effects`, of a calibrated
    mechanism: what its certificate says that it does, and under "paper" what s = epsilon/2 does at
    the same epsilon.
    """

    mechanism: str
    epsilon: float
    s: float
    gamma: float
    beta: float | None
    realised: float
    realised_least: float
    worst: Pair | None
    local: float
    epsilon_gamma: float
    pairs_examined: int
    pairs_pruned: int
    is_metric: bool
    weights: str
    certificate: str | None
    effects: dict[str, Any] | None
    summary: Summary | None

    _SHOWN = ("mechanism", "epsilon", "s", "gamma", "realised", "local", "certificate")

    def __str__(self) -> str:
        lines = [f"{'calibrated ' if self.certificate else ''}{self.mechanism}, epsilon "
                 f"{self.epsilon:g}: s = {self.s:.6f}, gamma = {self.gamma:.4f}", "",
                 f"realised    {_up(self.realised)} per unit of distance at most, for any two "
                 "words",
                 f"any inputs  {_up(self.local)} at most (epsilon * gamma = "
                 f"{_up(self.epsilon_gamma)})"]
        if self.worst is not None:
            lines.append(f"worst pair  {_shown(self.worst.a)}, {_shown(self.worst.b)}, at "
                         f"distance {self.worst.distance:.4f}")
        if not self.is_metric:
            lines.append("if the matrix is a metric, which nothing proves: of more than 400 words "
                         "not all triangles are checked")
        return "\n".join(lines + _effects_text(self.effects, self.weights))

    def cost(self, words: int, distance: float = math.inf, delta: float = 1e-6) -> Cost:
        """The cost of a document with this many words, if each may be moved by `distance`."""
        reach = min(distance, self.gamma)
        pure = words * (self.local if distance >= self.gamma else self.realised * reach)
        rho = words * (self.s * reach) ** 2 / 2
        return Cost(pure, rho, min(pure, rho + 2 * math.sqrt(rho * math.log(1 / delta))))


@dataclasses.dataclass(frozen=True, repr=False)
class Calibration(Result):
    """An exponent above epsilon/2, and weights, proved to keep the promise of epsilon here.

    `effects` is the effect on words under a prior, and under "paper" the effect of s = epsilon/2.
    It is a tighter proof of the same epsilon, not stronger noise.
    """

    epsilon: float
    s: float
    gamma: float
    beta: float | None
    weights: str
    realised: float
    effects: dict[str, Any]
    hash: str
    file: str | None

    _SHOWN = ("epsilon", "s", "gamma", "weights", "realised", "hash")

    def __str__(self) -> str:
        return "\n".join([f"epsilon {self.epsilon:g}, {self.weights} weights: s = {self.s:.6f}, "
                          f"gamma = {self.gamma:.4f}",
                          f"realized {_up(self.realised)} at most, proved",
                          *_effects_text(self.effects, self.weights)])


@dataclasses.dataclass(frozen=True, repr=False)
class Point(Summary):
    """The effect of one epsilon. `epsilon_paper` is the paper's epsilon for the same s."""

    epsilon: float
    epsilon_paper: float
    s: float
    gamma: float

    _SHOWN = ("epsilon", *Summary._SHOWN)


@dataclasses.dataclass(frozen=True, repr=False)
class Choice(Result):
    """The largest epsilon that does not disclose more than the target allows."""

    epsilon: float
    calibrated: bool
    target: str
    wanted: float
    prior: str
    answer: Point
    curve: list[Point]

    _SHOWN = ("epsilon", "calibrated", "target", "wanted", "prior", "answer")
    _COLUMNS: ClassVar = ("epsilon", "self_median", "support_median", "entropy_mean",
                          "distance_mean", "bayes")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plots the curve of `choose(..., curve=True)` and the epsilon found; needs matplotlib. ax:
        where to, or None for a new figure. Returns the axes."""
        from . import _plot

        return _plot.choice(self, ax)

    def _caption(self) -> str:
        return (f"epsilon {self.epsilon:g}: {self.target} {self.wanted:g}, "
                f"prior {_shown(self.prior)}")

    def _rows(self) -> list[list[float]]:
        return [[getattr(point, name) for name in self._COLUMNS]
                for point in self.curve or [self.answer]]

    def __str__(self) -> str:
        lines = ["".join(f"{name:>16}" for name in self._COLUMNS)]
        lines += ["".join(f"{value:16.6g}" for value in row) for row in self._rows()]
        return "\n".join([self._caption(), "", *lines])

    def _repr_html_(self) -> str:
        return _table(self._caption(), self._COLUMNS, self._rows())
