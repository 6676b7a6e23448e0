"""Charts of the gym: horizontal bars as SVG, drawn by hand. Colours come from the page, so that light and dark both fit. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindbrain.engines.graph_formats import xml

__all__ = ["Bar", "Group", "bars", "stacked"]

_WIDTH = 360  # as wide as a phone: nothing has to be made smaller there
_LEFT, _ROW, _GROUP, _BAR = 96, 22, 26, 13
_ROOM = 70  # to the right of the longest bar, for its number


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: whose it is, how long, and what stands beside it. Without a length only the words stand there."""

    name: str
    colour: str
    length: float | None
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    title: str
    bars: Sequence[Bar]


def bars(title: str, groups: Sequence[Group], *, most: float | None = None) -> str:
    """Groups of bars, one below the other."""
    longest = most or max((one.length or 0.0 for group in groups for one in group.bars), default=0.0) or 1.0
    room, y, lines = _WIDTH - _LEFT - _ROOM, 4, []
    for group in groups:
        if group.title:
            lines.append(f'<text class="group" x="0" y="{y + 16}">{xml(group.title)}</text>')
            y += _GROUP
        for one in group.bars:
            lines.append(f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{xml(one.name)}</text>')
            wide = 0.0
            if one.length is not None:
                wide = max(round(room * one.length / longest, 1), 1.5)
                lines.append(
                    f'<rect class="track" x="{_LEFT}" y="{y + 4}" width="{room}" height="{_BAR}" rx="3"/>'
                    f'<rect x="{_LEFT}" y="{y + 4}" width="{wide}" height="{_BAR}" rx="3" fill="var(--{one.colour})"/>'
                )
            at = _LEFT + (room + 6 if one.length is not None else 0)
            kind = "value" if one.length is not None else "none"
            lines.append(f'<text class="{kind}" x="{at}" y="{y + 15}">{xml(one.label)}</text>')
            y += _ROW
        y += 4
    return _svg(title, y, lines)


def stacked(title: str, rows: Mapping[str, Mapping[str, float]], colours: Mapping[str, str]) -> str:
    """One bar for each row, made of parts."""
    longest = max((sum(parts.values()) for parts in rows.values()), default=0.0) or 1.0
    room, y, lines = _WIDTH - _LEFT - _ROOM, 4, []
    for name, parts in rows.items():
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{xml(name)}</text>')
        x = float(_LEFT)
        for part, length in parts.items():
            wide = round(room * length / longest, 1)
            if wide > 0:
                lines.append(
                    f'<rect x="{round(x, 1)}" y="{y + 4}" width="{wide}" height="{_BAR}" fill="var(--{colours[part]})">'
                    f"<title>{xml(f'{name}: {part} {length:g}')}</title></rect>"
                )
            x += wide
        lines.append(f'<text class="value" x="{round(x + 6, 1)}" y="{y + 15}">{sum(parts.values()):.4g}</text>')
        y += _ROW
    return _svg(title, y, lines)


def _svg(title: str, height: int, lines: Sequence[str]) -> str:
    name = xml(title)
    head = f'<svg viewBox="0 0 {_WIDTH} {height + 4}" role="img" aria-label="{name}"><title>{name}</title>'
    return f"{head}{''.join(lines)}</svg>"
