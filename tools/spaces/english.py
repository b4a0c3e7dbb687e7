# SPDX-License-Identifier: Apache-2.0
"""General English trigrams for the words of a model, from en-us.lm.bin of Debian's
pocketsphinx-en-us.

The file is a trie, keyed from the last word: the entries under the word a hold b and mean "b a";
the entries under (a, b) hold c and mean "c b a". Logarithms are to base 1.0001.

A word that the model does not have, but whose runs of letters the model has (`don't`: don, t;
`co-founder`: co, founder; the letter `b.`: b), is counted as these pieces. Words that the file
lacks have the logarithm MISSING.
"""
import dataclasses
import re
import struct

import numpy

MISSING = -14.0
LOG_BASE = numpy.log(1.0001)
HEAD, TABLE = b"Trie Language Model", 65536
RUN = re.compile(r"[^\W_]+")
LETTERS_THAT_ARE_WORDS = {"a.", "i."}


@dataclasses.dataclass
class File:
    """What the file says, by its own numbers of words; logarithms to base e."""
    words: list
    single: numpy.ndarray      # log P(y)
    single_left: numpy.ndarray
    pairs: tuple               # arrays: h, y, log P(y|h), log back-off of the history "h y"
    triples: tuple             # arrays: g, h, y, log P(y|g h)


@dataclasses.dataclass
class Trigrams:
    """The same by the words of a model. Pairs are sorted by (h, y), triples by (g, h, y)."""
    single: numpy.ndarray
    single_left: numpy.ndarray
    pairs: tuple
    triples: tuple


def bits_of(raw, start, count, width, first, size):
    """Numbers of `size` bits, packed in `count` entries of `width` bits, from bit `first` on."""
    at = numpy.arange(count, dtype=numpy.int64) * width + first
    value = numpy.zeros(count, numpy.uint64)
    for byte in range(5):
        value |= raw[start + (at >> 3) + byte].astype(numpy.uint64) << numpy.uint64(8 * byte)
    return ((value >> (at & 7).astype(numpy.uint64))
            & numpy.uint64((1 << size) - 1)).astype(numpy.int64)


def packed_bytes(entries, width):
    return (entries * width + 7) // 8 + 8


def read_file(path):
    content = path.read_bytes()
    if not content.startswith(HEAD) or content[len(HEAD)] != 3:
        raise ValueError(f"{path}: no trigram model in this format")
    at = len(HEAD) + 1
    one, two, three, kind = struct.unpack_from("<4I", content, at)
    if kind != 1:
        raise ValueError(f"{path}: unknown quantization {kind}")
    tables = numpy.frombuffer(content, "<f4", 3 * TABLE, at + 16).reshape(3, TABLE) * LOG_BASE
    at += 16 + 12 * TABLE
    row = numpy.dtype([("p", "<f4"), ("left", "<f4"), ("first", "<u4")])
    single = numpy.frombuffer(content, row, one + 1, at)
    at += 12 * (one + 1)
    raw = numpy.frombuffer(content + bytes(8), numpy.uint8)
    word_bits, first_bits = one.bit_length(), three.bit_length()
    width = word_bits + 32 + first_bits
    b, left, p, first = (bits_of(raw, at, two + 1, width, start, size) for start, size in (
        (0, word_bits), (word_bits, 16), (word_bits + 16, 16), (word_bits + 32, first_bits)))
    at += packed_bytes(two + 1, width)
    c, p3 = (bits_of(raw, at, three, word_bits + 16, start, size)
             for start, size in ((0, word_bits), (word_bits, 16)))
    at += packed_bytes(three + 1, word_bits + 16)
    size, = struct.unpack_from("<I", content, at)
    words = content[at + 4:at + 4 + size].split(b"\0")[:one]
    a = numpy.repeat(numpy.arange(one), numpy.diff(single["first"].astype(numpy.int64)))
    used = len(a)  # a few entries at the end belong to no word
    entry = numpy.repeat(numpy.arange(used), numpy.diff(numpy.append(first[:used], three)))
    return File([word.decode("utf-8") for word in words],
                single["p"][:one] * LOG_BASE, single["left"][:one] * LOG_BASE,
                (b[:used], a, tables[0][p[:used]], tables[1][left[:used]]),
                (c, b[entry], a[entry], tables[2][p3]))


