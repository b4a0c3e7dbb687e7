"""The mechanisms of the library, and the guarantee that each claims."""
from __future__ import annotations

from typing import NamedTuple

from . import _tem


class Mechanism(NamedTuple):
    """A mechanism and its properties.

    guarantee: "exact", metric differential privacy for the integers that are drawn; "ideal", what
    its paper proves for real numbers, which floating point is not; or None. claim: the guarantee as
    a sentence. caveat: why no bound holds for what it draws, or None.
    """
    name: str
    summary: str
    claim: str | None
    caveat: str | None
    guarantee: str | None
    has_law: bool
    takes_gamma: bool
    takes_weights: bool
    takes_certificate: bool
    needs_vectors: bool


def mechanisms() -> tuple[Mechanism, ...]:
    """All mechanisms of the library; pass one of their names as `mechanism=`.

    >>> [m.name for m in mechanisms() if m.guarantee == "exact"]
    ['tem', 'em']
    """
    return tuple(Mechanism(**found) for found in _tem.mechanisms())
