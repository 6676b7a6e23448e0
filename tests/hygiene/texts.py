"""The hygiene corpus, put together at run time: no line of this repository is a secret, not even a made-up one."""

import json
import random
import string
from pathlib import Path

__all__ = ["CLASSES", "lines", "secret"]

_LETTERS = string.ascii_lowercase
_KINDS = {
    "alnum": string.ascii_letters + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "b64": string.ascii_letters + string.digits,
    "digits": string.digits,
    "hex": "0123456789abcdef",
}
_CORPUS: dict[str, dict[str, list[list[str]]]] = json.loads((Path(__file__).parent / "corpus.json").read_text(encoding="utf-8"))
CLASSES = tuple(_CORPUS)


def _body(kind: str, size: int) -> str:
    """Characters of a kind, the same in every run; `lower` is plain enough to be a word, the others look random."""
    if kind == "lower":
        return (_LETTERS * 4)[:size]
    dice = random.Random(f"{kind}{size}")
    body = dice.sample(_KINDS[kind] * 2, size) if size <= 2 * len(_KINDS[kind]) else dice.choices(_KINDS[kind], k=size)
    if kind in ("alnum", "b64"):
        body[:3] = ["a", "B", "7"]  # every such body has all three kinds of character
    return "".join(body)


def _line(parts: list[str]) -> str:
    built = []
    for part in parts:
        kind, _, size = part.removeprefix("@").partition(":")
        built.append(_body(kind, int(size)) if part.startswith("@") and kind in ("lower", *_KINDS) else part)
    return "".join(built)


def lines(pattern_class: str, kind: str) -> list[str]:
    """All `refused` or `passes` lines of a class."""
    return [_line(parts) for parts in _CORPUS[pattern_class][kind]]


def secret(pattern_class: str = "github_token") -> str:
    """One text that the class must catch."""
    return lines(pattern_class, "refused")[0]
