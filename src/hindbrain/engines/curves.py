"""Curves: how what a pair or a megram counts for will fade, as numbers, as a drawing of characters and as a picture. Pure."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hindbrain.domain.experience import Effective
from hindbrain.engines.graph_formats import xml
from hindbrain.engines.potentials import potentials
from hindbrain.policy.experience import ACTIONS
from hindbrain.policy.fading import DAY_MS

__all__ = ["Curve", "drawn", "png", "sampled", "svg"]

_WIDTH, _HEIGHT, _MARGIN = 900, 420, 56
_ATTENTION, _DECISION, _LINE, _INK = (59, 110, 168), (168, 85, 59), (208, 215, 222), (31, 35, 40)
_BLOCKS = " ▁▂▃▄▅▆▇█"


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
    x = _MARGIN + (_WIDTH - 2 * _MARGIN) * (day / curve.days[-1] if curve.days[-1] else 0.0)
    y = _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * ((value - low) / (curve.top - low))
    return x, y


def _lines(curve: Curve) -> list[tuple[tuple[int, int, int], list[tuple[float, float]]]]:
    last = curve.days[-1]
    levels = (0.0, ACTIONS.attention)
    return [
        *((_LINE, [_place(curve, 0.0, level), _place(curve, last, level)]) for level in levels),
        (_DECISION, [_place(curve, day, value) for day, value in zip(curve.days, curve.decision, strict=True)]),
        (_ATTENTION, [_place(curve, day, value) for day, value in zip(curve.days, curve.attention, strict=True)]),
    ]


def svg(curve: Curve, title: str) -> str:
    """The picture with its words."""
    paths = []
    for colour, points in _lines(curve):
        told = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        paths.append(f'<polyline fill="none" stroke="rgb{colour}" stroke-width="2" points="{told}"/>')
    right, heard = _WIDTH - _MARGIN, _place(curve, 0.0, ACTIONS.attention)[1]
    words = [
        _word(_MARGIN, 30, title, size=16, anchor="start"),
        _word(_MARGIN, _HEIGHT - 16, "now", anchor="start"),
        _word(right, _HEIGHT - 16, f"{curve.days[-1]:g} days"),
        _word(right, round(heard) - 5, f"heard from {ACTIONS.attention:g}"),
        _word(right, 30, f"attention {curve.attention[0]:g}", colour=_ATTENTION),
        _word(right, 46, f"decision {curve.decision[0]:g}", colour=_DECISION),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
    style = "<style>text{font-family:Helvetica,Arial,sans-serif}</style>"
    ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{xml(title)}</title>", style, ground, *paths, *words, "</svg>"]) + "\n"


def _word(x: int, y: int, text: str, *, size: int = 12, anchor: str = "end", colour: tuple[int, int, int] = _INK) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="rgb{colour}">{xml(text)}</text>'


def png(curve: Curve) -> bytes:
    """The same lines as pixels, without words."""
    pixels = bytearray(b"\xff" * (_WIDTH * _HEIGHT * 3))
    for colour, points in _lines(curve):
        for start, end in pairwise(points):
            _stroke(pixels, start, end, colour)
    frame = [(_MARGIN, _MARGIN), (_MARGIN, _HEIGHT - _MARGIN), (_WIDTH - _MARGIN, _HEIGHT - _MARGIN)]
    for start, end in pairwise(frame):
        _stroke(pixels, start, end, _INK)
    rows = b"".join(b"\x00" + bytes(pixels[at : at + _WIDTH * 3]) for at in range(0, len(pixels), _WIDTH * 3))
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def _stroke(pixels: bytearray, start: tuple[float, float], end: tuple[float, float], colour: tuple[int, int, int]) -> None:
    steps = max(round(max(abs(end[0] - start[0]), abs(end[1] - start[1]))), 1)
    for step in range(steps + 1):
        x = round(start[0] + (end[0] - start[0]) * step / steps)
        y = round(start[1] + (end[1] - start[1]) * step / steps)
        for wide in (0, 1):
            if 0 <= x < _WIDTH and 0 <= y + wide < _HEIGHT:
                at = ((y + wide) * _WIDTH + x) * 3
                pixels[at : at + 3] = bytes(colour)
