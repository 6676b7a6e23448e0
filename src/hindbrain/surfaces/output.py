"""Output: an answer as JSON or as text, its errors on stderr, and its exit code."""

from __future__ import annotations

import json
import os
import sys

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["exit_code", "json_line", "present", "tell", "wants_json", "write"]

# Characters that JSON may hold as they are, but that steer a terminal or are no characters at all.
_ESCAPED = ((0x7F, 0x9F), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069), (0xD800, 0xDFFF))


def wants_json(given: Mapping[str, Any]) -> bool:
    """JSON when asked for, and in a pipe unless text was asked for."""
    asked = given.get("json")
    return bool(asked) if asked is not None else not os.isatty(1)


def json_line(value: Any, *, indent: int | None = None) -> str:
    """JSON text that no terminal obeys."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    if text.isascii() and "\x7f" not in text:
        return text
    table = {code: f"\\u{code:04x}" for first, last in _ESCAPED for code in range(first, last + 1)}
    return text.translate(table)


def write(text: str) -> None:
    """Write one text to stdout as UTF-8, whatever the locale says."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def tell(text: str) -> None:
    """Write one text to stderr."""
    sys.stderr.flush()
    sys.stderr.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stderr.buffer.flush()


def present(answer: Mapping[str, Any], given: Mapping[str, Any]) -> int:
    """Show an answer and return the exit code that goes with it."""
    failed = _failed(answer)
    if wants_json(given):
        write(json_line(answer, indent=2 if os.isatty(1) else None))
    if isinstance(hint := answer.get("hint"), str):
        from hindbrain.surfaces.render import clean

        tell(f"hint: {clean(hint)}")
    if failed or not wants_json(given):
        from hindbrain.surfaces import render

        if failed:
            tell(render.failure(answer, colour=render.colourful(2)))
        if not wants_json(given) and (shown := render.text(answer, colour=render.colourful(1), failed=failed)):
            write(shown)
    return exit_code(answer)


def _failed(answer: Mapping[str, Any]) -> bool:
    """Whether a call failed. A report that something is wrong, such as a doctor's, is an answer like any other."""
    return answer.get("ok") is False and "exit_code" not in answer


def exit_code(answer: Mapping[str, Any]) -> int:
    """0 when done, 1 when refused or not found, 2 when the call itself was wrong (GR-180); 3 only where that was asked for."""
    if not _failed(answer):
        # An answer may have a verdict of its own: a doctor has (MED-306), and a report that somebody wants to fail on (MIND-015).
        verdict = answer.get("exit_code")
        return verdict if isinstance(verdict, int) and 0 <= verdict <= 3 else 0
    from hindbrain.domain.errors import ERRORS, HindbrainError

    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else answer.get("refused")
    return ERRORS.get(str(code), HindbrainError).exit_code
