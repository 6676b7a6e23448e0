"""Drawings: a small part of a network as an SVG picture, laid out by springs from a fixed start, so always the same. Pure."""

from collections import Counter

import numpy as np

from hindbrain.engines.graph_formats import xml
from hindbrain.engines.network import Floats, Ints, Network
from hindbrain.engines.subgraph import Part

__all__ = ["layout", "svg"]

_ROUNDS = 260  # of a small picture; every round compares all pairs, so a large one gets fewer
_PAIRS = 6_000_000
_WIDTH, _HEIGHT, _MARGIN = 1200.0, 860.0, 70.0
_LABELS = 60  # nodes that get their name; in a larger picture the most connected ones
_KINDS = {
    "file": "#3b6ea8",
    "directory": "#7d8590",
    "class": "#a8553b",
    "struct": "#a8553b",
    "enum": "#b0823b",
    "type": "#b0823b",
    "function": "#3f8f5f",
    "module": "#6b56a5",
    "concept": "#b0508f",
    "process": "#b0508f",
}
_OTHER = "#59636e"
_RELATIONS = ("#8aa0b8", "#d08770", "#7aa874", "#b48ead", "#c9a24b", "#6fa8a8", "#a0a0a0")


def layout(count: int, source: Ints, target: Ints) -> Floats:
    """Places in the unit square: connected nodes pull each other, all push each other, and it cools down."""
    turn = np.arange(count) * 2.399963229728653  # the golden angle: no two start in one place
    place = 0.5 + 0.45 * np.sqrt((np.arange(count) + 0.5) / max(count, 1))[:, None] * np.stack([np.cos(turn), np.sin(turn)], 1)
    ideal = 0.85 / np.sqrt(max(count, 1))
    heat = 0.12
    rounds = int(min(_ROUNDS, max(_PAIRS / max(count * count, 1), 60))) if count > 1 else 0
    cooling = (0.0008 / heat) ** (1.0 / max(rounds, 1))
    for _ in range(rounds):
        apart = place[:, None, :] - place[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-4)
        push = (apart * (ideal**2 / distance**2)[:, :, None]).sum(axis=1)
        along = place[source] - place[target]
        length = np.maximum(np.sqrt((along**2).sum(axis=1)), 1e-4)[:, None]
        pull = along * (length / ideal) * 0.9
        np.subtract.at(push, source, pull)
        np.add.at(push, target, pull)
        push += (0.5 - place) * 0.35  # loosely towards the middle, so that separate parts stay in the picture
        step = np.maximum(np.sqrt((push**2).sum(axis=1)), 1e-9)[:, None]
        place = place + push / step * np.minimum(step, heat)
        heat *= cooling
    low, high = place.min(axis=0, initial=1.0), place.max(axis=0, initial=0.0)
    even = np.argsort(np.argsort(place, axis=0, kind="stable"), axis=0, kind="stable") / max(count - 1, 1)
    # Half by place and half by rank: what is dense gets room, what is alone comes nearer.
    return np.asarray(0.5 * (place - low) / np.maximum(high - low, 1e-6) + 0.5 * even)


def svg(net: Network, part: Part, title: str) -> str:
    """The picture: nodes coloured by kind and sized by their edges, edges coloured by relation, with a legend."""
    nodes, edges = part.nodes, part.edges
    at = np.full(net.nodes, -1, dtype=np.int64)
    at[nodes] = np.arange(len(nodes))
    source, target = at[net.source[edges]], at[net.target[edges]]
    unit = layout(len(nodes), source, target)
    x = _MARGIN + unit[:, 0] * (_WIDTH - 2 * _MARGIN)
    y = _MARGIN + unit[:, 1] * (_HEIGHT - 2 * _MARGIN)
    degree = np.bincount(np.concatenate([source, target]), minlength=len(nodes))
    radius = 4.0 + 2.2 * np.sqrt(degree)
    names = [net.relations[number] for number in net.relation[edges].tolist()]
    colours = {name: _RELATIONS[place % len(_RELATIONS)] for place, (name, _) in enumerate(_common(names))}
    lines = [*_head(title, colours), '<g fill="none" stroke-opacity="0.7">']
    drawn = zip(source.tolist(), target.tolist(), names, edges.tolist(), strict=True)
    lines += [_line(x, y, radius, one, other, colours[name], name) for one, other, name, _ in drawn if one != other]
    lines.append("</g>")
    for place, row in enumerate(nodes.tolist()):
        colour = _KINDS.get(net.kinds[row], _OTHER)
        lines.append(
            f'<circle cx="{x[place]:.1f}" cy="{y[place]:.1f}" r="{radius[place]:.1f}" fill="{colour}" stroke="#ffffff" '
            f'stroke-width="1.5"><title>{xml(net.ids[row])} ({xml(net.kinds[row])})</title></circle>'
        )
    lines.append('<g class="l">')
    taken: list[tuple[float, float, float]] = []
    for place in np.lexsort((np.arange(len(nodes)), -degree))[:_LABELS].tolist():
        label = _label(net.labels[nodes[place]], float(x[place]), float(y[place]), float(radius[place]), taken)
        lines += [label] if label else []
    lines += ["</g>", *_legend(net, nodes, colours)]
    if part.left_out:
        corner = f'x="{_WIDTH - 20:.0f}" y="{_HEIGHT - 14:.0f}" text-anchor="end"'
        lines.append(f'<text class="s" {corner}>{part.left_out} edges left out</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _common(names: list[str]) -> list[tuple[str, int]]:
    return sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))


