"""For Presidio: what it finds becomes a mask, and tem draws for all other words.

    pipeline = tem.presidio.Pipeline(AnalyzerEngine(), epsilon=3)
    pipeline.privatize("Anna's film was wonderful, she said on +1 212 555 0198.")

`Privatizer` is an operator for an AnonymizerEngine, which leaves everything else as it is.

The places and types of masks are released as they are, and no bound holds for what they tell:
docs/OPERATORS.md says what is protected.
"""
import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar, Unpack

from presidio_anonymizer import AnonymizerEngine, OperatorConfig
from presidio_anonymizer.entities import RecognizerResult
from presidio_anonymizer.operators import Operator, OperatorType

from ._containers import unpack
from ._errors import make
from ._model import Model, as_model
from ._operators import without_bound
from ._options import DEFAULTS, NO_EPSILON, Keywords, Path, check, explained
from ._results import Report

__all__ = ["Pipeline", "Privatizer"]

T = TypeVar("T")

WHY_NOT_PRIVATE = ("Presidio chose the places and types of the masks by looking at the text, and "
                   "they are released as they are; the bound holds for the other words, given the "
                   "masks")
# A pipeline joins the parts of a text as lines; tags and orders are of whole texts.
OFFERED = tuple(name for name in DEFAULTS if name not in (
    "strip_tags", "keep_lines", "order", "insecure_seed"))
NEED_THE_WORDS = ("keep", "mask", "hash", "encrypt", "tem")
PLACEHOLDER = "entity"
TYPE = re.compile(r"[A-Za-z0-9_]{1,64}")
LINE_ENDS = str.maketrans("\r\n", "  ")


class Privatizer(Operator):  # type: ignore[misc, unused-ignore]
    """Draws for the words of an entity: `OperatorConfig("tem", {"epsilon": 3})`, after
    `engine.add_anonymizer(tem.presidio.Privatizer)`. Its parameters are `model` and the keywords of
    `tem.Model.privatize`. Each entity is one call, with one charge to a ledger."""

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        model, epsilon, options = _parameters(params)
        return as_model(model).privatize(text, epsilon, **options)

    def validate(self, params: dict[str, Any] | None = None) -> None:
        model, epsilon, options = _parameters(params)
        check("OperatorConfig", epsilon, options)

    def operator_name(self) -> str:
        return "tem"

    def operator_type(self) -> OperatorType:
        return OperatorType.Anonymize


def _parameters(params: Mapping[str, Any] | None) -> tuple[Model | Path | None, float, Any]:
    """The model, epsilon and the other keywords. Presidio adds the type of the entity."""
    options = {name: value for name, value in (params or {}).items() if name != "entity_type"}
    return options.pop("model", None), options.pop("epsilon", NO_EPSILON), options


class _Span(NamedTuple):
    """Characters from `start` to before `end` that become one mask."""

    start: int
    end: int
    type: str
    score: float


