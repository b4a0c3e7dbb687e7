# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown from the results of tools/measure-adapt."""
import json

from .tables import interval, percent, print_table, read, several, show_spread, spread

ASKED = "sentiment"
TOPICS = "20ng"
LEARNERS = ("linear", "posterior")  # of what nobody asked to keep
# The learner whose numbers stand where one number is shown: the same for every model and guess.
ATTACKER = {TOPICS: "linear"}
MEAN = "mean of the genres"


def models_of(rows):
    return list(dict.fromkeys(row["model"] for row in rows))


def guesses_of(rows):
    return sorted({row["guess"] for row in rows}, key=float)


class Accuracy:
    """The rows of adapt-accuracy.csv: the values of the draws of each point."""

    def __init__(self, rows):
        self.rows, self.values = rows, {}
        for row in rows:
            key = (row["model"], row["guess"], row["task"], row["learner"], row["tested"])
            self.values.setdefault(key, {})[row["draw"]] = float(row["value"])
        self.genres = [task for task in dict.fromkeys(row["task"] for row in rows)
                       if task not in (ASKED, TOPICS)]

    def draws(self, model, guess, task, learner, tested):
        """The values of all draws; those of the task MEAN are means over the genres."""
        if task != MEAN:
            return list(self.values.get((model, guess, task, learner, tested), {}).values())
        parts = [self.draws(model, guess, genre, learner, tested) for genre in self.genres]
        return [sum(values) / len(values) for values in zip(*parts)]

    def attacked(self, model, guess, task, tested):
        """The values of the learner that the task has; posterior, if it has none."""
        return self.draws(model, guess, task, ATTACKER.get(task, "posterior"), tested)

    def cell(self, *key):
        values = self.draws(*key)
        return interval(values) if values else ""

    def unasked(self):
        """(task, tested): first the genres, then the topics."""
        tasks = [MEAN, *self.genres] if self.genres else []
        return [*((task, "released") for task in tasks), (TOPICS, "released"),
                (TOPICS, "original")]


def ordered(rows):
    """(model, guess) in the order of the guesses."""
    pairs = {(row["model"], row["guess"]) for row in rows}
    return [(model, guess) for guess in guesses_of(rows) for model in models_of(rows)
            if (model, guess) in pairs]


def show_laws(rows):
    by_key = {(row["model"], row["guess"]): row for row in rows}
    lines = []
    for model, guess in ordered(rows):
        row = by_key[model, guess]
        lines.append([guess, model, f"{float(row['s']):.3f}", percent(row["guess_text"], 2),
                      percent(row["guess_vocabulary"], 2),
                      several(row, "stays_vocabulary", (5, 50, 95), 3),
                      several(row, "stays_text", (5, 50, 95), 3),
                      f"{row['exposed']} {float(row['exposed_stays']):.3f}",
                      f"{float(row['support_least']):.0f} ({row['support_word']})"])
    print_table("Who is protected at equal guess over the text",
                ["guess, %", "model", "s", "text, %", "vocabulary, %", "stays 5, 50, 95 %",
                 "in the text", "most exposed word", "least S_w"], lines)
    lines = []
    for model, guess in ordered(rows):
        row = by_key[model, guess]
        told = json.loads(row["variance_signals"])
        lines.append([guess, model, percent(row["variance_public"]), percent(row["variance_plain"]),
                      ", ".join(f"{name} {percent(share)}" for name, share in told.items())])
    print_table("Share of the variance that an output explains, under the prior, %",
                ["guess, %", "model", "public vectors", "columns before the signals", "signals"],
                lines)


def show_asked(accuracy):
    for learner in dict.fromkeys(row["learner"] for row in accuracy.rows):
        rows = [row for row in accuracy.rows if row["learner"] == learner]
        guesses = guesses_of(rows)
        print_table(f"Accuracy of the {ASKED}, learner {learner}, %",
                    ["model", *(f"{guess} %" if guess != "100" else "no mechanism"
                                for guess in guesses)],
                    [[model, *(accuracy.cell(model, guess, ASKED, learner, "original")
                               for guess in guesses)] for model in models_of(rows)])


