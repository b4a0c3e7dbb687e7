"""The epsilon for a target: the search of `tem choose` (cli/command_choose.c), step for step.

The larger epsilon, the more often words stay themselves or are guessed, and the fewer words they
are spread over. So a bisection finds the largest epsilon that keeps the target.
"""
import dataclasses
import math
from collections.abc import Callable

from ._errors import RangeError, make
from ._results import Choice, Point, Summary

DIGITS = 4
GAMMA_LEAST = 1000 / 65536  # below, what is found would be how gamma was rounded
USUAL = (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12)

# What an epsilon does: (s, gamma, summary, realised or None). RangeError: beyond the integers.
Evaluate = Callable[[float, bool], tuple[float, float, Summary, float | None]]
# The same of the certificate for an epsilon.
Certify = Callable[[float], tuple[float, float, Summary, float | None]]


def _nearest(x: float) -> float:
    return float(f"{x:.{DIGITS - 1}e}")


def _unit(x: float) -> float:
    return math.pow(10, math.floor(math.log10(x)) - (DIGITS - 1))


def rounded_up(x: float) -> float:
    """In four digits, not below x."""
    near = _nearest(x)
    return near if near >= x else _nearest(near + _unit(near))


def rounded_down(x: float) -> float:
    """In four digits, not above x."""
    near = _nearest(x)
    return near if near <= x else _nearest(near - _unit(x))


@dataclasses.dataclass
class Chooser:
    target: str
    wanted: float
    gamma_given: bool
    calibrated: bool
    evaluate: Evaluate
    certify: Certify

    def point(self, epsilon: float, whole: bool) -> Point | None:
        """None: beyond what the integers hold, which is no error while one searches."""
        try:
            s, gamma, summary, realised = self.evaluate(epsilon, whole or self.target == "bayes")
        except RangeError:
            return None
        if not self.gamma_given and gamma < GAMMA_LEAST:
            return None
        shown = rounded_up(realised) if realised is not None else epsilon
        return Point(**dataclasses.asdict(summary), epsilon=shown, epsilon_paper=epsilon, s=s,
                     gamma=gamma)

    def value(self, point: Point) -> float:
        return {"self": point.self_median, "support": point.support_median,
                "bayes": point.bayes}[self.target]

    def keeps(self, point: Point | None) -> bool:
        """Whether no more is disclosed than the target says."""
        if point is None:
            return False
        value = self.value(point)
        return value >= self.wanted if self.target == "support" else value <= self.wanted

    def unreachable(self, end: Point, which: str) -> Exception:
        return make("range", f"that cannot be reached: at epsilon {end.epsilon_paper:.4g}, nearly "
                    f"the {which} there is here, it is {self.value(end):.6g}")

    def bracket(self) -> tuple[Point, float, bool]:
        """By factors of two: a point that keeps the target, an epsilon that does not, and whether
        that is beyond the integers."""
        epsilon = 1.0
        point = self.point(epsilon, False)
        while point is None and epsilon > 1e-5:
            epsilon /= 2
            point = self.point(epsilon, False)
        if point is None:
            raise make("range", "no epsilon goes with this gamma or beta")
        up = self.keeps(point)
        while True:
            before, epsilon = point, epsilon * (2 if up else 0.5)
            point = self.point(epsilon, False)
            if point is None:
                if not up:
                    raise self.unreachable(before, "least")
                return before, epsilon, True
            if self.keeps(point) != up:
                return (before, epsilon, False) if up else (point, before.epsilon_paper, False)

    def bisect(self) -> Point:
        low, high, high_is_end = self.bracket()
        while high / low.epsilon_paper > 1.0002:
            epsilon = math.sqrt(low.epsilon_paper * high)
            middle = self.point(epsilon, False)
            if middle is not None and self.keeps(middle):
                low = middle
            else:
                high, high_is_end = epsilon, middle is None
        if high_is_end:
            raise self.unreachable(low, "largest")
        return low

    def answer(self) -> Point:
        """The largest epsilon of four digits that keeps the target."""
        epsilon = rounded_down(self.bisect().epsilon_paper)
        for _ in range(10):
            point = self.point(epsilon, True)
            if point is not None and self.keeps(point):
                return self.calibrated_answer(point) if self.calibrated else point
            epsilon = rounded_down(epsilon * (1 - 1e-4))
        raise make("range", "no epsilon of four digits keeps that target")

    def calibrated_answer(self, found: Point) -> Point:
        """The loss at the s that was found is an epsilon whose certificate may well have a larger
        s: what counts is what that certificate discloses."""
        epsilon = found.epsilon
        for tries in range(64):
            s, gamma, summary, _ = self.certify(epsilon)
            point = Point(**dataclasses.asdict(summary), epsilon=epsilon,
                          epsilon_paper=rounded_up(2 * s + 2 ** -18), s=s, gamma=gamma)
            if self.keeps(point):
                return point
            epsilon = rounded_down(epsilon * (1 - (1e-3 if tries < 8 else 2e-2)))
        raise make("range", "no certificate of this vocabulary keeps that target")

    def curve(self, answer: Point) -> list[Point]:
        """What other epsilons do: those that people use with embeddings or, where distances have
        another scale, some around the answer."""
        at = answer.epsilon_paper
        usual = USUAL[0] <= at <= USUAL[-1]
        wanted = USUAL if usual else [rounded_down(at * 2 ** (i / 2)) for i in range(-6, 7)]
        points = [answer]
        points += [p for p in (self.point(e, True) for e in wanted if e != at) if p is not None]
        return sorted(points, key=lambda point: point.epsilon_paper)


def check(targets: dict[str, float | None]) -> tuple[str, float]:
    """The one target that was given."""
    given = [(name, float(value)) for name, value in targets.items() if value is not None]
    if len(given) != 1:
        raise make("argument", "one target is needed: self=P, support=N or bayes=P")
    name, wanted = given[0]
    if name == "support" and not 1 < wanted < math.inf:
        raise make("argument", "support takes a number above 1: a word is spread over at least "
                   "itself at any epsilon")
    if name != "support" and not 0 < wanted < 1:
        raise make("argument", f"{name} takes a probability above 0 and below 1")
    return name, wanted


def choose(chooser: Chooser, prior: str, with_curve: bool) -> Choice:
    answer = chooser.answer()
    return Choice(answer.epsilon, chooser.calibrated, chooser.target, chooser.wanted, prior, answer,
                  chooser.curve(answer) if with_curve else [])
