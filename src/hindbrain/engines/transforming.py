"""Transforming: what a step of a plan makes of the texts that earlier steps gave. Pure; tools are called elsewhere.

A step's input may have, next to the plain fields of its tool, one field that is computed and something to do with what comes out:

    {"path": "out.txt", "content_from": "previous", "transform": "sort_lines", "args": {"reverse": true}}
    {"path": "notes.txt", "then": "count_lines"}

`<field>_from` is `previous`, `all` or the number of an earlier step, from 1. An argument `{"step": 2}` is the output of step 2.
"""

import csv
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from hindbrain.policy.transforms import TRANSFORMS

__all__ = ["BadTransform", "afterwards", "apply", "prepared"]

_FROM = "_from"
_OWN = frozenset({"transform", "args", "then", "then_args"})


class BadTransform(ValueError):
    """A step asks for what cannot be done to this text."""


def prepared(given: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, Any]:
    """The input a tool gets: plain fields as they are, the computed one made from what earlier steps gave."""
    plain = {key: value for key, value in given.items() if key not in _OWN and not key.endswith(_FROM)}
    for key, source in given.items():
        if key.endswith(_FROM):
            text = _output(source, outputs)
            plain[key.removesuffix(_FROM)] = apply(given.get("transform", "same"), text, _args(given.get("args"), outputs))
    return plain


def afterwards(given: Mapping[str, Any], text: str, outputs: Sequence[str]) -> str:
    """What a step gives: the output of its tool, or what `then` makes of it."""
    return apply(given["then"], text, _args(given.get("then_args"), outputs)) if "then" in given else text


def apply(name: str, text: str, args: Mapping[str, Any] | None = None) -> str:
    """Do one thing to a text. Raises BadTransform."""
    known, args = TRANSFORMS.get(name), dict(args or {})
    if known is None:
        raise BadTransform(f"there is no transform {name!r}; there are: {', '.join(TRANSFORMS)}")
    missing = [key for key in known.needs if key not in args]
    unknown = [key for key in args if key not in known.needs + known.may]
    if missing or unknown:
        raise BadTransform(f"{name} takes {', '.join(known.needs + known.may) or 'no arguments'}")
    return _DOING[name](text, args)


def _output(source: Any, outputs: Sequence[str]) -> str:
    if source == "previous" and outputs:
        return outputs[-1]
    if source == "all" and outputs:
        return "".join(text if text.endswith("\n") or last else text + "\n" for text, last in _marked(outputs))
    if isinstance(source, int) and not isinstance(source, bool) and 1 <= source <= len(outputs):
        return outputs[source - 1]
    raise BadTransform(f"no earlier step gave {source!r}")


def _marked(outputs: Sequence[str]) -> list[tuple[str, bool]]:
    return [(text, number == len(outputs)) for number, text in enumerate(outputs, 1)]


def _args(args: Any, outputs: Sequence[str]) -> dict[str, Any]:
    if not isinstance(args or {}, dict):
        raise BadTransform("the arguments of a transform are an object")
    resolved = {}
    for key, value in (args or {}).items():
        resolved[key] = _output(value["step"], outputs) if isinstance(value, dict) and "step" in value else value
    return resolved


def _lines(text: str, made: Callable[[list[str]], Sequence[str]]) -> str:
    """Work on lines; a text that ended with a line break still does."""
    kept = "\n".join(made(_split(text)))
    return kept + "\n" if kept and text.endswith("\n") else kept


