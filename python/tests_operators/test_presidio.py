"""The operator and the pipeline, with the real Presidio. Its recognizers here are patterns: nothing
is downloaded."""
import math
import random

import pytest
import spacy
from conftest import FLUENT, SEED, SURE
from presidio_analyzer import (AnalyzerEngine, Pattern, PatternRecognizer, RecognizerRegistry,
                               RecognizerResult)
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from presidio_analyzer.predefined_recognizers import CreditCardRecognizer, PhoneRecognizer
from presidio_anonymizer import AnonymizerEngine, OperatorConfig
from presidio_anonymizer.operators import Operator, OperatorType

import tem
import tem.presidio
from tem.presidio import Pipeline, Privatizer


class Blank(SpacyNlpEngine):
    """A pipeline of spaCy without a model."""

    def __init__(self):
        super().__init__()
        self.nlp = {"en": spacy.blank("en")}


@pytest.fixture(scope="session")
def analyzer():
    names = PatternRecognizer(supported_entity="PERSON", deny_list=["Anna", "Bob"])
    ticket = Pattern("ticket", r"TK-\d{4}", 0.9)
    registry = RecognizerRegistry([names, PhoneRecognizer(), CreditCardRecognizer(),
                                   PatternRecognizer("TICKET", patterns=[ticket])])
    return AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])


class Found:
    """An analyzer that has found these entities, in every text."""

    def __init__(self, *entities):
        self.results = [RecognizerResult(kind, start, end, score)
                        for kind, start, end, score in entities]

    def analyze(self, text, language, entities):
        return self.results


def test_operator(model, ledger, charges):
    """In an AnonymizerEngine: tem draws for the entity, and the rest stays."""
    engine = AnonymizerEngine()
    engine.add_anonymizer(Privatizer)
    text, place = "CALL me, Anna!", [RecognizerResult("PERSON", 9, 13, 1.0)]
    how = {"PERSON": OperatorConfig("tem", {"model": model, "ledger": ledger, **SURE})}
    assert engine.anonymize(text, place, how).text == "CALL me, anna!"
    assert [charge["words"] for charge in charges()] == [1]
    for wrong in ({"model": model}, {"model": model, "epsilon": 1, "seed": 1}):
        with pytest.raises(TypeError):
            engine.anonymize(text, place, {"PERSON": OperatorConfig("tem", wrong)})


def test_masks(model, analyzer):
    """What Presidio finds becomes a mask; all other words are drawn for."""
    pipeline = Pipeline(analyzer, model, **SURE)
    text = ("Anna  said: CALL me\r\non +1 212 555 0198\u2028about 4111111111111111, TK-1234 and "
            "the film's\tSON.")
    assert pipeline.privatize(text) == ("<PERSON> said call me on <PHONE_NUMBER> about "
                                        "<CREDIT_CARD> <TICKET> and the film's son")
    assert pipeline.privatize("Anna") == "<PERSON>" and pipeline.privatize("film") == "film"
    assert pipeline.privatize(["Bob", None, "", "me"]) == ["<PERSON>", "", "", "me"]
    keeping = Pipeline(analyzer, model, missing="keep", **SURE)
    assert keeping.privatize(("Bob", None, "")) == ("<PERSON>", None, "")
    some = Pipeline(analyzer, model, entities=["TICKET"], **SURE)
    assert some.privatize("Bob said TK-1234") == "bob said <TICKET>"


def test_in_context(default, analyzer, seeded):
    """The words between the masks are drawn as Model.privatize draws the lines of a text."""
    pipeline = Pipeline(analyzer, **FLUENT)
    private, report = pipeline.privatize_report(
        "One of my best films, Anna said, was with my best doctor on +1 212 555 0198")
    parts = "One of my best films,\nsaid, was with my best doctor on\n"
    drawn, told = default.privatize_report(parts, keep_lines=True, **FLUENT)
    first, second, last = drawn.split("\n")
    assert private == f"{first} <PERSON> {second} <PHONE_NUMBER>" and last == ""
    assert drawn != default.privatize(parts, keep_lines=True, **{
        **FLUENT, "language_model": None, "style": "joined"})
    assert report.language_model == "english"
    assert report.language_model_hash == tem.LanguageModel.open("english").hash
    assert (report.never, report.repeat, report.charged) == (2, "once", told.charged)
    assert report.charged == report.words - 1 and first.split()[3] == second.split()[4]


