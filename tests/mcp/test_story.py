"""The story of two repositories, told by an agent host over MCP: stdio and HTTP, in both protocol eras."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from tests.mcp.conftest import Repositories
from tests.mcp.hosts import PROTOCOLS, TRANSPORTS, connected
from tests.support.owner import Starter

CLAIM = "The heron migrates before the schema does."


class Host:
    """One agent in one repository."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found = (await self._client.call_tool(tool, arguments)).structured_content
        assert isinstance(found, dict)
        return found

    async def north(self) -> list[dict[str, Any]]:
        """The rows of the default beat."""
        rows: list[dict[str, Any]] = (await self.call("north", task="migrate the heron"))["memory"]
        return rows


@asynccontextmanager
async def two_hosts(starter: Starter, home: Path, x: Path, y: Path, transport: str, era: str) -> AsyncIterator[tuple[Host, Host]]:
    running = starter(home)
    async with AsyncExitStack() as stack:
        in_x = await stack.enter_async_context(connected(running, transport, era, root=x, agent="codex:orchestrator"))
        in_y = await stack.enter_async_context(connected(running, transport, era, root=y, agent="claude:maker"))
        yield Host(in_x), Host(in_y)


@pytest.mark.anyio
@pytest.mark.req("MED-033")
@pytest.mark.parametrize("era", list(PROTOCOLS))
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_finding_stays_home_is_pulled_by_name_shared_with_a_reason_and_taken_back(
    starter: Starter, repository: Repositories, tmp_path: Path, transport: str, era: str
) -> None:
    x, y = repository("x"), repository("y")
    async with two_hosts(starter, tmp_path / "home", x, y, transport, era) as (in_x, in_y):
        # A directory without a brain: nothing is kept, and the fix works exactly as it stands.
        refused = await in_x.call("memorize", node_label="heron", text=CLAIM)
        fix = refused["fix"]["call"]
        assert refused["refused"] == "brainless_root"
        assert (await in_x.call(fix["tool"], **fix["arguments"]))["ok"] is True
        await in_y.call("ingest", path=str(y), project_root=str(y))

        # Memory of X is X's.
        assert (await in_x.call("memorize", node_label="heron", text=CLAIM))["ok"] is True
        assert [row["text"] for row in await in_x.north()] == [CLAIM]
        assert await in_y.north() == []
        assert (await in_y.call("seek", query="heron migrates"))["results"] == []

        # From Y it can be pulled by name, and says where it comes from.
        wide = await in_y.call("seek", query="heron migrates", tier="all-brains")
        rows = [row for group in wide["groups"] for row in group["rows"]]
        assert [(row["text"], row["origin_brain"]) for row in rows] == [(CLAIM, str(x))]
        assert await in_y.north() == []

        # Shared with a reason, it reaches Y as doctrine with its whole chain.
        assert (await in_x.call("promote", claim="heron", reason="seen in two services"))["ok"] is True
        (shared,) = await in_y.north()
        assert (shared["tier"], shared["text"]) == ("medulla", CLAIM)
        chain = shared["chain"]["text"]
        assert str(x) in chain or x.name in chain
        assert "codex:orchestrator" in chain
        assert "seen in two services" in chain

        # Taken back, Y lost it at once and X kept its witness.
        assert (await in_x.call("learn", feedback="wrong", node_ids=["heron"], tier="medulla"))["ok"] is True
        assert await in_y.north() == []
        assert (await in_x.call("consolidate", apply=True))["ok"] is True
        assert await in_y.north() == []
        assert [(row["tier"], row["text"]) for row in await in_x.north()] == [("project", CLAIM)]
