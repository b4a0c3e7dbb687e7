# SPDX-License-Identifier: Apache-2.0
"""Gives numbers in digits the contexts of their spelled words.

General English in words has `twenty`, `nineties` and `nineteen ninety nine`, and no `20`, `90s` or
`1999`. A number D that is read w1 ... wk gets a share of the probability of this reading:

    P(D | h) = SHARE P(w1 | h) P(w2 | w1) ... P(wk | w(k-2) w(k-1))

where the file lists w1 after h. The words after D are those after the last two words of the
reading; what follows a year is left to the back-off.
"""
import numpy

UNITS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
         "fifteen sixteen seventeen eighteen nineteen").split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
            "nine": "ninth", "twelve": "twelfth"}
DECADES = {f"{10 * n}s": [f"{word[:-1]}ies"] for n, word in enumerate(TENS) if n > 1}
SHARE_OF_ONE = 0.05               # `one` is a pronoun more often than a number
SHARE_OF_ORDINAL = 0.05           # writers spell them, and small numbers
SHARE_OF_DIGIT, SHARE = 0.15, 0.4
LEAST2, LEAST3 = 1e-5, 1e-3       # probabilities below are left to the back-off
GAIN = 1.5                        # and so are those that the back-off gives nearly as well


def below_hundred(number):
    if number < 20:
        return [UNITS[number]]
    return [TENS[number // 10]] + ([UNITS[number % 10]] if number % 10 else [])


def cardinal(number):
    """The words of a number below 10,000."""
    words = []
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            words += below_hundred(number // size) + [name]
            number %= size
    return words + (below_hundred(number) if number or not words else [])


def is_year(name):
    return len(name) == 4 and name.isdecimal() and (1100 <= int(name) < 2100)


def year(number):
    tens, rest = divmod(number, 100)
    end = ["hundred"] if rest == 0 else ["oh", UNITS[rest]] if rest < 10 else below_hundred(rest)
    return below_hundred(tens) + end


def share_of(name):
    if len(name) == 1:
        return SHARE_OF_ONE if name == "1" else SHARE_OF_DIGIT
    return SHARE_OF_ORDINAL if name[-2:] in ("st", "nd", "rd", "th") else SHARE


def reading(name):
    """The words of a number in digits; an empty list for other words."""
    if name in DECADES:
        return DECADES[name]
    if len(name) == 5 and name[:4].isdigit() and name.endswith("0s"):
        decade = DECADES.get(name[2:])
        return decade and [*below_hundred(int(name[:2])), *decade] or []
    if name[:-2].isdigit() and name[-2:] in ("st", "nd", "rd", "th") and int(name[:-2]) < 100:
        *before, last = below_hundred(int(name[:-2]))
        plain = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
        return [*before, ORDINALS.get(last, plain)]
    if not name.isdecimal() or not name.isascii() or (name.startswith("0") and name != "0"):
        return []
    number = int(name)
    if is_year(name) and not 2000 <= number < 2010:
        return year(number)
    return cardinal(number) if number < 10000 else []


class Lists:
    """Look-ups in a model of trigrams (english.Trigrams)."""

    def __init__(self, model):
        self.model, self.n = model, len(model.single)
        h, y, self.p2, self.left2 = model.pairs
        g, b, c, self.p3 = model.triples
        self.keys2 = h * self.n + y
        self.keys3 = (g * self.n + b) * self.n + c

    def pair(self, h, y):
        """The place of a pair, or None."""
        at = int(numpy.searchsorted(self.keys2, h * self.n + y))
        return at if at < len(self.keys2) and self.keys2[at] == h * self.n + y else None

    def two(self, h, y):
        at = self.pair(h, y)
        return (self.model.single_left[h] + self.model.single[y]) if at is None else self.p2[at]

    def three(self, g, h, y):
        key = (g * self.n + h) * self.n + y
        at = int(numpy.searchsorted(self.keys3, key))
        if at < len(self.keys3) and self.keys3[at] == key:
            return self.p3[at]
        pair = self.pair(g, h)
        return self.two(h, y) + (0 if pair is None else self.left2[pair])

    def tail(self, words):
        """ln P of all words but the first, after it."""
        return sum(self.two(*words[:2]) if i == 1 else self.three(*words[i - 2:i + 1])
                   for i in range(1, len(words)))

    def after(self, words):
        """Which words are listed after these, and their logarithms."""
        keys, p = (self.keys2, self.p2) if len(words) == 1 else (self.keys3, self.p3)
        history = words[-1] if len(words) == 1 else words[-2] * self.n + words[-1]
        a, b = numpy.searchsorted(keys, [history * self.n, (history + 1) * self.n])
        return keys[a:b] % self.n, p[a:b]


def rows_before(lists):
    """The pairs and triples, sorted by their last word, and where each word begins."""
    h, y = lists.model.pairs[:2]
    g, b, c, _ = lists.model.triples
    by2, by3 = (numpy.argsort(last, kind="stable") for last in (y, c))
    ends = numpy.arange(lists.n + 1)
    return (by2, numpy.searchsorted(y[by2], ends)), (by3, numpy.searchsorted(c[by3], ends))


def add_numbers(model, names, trigrams):
    """The model with the numbers of `names` that it lacks. trigrams: the class of models."""
    ids = {name: number for number, name in enumerate(names)}
    lists, n = Lists(model), len(names)
    (by2, first2), (by3, first3) = rows_before(lists)
    h, _, p2, left2 = model.pairs
    g, b, _, p3 = model.triples
    single, single_left = model.single.copy(), model.single_left.copy()
    has = numpy.bincount(model.pairs[1], minlength=n) > 0
    new2, new3, less = [], [], numpy.zeros(n)
    for digits, name in enumerate(names):
        words = [ids.get(word, -1) for word in reading(name)]
        if not words or -1 in words or not has[words].all() or has[digits]:
            continue
        more = lists.tail(words) + numpy.log(share_of(name))
        single[digits] = single[words[0]] + more
        if len(words) == 1:
            single_left[digits] = single_left[words[0]]
            less[words[0]] = -share_of(name)
        at = by2[first2[words[0]]:first2[words[0] + 1]]
        p, lower = p2[at] + more, model.single_left[h[at]] + single[digits]
        keep = (p > numpy.log(LEAST2)) & (p > lower + numpy.log(GAIN))
        new2.append((h[at][keep], digits, p[keep]))
        at = by3[first3[words[0]]:first3[words[0] + 1]]
        p = p3[at] + more
        keep = p > numpy.log(LEAST3)
        new3.append((g[at][keep], b[at][keep], digits, p[keep]))
        if not is_year(name):   # what follows `ninety nine` seldom follows a year
            y, p = lists.after(words[-2:])
            keep = p > numpy.log(LEAST2)
            new2.append((digits, y[keep], p[keep]))
    return joined(model, (single, single_left), less, (new2, new3), trigrams)


def joined(model, single, less, new, trigrams):
    """The model with new pairs and triples; the words that gave a share have less."""
    n, less = len(single[0]), numpy.log1p(less)
    h, y, p, left = model.pairs
    new2 = [[numpy.broadcast_to(part, rows[2].shape) for part in rows] for rows in new[0]]
    h2, y2, q2 = (numpy.concatenate(parts) for parts in zip(*new2))
    keys = numpy.concatenate([h * n + y, h2 * n + y2])
    values = numpy.concatenate([p + less[y], q2]), numpy.concatenate([left, numpy.zeros(len(h2))])
    keys, at = numpy.unique(keys, return_index=True)
    pairs = keys // n, keys % n, values[0][at], values[1][at]
    g, b, c, p3 = model.triples
    new3 = [[numpy.broadcast_to(part, rows[3].shape) for part in rows] for rows in new[1]]
    g3, b3, c3, q3 = (numpy.concatenate(parts) for parts in zip(*new3))
    keys3 = numpy.concatenate([(g * n + b) * n + c, (g3 * n + b3) * n + c3])
    values3 = numpy.concatenate([p3 + less[c], q3])
    keys3, at = numpy.unique(keys3, return_index=True)
    triples = keys3 // n // n, keys3 // n % n, keys3 % n, values3[at]
    return trigrams(single[0] + less, single[1], pairs, triples)