def test_operator_in_context(default):
    """An entity is a document of its own."""
    engine = AnonymizerEngine()
    engine.add_anonymizer(Privatizer)
    text = "NOTE one of my best films"
    how = {"A": OperatorConfig("tem", {**FLUENT, "insecure_seed": SEED})}
    with pytest.warns(tem.NotPrivateWarning):
        made = engine.anonymize(text, [RecognizerResult("A", 5, len(text), 1.0)], how).text
        assert made == "NOTE " + default.privatize(text[5:], **FLUENT, insecure_seed=SEED)
        how["A"].params["language_model"] = None
        assert made != engine.anonymize(text, [RecognizerResult("A", 5, len(text), 1.0)], how).text


def test_a_cut_word_belongs_to_the_entity(model, analyzer):
    """An entity ends where the blanks are, also where it found only a part of a word."""
    pipeline = Pipeline(analyzer, model, **SURE)
    assert pipeline.privatize("the TK-12345678 film") == "the <TICKET> film"
    assert pipeline.privatize("(Anna) and Bob's son") == "<PERSON> and <PERSON> son"
    half = Pipeline(Found(("PERSON", 6, 9, 1.0)), model, **SURE)
    assert half.privatize("film wonderful film") == "film <PERSON> film"


def test_entities_that_touch(model):
    """Overlapping entities become one mask, of the highest score; so do neighbors of one type."""
    text = "film was wonderful about me"

    def mask(*entities):
        return Pipeline(Found(*entities), model, **SURE).privatize(text)
    assert mask(("A", 0, 8, 0.5), ("B", 5, 18, 0.9)) == "<B> about me"
    assert mask(("A", 0, 18, 0.9), ("B", 5, 8, 0.9)) == "<A> about me"
    assert mask(("B", 9, 12, 0.5), ("A", 12, 18, 0.6), ("A", 9, 18, 0.1)) == "film was <A> about me"
    assert mask(("A", 5, 8, 1.0), ("A", 9, 18, 1.0)) == "film <A> about me"
    assert mask(("A", 5, 8, 1.0), ("B", 9, 18, 1.0)) == "film <A> <B> about me"
    assert mask(("A", 5, 8, 1.0), ("A", 5, 8, 1.0), ("A", 0, 27, 0.1)) == "<A>"
    assert mask(("A", 4, 5, 1.0)) == "film <A> was wonderful about me"  # a blank cuts no word


def test_words_of_an_entity_never_pass(own_state):
    """1,000 texts of different words, with entities at random places. A word that an entity touches
    is not in the output; every other word is, in its order. (Words stay unchanged here.)"""
    words = [f"word{place}" for place in range(12)]
    model = tem.Model.build([[10.0 * place] for place in range(12)], words)
    draw = random.Random(4)
    for _ in range(1000):
        blanks = [draw.choice([" ", "  ", "\n", "\r\n", "\t", "\u3000", ", "]) for _ in words]
        text = "".join(word + blank for word, blank in zip(words, blanks))
        places = [sorted(draw.sample(range(len(text) + 1), 2)) for _ in range(draw.randrange(5))]
        entities = [(draw.choice("AB"), *place, draw.random()) for place in places]
        starts = [text.index(word + blank) for word, blank in zip(words, blanks)]
        # a comma before a blank is part of the word
        ends = [start + len((word + blank).rstrip()) for start, word, blank in
                zip(starts, words, blanks)]
        free = [word for word, start, end in zip(words, starts, ends)
                if not any(start < last and first < end for first, last in places)]
        private, report = Pipeline(Found(*entities), model, **SURE).privatize_report(text)
        assert [word for word in private.split() if not word.startswith("<")] == free
        assert report.words == len(free)


def test_missed_words_are_drawn_for(coin):
    """A word that Presidio does not find is drawn for like any other: it stays in half of 10,000
    cases, within 325 (6.5 standard deviations: a false alarm in 10^10)."""
    pipeline = Pipeline(Found(("A", 0, 3, 1.0)), coin, epsilon=1)
    private = pipeline.privatize("bob " + "heads " * 10_000).split()
    assert private[0] == "<A>" and len(private) == 10_001
    assert abs(private.count("heads") - 5000) < 6.5 * math.sqrt(10_000 / 4)


