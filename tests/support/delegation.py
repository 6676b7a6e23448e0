"""A place where work is handed over: a repository with a retry path, and its mother."""

import json
from typing import Any

from hindbrain.domain.brain import fingerprint
from tests.support.world import Actor, World, git

__all__ = ["CHILD", "MOTHER", "TASK", "cherry", "outcomes", "record", "records"]

MOTHER, CHILD = "claude:orchestrator", "codex:maker-2"
TASK = "fix the retry path"

FILES = {
    "src__worker__retry_py": "def retry_with_jitter(times):\n    return times\n",
    "src__worker__main_py": "from worker.retry import retry_with_jitter\n\n\ndef run():\n    return retry_with_jitter(3)\n",
    "src__ship_py": "def harbour():\n    return 1\n",
    "tests__test_retry_py": "from worker.retry import retry_with_jitter\n\n\ndef test_once():\n    retry_with_jitter(1)\n",
}


def cherry(world: World, name: str = "cherry", *, commit: bool = False) -> tuple[str, Actor]:
    """A repository with code and its brain, and the agent that hands out work in it."""
    root = world.repository(name, **FILES)
    if commit:
        git(root, "add", "-A")
        git(root, "commit", "-qm", "first")
    assert world.at(root).call("ingest", path=root, project_root=root)["ok"]
    return root, world.at(root, MOTHER)


def records(world: World, root: str) -> list[str]:
    """The ids of the packets that a brain has a record of."""
    place = world.home.brains_dir / fingerprint(root) / "delegations"
    return sorted(path.stem for path in place.glob("dlg_*.json"))


def record(world: World, root: str, delegation_id: str) -> dict[str, Any]:
    place = world.home.brains_dir / fingerprint(root) / "delegations"
    found: dict[str, Any] = json.loads((place / f"{delegation_id}.json").read_text(encoding="utf-8"))
    return found


def outcomes(world: World, root: str) -> list[dict[str, Any]]:
    """The rows of the outcome ledger."""
    path = world.home.brains_dir / fingerprint(root) / "delegations" / "outcomes.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
