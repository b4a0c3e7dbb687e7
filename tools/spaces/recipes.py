# SPDX-License-Identifier: Apache-2.0
"""Recipes that prepare word vectors (tools/prepare-spaces describes them)."""
import dataclasses
import re

import numpy

NAME = re.compile(r"sphere-(?P<dimensions>\d+)(-r(?P<remove>\d+))?(-w(?P<whiten>\d(\.\d+)?))?"
                  r"(?P<mean>-mean)?")


@dataclasses.dataclass(frozen=True)
class Recipe:
    name: str
    dimensions: int = 0  # 0: raw
    remove: int = 0
    whiten: float = 0.0
    keep_mean: bool = False


def parse(name):
    """Returns the recipe of this name."""
    if name == "raw":
        return Recipe(name)
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"unknown recipe: {name}")
    recipe = Recipe(name, int(found["dimensions"]), int(found["remove"] or 0),
                    float(found["whiten"] or 0), found["mean"] is not None)
    if recipe.dimensions < 1 or recipe.whiten > 1:
        raise ValueError(f"recipe {name}: K must be at least 1, and A from 0 to 1")
    return recipe


def mean_distance(x):
    """The root mean square distance of two rows, each chosen at random."""
    return float(numpy.sqrt(2 * ((x * x).sum(1).mean() - (x.mean(0) ** 2).sum())))


def to_unit_length(x, what):
    lengths = numpy.sqrt((x * x).sum(1))
    if lengths.min() <= 1e-6 * numpy.median(lengths):
        raise ValueError(f"{what} of word {int(lengths.argmin()) + 1} is zero, or nearly")
    return x / lengths[:, None]


def prepare(given, recipe):
    """Returns the prepared vectors, one row per word, as float64."""
    if recipe.dimensions == 0:
        return given
    last = recipe.remove + recipe.dimensions
    if last > given.shape[1]:
        raise ValueError(f"recipe {recipe.name}: the vectors have {given.shape[1]} columns only")
    x = to_unit_length(given, "the vector")
    if not recipe.keep_mean:
        x = x - x.mean(0)
    values, axes = numpy.linalg.eigh(x.T @ x)  # ascending
    order = numpy.argsort(-values, kind="stable")[recipe.remove:last]
    if values[order[-1]] <= 1e-12 * values[-1]:
        raise ValueError(f"recipe {recipe.name}: the vectors span fewer dimensions")
    y = (x @ axes[:, order]) * (values[order] / len(x)) ** (-recipe.whiten / 2)
    y = to_unit_length(y, "the projection")
    return y * (mean_distance(given) / mean_distance(y))