def _head(title: str, colours: dict[str, str]) -> list[str]:
    markers = [
        f'<marker id="a{place}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0.8 L8,4 L0,7.2 z" fill="{colour}"/></marker>'
        for place, colour in enumerate(dict.fromkeys(colours.values()))
    ]
    style = (
        "text{font-family:Helvetica,Arial,sans-serif;fill:#1f2328}.l text{font-size:12px;paint-order:stroke;stroke:#ffffff;"
        "stroke-width:3px;stroke-linejoin:round}.s{font-size:12px;fill:#59636e}.t{font-size:18px;font-weight:600}"
    )
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img">',
        f"<title>{xml(title)}</title><style>{style}</style><defs>{''.join(markers)}</defs>",
        f'<rect width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" fill="#ffffff"/>',
        f'<text class="t" x="24" y="34">{xml(title)}</text>',
    ]


def _line(x: Floats, y: Floats, radius: Floats, one: int, other: int, colour: str, name: str) -> str:
    """A slightly bent line from rim to rim, so that two edges of one pair do not cover each other."""
    dx, dy = x[other] - x[one], y[other] - y[one]
    length = max(float(np.hypot(dx, dy)), 1e-3)
    ux, uy = dx / length, dy / length
    start, end = float(radius[one]), float(radius[other]) + 3.0
    x1, y1, x2, y2 = x[one] + ux * start, y[one] + uy * start, x[other] - ux * end, y[other] - uy * end
    bend = min(length * 0.08, 18.0)
    mx, my = (x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend
    marker = _RELATIONS.index(colour)
    return (
        f'<path d="M{x1:.1f},{y1:.1f} Q{mx:.1f},{my:.1f} {x2:.1f},{y2:.1f}" stroke="{colour}" stroke-width="1.3" '
        f'marker-end="url(#a{marker})"><title>{xml(name)}</title></path>'
    )


def _label(text: str, x: float, y: float, radius: float, taken: list[tuple[float, float, float]]) -> str:
    """A name beside its node, where no other name is yet; none where there is no room. Hovering tells it anyway."""
    short = text if len(text) <= 34 else text[:33] + "…"
    width = 7.0 * len(short)
    for anchor, left in (("start", x + radius + 5), ("end", x - radius - 5 - width)):
        free = all(abs(y - other) > 13 or left > right or left + width < start for start, right, other in taken)
        if free and left > 4 and left + width < _WIDTH - 4:
            taken.append((left, left + width, y))
            at = left if anchor == "start" else left + width
            return f'<text x="{at:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{xml(short)}</text>'
    return ""


def _legend(net: Network, nodes: Ints, colours: dict[str, str]) -> list[str]:
    kinds = [kind for kind, _ in _common([net.kinds[row] for row in nodes.tolist()])][:8]
    lines, x = [], 24.0
    for kind in kinds:
        lines.append(f'<circle cx="{x + 5:.0f}" cy="{_HEIGHT - 38:.0f}" r="5" fill="{_KINDS.get(kind, _OTHER)}"/>')
        lines.append(f'<text class="s" x="{x + 15:.0f}" y="{_HEIGHT - 34:.0f}">{xml(kind)}</text>')
        x += 34 + 7.2 * len(kind)
    x = 24.0
    for name, colour in list(colours.items())[:9]:
        lines.append(f'<path d="M{x:.0f},{_HEIGHT - 18:.0f} h16" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text class="s" x="{x + 21:.0f}" y="{_HEIGHT - 14:.0f}">{xml(name)}</text>')
        x += 40 + 7.2 * len(name)
    return lines
