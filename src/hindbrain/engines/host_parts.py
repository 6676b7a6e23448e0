"""Host parts: what is ours in a file of a host, put in and taken out by the smallest edit. What a file says besides means the
same afterwards, or the edit is refused. Pure: texts in, texts out."""

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hindbrain.domain.errors import InvalidState
from hindbrain.engines import host_block, json_edit, toml_edit
from hindbrain.engines.json_edit import Step
from hindbrain.policy.hosts import SERVER

__all__ = ["BlockPart", "EntryPart", "HooksPart", "Part", "cleared", "filled", "listed", "parsed"]

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPart:
    """Our entry in a table of servers."""

    form: str
    key: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksPart:
    """Our hooks: the command of each event."""

    host: str
    commands: Mapping[str, str]
    timeout: int
    flat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPart:
    """Our block in a file of instructions."""

    text: str
    front: str = ""


Part = EntryPart | HooksPart | BlockPart


def parsed(form: str, text: str) -> dict[str, Any]:
    """What a configuration file says; ValueError when it cannot be read."""
    body = text.removeprefix(_BOM)
    found = tomllib.loads(body) if form == "toml" else json_edit.read(body)
    if not isinstance(found, dict):
        raise json_edit.BrokenJson("an object was expected")
    return found


def listed(servers: Any) -> str | None:
    """The name under which a table of servers has us: our own, else that of an entry that starts us."""
    if not isinstance(servers, dict):
        return None
    if isinstance(servers.get(SERVER), dict):
        return SERVER
    for name, entry in servers.items():
        if isinstance(entry, dict) and _base(str(entry.get("command", ""))) == SERVER:
            return str(name)
    return None


def filled(parts: Sequence[Part], text: str, *, where: str) -> str:
    """The text of a file with our parts in it."""
    for part in parts:
        text = _filled(part, text, where)
    return text


def cleared(parts: Sequence[Part], text: str, before: str | None, *, where: str) -> str | None:
    """The text without our parts; what stood in their place `before` stands there again. None: nothing is left, and there was
    nothing."""
    for part in reversed(parts):
        text = _cleared(part, text, before, where)
    if before is not None:
        return text
    fronts = {part.front.strip() for part in parts if isinstance(part, BlockPart)}
    bare = text.removeprefix(_BOM).strip()
    return None if bare in {"", "{}", *fronts} else text


def _filled(part: Part, text: str, where: str) -> str:
    if isinstance(part, BlockPart):
        return host_block.put(text, part.text, front=part.front, where=where)
    if isinstance(part, EntryPart):
        return _entered(part, text, where)
    document = _Document(text, where)
    if part.flat and "version" not in document.value:
        document.put(("version",), 1)
    for event, command in part.commands.items():
        places = _hook_places(document.value, part, event, where)
        for place in places:
            document.put((*place, "command"), command)
        if not places:
            hook: dict[str, Any] = {"command": command, "timeout": part.timeout}
            element = hook if part.flat else {"hooks": [{"type": "command", **hook}]}
            now = document.value.get("hooks", {}).get(event, [])
            document.put(("hooks", event, len(now)), element)
    return document.checked()


def _cleared(part: Part, text: str, before: str | None, where: str) -> str:
    if isinstance(part, BlockPart):
        return host_block.drop(text, where=where) if before is None or not host_block.found(before) else text
    old = _read("toml" if isinstance(part, EntryPart) and part.form == "toml" else "json", before or "", where)
    if isinstance(part, EntryPart):
        return _left(part, text, before or "", old, where)
    document, taken = _Document(text, where), False
    for event in list(_table(document.value, "hooks", where)):
        was = [_at(old, (*place, "command")) for place in _hook_places(old, part, event, where)]
        places = list(enumerate(_hook_places(document.value, part, event, where)))
        taken |= bool(places)
        for number, place in reversed(places):
            if number < len(was):
                document.put((*place, "command"), was[number])
                continue
            document.drop(place)
            if not part.flat and not _at(document.value, place[:-1]):
                document.drop(place[:-2])
        if places and not document.value["hooks"][event] and event not in _table(old, "hooks", where):
            document.drop(("hooks", event))
    if taken and document.value.get("hooks") == {} and "hooks" not in old:
        document.drop(("hooks",))
        if part.flat and set(document.value) == {"version"} and "version" not in old:
            document.drop(("version",))
    return document.checked()


def _hook_places(value: Mapping[str, Any], part: HooksPart, event: str, where: str) -> list[tuple[Step, ...]]:
    """Where our hooks of one event stand."""
    elements = _table(value, "hooks", where).get(event, [])
    if not isinstance(elements, list):
        raise _unfit(where, f"hooks.{event} is no list")
    found: list[tuple[Step, ...]] = []
    for number, element in enumerate(elements):
        inner = element.get("hooks") if isinstance(element, dict) else None
        if part.flat and _is_ours(element, part.host):
            found.append(("hooks", event, number))
        elif not part.flat and isinstance(inner, list):
            found += [("hooks", event, number, "hooks", at) for at, one in enumerate(inner) if _is_ours(one, part.host)]
    return found


