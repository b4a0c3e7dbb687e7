"""Texts with the same pieces, in any two spellings, give the same output: in every container, under
every policy. A missing text gives the same output as an empty one."""
import itertools
import random
import unicodedata

import numpy
import pandas
import pyarrow
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")

PIECES = ["the", "movie", "café", "naïve", "it's", "do", "αθήνα", "zzz", "don't",
          "x", "42", "!", ","]
BLANKS = [" ", "   ", "\t", "\u00a0", "\u3000", "\u202f", "\u2028", "\x01", "\r"]
MISSING = [None, float("nan"), pandas.NA, "", " \n"]


def spelled(lines, chance, keep_lines):
    """A text of these lines, each a list of pieces."""
    def piece(text):
        text = chance.choice([text, text.upper(), text.title(), text.replace("'", "\u2019")])
        return unicodedata.normalize(chance.choice(["NFC", "NFD"]), text)

    def line(pieces):
        blanks = BLANKS if keep_lines else [*BLANKS, "\n", "\r\n"]
        return "".join(piece(text) + chance.choice(blanks) for text in pieces)
    ends = ["\n", "\r\n"] if keep_lines else ["\n", "\r\n", " ", "\n\n"]
    return "".join(line(pieces) + chance.choice(ends) for pieces in lines)


def written(documents, chance, keep_lines):
    """The texts of documents; None has no piece, and one line."""
    missing = MISSING[:-1] if keep_lines else MISSING
    return [chance.choice(missing) if lines is None else spelled(lines, chance, keep_lines)
            for lines in documents]


def none_for_missing(texts):
    return [text if isinstance(text, str) else None for text in texts]


CONTAINERS = {
    "list": list, "tuple": tuple,
    "objects": lambda texts: pandas.Series(texts, dtype=object),
    "strings": lambda texts: pandas.Series(none_for_missing(texts), dtype="string"),
    "categories": lambda texts: pandas.Series(none_for_missing(texts), dtype="category"),
    "arrow column": lambda texts: pandas.Series(none_for_missing(texts),
                                                dtype=pandas.ArrowDtype(pyarrow.string())),
    "numpy": lambda texts: numpy.array(texts, dtype=object),
    "arrow": lambda texts: pyarrow.array(none_for_missing(texts), type=pyarrow.string()),
    "dictionary": lambda texts: pyarrow.array(none_for_missing(texts)).dictionary_encode(),
    "chunks": lambda texts: pyarrow.chunked_array(
        [none_for_missing(texts)[:2], none_for_missing(texts)[2:]], type=pyarrow.string())}


def same(first, second):
    if isinstance(first, pandas.Series):
        return first.dtype == second.dtype and list(first) == list(second)
    if isinstance(first, numpy.ndarray):
        return first.dtype == second.dtype and first.tolist() == second.tolist()
    return type(first) is type(second) and first == second


@pytest.mark.parametrize("container", CONTAINERS)
def test_spelling(small, container):
    chance = random.Random(container)
    policies = itertools.product(["uniform", "drop", "mask", "keep-unsafe"],
                                 ["drop", "keep", "word"], [False, True], [False, True])
    for oov, punctuation, strip_tags, keep_lines in policies:
        options = {"oov": oov, "punctuation": punctuation, "strip_tags": strip_tags,
                   "keep_lines": keep_lines, "epsilon": 1.5, "insecure_seed": 18}
        documents = [None if chance.random() < 0.3 else
                     [chance.choices(PIECES, k=chance.randrange(5))
                      for _ in range(chance.randrange(1, 4))] for _ in range(12)]
        made = [written(documents, chance, keep_lines) for _ in range(2)]
        found = [small.privatize_report(CONTAINERS[container](texts), **options) for texts in made]
        assert same(found[0][0], found[1][0]), options
        counts = [(report.documents, report.words, report.unknown) for _, report in found]
        assert counts[0] == counts[1] and counts[0][0] == len(documents)
        assert repr(made[0]) != repr(made[1])


def test_one_text(small):
    """A str takes another path, which has no seed: words that stay unchanged show the rest."""
    for text in ("The  MOVIE\r\nwas", "the\u3000movie\n\nwas\n", "\ttHE movie \r was"):
        assert small.privatize(text, epsilon=90, gamma=1) == "the movie was"


def test_null_in_json_is_none_here(small, small_path, command):
    """The command and the package number and write missing texts in the same way."""
    texts, records = ["the movie", None, "", "film was great"], []
    for text in ('"the movie"', "null", '""', '"film was great"'):
        records.append(f'{{"text": {text}}}\n')
    for missing in ("empty", "keep"):
        lines = command("privatize", "-q", "-m", small_path, "--epsilon", "1",
                        "--insecure-seed", "4", "--format", "jsonl", "--field", "text",
                        "--missing", missing, stdin="".join(records)).splitlines()
        found = small.privatize(texts, epsilon=1, insecure_seed=4, missing=missing)
        shown = ["null" if text is None else f'"{text}"' for text in found]
        assert lines == [f'{{"text": {text}}}' for text in shown]