class Own(Operator):
    """An operator of the user's own, which would return the entity."""

    def operate(self, text, params=None):
        return text.upper()

    def validate(self, params=None):
        pass

    def operator_name(self):
        return "own"

    def operator_type(self):
        return OperatorType.Anonymize


def test_operators_do_not_see_the_words(model, analyzer):
    """Masks may be chosen, and surrogates made; no operator gets the words of an entity."""
    seen = []
    surrogates = iter(["Kim", "Lee"])
    engine = AnonymizerEngine()
    engine.add_anonymizer(Own)
    operators = {"PERSON": OperatorConfig("custom", {
                     "lambda": lambda text: seen.append(text) or next(surrogates)}),
                 "TICKET": OperatorConfig("replace", {"new_value": "[ticket]"}),
                 "CREDIT_CARD": OperatorConfig("own"), "DEFAULT": OperatorConfig("redact")}
    pipeline = Pipeline(analyzer, model, operators=operators, engine=engine, **SURE)
    assert pipeline.privatize("Anna and Bob said TK-1234 on +1 212 555 0198 so "
                              "4111111111111111") == "Kim and Lee said [ticket] on so ENTITY"
    assert seen == ["entity", "entity"]
    for name in ("keep", "mask", "hash", "encrypt", "tem"):
        with pytest.raises(tem.ArgumentError, match="use replace, redact or custom"):
            Pipeline(analyzer, model, operators={"DEFAULT": OperatorConfig(name)}, **SURE)


def test_one_charge_and_an_honest_report(model, analyzer, ledger, charges):
    pipeline = Pipeline(analyzer, model, epsilon=2, ledger=ledger, budget=20)
    texts = ["Anna said the film was wonderful", "Bob", "call me on +1 212 555 0198", None]
    private, report = pipeline.privatize_report(texts)
    assert [len(text.split()) for text in private] == [6, 1, 4, 0]
    assert (report.documents, report.words, report.spent, report.left) == (4, 8, 16, 4)
    assert [(charge["documents"], charge["words"]) for charge in charges()] == [(4, 8)]
    assert report.private is False and "released as they are" in report.why_not_private
    assert report.spent_worst is None
    assert pipeline.privatize_report("film")[1].private is False  # also without a mask
    with pytest.raises(tem.BudgetError):
        pipeline.privatize(texts)
    assert len(charges()) == 2
    people = Pipeline(analyzer, model, epsilon=2, ledger=ledger, budget=20, by={"user": [1, 2]})
    assert people.privatize_report(["Anna said", "Bob said"])[1].people == 2


def test_failures_release_nothing(model, ledger, charges):
    """No message has the text, not even the one behind the error."""
    class Failing:
        def analyze(self, text, language, entities):
            raise ValueError(f"cannot analyze {text!r}")

    for broken in (Failing(), object(), Found(("A", -1, 2, 1.0)), Found(("A", 2, 2, 1.0)),
                   Found(("A", 0, 100, 1.0)), Found(("a person", 0, 4, 1.0)),
                   Found(("A", 0.5, 2, 1.0))):
        with pytest.raises(tem.Error, match="nothing was released") as failed:
            Pipeline(broken, model, epsilon=1, ledger=ledger).privatize("wonderful film")
        assert "film" not in str(failed.value)
        assert failed.value.__context__ is None and failed.value.__cause__ is None
    mask = {"DEFAULT": OperatorConfig("custom", {"lambda": lambda text: 1 / 0})}
    with pytest.raises(ZeroDivisionError):
        Pipeline(Found(("A", 0, 4, 1.0)), model, operators=mask, epsilon=1,
                 ledger=ledger).privatize("wonderful film")
    assert charges() == []


def test_keywords(model):
    for refused in ("keep_lines", "strip_tags", "order", "insecure_seed", "anything"):
        with pytest.raises(TypeError):
            Pipeline(Found(), model, epsilon=1, **{refused: True})
    with pytest.raises(TypeError, match="epsilon"):
        Pipeline(Found(), model)
    with pytest.raises(TypeError):
        Pipeline(Found(), model, epsilon=1).privatize(5)
    with pytest.raises(tem.ArgumentError, match="before each mask"):
        Pipeline(Found(), model, epsilon=1, style="sentence")
