"""Chunks: a file cut where its symbols begin, into stretches of about sixty lines. Every line is in exactly one."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from hindbrain.domain.graph import Chunk
from hindbrain.engines.code_terms import code_words
from hindbrain.policy.graph import CHUNK_LINES, CHUNK_MAX_LINES

__all__ = ["chunks_of", "lines_of"]


def lines_of(text: str) -> int:
    """How many lines a text has; a last one without a line break counts."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def chunks_of(text: str, symbols: Sequence[tuple[int, int]]) -> tuple[Chunk, ...]:
    """The stretches of a text whose symbols have these first and last lines."""
    if not text:
        return ()
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    bounds = _bounds(len(lines), symbols)
    return tuple(
        Chunk(line_start=start, line_end=end - 1, terms=code_words("\n".join(lines[start - 1 : end - 1])))
        for start, end in pairwise(bounds)
    )


def _bounds(total: int, symbols: Sequence[tuple[int, int]]) -> list[int]:
    """First lines of the chunks, and one past the last. A chunk ends at the last symbol start that fits, outer ones first."""
    starts = sorted({start for start, _ in symbols if 1 < start <= total})
    whole = dict(sorted(symbols))  # of two that start in one line the longer
    bounds = [1]
    while (begin := bounds[-1]) <= total:
        if total - begin < CHUNK_LINES:
            bounds.append(total + 1)
            continue
        own = whole.get(begin, 0)
        if CHUNK_LINES <= own - begin + 1 <= CHUNK_MAX_LINES:  # a symbol that fills a chunk by itself stays whole
            bounds.append(own + 1)
            continue
        fitting = _last_between(starts, begin + CHUNK_LINES // 2, begin + CHUNK_LINES)
        bounds.append(fitting or begin + CHUNK_LINES)
    return bounds


def _last_between(starts: list[int], low: int, high: int) -> int:
    at = bisect_right(starts, high) - 1
    return starts[at] if at >= 0 and starts[at] >= low else 0
