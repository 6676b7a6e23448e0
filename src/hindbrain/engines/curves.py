"""Curves: how what a pair or a megram counts for will fade, as numbers, as a drawing of characters and as a picture. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hindbrain.domain.experience import Effective
from hindbrain.engines.graph_formats import xml
from hindbrain.engines.potentials import potentials
from hindbrain.policy.experience import ACTIONS
from hindbrain.policy.fading import DAY_MS

__all__ = ["HEIGHT", "INK", "MARGIN", "WIDTH", "Colour", "Curve", "drawn", "earlier", "figures", "lines", "sampled", "svg"]

Colour = tuple[int, int, int]

WIDTH, HEIGHT, MARGIN = 900, 420, 56
_ATTENTION, _DECISION, _LINE, INK = (59, 110, 168), (168, 85, 59), (208, 215, 222), (31, 35, 40)
_BLOCKS = " ▁▂▃▄▅▆▇█"
# Figures as a clock draws them: which of the seven bars are lit, from the top downwards, left before right.
_BARS = {
    "t": ((0, 0), (1, 0)),
    "l": ((0, 0), (0, 1)),
    "r": ((1, 0), (1, 1)),
    "m": ((0, 1), (1, 1)),
    "L": ((0, 1), (0, 2)),
    "R": ((1, 1), (1, 2)),
    "b": ((0, 2), (1, 2)),
}
_LIT = {"0": "tlrLRb", "1": "rR", "2": "trmLb", "3": "trmRb", "4": "lrmR", "5": "tlmRb", "6": "tlmLRb", "7": "trR"}
_LIT |= {"8": "tlrmLRb", "9": "tlrmRb"}
_STROKES = {figure: tuple(_BARS[bar] for bar in lit) for figure, lit in _LIT.items()} | {".": (((0.4, 2), (0.6, 2)),)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Both sums from now on, one value for each of some days."""

    days: tuple[float, ...]
    attention: tuple[float, ...]
    decision: tuple[float, ...]

    @property
    def top(self) -> float:
        return max(*self.attention, *(abs(one) for one in self.decision), 2 * ACTIONS.attention)


def sampled(megrams: Sequence[Effective], at: int, *, days: float, points: int) -> Curve:
    """What is left day by day, if nothing new comes."""
    moments = [days * turn / (points - 1) for turn in range(points)]
    sums = [potentials(megrams, at + round(day * DAY_MS)) for day in moments]
    return Curve(
        days=tuple(round(day, 6) for day in moments),
        attention=tuple(one.attention for one in sums),
        decision=tuple(one.decision for one in sums),
    )


def earlier(megrams: Sequence[Effective], at: int, *, days: float, points: int) -> Curve:
    """What there was day by day before, up to now; days are negative. What was forgotten since is not in it."""
    moments = [-days * (points - 1 - turn) / (points - 1) for turn in range(points)]
    times = [at + round(day * DAY_MS) for day in moments]
    sums = [potentials([then for one in megrams if (then := _then(one, time)) is not None], time) for time in times]
    return Curve(
        days=tuple(round(day, 6) + 0.0 for day in moments),
        attention=tuple(one.attention for one in sums),
        decision=tuple(one.decision for one in sums),
    )


def _then(one: Effective, at: int) -> Effective | None:
    """A megram as it counted at a time: before its age began anew it was as it was written."""
    megram = one.megram
    if at < megram.created_at:
        return None
    carried = one.consolidated_at if one.consolidated_at is not None and one.consolidated_at <= at else None
    replaced = one.superseded_at if one.superseded_at is not None and one.superseded_at <= at else None
    was = one if at >= one.origin else replace(one, level=megram.level, k=megram.k, origin=megram.created_at)
    return replace(was, consolidated_at=carried, superseded_at=replaced)


