"""The doctor over MCP: it compares the tools of knowledge with the list that this session really gets (MIND-502)."""

from pathlib import Path
from typing import Any

import pytest

from tests.mcp.hosts import connected
from tests.support.owner import RunningOwner

pytestmark = pytest.mark.anyio


@pytest.mark.req("MIND-502")
@pytest.mark.parametrize("profile", ["default", "full"])
async def test_mind_502_a_tool_of_knowledge_is_advertised_exactly_when_it_is_listed(
    owner: RunningOwner, tmp_path: Path, profile: str
) -> None:
    async with connected(owner, "http", "2026", root=tmp_path, profile=profile) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        answer: dict[str, Any] = (await client.call_tool("doctor", {})).structured_content or {}

    shown = answer["mcp"]
    advertised = {one["name"]: one["advertised"] for one in shown["required_tools"]}
    begins = {"context": "context", "brief": "brief", "adoption": "adoption", "bus": "cowork"}
    assert advertised == {tool: any(name.startswith(word) for name in listed) for tool, word in begins.items()}
    assert {"record", "review"} <= set(shown["adoption_actions"])
    assert {"register", "send", "drain", "handoff", "capture"} <= set(shown["bus_actions"])
    assert ("fix" in shown) is (not all(advertised.values()))
    if profile == "full":
        assert all(advertised.values())
