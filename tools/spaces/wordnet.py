# SPDX-License-Identifier: Apache-2.0
"""Path similarity of the first senses of two words, from the files of WordNet (wordnet-base).

The similarity is 1 / (1 + edges of the shortest path through common hypernyms), the larger of the
one for nouns and the one for verbs. Verbs without a common hypernym meet in one root above all.
"""
import pathlib

ENDINGS = {"noun": (("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"),
                    ("shes", "sh"), ("men", "man"), ("ies", "y")),
           "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
                    ("ing", "e"), ("ing", ""))}


class Part:
    """The nouns, or the verbs."""

    def __init__(self, folder, part):
        folder = pathlib.Path(folder)
        self.part, self.cache = part, {}
        self.first, self.exceptions, self.above = {}, {}, {}
        for line in (folder / f"index.{part}").read_text().splitlines():
            if not line.startswith(" "):
                fields = line.split()
                self.first[fields[0]] = fields[6 + int(fields[3])]
        for line in (folder / f"{part}.exc").read_text().splitlines():
            self.exceptions.setdefault(*line.split()[:2])
        for line in (folder / f"data.{part}").read_text().splitlines():
            if not line.startswith(" "):
                self._add_synset(line.partition("|")[0].split())

    def _add_synset(self, fields):
        at = 4 + 2 * int(fields[3], 16)
        pointers = [fields[at + 1 + 4 * i:at + 5 + 4 * i] for i in range(int(fields[at]))]
        self.above[fields[0]] = [target for kind, target, _, _ in pointers if kind in ("@", "@i")]

    def sense(self, word):
        """The first sense of a word or of its base form, or None."""
        if word in self.first:
            return self.first[word]
        if word in self.exceptions:
            return self.first.get(self.exceptions[word])
        for ending, base in ENDINGS[self.part]:
            if word.endswith(ending) and word[:-len(ending)] + base in self.first:
                return self.first[word[:-len(ending)] + base]
        return None

    def hypernyms(self, word):
        """All hypernyms of the first sense with their distance, the sense itself included; empty
        for a word that WordNet does not have."""
        if word not in self.cache:
            found, level, edges = {}, [self.sense(word)], 0
            while level and level[0] is not None:
                for synset in level:
                    found.setdefault(synset, edges)
                level = [up for synset in level for up in self.above[synset] if up not in found]
                edges += 1
            if found:
                found["root"] = edges
            self.cache[word] = found
        return self.cache[word]

    def similarity(self, one, other):
        """None if one of them is no such word."""
        a, b = self.hypernyms(one), self.hypernyms(other)
        if not a or not b:
            return None
        return 1 / (1 + min(a[synset] + b[synset] for synset in a.keys() & b.keys()))


class WordNet:
    def __init__(self, folder):
        self.parts = [Part(folder, "noun"), Part(folder, "verb")]

    def similarity(self, one, other):
        known = [part.similarity(one, other) for part in self.parts]
        return max((value for value in known if value is not None), default=None)
