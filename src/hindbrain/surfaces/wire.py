"""The wire: bytes to arguments and answers to bytes. Strict on the way in; knows no operation and no route."""

import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from hindbrain.domain.caller import is_root
from hindbrain.domain.errors import ERRORS, HindbrainError, InvalidParams, PathRefused
from hindbrain.surfaces.json_keys import RepeatedKey, distinct

__all__ = ["BODY_LIMIT", "checked_root", "decode_object", "decode_word", "encode", "session_word", "status_of"]

BODY_LIMIT = 1 << 20  # one MiB: the largest claim with its citations fits many times over
_DEPTH_LIMIT = 64  # no operation nests deeper than ten; the rest is room for imported documents
_INT_RANGE = range(-(2**63), 2**64)  # what every JSON reader and both databases can hold
_SESSION = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_WORD_LIMIT = 256
_PLAIN_JSON = "send one JSON object in UTF-8 with distinct keys"


def decode_object(raw: bytes) -> dict[str, Any]:
    """One JSON object, or InvalidParams. Two readers of the same bytes must never see two different calls."""
    try:
        found = json.loads(
            raw.decode("utf-8"), object_pairs_hook=distinct, parse_int=_int, parse_float=_float, parse_constant=_constant
        )
    except UnicodeDecodeError as broken:
        raise InvalidParams(f"the body is not UTF-8 (byte {broken.start})", fix=_PLAIN_JSON) from broken
    except RecursionError as deep:
        raise _too_deep() from deep
    except RepeatedKey as twice:
        raise InvalidParams(f"the body is ambiguous: {twice}", fix=_PLAIN_JSON) from twice
    except json.JSONDecodeError as broken:
        raise InvalidParams(f"the body is not JSON: {broken.msg} (character {broken.pos})", fix=_PLAIN_JSON) from broken
    if not isinstance(found, dict):
        raise InvalidParams(f"the body is a JSON {type(found).__name__}, not an object", fix=_PLAIN_JSON)
    _check_tree(found)
    return found


def _int(digits: str) -> int:
    # The length is looked at first: turning a million digits into a number is itself an attack.
    if len(digits) > 20 or int(digits) not in _INT_RANGE:
        raise InvalidParams("the body holds an integer of more than 64 bits", fix="send large numbers as strings")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidParams("the body holds a number that no float can hold", fix="send finite numbers only")
    return value


def _constant(name: str) -> None:
    raise InvalidParams(f"{name} is not JSON", fix="send finite numbers only")


def _check_tree(found: dict[str, Any]) -> None:
    """Refuse what a database, a file name or a terminal would choke on later."""
    level: list[Any] = [found]
    for _ in range(_DEPTH_LIMIT):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                for key in value:
                    _check_text(key)
                below += value.values()
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str):
                _check_text(value)
        if not below:
            return
        level = below
    raise _too_deep()


def _too_deep() -> InvalidParams:
    return InvalidParams(f"the body nests deeper than {_DEPTH_LIMIT} levels", fix="send a flatter document")


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise InvalidParams("a text in the body holds a NUL character", fix="remove the NUL character")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidParams("a text in the body holds a lone surrogate", fix="send well-formed Unicode")


def decode_word(raw: bytes, name: str) -> str:
    """A header's text: UTF-8, percent-encoded where it is not ASCII, short and without control characters."""
    try:
        text = unquote(raw.decode("utf-8"), errors="strict")
    except UnicodeDecodeError as broken:
        raise InvalidParams(f"{name} is not UTF-8", fix=f"percent-encode {name} as UTF-8") from broken
    if not text.strip() or len(text) > _WORD_LIMIT or not text.isprintable():
        raise InvalidParams(f"{name} is empty, too long or holds control characters", fix=f"send {name} as one short line")
    return text


def session_word(raw: bytes) -> str:
    text = raw.decode("latin-1")
    if not _SESSION.fullmatch(text):
        raise InvalidParams(
            "Hindbrain-Session is not a session id", fix="use letters, digits, '.', '_', ':' and '-', at most 128; or send none"
        )
    return text


def checked_root(raw: bytes | str) -> str:
    """A caller root as it was sent: absolute, without NUL and without steps upwards. Nothing is read from disk."""
    fix = "send the absolute path of the project directory, percent-encoded as UTF-8"
    try:
        text = unquote(raw.decode("utf-8"), errors="strict") if isinstance(raw, bytes) else raw
        os.fsencode(text)
    except (UnicodeDecodeError, UnicodeEncodeError) as broken:
        raise PathRefused("the caller root is not UTF-8", fix=fix) from broken
    if not is_root(text):
        raise PathRefused("the caller root is not an absolute path without '..' and NUL", fix=fix)
    return text


def encode(answer: Mapping[str, Any]) -> bytes:
    """The bytes of an answer. Undecodable directory names (lone surrogates) travel as JSON escapes."""
    try:
        return msgspec.json.encode(answer)
    except UnicodeEncodeError:
        return json.dumps(answer).encode("ascii")


def status_of(answer: Mapping[str, Any]) -> int:
    """The HTTP status of an answer: a flat refusal is an ordinary answer, an error has the status of its code."""
    error = answer.get("error")
    if answer.get("ok") is not False or "refused" in answer or not isinstance(error, dict):
        return 200
    return ERRORS.get(str(error.get("code")), HindbrainError).http_status
