"""Missions for hosts without a tool call: the doctrine as a prompt, state, hand-over and proof as resources."""

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from hindbrain.engines.pack import doctrine_text
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import connected
from tests.support.owner import RunningOwner

pytestmark = pytest.mark.anyio


async def read(client: Any, mission_id: str, part: str) -> dict[str, Any]:
    found = (await client.read_resource(f"hindbrain://mission/{mission_id}/{part}")).contents[0]
    assert isinstance(found, types.TextResourceContents)
    told: dict[str, Any] = json.loads(found.text)
    return told


async def test_aol_263_the_doctrine_is_a_prompt(owner: RunningOwner, tmp_path: Path) -> None:
    async with connected(owner, "http", "2025", root=tmp_path) as client:
        found = await client.get_prompt("mission_doctrine", {"task": "find the leak"})

    text = found.messages[0].content.text  # type: ignore[union-attr]
    assert text.startswith(doctrine_text())
    assert text.endswith("task: find the leak")


async def test_aol_262_a_mission_s_state_hand_over_and_proof_are_resources(owner: RunningOwner, repository: Repositories) -> None:
    root = repository("x")
    async with connected(owner, "http", "2025", root=root) as client:
        await client.call_tool("ingest", {"path": str(root), "project_root": str(root)})
        begun = (await client.call_tool("mission_start", {"task": "look around", "mode": "orientation"})).structured_content
        mission_id = begun["mission_id"]
        state = await read(client, mission_id, "state")
        with pytest.raises(MCPError):
            await read(client, "msn_unknown", "state")
        await client.call_tool("mission_handoff", {"summary": "half way", "leave": False})
        handed = await read(client, mission_id, "handoff")
        closed = await client.call_tool("mission_close", {"force": True, "reason": "only a look"})
        proof = await read(client, mission_id, "proof")

    assert not closed.is_error, closed
    assert f'"{mission_id}"' in json.dumps(state)
    assert "hindbrain-mission-state-v1" in json.dumps(state)
    assert "half way" in json.dumps(handed)
    assert "hindbrain-mission-proof-packet-v1" in json.dumps(proof)
