"""The guard on real processes: an owner that is old, an owner that is dead, and clients of MCP that offer roots and move them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

import hindbrain
from tests.mcp.hosts import connected, mcp_is_up
from tests.support.owner import LIMIT_S, RunningOwner
from tests.support.world import git

PROGRAM = (sys.executable, "-m", "hindbrain")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def repository(place: Path, name: str) -> Path:
    root = place / name
    root.mkdir()
    git(str(root), "init", "-q", "-b", "main")
    (root / "main.py").write_text("x = 1\n", encoding="utf-8")
    git(str(root), "add", ".")
    git(str(root), "commit", "-qm", "Begin")
    return root


def ran(environ: dict[str, str], place: Path, *words: str) -> dict[str, Any]:
    done = subprocess.run([*PROGRAM, *words], env=environ, cwd=place, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_aol_076_aol_087_an_owner_that_is_old_and_then_dead(tmp_path: Path) -> None:
    """Given an owner and then another version of its files, the owner itself says that its answers may be of yesterday; and when
    it is killed, the same question at a terminal says so."""
    package, home = tmp_path / "lib" / "hindbrain", tmp_path / "home"
    shutil.copytree(Path(hindbrain.__file__).parent, package)
    root = repository(tmp_path, "shop")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "lib"), "HINDBRAIN_HOME": str(home), "HOME": str(tmp_path)}
    environ["HINDBRAIN_MODE"] = "owner"
    try:
        assert ran(environ, root, "ingest", "--project-root", str(root), "--json")["ok"]
        before = ran(environ, root, "guard", "--json")
        with (package / "domain" / "brain.py").open("a") as file:
            file.write("\n# another release\n")
        after = ran(environ, root, "guard", "--json")
    finally:
        pid = json.loads((home / "owner.json").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
    dead = ran({**environ, "HINDBRAIN_MODE": "embedded"}, root, "guard", "--json")

    assert (before["stale_build"], before["trust"]["verdict"]) == (False, "full_trust")
    assert (after["stale_build"], after["trust"]["verdict"]) == (True, "stale_binding_suspected")
    assert any(one.startswith("stale_runtime: ") for one in after["warnings"])
    assert after["context_guard"]["build_id"] == before["context_guard"]["build_id"]
    # The program at the terminal knows where it was started, and the owner hears it.
    for answer in (before, after, dead):
        guard = answer["context_guard"]
        assert (guard["workspace_root_source"], guard["workspace_root"]) == ("git", str(root))
    assert not any("dead_mcp_transport" in one for one in (*before["warnings"], *after["warnings"]))
    assert [one for one in dead["warnings"] if one.startswith("dead_mcp_transport") and str(pid) in one]
    assert dead["trust"]["verdict"] == "full_trust"  # nothing is wrong with the graph itself


# --- clients that offer roots -----------------------------------------------------------------------------------------------


class Window:
    """A host's window: the directories that are open in it."""

    def __init__(self, *roots: Path) -> None:
        self.roots = list(roots)
        self.asked = 0

    async def __call__(self, context: Any) -> types.ListRootsResult:
        self.asked += 1
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri()) for root in self.roots])


async def tool(client: Any, name: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = (await client.call_tool(name, arguments)).structured_content
    assert answer["ok"], answer
    return answer


@pytest.fixture(scope="module")
def serving(owner: RunningOwner) -> RunningOwner:
    return mcp_is_up(owner)


@pytest.mark.anyio
async def test_aol_076_aol_077_aol_321_roots_come_before_the_directory_and_are_checked(
    serving: RunningOwner, tmp_path: Path
) -> None:
    shop, other = repository(tmp_path, "shop"), repository(tmp_path, "other")
    right, wrong = Window(shop), Window(other)

    async with connected(serving, "stdio", "2025", root=shop, profile="full", list_roots_callback=right) as client:
        await tool(client, "ingest", path=str(shop), project_root=str(shop))
        agreed = await tool(client, "guard", repo=str(shop))
    async with connected(serving, "stdio", "2025", root=shop, profile="full", list_roots_callback=wrong) as client:
        await tool(client, "health")
        assert wrong.asked == 0  # nobody had to know
        differs = await tool(client, "guard", repo=str(shop))
        await tool(client, "ask", topic="workspace")
    async with connected(serving, "stdio", "2026", root=shop, profile="full", list_roots_callback=wrong) as client:
        modern = await tool(client, "guard", repo=str(shop))

    guard = agreed["context_guard"]
    assert (guard["classification"], guard["workspace_root_source"]) == ("single_repo", "mcp_roots")
    guard = differs["context_guard"]
    assert (guard["classification"], guard["workspace_root_source"], guard["workspace_root"]) == (
        "wrong_workspace_binding",
        "mcp_roots",
        str(other),
    )
    assert wrong.asked == 1
    assert (modern["context_guard"]["classification"], modern["context_guard"]["workspace_root_source"]) == ("single_repo", "git")


@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_aol_078_a_client_that_opens_another_directory_during_a_mission(
    serving: RunningOwner, tmp_path: Path, transport: str
) -> None:
    shop, other = repository(tmp_path, "shop"), repository(tmp_path, "other")
    window = Window(shop)
    known = shop if transport == "stdio" else None

    async with connected(serving, transport, "2025", root=known, profile="full", list_roots_callback=window) as client:
        await tool(client, "ingest", path=str(shop), project_root=str(shop))
        begun = await tool(client, "mission_start", task="look at the shop", mode="review", repo=str(shop))
        window.roots = [other]
        await client.session.send_notification(types.RootsListChangedNotification())
        events: list[dict[str, Any]] = []
        with anyio.fail_after(LIMIT_S):
            while len(events) < 2:
                told = await tool(client, "mission_export", mission_id=begun["mission_id"], format="events")
                events = [one for one in told["data"] if one["event_type"] == "context_guard"]

    assert begun["context_guard"]["workspace_root_source"] == "mcp_roots"
    assert [one["payload"]["guard"]["classification"] for one in events] == ["single_repo", "wrong_workspace_binding"]
    assert events[1]["payload"]["guard"]["workspace_root"] == str(other)
    assert any("context_drift: classification" in one for one in events[1]["payload"]["warnings"])