def show_unasked(accuracy):
    columns = accuracy.unasked()
    for learner in LEARNERS:
        rows = [row for row in accuracy.rows if row["learner"] == learner]
        print_table("What nobody asked to keep: area under the curve for genres, accuracy for "
                    f"topics, learner {learner}, %",
                    ["guess, %", "model", *name_columns(columns)],
                    [[guess, model, *(accuracy.cell(model, guess, task, learner, tested)
                                      for task, tested in columns)]
                     for model, guess in ordered(rows)])


def name_columns(columns):
    return [f"{task}, {tested}" if task == TOPICS else task for task, tested in columns]


# ---------------------------------------------------- at equal accuracy

def place_of(values, target):
    """Where a line through the values is at the target for the first time: (i, t) for the share t
    of the way from value i to value i + 1; None if it never is."""
    for i, (low, high) in enumerate(zip(values, values[1:])):
        if min(low, high) <= target <= max(low, high):
            return i, (target - low) / (high - low) if high != low else 0.0
    return None


def between(place, values):
    i, share = place
    return (1 - share) * values[i] + share * values[i + 1]


def plain_at(accuracy, plain, guesses, place, column):
    """What the plain model has at the place, with an interval interpolated in the same way."""
    points = [spread(accuracy.attacked(plain, guess, *column)) for guess in guesses]
    halves = [half for _, half in points]
    return show_spread(between(place, [mean for mean, _ in points]),
                       None if None in halves else between(place, halves))


def compare(accuracy, plain, guesses, model, guess):
    """One line: the adapted model, then the plain one at the same accuracy of the task."""
    asked = (ASKED, "posterior", "original")
    curve = [spread(accuracy.draws(plain, each, *asked))[0] for each in guesses]
    target = spread(accuracy.draws(model, guess, *asked))[0]
    place = place_of(curve, target)
    line = [model, accuracy.cell(model, guess, *asked)]
    if place is None:
        far = f"above {guesses[-1]}" if target > max(curve) else f"below {guesses[0]}"
    else:
        far = f"{between(place, [float(each) for each in guesses]):.1f}"
    line.append(f"{guess} / {far}")
    for column in accuracy.unasked():
        other = "-" if place is None else plain_at(accuracy, plain, guesses, place, column)
        line.append(f"{interval(accuracy.attacked(model, guess, *column))} / {other}")
    return line


def show_equal(laws, accuracy):
    """Adapted models beside the plain one, not at equal guess but at equal accuracy."""
    known = {(row["model"], row["guess"]) for row in accuracy.rows}
    plain = next((row["model"] for row in laws if row["adapted"] == "0"), None)
    guesses = [guess for guess in guesses_of(laws) if (plain, guess) in known]
    points = [(row["model"], row["guess"]) for row in laws
              if row["adapted"] != "0" and (row["model"], row["guess"]) in known]
    if len(guesses) < 2 or not points:
        return
    print_table(f"At equal accuracy of the {ASKED} (learner posterior): adapted / {plain}, what "
                "nobody asked to keep by the learner posterior, topics by linear. The numbers of "
                f"{plain} lie on a line between its two nearest guesses; - means that it has this "
                "accuracy at none of the guesses measured",
                ["model", f"{ASKED}, %", "guess, %", *name_columns(accuracy.unasked())],
                [compare(accuracy, plain, guesses, *point) for point in points])


def show(results):
    laws = read(results / "adapt-laws.csv")
    accuracy = Accuracy(read(results / "adapt-accuracy.csv"))
    if laws:
        show_laws(laws)
    if accuracy.rows:
        show_asked(accuracy)
        show_unasked(accuracy)
    show_equal(laws, accuracy)
