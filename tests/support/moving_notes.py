"""What note keepers and knowledge graphs leave behind, for tests: the files that the programs wrote, see tests/moving/data."""

import shutil
import sqlite3
from pathlib import Path

__all__ = ["basic_memory", "graph_memory", "mem0_export", "mem0_history", "mempalace"]

_DATA = Path(__file__).resolve().parents[1] / "moving" / "data"


def basic_memory(directory: Path) -> Path:
    """The directory of a project of basic-memory."""
    return Path(shutil.copytree(_DATA / "basic-memory", directory))


def graph_memory(directory: Path) -> Path:
    """The file of the MCP reference memory server."""
    directory.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(_DATA / "mcp-memory" / "memory.jsonl", directory))


def mem0_export(directory: Path) -> Path:
    """What mem0 answered when it was asked for everything of one user."""
    directory.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(_DATA / "mem0" / "export.json", directory))


def mem0_history(directory: Path) -> Path:
    """The history that mem0 kept of the same memories, and of those of another user."""
    return _database(directory / "history.db", "mem0/history.sql")


def mempalace(home: Path) -> tuple[Path, Path]:
    """The palace and the facts of MemPalace, each where a new installation keeps it in a home."""
    palace = _database(home / ".config" / "mempalace" / "palace" / "chroma.sqlite3", "mempalace/palace.sql")
    return palace, _database(home / ".mempalace" / "knowledge_graph.sqlite3", "mempalace/facts.sql")


def _database(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.executescript((_DATA / script).read_text(encoding="utf-8"))
    connection.close()
    return path
