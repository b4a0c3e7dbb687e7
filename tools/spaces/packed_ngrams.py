# SPDX-License-Identifier: Apache-2.0
"""Writes n-grams as a packed file (docs/FORMAT.md, `NAME.temng`), and leaves out what says least.

Probabilities are kept as logarithms in steps of 1/16. Rounding errors of a row are carried on from
entry to entry, so that its sum stays, and so does the rest for words that it does not list.
"""
import dataclasses
import math
import struct
import subprocess

import numpy

STEPS = 16             # per unit of the natural logarithm
ROW_MOST = 0.98        # what a row may sum up to; the rest is for words that it does not list
MAGIC, VERSION = b"TEMNGRAM", 1


@dataclasses.dataclass
class Ngrams:
    """By symbols: the words, then the unknown word, then the begin (as history) and end (as word).
    Logarithms to base e; pairs sorted by (h, y), triples by (g, h, y)."""
    words: list
    single: numpy.ndarray
    pairs: tuple      # h, y, log P(y|h)
    triples: tuple    # g, h, y, log P(y|g h)


def keys_of(grams, parts):
    key = numpy.zeros(len(parts[0]), numpy.int64)
    for part in parts:
        key = key * (len(grams.words) + 2) + part
    return key


def look_up(keys, wanted):
    at = numpy.minimum(numpy.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


def row_sums(rows, values, count):
    return numpy.bincount(rows, values, count)


def with_room(rows, logs, count):
    """The logarithms with rows that sum up to ROW_MOST at most."""
    sums = row_sums(rows, numpy.exp(logs), count)
    return logs - numpy.log(numpy.maximum(sums / ROW_MOST, 1))[rows]


def rounded(rows, logs):
    """-logs in steps, rounded up. What an entry loses is added to the next one of its row, so that
    the sum stays nearly what it was, and is never larger."""
    steps, row, carry = numpy.zeros(len(logs), numpy.uint32), -1, 0.0
    for i, (this, p) in enumerate(zip(rows.tolist(), numpy.exp(logs).tolist())):
        if this != row:
            row, carry = this, 0.0
        want = min(p + carry, p * 1.2)
        step = max(math.ceil(-math.log(want) * STEPS), 0)
        steps[i] = step
        carry += p - math.exp(-step / STEPS)
    return steps


def planes(values):
    """Numbers as four planes of bytes: the low bytes of all, then the next ones."""
    raw = numpy.asarray(values, "<u4").view(numpy.uint8).reshape(-1, 4)
    return raw.T.tobytes()


def gaps(rows, ids):
    """What lies between an id and the one before it in its row."""
    before = numpy.concatenate([[-1], ids[:-1]])
    before[numpy.concatenate([[True], rows[1:] != rows[:-1]])] = -1
    return ids - before - 1


def zstd(data):
    return subprocess.run(["zstd", "--ultra", "-22", "--check", f"--stream-size={len(data)}", "-q"],
                          input=data, stdout=subprocess.PIPE, check=True).stdout


def pack(grams):
    """The bytes of the file."""
    symbols = len(grams.words) + 2
    h, y, p2 = grams.pairs
    g, b, c, p3 = grams.triples
    pair_keys = keys_of(grams, (h, y))
    history, found = look_up(pair_keys, keys_of(grams, (g, b)))
    assert found.all()
    words = "".join(f"{word}\n" for word in grams.words).encode()
    body = words + b"".join(planes(column) for column in (
        numpy.rint(-grams.single * STEPS), numpy.bincount(h, minlength=symbols), gaps(h, y),
        rounded(h, with_room(h, p2, symbols)), numpy.bincount(history, minlength=len(h)),
        gaps(history, c), rounded(history, with_room(history, p3, len(h)))))
    head = struct.pack("<8s6IQ24x", MAGIC, VERSION, 3, len(grams.words), len(h), len(g), STEPS,
                       len(words))
    return head + zstd(body)


def back_off(rows, logs, lower, count):
    """ln of the back-off weight of each row; `lower`: of the same entries by the lower order."""
    seen = row_sums(rows, numpy.exp(logs), count)
    covered = row_sums(rows, numpy.exp(lower), count)
    return numpy.log(numpy.maximum(1 - seen, 1e-3) / numpy.maximum(1 - covered, 1e-3))


def pruned(grams, share):
    """The model without the n-grams that change it least: `share` of them stay. An n-gram counts
    P(history) P(y|history) ln(P(y|history) / P by the lower order); a pair that begins a triple
    stays."""
    symbols = len(grams.words) + 2
    h, y, p2 = grams.pairs
    g, b, c, p3 = grams.triples
    pair_keys = keys_of(grams, (h, y))
    single = grams.single - numpy.log(numpy.exp(grams.single).sum())
    lower2 = back_off(h, p2, single[y], symbols)[h] + single[y]
    gain2 = numpy.exp(single[h] + p2) * (p2 - lower2)
    history, _ = look_up(pair_keys, keys_of(grams, (g, b)))
    after, found = look_up(pair_keys, keys_of(grams, (b, c)))
    below = numpy.where(found, p2[after], back_off(h, p2, single[y], symbols)[b] + single[c])
    lower3 = back_off(history, p3, below, len(h))[history] + below
    gain3 = numpy.exp(single[g] + p2[history] + p3) * (p3 - lower3)
    least = numpy.quantile(numpy.concatenate([gain2, gain3]), 1 - share)
    keep3 = gain3 > least
    keep2 = gain2 > least
    keep2[history[keep3]] = True
    return Ngrams(grams.words, grams.single, tuple(part[keep2] for part in grams.pairs),
                  tuple(part[keep3] for part in grams.triples))
