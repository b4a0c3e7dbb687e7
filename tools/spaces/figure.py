# SPDX-License-Identifier: Apache-2.0
"""The figure of docs/ADAPT.md, drawn by gnuplot: accuracy against the success of the best guess."""
import subprocess

from .adapted import ASKED, Accuracy, guesses_of
from .tables import read, spread

COLOURS = ("#888888", "#1b6ca8", "#c2571a", "#2b8a3e")
HEAD = """set terminal svg size 760,430 dynamic background rgb 'white' font 'sans,13'
set output '{path}'
set title 'The same success of an attacker, more of what the analysis needs'
set xlabel 'words that the best guess gets right, %'
set ylabel 'accuracy of the sentiment on original reviews, %'
set logscale x
set xtics (6, 7, 8, 10, 12, 17, 30, 50)
set xrange [5.7:53]
set yrange [68:89]
set grid ytics lc rgb '#dddddd'
set key bottom right
"""


def curve(accuracy, model, learner):
    """Lines of guess, mean and half of the interval."""
    lines = []
    for guess in guesses_of(accuracy.rows):
        values = accuracy.draws(model, guess, ASKED, learner, "original")
        if values and guess != "100":
            mean, half = spread([100 * value for value in values])
            lines.append(f"{guess} {mean:.3f} {half or 0:.3f}")
    return lines


def draw(results, models, path):
    """Writes the figure. models: names in the results, the plain one first."""
    accuracy = Accuracy(read(results / "adapt-accuracy.csv"))
    data, plots = [], []
    for number, model in enumerate(models):
        for learner, dash in (("posterior", 1), ("linear", 2)):
            block = f"$d{len(plots)}"
            data.append("\n".join([f"{block} << end", *curve(accuracy, model, learner), "end"]))
            style = f"lc rgb '{COLOURS[number % len(COLOURS)]}' dt {dash} lw 2"
            plots.append(f"{block} with yerrorlines pt 7 ps 0.4 {style} "
                         f"title '{model}, learner {learner}'")
    script = "\n".join(data) + "\n" + HEAD.format(path=path) + "plot " + ", ".join(plots) + "\n"
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
