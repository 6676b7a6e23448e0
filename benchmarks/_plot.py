"""Plots: a line chart as an SVG file, with plain or logarithmic axes, drawn by hand: it needs nothing and never differs."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["line_chart"]

_WIDTH, _HEIGHT = 760.0, 440.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 74.0, 40.0, 56.0, 92.0
_DOTTED = 12  # points up to which each is marked
_COLOURS = ("#3b6ea8", "#c4622d", "#3f8f5f", "#8a5aa8", "#b0823b", "#4f9a9a")


def line_chart(
    path: Path,
    title: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_title: str,
    y_title: str,
    log_x: bool = False,
    log_y: bool = False,
    limits: Mapping[str, float] | None = None,
    note: str = "",
) -> None:
    """Write a chart of named lines; `limits` are horizontal marks that the lines should stay below."""
    points = [point for line in series.values() for point in line]
    marks = dict(limits or {})
    xs = _Axis([x for x, _ in points], log_x, _LEFT, _WIDTH - _RIGHT)
    ys = _Axis([*(y for _, y in points), *marks.values()], log_y, _HEIGHT - _BOTTOM, _TOP)
    lines = [*_head(title), *_grid(xs, ys, x_title, y_title)]
    for name, value in marks.items():
        y = ys.at(value)
        lines.append(
            f'<path d="M{_LEFT:.0f},{y:.1f} H{_WIDTH - _RIGHT:.0f}" stroke="#b3261e" stroke-dasharray="5 4" fill="none"/>'
        )
        lines.append(f'<text class="m" x="{_LEFT + 6:.0f}" y="{y - 5:.1f}">{_text(name)}</text>')
    x_legend = _LEFT
    for number, (name, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(xs.at(x), ys.at(y)) for x, y in sorted(line)]
        way = " L".join(f"{x:.1f},{y:.1f}" for x, y in places)
        lines.append(f'<path d="M{way}" stroke="{colour}" stroke-width="2.2" fill="none" stroke-linejoin="round"/>')
        if len(places) <= _DOTTED:
            lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" fill="{colour}"/>' for x, y in places]
        lines.append(f'<path d="M{x_legend:.0f},{_HEIGHT - 22:.0f} h18" stroke="{colour}" stroke-width="3"/>')
        lines.append(f'<text class="s" x="{x_legend + 24:.0f}" y="{_HEIGHT - 18:.0f}">{_text(name)}</text>')
        x_legend += 46 + 6.9 * len(name)
    if note:
        lines.append(f'<text class="s" x="{_WIDTH - _RIGHT:.0f}" y="34" text-anchor="end">{_text(note)}</text>')
    path.write_text("\n".join([*lines, "</svg>"]) + "\n", encoding="utf-8")


class _Axis:
    """Values to places, with round marks."""

    def __init__(self, values: Sequence[float], log: bool, first: float, last: float) -> None:
        self._log, self._first, self._last = log, first, last
        low, high = min(values), max(values)
        if log:
            self._low = float(math.floor(math.log10(max(low, 1e-9))))
            self._high = max(float(math.ceil(math.log10(max(high, 1e-9)))), self._low + 1.0)
            self.ticks = [10.0**power for power in range(int(self._low), int(self._high) + 1)]
        else:
            step = _round_step((high - min(low, 0.0)) / 5 if high > 0 else 1.0)
            self._low, self._high = math.floor(min(low, 0.0) / step) * step, max(math.ceil(high / step), 1) * step
            self.ticks = [self._low + step * number for number in range(round((self._high - self._low) / step) + 1)]

    def at(self, value: float) -> float:
        place = math.log10(max(value, 1e-9)) if self._log else value
        return self._first + (place - self._low) / (self._high - self._low) * (self._last - self._first)


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)


def _head(title: str) -> list[str]:
    style = (
        "text{font-family:Helvetica,Arial,sans-serif;fill:#1f2328;font-size:13px}.s{font-size:12px;fill:#59636e}"
        ".t{font-size:16px;font-weight:600}.m{font-size:12px;fill:#b3261e;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    )
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img">',
        f"<title>{_text(title)}</title><style>{style}</style>",
        f'<rect width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" fill="#ffffff"/>',
        f'<text class="t" x="{_LEFT:.0f}" y="32">{_text(title)}</text>',
    ]


def _grid(xs: _Axis, ys: _Axis, x_title: str, y_title: str) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    lines = []
    for tick in ys.ticks:
        y = ys.at(tick)
        lines.append(f'<path d="M{_LEFT:.0f},{y:.1f} H{right:.0f}" stroke="#e4e7eb" fill="none"/>')
        lines.append(f'<text class="s" x="{_LEFT - 8:.0f}" y="{y + 4:.1f}" text-anchor="end">{_number(tick)}</text>')
    for tick in xs.ticks:
        x = xs.at(tick)
        lines.append(f'<path d="M{x:.1f},{_TOP:.0f} V{bottom:.0f}" stroke="#eef0f3" fill="none"/>')
        lines.append(f'<text class="s" x="{x:.1f}" y="{bottom + 18:.0f}" text-anchor="middle">{_number(tick)}</text>')
    middle = (_TOP + bottom) / 2
    lines.append(f'<text x="{(_LEFT + right) / 2:.0f}" y="{bottom + 40:.0f}" text-anchor="middle">{_text(x_title)}</text>')
    lines.append(
        f'<text x="20" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 20 {middle:.0f})">{_text(y_title)}</text>'
    )
    return lines


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:g}"


def _text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