def _is_ours(hook: Any, host: str) -> bool:
    try:
        words = shlex.split(str(hook.get("command", ""))) if isinstance(hook, dict) else []
    except ValueError:
        return False
    return any(_base(word) == SERVER for word in words[:3]) and "hook" in words and host in words


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _entered(part: EntryPart, text: str, where: str) -> str:
    value = _read(part.form, text, where)
    servers = _table(value, part.key, where)
    name = listed(servers) or SERVER
    made = _merged(servers.get(name), part.entry)
    if part.form == "json":
        document = _Document(text, where)
        if isinstance(servers.get(name), dict):
            for word in made:
                document.put((part.key, name, word), made[word])
        else:
            document.put((part.key, name), made)
        return document.checked()
    mark = _BOM if text.startswith(_BOM) else ""
    new = mark + toml_edit.put(text.removeprefix(_BOM), (part.key, name), made)
    return _same_toml(new, {**value, part.key: {**servers, name: made}}, where)


def _merged(old: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Our entry over one that is there: its other settings and variables stay, and so do more words after `mcp`."""
    kept = old if isinstance(old, dict) else {}
    variables = kept.get("env") if isinstance(kept.get("env"), dict) else {}
    words = kept.get("args")
    same = isinstance(words, list) and words[:1] == list(entry["args"])[:1]
    ours = {name: value for name, value in entry["env"].items() if name != "HINDBRAIN_HOME" or name not in (variables or {})}
    return {**kept, **entry, "args": words if same else entry["args"], "env": {**(variables or {}), **ours}}


def _left(part: EntryPart, text: str, before: str, old: Mapping[str, Any], where: str) -> str:
    """The file without our entry, or with the one that was there before us."""
    value = _read(part.form, text, where)
    servers = _table(value, part.key, where)
    name = listed(servers)
    if name is None:
        return text
    was = _table(old, part.key, where).get(name)
    if part.form == "json":
        document = _Document(text, where)
        if was is not None:
            document.put((part.key, name), was)
        else:
            document.drop((part.key, name))
            if not document.value[part.key] and part.key not in old:
                document.drop((part.key,))
        return document.checked()
    rest = {word: one for word, one in servers.items() if word != name} | ({name: was} if was is not None else {})
    wanted = {**value, part.key: rest} if rest else {word: one for word, one in value.items() if word != part.key}
    mark = _BOM if text.startswith(_BOM) else ""
    other = toml_edit.sections(before.removeprefix(_BOM), (part.key, name))
    return _same_toml(mark + toml_edit.swap(text.removeprefix(_BOM), (part.key, name), other), wanted, where)


def _same_toml(text: str, wanted: Mapping[str, Any], where: str) -> str:
    try:
        same = parsed("toml", text) == wanted
    except ValueError:
        same = False
    if not same:
        raise _by_hand(where)
    return text


class _Document:
    """A JSON text and what it says, edited side by side: at the end both must say the same."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        self._text = text
        self.value = _read("json", text, where)

    def put(self, path: Sequence[Step], value: Any) -> None:
        place: Any = self.value
        for step, following in pairwise(path):
            empty: Any = {} if isinstance(following, str) else []
            place = place[step] if isinstance(step, int) and step < len(place) else _made(place, step, empty)
        if isinstance(place, list) and path[-1] == len(place):
            place.append(None)
        if _held(place, path[-1]) and place[path[-1]] == value:
            return
        place[path[-1]] = value
        self._text = json_edit.put(self._text, path, value)

    def drop(self, path: Sequence[Step]) -> None:
        del _at(self.value, path[:-1])[path[-1]]
        self._text = json_edit.drop(self._text, path)

    def checked(self) -> str:
        if _read("json", self._text, self._where) != self.value:
            raise _by_hand(self._where)
        return self._text


def _held(place: Any, step: Step) -> bool:
    return step in place if isinstance(place, dict) else True


def _made(place: Any, step: Step, empty: Any) -> Any:
    if isinstance(place, list):
        place.append(empty)
        return empty
    return place.setdefault(step, empty)


def _at(value: Any, path: Sequence[Step]) -> Any:
    for step in path:
        value = value[step]
    return value


def _read(form: str, text: str, where: str) -> dict[str, Any]:
    try:
        return parsed(form, text)
    except (ValueError, RecursionError) as broken:
        raise InvalidState(f"{where} cannot be read: {broken}", fix="put the file right by hand first") from broken


def _table(value: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    found = value.get(key, {})
    if not isinstance(found, dict):
        raise _unfit(where, f"{key} is no table")
    return found


def _unfit(where: str, why: str) -> InvalidState:
    return InvalidState(f"{where} is not the file of a host: {why}", fix="put the file right by hand first")


def _by_hand(where: str) -> InvalidState:
    return InvalidState(f"{where} is written in a way that cannot be changed safely", fix="use hosts plan and edit it by hand")
