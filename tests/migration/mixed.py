"""A mixed medulla: project facts, doctrine and claims that say nothing of where they belong, as files of an older runtime."""

import json
from pathlib import Path
from typing import Any

from tests.support.world import START_MS, World

__all__ = ["FACT", "LAW", "NOTE", "applied", "claim_file", "mixed", "plan", "rows_of", "table"]

FACT, LAW, NOTE = "project", "stay", "ambiguous"

_SAYS = {
    FACT: "The importer number {n} was fixed to skip empty lines.",
    LAW: "Doctrine number {n}: write down why.",
    NOTE: "Number {n} is green on Tuesdays.",
}


def claim_file(label: str, text: str, *, evidence: str = "", created: int | None = START_MS, more: str = "") -> str:
    born = f"Created: {created}\n" if created is not None else ""
    marker = f"[𝔻 evidence: {evidence}]\n" if evidence else ""
    head = f"---\nProtocol: L1GHT/1.0\nNode: {label}\nState: authored\n{born}Source-Agent: codex:maker\n{more}---\n"
    return f"{head}\n# {label}\n\n## {label}\n\n{text}\n\n[⍂ entity: {label}]\n{marker}"


def put(world: World, slug: str, text: str) -> Path:
    path = world.file(None, slug)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def mixed(world: World, *, facts: int = 2, laws: int = 2, notes: int = 1, born_here: int = 0) -> str:
    """A project x and a medulla with so many claims of each class; `born_here` laws already name their origin."""
    x = world.brain("x", src__importer_py="pass\n")
    for kind, count in ((FACT, facts), (LAW, laws), (NOTE, notes)):
        for number in range(count):
            label = f"{kind.capitalize()} {number}"
            evidence = "src/importer.py" if kind == FACT else ""
            more = "Origin-Brain: medulla\n" if kind == LAW and number < born_here else ""
            put(world, f"{kind}-{number}", claim_file(label, _SAYS[kind].format(n=number), evidence=evidence, more=more))
    return x


def plan(world: World) -> dict[str, Any]:
    answer = world.human(None).call("migrate.plan")
    assert answer["ok"], answer
    return answer


def rows_of(world: World) -> dict[str, dict[str, Any]]:
    return {row["slug"]: row for row in plan(world)["rows"]}


def table(world: World, name: str = "table.jsonl", *, without: tuple[str, ...] = (), **changed: dict[str, Any]) -> str:
    """The proposed table as a person edits it: some rows changed (slug with underscores), some left out."""
    path = world.place / name
    path.unlink(missing_ok=True)
    answer = world.human(None).call("migrate.plan", target=str(path))
    assert answer["ok"], answer
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            if row["slug"] in without:
                continue
            line = json.dumps({**row, **changed.get(row["slug"].replace("-", "_"), {})})
        lines.append(line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def applied(world: World, path: str | None = None) -> dict[str, Any]:
    answer = world.human(None).call("migrate.apply", table=path or table(world))
    assert answer["ok"], answer
    return answer
