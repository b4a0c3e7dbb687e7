"""The mechanisms of the library, and the guarantee that each claims."""
from __future__ import annotations

from typing import NamedTuple

from . import _tem


class Parameter(NamedTuple):
    """A number that a mechanism takes. No value outside `least` to `most` is accepted; the model
    and the other numbers may narrow the range. usual: the default, or None."""
    name: str
    meaning: str
    least: float
    most: float
    usual: float | None


class Mechanism(NamedTuple):
    """A mechanism and its properties.

    guarantee: "exact", metric differential privacy for the integers that are drawn; "ideal", what
    its paper proves for real numbers, which floating point is not; "other", a proof for some words
    or for another distance; or None. The last two need allow_no_guarantee=True. claim: the
    guarantee as a sentence. caveat: why no bound holds for what it draws, or None. law_digits: how
    many digits of its law can be computed; 0: none. is_exponential: the law falls off
    with the distance, and can be audited. has_form: the law can be inverted (`Model.channel`).
    needs_metric: the metric that the model must have, or None. list: what the public list of words
    says that it needs, or None.
    """
    name: str
    summary: str
    paper: str | None
    claim: str | None
    caveat: str | None
    guarantee: str | None
    law_digits: int
    is_exponential: bool
    has_form: bool
    takes_gamma: bool
    takes_weights: bool
    takes_certificate: bool
    needs_metric: str | None
    list: str | None
    parameters: tuple[Parameter, ...]


def mechanisms() -> tuple[Mechanism, ...]:
    """All mechanisms of the library; pass one of their names as `mechanism=`.

    >>> [m.name for m in mechanisms() if m.guarantee == "exact"]
    ['tem', 'em', 'rank', 'coin', 'permute-and-flip', 'santext']
    >>> [p.name for p in mechanisms()[0].parameters]
    ['epsilon', 'beta', 'gamma']
    """
    return tuple(
        Mechanism(**{**found, "parameters": tuple(Parameter(*p) for p in found["parameters"])})
        for found in _tem.mechanisms())
