"""Our block in a text of instructions that people keep: between two marks, and nothing outside of them is ours. Pure."""

from hindbrain.domain.errors import InvalidState
from hindbrain.policy.hosts import BLOCK

__all__ = ["drop", "found", "put"]


def found(text: str) -> bool:
    """Whether a text has our block."""
    return BLOCK[0] in text or BLOCK[1] in text


def put(text: str, told: str, *, front: str = "", where: str) -> str:
    """The text with our block: in the place of an older one, else at the end."""
    line = "\r\n" if "\r\n" in text else "\n"
    block = f"{BLOCK[0]}\n{told}{BLOCK[1]}\n".replace("\n", line)
    if found(text):
        start, end = _span(text, where)
        return text[:start] + block.removesuffix(line) + text[end:]
    if not text.strip("\ufeff \t\r\n"):
        return text + front.replace("\n", line) + block
    return text + ("" if text.endswith("\n") else line) + line + block


def drop(text: str, *, where: str) -> str:
    """The text without our block and the empty line that was put before it."""
    if not found(text):
        return text
    start, end = _span(text, where)
    head, tail = text[:start], text[end:]
    for line in ("\r\n", "\n"):
        if tail.startswith(line):
            tail = tail.removeprefix(line)
            break
    for line in ("\r\n", "\n"):
        if head.strip() and head.endswith(line * 2):
            return head.removesuffix(line) + tail
    return head + tail


def _span(text: str, where: str) -> tuple[int, int]:
    start, end = text.find(BLOCK[0]), text.find(BLOCK[1])
    if not 0 <= start < end or text.count(BLOCK[0]) > 1 or text.count(BLOCK[1]) > 1:
        raise InvalidState(
            f"{where} has marks of a block that do not fit together", fix=f"put {BLOCK[0]} and {BLOCK[1]} right by hand first"
        )
    return start, end + len(BLOCK[1])
