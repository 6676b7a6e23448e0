"""The inventory: whether every piece of work has its contract, its plan and its tests. Pure; told what is on disk."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hindbrain.policy.inventory import ABILITIES, SECTIONS, SUBSTRATE

__all__ = ["problems", "referenced"]


def referenced(inventory: Mapping[str, Any]) -> set[str]:
    """Every path that an inventory names."""
    found: set[str] = set()
    for item in _items(inventory, "item") + _items(inventory, "later"):
        found |= {_file(item.get(key)) for key in ("contract", "plan")}
        found |= set(_listed(item.get("tests"))) | set(_listed(item.get("decisions")))
    for table in ("abilities", "substrate"):
        for paths in _table(inventory, table).values():
            found |= set(_listed(paths))
    return found - {""}


def problems(inventory: Mapping[str, Any], there: Collection[str], decisions: Collection[str]) -> list[str]:
    """What is missing, each with its item. `there`: which named paths exist. `decisions`: all that there are."""
    return [
        *_incomplete(inventory, there),
        *_unnamed(inventory, decisions),
        *_unshown(inventory, "abilities", ABILITIES, there),
        *_unshown(inventory, "substrate", SUBSTRATE, there),
    ]


def _incomplete(inventory: Mapping[str, Any], there: Collection[str]) -> Iterator[str]:
    seen: set[str] = set()
    items = _items(inventory, "item")
    if not items:
        yield "the inventory lists no item"
    for item in [*items, *_items(inventory, "later")]:
        name = str(item.get("id") or "an item without id")
        if name in seen:
            yield f"{name}: is listed twice"
        seen.add(name)
    for item in items:
        name = str(item.get("id") or "an item without id")
        for key in ("contract", "plan"):
            if _file(item.get(key)) not in there:
                yield f"{name}: has no {key} ({item.get(key) or 'none named'})"
        tests = _listed(item.get("tests"))
        if not tests:
            yield f"{name}: names no tests"
        yield from (f"{name}: its tests are gone ({path})" for path in tests if path not in there)
        yield from (f"{name}: {path} is gone" for path in _listed(item.get("decisions")) if path not in there)
        wanted = {section for tag in ("", *_listed(item.get("tags"))) for section in SECTIONS.get(tag, ())}
        yield from (f"{name}: lacks its section {section}" for section in sorted(wanted) if not _said(item.get(section)))
    for item in _items(inventory, "later"):
        if _file(item.get("plan")) not in there:
            yield f"{item.get('id') or 'an item without id'}: has no plan ({item.get('plan') or 'none named'})"


def _unnamed(inventory: Mapping[str, Any], decisions: Collection[str]) -> Iterator[str]:
    named = referenced(inventory)
    yield from (f"{path}: no item of the inventory names it" for path in sorted(decisions) if path not in named)


def _unshown(inventory: Mapping[str, Any], table: str, wanted: Collection[str], there: Collection[str]) -> Iterator[str]:
    found = _table(inventory, table)
    for name in wanted:
        paths = _listed(found.get(name))
        if not paths:
            yield f"{table}.{name}: no suite shows it"
        yield from (f"{table}.{name}: {path} is gone" for path in paths if path not in there)


def _items(inventory: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = inventory.get(key)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _table(inventory: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = inventory.get(key)
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _file(value: Any) -> str:
    """The file of a reference such as docs/plan.md#knowledge."""
    return value.partition("#")[0] if isinstance(value, str) else ""


def _said(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