def drawn(curve: Curve, *, rows: int = 8) -> str:
    """Attention as a filled curve of characters, with the line at which it begins to advise, and the decision below it."""
    lines = []
    for row in range(rows, 0, -1):
        low, high = curve.top * (row - 1) / rows, curve.top * row / rows
        cells = "".join(_BLOCKS[_eighths(value, low, high)] for value in curve.attention)
        mark = "heard" if low <= ACTIONS.attention < high else ""
        lines.append(f"{high:6.2f} │{cells} {mark}".rstrip())
    lines.append(f"{'':6} └{'─' * len(curve.days)}")
    lines.append(f"{'':8}now{'':{max(len(curve.days) - 10, 1)}}{curve.days[-1]:g} days")
    signs = "".join("+" if one > ACTIONS.decision else "-" if one < -ACTIONS.decision else "·" for one in curve.decision)
    lines.append(f"{'points':>6}  {signs}  + for it, - against it, · undecided")
    return "\n".join(lines)


def _eighths(value: float, low: float, high: float) -> int:
    return 0 if value <= low else 8 if value >= high else max(1, round(8 * (value - low) / (high - low)))


def _place(curve: Curve, day: float, value: float) -> tuple[float, float]:
    """Where a value stands in the picture; the middle line is zero when something points against."""
    low = -curve.top if min(curve.decision) < 0 else 0.0
    x = MARGIN + (WIDTH - 2 * MARGIN) * (day / curve.days[-1] if curve.days[-1] else 0.0)
    y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * ((value - low) / (curve.top - low))
    return x, y


def lines(curve: Curve) -> list[tuple[Colour, list[tuple[float, float]]]]:
    """What a picture shows: each line with its colour, the levels first, attention on top."""
    last = curve.days[-1]
    levels = (0.0, ACTIONS.attention)
    return [
        *((_LINE, [_place(curve, 0.0, level), _place(curve, last, level)]) for level in levels),
        (_DECISION, [_place(curve, day, value) for day, value in zip(curve.days, curve.decision, strict=True)]),
        (_ATTENTION, [_place(curve, day, value) for day, value in zip(curve.days, curve.attention, strict=True)]),
    ]


def figures(curve: Curve) -> list[tuple[Colour, list[tuple[float, float]]]]:
    """The numbers beside the lines, in strokes, for a picture that has no letters: values at the left, days below."""
    last = curve.days[-1]
    places = [(f"{level:.1f}", MARGIN - 38.0, _place(curve, 0.0, level)[1] - 6) for level in (0.0, ACTIONS.attention, curve.top)]
    places += [(f"{day:.0f}", _place(curve, day, 0.0)[0] - 8, HEIGHT - MARGIN + 14.0) for day in (0.0, last / 2, last)]
    return [
        (INK, [(x + 11 * turn + 7 * dx, y + 6 * dy) for dx, dy in stroke])
        for text, x, y in places
        for turn, figure in enumerate(text)
        for stroke in _STROKES[figure]
    ]


def svg(curve: Curve, title: str) -> str:
    """The picture with its words."""
    paths = []
    for colour, points in lines(curve):
        told = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        paths.append(f'<polyline fill="none" stroke="rgb{colour}" stroke-width="2" points="{told}"/>')
    right, heard = WIDTH - MARGIN, _place(curve, 0.0, ACTIONS.attention)[1]
    words = [
        _word(MARGIN, 30, title, size=16, anchor="start"),
        _word(MARGIN, HEIGHT - 16, "now", anchor="start"),
        _word(right, HEIGHT - 16, f"{curve.days[-1]:g} days"),
        _word(right, round(heard) - 5, f"heard from {ACTIONS.attention:g}"),
        _word(right, 30, f"attention {curve.attention[0]:g}", colour=_ATTENTION),
        _word(right, 46, f"decision {curve.decision[0]:g}", colour=_DECISION),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    style = "<style>text{font-family:Helvetica,Arial,sans-serif}</style>"
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{xml(title)}</title>", style, ground, *paths, *words, "</svg>"]) + "\n"


def _word(x: int, y: int, text: str, *, size: int = 12, anchor: str = "end", colour: Colour = INK) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="rgb{colour}">{xml(text)}</text>'
