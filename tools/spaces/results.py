# SPDX-License-Identifier: Apache-2.0
"""Rows of results in CSV files that only grow."""
import csv

from . import laws

SHARES = (5, 50, 95, 100)


class Table:
    """A CSV file that only grows."""

    def __init__(self, path):
        self.path, self.rows = path, []
        if path.exists():
            with open(path, newline="") as file:
                self.rows = list(csv.DictReader(file))

    def has(self, row, names):
        return any(all(old[name] == str(row[name]) for name in names) for old in self.rows)

    def add(self, *rows):
        rows = [{name: str(value) for name, value in row.items()} for row in rows]
        new = not self.path.exists()
        if self.rows and list(self.rows[0]) != list(rows[0]):
            raise ValueError(f"{self.path} has other columns: use another directory")
        with open(self.path, "a", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerows(rows)
        self.rows += rows


def describe(values, weights, name, digits):
    """The quantiles of a number per word, as columns of a row."""
    found = laws.quantiles(values, weights, [share / 100 for share in SHARES])
    return {f"{name}_{share}": f"{value:.{digits}f}" for share, value in zip(SHARES, found)}
