"""Hook texts: a text within a host's limit. The end is cut first, and never inside of an open fence: what follows must not be
taken for memory. Loaded by the thin client, so it imports nothing."""

__all__ = ["bounded", "size"]

_CUT = "\n[cut: `hindbrain north` shows the rest]"
_FENCE_MOST = 120  # a fence that is longer does not end within what is left: it goes as a whole
_LEFT = len(_CUT) + _FENCE_MOST + 2
_WIDTH = {"utf-8": 1, "utf-16-le": 2}


def size(text: str, unit: str) -> int:
    """How long a text is to a host that counts in these units."""
    return len(text.encode(unit, "surrogatepass")) // _WIDTH[unit]


def bounded(text: str, limit: int, unit: str = "utf-16-le") -> str:
    """As much of a text as a host takes, by whole lines where there are any."""
    if size(text, unit) <= limit:
        return text
    head = text.encode(unit, "surrogatepass")[: max(0, limit - _LEFT) * _WIDTH[unit]].decode(unit, "ignore")
    kept: list[str] = []
    fence, begun = "", 0
    for line in head.split("\n")[:-1] or [head]:
        if fence and line == fence:
            fence = ""
        elif not fence and line.startswith("```"):
            fence, begun = line[: len(line) - len(line.lstrip("`"))], len(kept)
        kept.append(line)
    if len(fence) > _FENCE_MOST:
        kept, fence = kept[:begun], ""
    return "\n".join([*kept, *([fence] if fence else [])]) + _CUT
