# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown from the results of tools/measure-spaces."""
import csv
import zlib

import numpy

# The factor of Student's t for a 95 % interval of the mean of 2, 3, ... values.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def number_of(name):
    """A number for the seed of a recipe, the same everywhere."""
    return zlib.crc32(name.encode())


def read(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def percent(text, digits=1):
    return f"{100 * float(text):.{digits}f}"


def spread(values):
    """Mean and half the width of the 95 % interval, which is None for one value."""
    values = numpy.array(values)
    if len(values) < 2:
        return float(values.mean()), None
    factor = STUDENT[min(len(values) - 2, len(STUDENT) - 1)]
    return float(values.mean()), float(factor * values.std(ddof=1) / len(values) ** .5)


def show_spread(mean, half):
    return f"{100 * mean:.1f}" if half is None else f"{100 * mean:.1f} ± {100 * half:.1f}"


def interval(values):
    """Mean and half the width of the 95 % interval, in percent; the mean alone for one value."""
    return show_spread(*spread(values))


def print_table(title, head, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def several(row, name, shares, digits):
    return " ".join(f"{float(row[f'{name}_{share}']):.{digits}f}" for share in shares)


def protection(row, other):
    """Who is protected: one line."""
    return [row["recipe"], f"{float(row['s']):.3f}", percent(row[f"guess_{other}"]),
            several(row, "stays_vocabulary", (5, 50, 95, 100), 3),
            several(row, "stays_text", (5, 50, 95), 3), f"{float(row['stays_ratio']):.2f}",
            f"{float(row['support_least']):.{1 if float(row['support_least']) < 100 else 0}f}",
            several(row, "support_vocabulary", (5, 50), 0)]


def landing(row):
    """Where changed words land: one line."""
    return [row["recipe"], *(percent(row[f"near{k}_{average}"])
                             for average in ("vocabulary", "text") for k in (10, 100)),
            f"{float(row['cosine_vocabulary']):.3f}", f"{float(row['cosine_text']):.3f}",
            *(f"{float(row[f'wordnet_{average}']):.4f} ± "
              f"{float(row[f'wordnet_interval_{average}']):.4f}" if row[f"wordnet_{average}"]
              else "" for average in ("vocabulary", "text"))]


def show_laws(rows):
    for average, other in (("vocabulary", "text"), ("text", "vocabulary")):
        for guess in sorted({float(row["guess"]) for row in rows}):
            chosen = [row for row in rows
                      if row["average"] == average and float(row["guess"]) == guess]
            if not chosen:
                continue
            print_table(f"Guess {guess:g} % over the {average}: who is protected",
                        ["recipe", "s", f"{other}", "stays 5, 50, 95, 100 %", "in the text",
                         "ratio", "least S_w", "S_w 5, 50 %"],
                        [protection(row, other) for row in chosen])
            print_table(f"Guess {guess:g} % over the {average}: where changed words land",
                        ["recipe", "10", "100", "10, text", "100, text", "cosine", "text",
                         "WordNet", "text"], [landing(row) for row in chosen])


def show_accuracy(rows):
    tasks = sorted({row["task"] for row in rows})
    keys = list(dict.fromkeys((row["average"], float(row["guess"]), row["recipe"])
                              for row in rows))
    lines = []
    for average, guess, recipe in sorted(keys, key=lambda key: key[:2]):
        line = [average, f"{guess:g}", recipe]
        for task in tasks:
            values = [float(row["accuracy"]) for row in rows
                      if (row["average"], float(row["guess"]), row["recipe"], row["task"])
                      == (average, guess, recipe, task)]
            line.append(f"{interval(values)} ({len(values)})" if values else "")
        lines.append(line)
    print_table("Accuracy of the linear classifier, % (number of draws)",
                ["average", "guess, %", "recipe", *tasks], lines)


def show(results):
    show_laws(read(results / "laws.csv"))
    rows = read(results / "accuracy.csv")
    if rows:
        show_accuracy(rows)
