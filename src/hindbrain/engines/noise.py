"""Noise: what an agent host writes into its log beside what was said. Code fences and the rest stay byte for byte."""

import re

from hindbrain.policy.evidence import HOST_TEXT, NOISE, NOISE_MAX

__all__ = ["stripped"]

_FENCED = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)", re.S | re.M)


def stripped(text: str) -> tuple[str, int]:
    """The text without the noise outside its fences, and how many bytes that was."""
    if len(text) > NOISE_MAX or not any(mark in text for mark in ("<", "toolu_", "Base directory", "ession ")):
        return text, 0
    said = HOST_TEXT.sub("", text)
    parts, at = [], 0
    for fence in _FENCED.finditer(said):
        parts += [_plain(said[at : fence.start()]), fence[0]]
        at = fence.end()
    parts.append(_plain(said[at:]))
    kept = "".join(parts)
    return kept, len(text.encode("utf-8", "replace")) - len(kept.encode("utf-8", "replace"))


def _plain(text: str) -> str:
    for pattern in NOISE:
        text = pattern.sub("", text)
    return text
