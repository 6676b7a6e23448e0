"""Arguments: words of a command line into the arguments of one operation, as its schema says. The only parser there is."""

from __future__ import annotations

import os
import sys

from hindbrain.surfaces.json_keys import RepeatedKey, loads

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["GLOBALS", "Usage", "json_value", "kind_of", "leading", "parse"]

_FILE_LIMIT = 32 << 20

# Flags that every command takes, and whether they take a value. An operation's own argument of the same name wins.
GLOBALS: dict[str, str] = {
    "home": "string",
    "root": "string",
    "agent": "string",
    "json": "boolean",
    "help": "boolean",
    "version": "boolean",
}


_PROGRAM: dict[str, Any] = {"name": "", "schema": {}, "positional": []}


class Usage(Exception):
    """The command line cannot be read as it stands."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


_DOCUMENT = ("", "{", "[", '"', "@", "-")  # how JSON, a file and standard input begin


def kind_of(schema: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """How a value of this schema is written on a command line, and the schema without its `or null`."""
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if options:
        lists = [one for one in options if one.get("type") == "array"]
        if len(options) > 1 and not lists:
            return ("string" if all(one.get("type") == "string" for one in options) else "any"), schema
        # A value or a list of values: on a command line both are a flag that may be repeated.
        return kind_of((lists or options)[0])
    if "enum" in schema:
        return "enum", schema
    found = schema.get("type", "any")
    if isinstance(found, list):
        found = next((one for one in found if one != "null"), "any")
    if found == "array":
        item = kind_of(schema.get("items") or {})[0]
        return ("list" if item in ("string", "integer", "number", "enum") else "documents"), schema
    return str(found), schema


def leading(words: list[str], given: dict[str, Any]) -> list[str]:
    """Read the flags before the command; the words from the command on."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position = _flag(_PROGRAM, {}, words, position + 1, {}, given)
    return words[position:]