# ------------------------------------------------------- words of the model

def sum_by_key(keys, values):
    """The keys, sorted, and the sum of the values of each."""
    unique, where = numpy.unique(keys, return_inverse=True)
    return unique, numpy.bincount(where, values)


def pieces_of(word):
    """The pieces of a word that the model does not have."""
    is_letter = len(word) == 2 and word[1] == "." and word not in LETTERS_THAT_ARE_WORDS
    return RUN.findall(word) if "'" in word or "-" in word or is_letter else []


def map_words(file, names):
    """The first and the last piece of each word of the file, -1 where the model has none, and the
    words that are two pieces."""
    ids = {name: number for number, name in enumerate(names)}
    pieces = []
    for word in file.words:
        runs = [word] if word in ids else pieces_of(word)
        pieces.append([ids[run] for run in runs] if all(run in ids for run in runs) else [])
    ends = [(part[0], part[-1]) if 1 <= len(part) <= 2 else (-1, -1) for part in pieces]
    two = [number for number, part in enumerate(pieces) if len(part) == 2]
    return *numpy.array(ends).T, numpy.array(two, numpy.int64)


def trigrams(file, names):
    """The model of the file for the words `names`."""
    n = len(names)
    first, last, two = map_words(file, names)
    p = numpy.exp(file.single)
    known = first >= 0
    single = numpy.bincount(first[known], p[known], n)
    single += numpy.bincount(last[two], p[two], n)
    weight = numpy.bincount(last[known], p[known], n)  # of the words that end with a piece
    share = numpy.zeros(len(p))
    share[known] = p[known] / weight[last[known]]
    left = numpy.bincount(last[known], (share * numpy.exp(file.single_left))[known], n)

    h, y, p2, left2 = file.pairs
    keep = known[h] & known[y]
    h, y, p2, left2 = (part[keep] for part in (h, y, numpy.exp(p2), numpy.exp(left2)))
    inside = p[two] / numpy.bincount(first[known], p[known], n)[first[two]]
    keys, sums = sum_by_key(numpy.concatenate([last[h] * n + first[y], first[two] * n + last[two]]),
                            numpy.concatenate([share[h] * p2, inside]))
    ends, after = numpy.concatenate([last[h] * n + first[y]]), numpy.zeros(len(keys))
    after[numpy.searchsorted(keys, ends)] = left2
    whole = numpy.isin(numpy.arange(len(p)), two, invert=True)
    one = whole[h] & whole[y]  # where both are one piece, the back-off is exact
    after[numpy.searchsorted(keys, ends[one])] = left2[one]
    after[after == 0] = 1

    g, b, c, p3 = file.triples
    keep = known[g] & whole[b] & known[b] & known[c]
    key3 = (last[g[keep]] * n + first[b[keep]]) * n + first[c[keep]]
    value3 = share[g[keep]] * numpy.exp(p3[keep])
    split = numpy.isin(h, two)  # P(y | don't) is P(y | don t)
    key3 = numpy.concatenate([key3, (first[h[split]] * n + last[h[split]]) * n + first[y[split]]])
    keys3, sums3 = sum_by_key(key3, numpy.concatenate([value3, p2[split]]))
    with numpy.errstate(divide="ignore"):
        return Trigrams(numpy.where(single > 0, numpy.log(single), MISSING),
                        numpy.where(left > 0, numpy.log(left), 0),
                        (keys // n, keys % n, numpy.log(sums), numpy.log(after)),
                        (keys3 // n // n, keys3 // n % n, keys3 % n, numpy.log(sums3)))
