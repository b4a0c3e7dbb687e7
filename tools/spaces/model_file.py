# SPDX-License-Identifier: Apache-2.0
"""Reads what a model file of tem says about its space (docs/FORMAT.md), and packs several models.

Only the euclidean metric. The reader compares the sections that it uses with their hashes.
"""
import dataclasses
import hashlib
import json
import struct

import numpy

from . import packed

WORD_STARTS, WORD_BYTES, VECTORS, EXCLUDED, SIGNALS, ORDER = 1, 2, 4, 10, 11, 12
RECORD, SIGNAL_BYTES = 64, 160  # bytes of a record of the table, and of one signal
EUCLIDEAN = 1


@dataclasses.dataclass
class Model:
    words: list
    steps: numpy.ndarray     # i16, a row per word: the vectors in steps of 2^-q
    q: int
    excluded: numpy.ndarray  # the ids of the words that are never outputs
    signals: list            # the names of the last columns; empty: the model is not adapted
    hash: str
    order: bytes = None      # the section of the order of the words

    @property
    def vectors(self):
        return self.steps * 2.0 ** -self.q

    @property
    def plain(self):
        """The columns before the signals."""
        return self.vectors[:, :self.steps.shape[1] - len(self.signals)]

    @property
    def signal_columns(self):
        return self.vectors[:, self.steps.shape[1] - len(self.signals):]


def hash_of(content):
    return hashlib.blake2b(content, digest_size=32).digest()


def read_sections(content, path):
    """The sections that the reader uses, by their kinds without bit 31."""
    head_bytes, = struct.unpack_from("<I", content, 12)
    count, = struct.unpack_from("<I", content, 56)
    seal = content[head_bytes - RECORD:head_bytes][:32]
    if head_bytes != RECORD * (count + 2) or hash_of(content[:head_bytes - RECORD]) != seal:
        raise ValueError(f"{path}: damaged header")
    sections = {}
    for number in range(count):
        kind, _, offset, size, digest = struct.unpack_from("<IIQQ32s", content,
                                                           RECORD * (number + 1))
        kind &= 0x7fffffff
        if kind in (WORD_STARTS, WORD_BYTES, VECTORS, EXCLUDED, SIGNALS, ORDER):
            sections[kind] = content[offset:offset + size]
            if hash_of(sections[kind]) != digest:
                raise ValueError(f"{path}: damaged section {kind}")
    return sections, seal.hex()


def read_words(sections):
    starts = numpy.frombuffer(sections[WORD_STARTS], "<u4")
    content = sections[WORD_BYTES]
    return [content[a:b].decode("utf-8") for a, b in zip(starts[:-1], starts[1:])]


def read_signals(section):
    """The names of the signals; a signal begins with its name, zeros after it."""
    count, = struct.unpack_from("<I", section, 0)
    return [section[at:at + 64].rstrip(b"\0").decode("utf-8")
            for at in range(64, 64 + SIGNAL_BYTES * count, SIGNAL_BYTES)]


def read(path):
    """The model in this file."""
    content = path.read_bytes()
    if content[:8] != b"TEMMODEL" or struct.unpack_from("<I", content, 8)[0] != 2:
        raise ValueError(f"{path}: no model of version 2")
    count, dimension, metric, q = struct.unpack_from("<IIII", content, 24)
    if metric != EUCLIDEAN:
        raise ValueError(f"{path}: the metric is not euclidean")
    sections, digest = read_sections(content, path)
    rows = numpy.frombuffer(sections[VECTORS], "<i2").reshape(count, -1)
    return Model(read_words(sections), rows[:, :dimension].copy(), q,
                 numpy.frombuffer(sections.get(EXCLUDED, b""), "<u4").astype(numpy.int64),
                 read_signals(sections[SIGNALS]) if SIGNALS in sections else [], digest,
                 sections.get(ORDER))


# ---------------------------------------------------------------- packing

def pack(path, models):
    """Writes the models, {name: Model}, without their words. Adapted models share most columns with
    the model that they were made from, so equal columns are stored once."""
    columns, facts = {}, []
    for name, model in models.items():
        at = [columns.setdefault(column.tobytes(), len(columns)) for column in model.steps.T]
        facts.append({"name": name, "q": model.q, "hash": model.hash, "signals": model.signals,
                      "excluded": model.excluded.tolist(), "columns": at})
    steps = numpy.stack([numpy.frombuffer(column, numpy.int16) for column in columns])
    packed.save(path, facts=numpy.array(json.dumps(facts)), upper=(steps >> 8).astype(numpy.int8),
                lower=(steps & 255).astype(numpy.uint8))


def unpack(path, words):
    """The models that `pack` wrote, {name: Model}."""
    file = packed.load(path)
    steps = file["upper"].astype(numpy.int16) << 8 | file["lower"]
    return {fact["name"]: Model(words, steps[fact["columns"]].T.copy(), fact["q"],
                                numpy.array(fact["excluded"], numpy.int64), fact["signals"],
                                fact["hash"])
            for fact in json.loads(str(file["facts"]))}