def parse(command: Mapping[str, Any], words: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command. Flags for every command go into `given`."""
    properties: Mapping[str, Any] = command["schema"].get("properties", {})
    waiting = list(command["positional"])
    found: dict[str, Any] = {}
    position, plain = 0, False
    while position < len(words):
        word = words[position]
        position += 1
        if word == "--" and not plain:
            plain = True
        elif word.startswith("-") and word != "-" and not plain:
            position = _flag(command, properties, words, position, found, given)
        elif waiting:
            name = waiting[0]
            if plain and kind_of(properties[name])[0] == "list":
                found.setdefault(name, []).append(word)  # words of a command are taken as they are
            elif _put(found, name, properties[name], word):
                waiting.pop(0)
        else:
            raise Usage(f"{_title(command)} does not know what to do with {word!r}", _see(command))
    if not given.get("help"):
        _check_required(command, found)
        if found.get("path") == "-" and "text" in properties:
            # Read here, with the rights of whoever typed it: another process has another standard input.
            found["text"] = _standard_input()
            del found["path"]
    return found


def _standard_input() -> str:
    raw = sys.stdin.buffer.read(_FILE_LIMIT + 1)
    if len(raw) > _FILE_LIMIT:
        raise Usage(f"standard input has more than {_FILE_LIMIT} bytes", "write it into a file and name that")
    return raw.decode("utf-8", "replace")


def _flag(
    command: Mapping[str, Any],
    properties: Mapping[str, Any],
    words: list[str],
    position: int,
    found: dict[str, Any],
    given: dict[str, Any],
) -> int:
    """One flag and its value; the position after them."""
    flag, joined, value = words[position - 1].partition("=")
    name = {"-h": "help"}.get(flag, flag.lstrip("-").replace("-", "_"))
    negated = name.startswith("no_") and name not in properties
    target = name[3:] if negated else _argument(name, properties)
    schema = properties.get(target)
    kind = kind_of(schema)[0] if schema is not None else GLOBALS.get(target)
    if kind is None or (negated and kind != "boolean") or not (flag.startswith("--") or flag == "-h"):
        raise Usage(f"{_title(command)} has no flag {flag}", _nearest(flag, properties) or _see(command))
    store, known = (found, schema) if schema is not None else (given, {"type": kind})
    if kind == "boolean":
        before = store.get(target)
        _put(store, target, known, ("false" if negated else value if joined else "true"))
        if before not in (None, store[target]):
            spelled = target.replace("_", "-")
            raise Usage(f"--{spelled} and --no-{spelled} exclude each other", f"give one of them; {_see(command)}")
        return position
    if not joined:
        if position >= len(words):
            raise Usage(f"{flag} needs a value", f"write {flag} VALUE")
        value = words[position]
        position += 1
    _put(store, target, known, value)
    return position


def _argument(name: str, properties: Mapping[str, Any]) -> str:
    """Return the argument that a flag names. The flag of a list is repeated for each item, so its singular is accepted too."""
    if name in properties or name in GLOBALS:
        return name
    whole = name.removesuffix("_json")
    if whole in properties and kind_of(properties[whole])[0] == "object":
        return whole  # an object is written as JSON, and its flag may state that: --metadata-json
    plurals = (f"{name}s", f"{name.removesuffix('on')}a")  # refs, criteria
    return next((one for one in plurals if one in properties and kind_of(properties[one])[0] in ("list", "documents")), name)


def _put(store: dict[str, Any], name: str, schema: Mapping[str, Any], text: str) -> bool:
    """Add one value; True when the argument takes no more of them."""
    kind, schema = kind_of(schema)
    if kind in ("list", "documents"):
        store.setdefault(name, []).extend(_items(name, kind, schema, text))
        return False
    store[name] = _value(name, kind, schema, text)
    return True


def _items(name: str, kind: str, schema: Mapping[str, Any], text: str) -> list[Any]:
    if kind == "documents":
        options = (schema.get("items") or {}).get("anyOf", ())
        if text[:1] not in _DOCUMENT and any(one.get("type") == "string" for one in options):
            return [text]  # where a plain text would do, no quotes are needed around it
        document = json_value(name, text)
        return document if isinstance(document, list) else [document]
    if text.startswith("["):
        try:
            whole = loads(text)
        except ValueError:
            whole = None  # a text may begin with a bracket
        if isinstance(whole, list):
            return whole
    item_kind, item = kind_of(schema.get("items") or {})
    return [_value(name, item_kind, item, text)]


def _value(name: str, kind: str, schema: Mapping[str, Any], text: str) -> Any:
    flag = name.replace("_", "-")
    if kind == "string":
        return text
    if kind == "enum":
        return _choice(flag, schema["enum"], text)
    if kind == "boolean":
        if text not in ("true", "false"):
            raise Usage(f"--{flag} is true or false, not {text!r}", f"write --{flag} or --no-{flag}")
        return text == "true"
    if kind in ("integer", "number"):
        return _number(flag, kind, text)
    if kind == "any":
        try:
            return loads(text)
        except RepeatedKey as twice:
            raise Usage(f"--{flag} is ambiguous: {twice}", "name each key once") from twice
        except ValueError:
            return text
    return json_value(name, text)


def _choice(flag: str, choices: list[Any], text: str) -> Any:
    for choice in choices:
        if choice is not None and str(choice) == text:
            return choice
    shown = ", ".join(str(choice) for choice in choices if choice is not None)
    raise Usage(f"--{flag} cannot be {text!r}", f"give one of: {shown}")


def _number(flag: str, kind: str, text: str) -> int | float:
    try:
        value = int(text) if kind == "integer" else float(text)
    except ValueError:
        value = float("nan")
    # Neither infinity nor "not a number" can be written in JSON.
    if value != value or value in (float("inf"), float("-inf")):
        raise Usage(f"--{flag} takes {'an integer' if kind == 'integer' else 'a number'}, not {text!r}", f"write --{flag} 3")
    return value


def json_value(name: str, text: str) -> Any:
    """A JSON document: the text itself, @FILE, or - for standard input."""
    source, raw = f"the value of {name.replace('_', '-')}", text
    if text == "-":
        source, raw = "standard input", sys.stdin.buffer.read(_FILE_LIMIT).decode("utf-8", "replace")
    elif text.startswith("@"):
        source = text[1:]
        try:
            with open(os.path.expanduser(text[1:]), encoding="utf-8") as file:
                raw = file.read(_FILE_LIMIT)
        except (OSError, ValueError) as unreadable:
            raise Usage(f"{source} cannot be read: {unreadable}", "name a readable file after @") from unreadable
    try:
        return loads(raw)
    except (ValueError, RecursionError) as broken:
        raise Usage(f"{source} is not JSON: {broken}", "give JSON text, @FILE, or - for standard input") from broken


def _check_required(command: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    missing = [name for name in command["schema"].get("required", ()) if name not in found]
    if missing:
        named = ", ".join(_shown(command, name) for name in missing)
        raise Usage(f"{_title(command)} needs {named}", _see(command))


def _shown(command: Mapping[str, Any], name: str) -> str:
    return name.upper() if name in command["positional"] else f"--{name.replace('_', '-')}"


def _title(command: Mapping[str, Any]) -> str:
    return f"hindbrain {str(command['name']).replace('.', ' ')}".strip()


def _see(command: Mapping[str, Any]) -> str:
    return f"see {_title(command)} --help"


def _nearest(flag: str, properties: Mapping[str, Any]) -> str | None:
    from difflib import get_close_matches

    names = [f"--{name.replace('_', '-')}" for name in (*properties, *GLOBALS)]
    close = get_close_matches(flag, names, n=3)
    return f"did you mean {' or '.join(close)}?" if close else None
