"""Memories of other programs for tests: each in the form that its program writes."""

import json
import sqlite3
from pathlib import Path
from typing import Any

__all__ = ["M1nd", "claude_code_home", "claude_mem", "codex_home", "secret", "session_lines", "tree"]

_CLAUDE_MEM = Path(__file__).resolve().parents[1] / "moving" / "claude-mem-13.25.sql"


def secret() -> str:
    """Something that looks like the key of a cloud; in two halves, for this file is looked at as well."""
    return "AKIA" + "Z3XW7PLQ5N2MKD4R"


def tree(place: Path) -> dict[str, bytes]:
    """Every file below a place, to see that nothing there changed."""
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


def claude_mem(directory: Path, *, project: str = "app") -> Path:
    """The database that claude-mem 13.25.3 wrote, with `project` in place of its first project."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "claude-mem.db"
    script = _CLAUDE_MEM.read_text(encoding="utf-8").replace("SECRET", secret()).replace("'app'", f"'{project}'")
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return path


class M1nd:
    """A home of m1nd with one runtime."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.runtime = base / "runtimes" / "default"
        self.runtime.mkdir(parents=True)

    def brain(self, root: str, fp: str) -> Path:
        directory = self.runtime / "project-brains" / fp
        directory.mkdir(parents=True)
        manifest = {"schema": "m1nd-project-brain-v0", "project_root": root, "fingerprint": fp, "node_count": 0}
        (directory / "project_brain.json").write_text(json.dumps(manifest))
        return directory

    @staticmethod
    def claim(
        store: Path, slug: str, text: str, *, created: int = 1_700_000_000_000, state: str = "authored", more: str = ""
    ) -> Path:
        path = store / "agent-memory" / f"{slug}.light.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = (f"Node: {slug.replace('-', ' ')}", f"State: {state}", f"Created: {created}", "Source-Agent: claude:old")
        body = f"\n## {slug}\n\n{text}\n\n[⍂ entity: {slug}]\n[𝔻 confidence: 0.8]\n"
        told = "\n".join(("---", "Protocol: L1GHT/1.0", *head)) + f"\n{more}---\n{body}"
        path.write_text(told, encoding="utf-8")
        return path

    @staticmethod
    def boot(store: Path, **values: Any) -> None:
        entries = {
            key: {
                "key": key,
                "value": value,
                "tags": ["t"],
                "source_refs": [],
                "updated_at_ms": 1_700_000_000_000,
                "updated_by_agent": "claude:old",
            }
            for key, value in values.items()
        }
        (store / "boot_memory_state.json").write_text(json.dumps({"entries": entries}))

    def letters(self, *lines: bytes) -> Path:
        path = self.base / "field-reports.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path


def session_lines(host: str, cwd: str | None, *said: str) -> str:
    """A transcript of a session, as Claude Code or Codex writes it."""
    if host == "codex":
        meta = {"id": "s1", "originator": "codex_cli_rs"} | ({"cwd": cwd} if cwd else {})
        rows: list[dict[str, Any]] = [{"timestamp": "2026-03-01T10:00:00.000Z", "type": "session_meta", "payload": meta}]
        rows += [
            {
                "timestamp": "2026-03-01T10:00:01.000Z",
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "user" if at % 2 == 0 else "assistant",
                    "content": [{"type": "input_text" if at % 2 == 0 else "output_text", "text": text}],
                },
            }
            for at, text in enumerate(said)
        ]
    else:
        rows = [{"type": "file-history-snapshot", "messageId": "m"}]
        rows += [
            {
                "type": "user" if at % 2 == 0 else "assistant",
                "uuid": f"u{at}",
                "sessionId": "s1",
                "timestamp": "2026-03-01T10:00:00.000Z",
                "message": {"role": "user" if at % 2 == 0 else "assistant", "content": text},
            }
            | ({"cwd": cwd} if cwd else {})
            for at, text in enumerate(said)
        ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def claude_code_home(base: Path, **projects: Any) -> Path:
    """`~/.claude` with a directory for each project: name -> {file: text}."""
    for name, files in projects.items():
        for file, text in files.items():
            path = base / "projects" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return base


def codex_home(base: Path, **sessions: str) -> Path:
    """`~/.codex` with some sessions of one day."""
    day = base / "sessions" / "2026" / "03" / "01"
    day.mkdir(parents=True)
    for name, text in sessions.items():
        (day / f"rollout-2026-03-01T10-00-00-{name}.jsonl").write_text(text, encoding="utf-8")
    return base