def _split(text: str) -> list[str]:
    """Lines as files have them. Other marks that a script may break lines at are part of their line."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _sorted(text: str, args: Mapping[str, Any]) -> str:
    key: Callable[[str], Any] = _number_first if args.get("numeric") else str
    return _lines(text, lambda lines: sorted(lines, key=key, reverse=bool(args.get("reverse"))))


def _number_first(line: str) -> tuple[bool, float, str]:
    number = re.match(r"\s*(-?\d+(?:\.\d+)?)", line)
    return (number is None, float(number[1]) if number else 0.0, line)


def _csv_to_json(text: str, _: Mapping[str, Any]) -> str:
    try:
        rows = [row for row in csv.reader((f"{line}\n" for line in _split(text)), strict=True) if row]
    except csv.Error as broken:
        raise BadTransform(f"this is no table: {broken}") from broken
    if not rows:
        raise BadTransform("the table has no head line")
    head, body = rows[0], rows[1:]
    if len(set(head)) != len(head):
        raise BadTransform("two columns of the table have one name")
    odd = next((number for number, row in enumerate(body, 2) if len(row) != len(head)), None)
    if odd is not None:
        raise BadTransform(f"row {odd} of the table has not as many fields as its head line")
    return json.dumps([dict(zip(head, row, strict=True)) for row in body], ensure_ascii=False, indent=2) + "\n"


class _Page:
    """Where the writer of tables writes."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)


def _json_to_csv(text: str, _: Mapping[str, Any]) -> str:
    try:
        rows = json.loads(text)
    except ValueError as broken:
        raise BadTransform(f"this is no JSON: {broken}") from broken
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise BadTransform("only a list of objects becomes a table")
    head = list(dict.fromkeys(key for row in rows for key in row))
    page = _Page()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerows([head, *([_cell(row.get(key)) for key in head] for row in rows)])
    return page.text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _closest(text: str, args: Mapping[str, Any]) -> str:
    lines = [line.strip() for line in _split(text) if line.strip()]
    if not lines:
        raise BadTransform(f"nothing is like {args['name']}")
    wanted = str(args["name"]).rsplit("/", 1)[-1].lower()
    # The best name; between equals the one that lies least deep, then the first in order.
    return max(
        sorted(lines), key=lambda line: (SequenceMatcher(None, wanted, line.rsplit("/", 1)[-1].lower()).ratio(), -line.count("/"))
    )


def _first(text: str, _: Mapping[str, Any]) -> str:
    found = next((line.strip() for line in _split(text) if line.strip()), None)
    if found is None:
        raise BadTransform("the text has no line to take")
    return found


def _holding(text: str, args: Mapping[str, Any]) -> list[str]:
    return [line for line in _split(text) if str(args["text"]) in line]


def _occurrences(text: str, args: Mapping[str, Any]) -> str:
    if not str(args["text"]):
        raise BadTransform("an empty text occurs everywhere")
    return str(text.count(str(args["text"])))


def _replaced(text: str, args: Mapping[str, Any]) -> str:
    if not str(args["old"]):
        raise BadTransform("an empty text cannot be replaced")
    return text.replace(str(args["old"]), str(args["new"]))


_DOING: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {
    "same": lambda text, _: text,
    "upper": lambda text, _: text.upper(),
    "lower": lambda text, _: text.lower(),
    "sort_lines": _sorted,
    "dedupe_lines": lambda text, _: _lines(text, lambda lines: list(dict.fromkeys(lines))),
    "reverse_lines": lambda text, _: _lines(text, lambda lines: lines[::-1]),
    "strip_blank_lines": lambda text, _: _lines(text, lambda lines: [line for line in lines if line.strip()]),
    "number_lines": lambda text, _: _lines(text, lambda lines: [f"{number}: {line}" for number, line in enumerate(lines, 1)]),
    "replace": _replaced,
    "csv_to_json": _csv_to_json,
    "json_to_csv": _json_to_csv,
    "count_lines": lambda text, _: str(len(_split(text))),
    "count_words": lambda text, _: str(len(text.split())),
    "count_characters": lambda text, _: str(len(text)),
    "count_matches": _occurrences,
    "count_matching_lines": lambda text, args: str(len(_holding(text, args))),
    "matching_lines": lambda text, args: _lines(text, lambda _: _holding(text, args)),
    "first_line": _first,
    "closest_line": _closest,
    "sha256": lambda text, _: hashlib.sha256(text.encode()).hexdigest(),
    "equals": lambda text, args: "equal" if text.rstrip("\n") == str(args["text"]).rstrip("\n") else "different",
    "contains": lambda text, args: "found" if str(args["text"]) in text else "missing",
}
