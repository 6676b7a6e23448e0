"""Evidence over MCP: an agent records, takes in its own files, finds both again, and reads nobody else's."""

from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import Repositories
from tests.mcp.hosts import connected
from tests.support.owner import Starter


@pytest.mark.anyio
@pytest.mark.req("MIND-022", "CONF-12")
async def test_an_agent_keeps_evidence_and_reads_only_what_is_its_own(
    starter: Starter, repository: Repositories, tmp_path: Path
) -> None:
    root, other = repository("x"), repository("y")
    (root / "notes.md").write_text("# Ferry\n\nIt leaves the second pier at noon.\n")
    (other / "private.md").write_text("the vault opens with seven turns\n")
    async with connected(starter(tmp_path / "home"), "http", "2026", root=root, agent="codex:maker", profile="full") as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            found = (await client.call_tool(tool, arguments)).structured_content
            assert isinstance(found, dict)
            return found

        assert (await call("ingest", path=str(root), project_root=str(root)))["ok"]
        assert (await call("record", text="the storm closed the harbour", tags=["failure"]))["created"]
        assert (await call("memory_ingest", path="notes.md"))["chunks"] == 1
        outside = await call("memory_ingest", path=str(other / "private.md"))
        found = await call("memory_search", query="from which pier does the ferry leave")
        tagged = await call("memory_search", query="harbour", tag="failure")

    assert outside["error"]["code"] == "path_refused"
    assert [row["source_file"] for row in found["results"]] == ["notes.md"]
    assert found["agent_runtime_contract"]["status"] == "ok"
    assert [row["content"] for row in tagged["results"]] == ["the storm closed the harbour"]
