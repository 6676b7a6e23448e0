"""What the conformance tests share: every background pass at once, every byte that is kept, archives made by hand."""

import io
import tarfile
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from hindbrain.domain.claim import parse
from hindbrain.services.gateway import claim_terms
from hindbrain.stores.port import Version
from tests.support.honesty import rows_of
from tests.support.world import World

__all__ = ["archive", "background", "found", "places_with", "texts"]

CHIEF = "claude:orchestrator"


def _terms(version: Version) -> list[str]:
    return claim_terms(parse(version.text, fallback_label=version.slug))


def background(world: World) -> None:
    """Everything that happens beside the calls: housekeeping, reconciliation, consolidation, a new index, a restart."""
    house = world.app.house
    brains = [*house.brains.all(), *([house.home.medulla()] if house.brains.has_medulla() else [])]
    for brain in brains:
        with house.brains.use(brain) as opened:
            opened.store.rebuild_index(_terms)
    house.tick()
    for brain in brains:
        world.at(brain.root, CHIEF).call("consolidate", apply=True)
    world.restart()
    world.app.house.tick()


def texts(answer: dict[str, Any]) -> list[str]:
    """What the memory rows of an answer say."""
    return [str(row["text"]) for row in rows_of(answer) if "text" in row]


def found(world: World, root: str | None, words: str, **more: Any) -> list[str]:
    """What a caller of a brain is told about some words, on every reading surface at once."""
    reader = world.at(root)
    answers = [
        reader.north(words, **more),
        reader.seek(words, **more),
        reader.seek(words, scope="light::", **more),
        reader.call("recall", query=words, **more),
    ]
    return sorted({text for answer in answers for text in texts(answer)})


def places_with(world: World, needle: str) -> list[str]:
    """Every file of the world and every table of its database whose bytes hold some text."""
    raw = needle.encode()
    places = [str(path.relative_to(world.place)) for path in world.place.rglob("*") if needle in path.name]
    places += [
        str(path.relative_to(world.place)) for path in world.place.rglob("*") if path.is_file() and raw in path.read_bytes()
    ]
    if url := str(world._settings.get("store_url", "")):
        places += _tables_with(url, needle)
    return sorted(set(places))


def _tables_with(url: str, needle: str) -> list[str]:
    held = []
    with psycopg.connect(url) as connection:
        named = "select table_name from information_schema.tables where table_schema = any(current_schemas(false))"
        for (table,) in connection.execute(named).fetchall():
            query = sql.SQL("select count(*) from {} as t where t::text like %s").format(sql.Identifier(table))
            if connection.execute(query, (f"%{needle}%",)).fetchone() != (0,):
                held.append(f"table {table}")
    return held


def archive(path: Path, **members: str) -> str:
    """An export made by hand; `claim__x` stands for agent-memory/x.light.md."""
    with tarfile.open(path, "w:gz") as packed:
        for name, text in members.items():
            full = f"agent-memory/{name.removeprefix('claim__')}.light.md" if name.startswith("claim__") else f"{name}.json"
            data, member = text.encode(), tarfile.TarInfo(full.replace("_", "-") if name.startswith("claim__") else full)
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return str(path)