class Pipeline:
    """Presidio and tem, one after the other, with one report and one charge. If anything fails, it
    raises, and returns nothing."""

    @explained("epsilon", *OFFERED)
    def __init__(self, analyzer: Any, model: Model | Path | None = None, *,
                 epsilon: float = NO_EPSILON, language: str = "en",
                 entities: Iterable[str] | None = None,
                 operators: Mapping[str, OperatorConfig] | None = None,
                 engine: AnonymizerEngine | None = None, **options: Unpack[Keywords]) -> None:
        """
        analyzer: Presidio's AnalyzerEngine. model: a Model, the path of one, or None for the
        default one. language, entities: as in `analyzer.analyze`. operators: the mask of each type,
        as in `AnonymizerEngine.anonymize`; by default "<PERSON>" and so on. An operator does not
        see the words of the entity, so "keep", "mask", "hash" and "encrypt" are refused; "custom"
        can make surrogates. engine: an AnonymizerEngine with operators of your own.
        {options}
        """
        check("Pipeline", epsilon, options, OFFERED)
        if options.get("style") == "sentence":
            raise make("argument", 'style: "sentence" would end a sentence before each mask; use '
                       '"joined"')
        self.analyzer, self.model = analyzer, model
        self.epsilon, self.options = epsilon, Keywords(**{**options, "keep_lines": True})
        self.language = language
        self.entities = None if entities is None else list(entities)
        self.operators = dict(operators or {})
        self.engine = engine or AnonymizerEngine()  # type: ignore[no-untyped-call, unused-ignore]
        if any(config.operator_name in NEED_THE_WORDS for config in self.operators.values()):
            raise make("argument", f"the operators {', '.join(NEED_THE_WORDS)} release or use the "
                       "words of an entity: use replace, redact or custom; for words that tem "
                       "should draw, leave their type out of `entities`")

    def privatize(self, texts: T) -> T:
        """The texts with masks for what Presidio finds, and drawn words for all others. Takes what
        `tem.Model.privatize` takes."""
        return self.privatize_report(texts)[0]

    def privatize_report(self, texts: T) -> tuple[T, Report]:
        """The same, and what was done and spent: (texts, `Report`). The report counts the drawn
        words. Its `private` is False, because of the masks."""
        values, rebuild = unpack(texts)
        found = [self._find(text) if isinstance(text, str) else [] for text in values]
        masks = [[self._mask(span.type) for span in spans] for spans in found]
        rest = [_rest(text, spans) if isinstance(text, str) else text  # a missing text
                for text, spans in zip(values, found)]
        # PRIVACY: all words outside entities go through the mechanism, in one call with one charge.
        # Nothing after it sees the input.
        drawn, report = as_model(self.model).privatize_report(rest, self.epsilon, **self.options)
        private = [_join(text, made) if isinstance(text, str) else text
                   for text, made in zip(drawn, masks)]
        return rebuild(private), without_bound(report, WHY_NOT_PRIVATE)

    def _find(self, text: str) -> list[_Span]:
        """What Presidio finds, as spans of whole words that do not overlap, in their order."""
        try:
            found = self.analyzer.analyze(text=text, language=self.language, entities=self.entities)
            spans = [_Span(operator.index(each.start), operator.index(each.end),
                           str(each.entity_type), float(each.score)) for each in found]
        except Exception as error:
            why = type(error).__name__
        else:
            return _merge(text, [_whole_words(text, span) for span in spans])
        # PRIVACY: a recognizer's message may quote the text, so the new error has neither the
        # message nor the old error as its context.
        raise make("unknown", f"Presidio could not analyze a text ({why}): nothing was released")

    def _mask(self, entity_type: str) -> str:
        """PRIVACY: the operator sees a placeholder. Whatever it does, the words of the entity do
        not pass."""
        place = RecognizerResult(entity_type, 0, len(PLACEHOLDER), 1.0)
        return str(self.engine.anonymize(PLACEHOLDER, [place], dict(self.operators)).text)


def _whole_words(text: str, span: _Span) -> _Span:
    """The entity with the whole of the words that it cuts. A word is what is between blanks."""
    start, end = span.start, span.end
    if not (0 <= start < end <= len(text) and TYPE.fullmatch(span.type)):
        raise make("argument", "Presidio returned an entity without a place in the text or without "
                   "a plain name: nothing was released")
    if not text[start].isspace():
        while start > 0 and not text[start - 1].isspace():
            start -= 1
    if not text[end - 1].isspace():
        while end < len(text) and not text[end].isspace():
            end += 1
    return span._replace(start=start, end=end)


def _merge(text: str, spans: list[_Span]) -> list[_Span]:
    """One span for entities that overlap, with the type of the highest score; and for neighbors of
    one type with only blanks between them, as Presidio does."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        last = merged[-1] if merged else None
        if last is not None and (span.start < last.end or span.type == last.type
                                 and not text[last.end:span.start].strip()):
            best = max(last, span, key=lambda each: (each.score, each.end - each.start))
            merged[-1] = best._replace(start=last.start, end=max(last.end, span.end))
        else:
            merged.append(span)
    return merged


def _rest(text: str, spans: list[_Span]) -> str:
    """The parts of a text around the entities, a line for each; the first and the last may be
    empty."""
    starts, ends = [0, *[span.end for span in spans]], [*[span.start for span in spans], len(text)]
    parts = [text[start:end].translate(LINE_ENDS) for start, end in zip(starts, ends)]
    return "\n".join(parts)


def _join(drawn: str, masks: list[str]) -> str:
    """The drawn lines with the masks between them."""
    lines = drawn.split("\n")
    if len(lines) != len(masks) + 1:
        raise make("damaged", "the drawn words do not fit the masks: nothing was released")
    parts = [lines[0], *[part for pair in zip(masks, lines[1:]) for part in pair]]
    return " ".join(part for part in parts if part)
