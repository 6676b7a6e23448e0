"""The MCP server as hosts see it: the SDK's own client, on stdio and HTTP, in both protocol eras."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from hindbrain.operations import REGISTRY
from hindbrain.policy.texts import INSTRUCTIONS
from hindbrain.surfaces.mcp_texts import PROMPTS, RESOURCES
from hindbrain.surfaces.mcp_tools import DESCRIPTION_LIMIT
from tests.mcp.conftest import Repositories
from tests.mcp.hosts import PROTOCOLS, TRANSPORTS, connected
from tests.support.owner import RunningOwner, Starter

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("era", list(PROTOCOLS)),
    pytest.mark.parametrize("transport", TRANSPORTS),
]

LISTED_TOOLS = 8
LISTED_TOKENS = 2500


def schemas_in(schema: Any) -> Iterator[Any]:
    """A schema and every schema inside it."""
    yield schema
    if isinstance(schema, dict):
        for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
            yield from schemas_in(inner)
        if "items" in schema:
            yield from schemas_in(schema["items"])


async def test_the_client_s_era_is_served_with_the_memory_protocol(
    owner: RunningOwner, tmp_path: Path, transport: str, era: str
) -> None:
    async with connected(owner, transport, era, root=tmp_path) as client:
        assert client.protocol_version == PROTOCOLS[era]
        assert client.instructions == INSTRUCTIONS
        assert client.server_info is not None
        assert client.server_info.name == "hindbrain"


@pytest.mark.req("MED-391")
async def test_med_391_the_instructions_have_the_five_points(
    owner: RunningOwner, tmp_path: Path, transport: str, era: str
) -> None:
    async with connected(owner, transport, era, root=tmp_path) as client:
        text = client.instructions or ""

    assert "Call north first" in text
    assert "memorize" in text
    assert "it goes to this project" in text
    assert "do not copy it into projects" in text
    assert "Makers propose" in text
    assert "orchestrators promote" in text
    assert "class memory_misdelivery" in text
    assert "kind leak" in text


async def test_the_default_profile_is_small_enough_for_every_prompt(
    owner: RunningOwner, tmp_path: Path, transport: str, era: str
) -> None:
    async with connected(owner, transport, era, root=tmp_path) as client:
        listed = await client.list_tools()

    wire = json.dumps(listed.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"], separators=(",", ":"))
    assert 0 < len(listed.tools) <= LISTED_TOOLS
    assert len(wire) / 4 <= LISTED_TOKENS
    assert {tool.name for tool in listed.tools} == {name.replace(".", "_") for name, op in REGISTRY.items() if op.everyday}


@pytest.mark.req("GR-173")
async def test_gr_173_the_full_profile_lists_every_operation_with_a_plain_object_schema(
    owner: RunningOwner, tmp_path: Path, transport: str, era: str
) -> None:
    async with connected(owner, transport, era, root=tmp_path, profile="full") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    offered = {name.replace(".", "_"): op for name, op in REGISTRY.items() if "mcp" not in op.left_out}
    assert {name for name in tools if not name.startswith("test_")} == set(offered)
    for name, tool in tools.items():
        assert tool.input_schema["type"] == "object", name
        assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & set(tool.input_schema), name
        assert tool.description, name
        assert len(tool.description) <= DESCRIPTION_LIMIT, name
        for schema in schemas_in(tool.input_schema):
            assert isinstance(schema, dict), name
            assert "$ref" not in schema, name
    for name, op in offered.items():
        hints = tools[name].annotations
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint) == (op.effect == "read", op.effect == "destructive"), name
        assert hints.open_world_hint is False, name


@pytest.mark.req("GR-173")
async def test_gr_173_an_unknown_argument_is_refused_except_for_meta(
    owner: RunningOwner, tmp_path: Path, transport: str, era: str
) -> None:
    async with connected(owner, transport, era, root=tmp_path) as client:
        unknown = await client.call_tool("test_wait", {"step_s": 0.0, "colour": "red"})
        meta = await client.call_tool("test_wait", {"step_s": 0.0, "_meta": {"trace": 1}})

    assert unknown.is_error
    assert unknown.structured_content["error"]["code"] == "invalid_params"
    assert meta.structured_content == {"ok": True, "steps": 1}


@pytest.mark.req("GR-172")
async def test_gr_172_a_failing_tool_answers_with_an_error_and_an_unknown_one_with_a_protocol_error(
    owner: RunningOwner, repository: Repositories, transport: str, era: str
) -> None:
    root = repository("x")
    async with connected(owner, transport, era, root=root) as client:
        await client.call_tool("ingest", {"path": str(root), "project_root": str(root)})
        failed = await client.call_tool("promote", {"claim": "no-such-claim", "reason": "because"})
        defect = await client.call_tool("test_defect", {"text": "secret words"})
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("no_such_tool", {})

    assert failed.is_error
    assert failed.structured_content["error"]["code"] == "unknown_claim"
    assert defect.is_error
    assert defect.structured_content["error"]["code"] == "internal"
    assert "secret words" not in defect.model_dump_json()
    assert unknown.value.error.code == types.INVALID_PARAMS


async def test_a_refusal_is_an_answer_and_names_its_fix(
    owner: RunningOwner, repository: Repositories, transport: str, era: str
) -> None:
    async with connected(owner, transport, era, root=repository("x")) as client:
        refused = await client.call_tool("memorize", {"node_label": "a", "text": "It is so."})

    assert refused.is_error is False
    assert refused.structured_content["refused"] == "brainless_root"
    assert refused.content[0].text.startswith("refused: brainless_root: ")  # type: ignore[union-attr]


async def test_progress_of_a_long_call_arrives_in_order_and_before_the_answer(
    owner: RunningOwner, tmp_path: Path, transport: str, era: str
) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(done: float, total: float | None, text: str | None) -> None:
        heard.append((done, total, text))

    async with connected(owner, transport, era, root=tmp_path) as client:
        answer = await client.call_tool("test_wait", {"steps": 3, "step_s": 0.01}, progress_callback=hear)

    assert answer.structured_content == {"ok": True, "steps": 3}
    assert heard == [(step, 3, f"step {step}") for step in range(3)]


@pytest.mark.req("GR-179")
async def test_gr_179_a_call_past_its_limit_is_timed_out_and_the_next_one_works(
    starter: Starter, tmp_path: Path, transport: str, era: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("call_timeout_s = 3\n")
    running = starter(home)
    async with connected(running, transport, era, root=tmp_path) as client:
        late = await client.call_tool("test_wait", {"steps": 1, "step_s": 60.0})
        after = await client.call_tool("test_wait", {"steps": 1, "step_s": 0.0})

    assert late.is_error
    assert late.structured_content["error"]["code"] == "timed_out"
    assert late.structured_content["error"]["rpc_code"] == -32000
    assert after.structured_content == {"ok": True, "steps": 1}


async def test_resources_show_status_and_brief_of_the_caller_s_project(
    owner: RunningOwner, repository: Repositories, transport: str, era: str
) -> None:
    root = repository("x")
    async with connected(owner, transport, era, root=root) as client:
        await client.call_tool("ingest", {"path": str(root), "project_root": str(root)})
        await client.call_tool("memorize", {"node_label": "heron", "text": "The heron eats at dawn."})
        listed = (await client.list_resources()).resources
        status = (await client.read_resource("hindbrain://status")).contents[0]
        brief = (await client.read_resource("hindbrain://brief")).contents[0]
        templates = (await client.list_resource_templates()).resource_templates
        claim = (await client.read_resource("hindbrain://claim/heron")).contents[0]
        with pytest.raises(MCPError) as unknown:
            await client.read_resource("hindbrain://nothing")

    assert {*(str(one.uri) for one in listed), *(one.uri_template for one in templates)} == {one.uri for one in RESOURCES}
    assert isinstance(claim, types.TextResourceContents)
    assert "The heron eats at dawn." in claim.text
    assert isinstance(status, types.TextResourceContents)
    assert isinstance(brief, types.TextResourceContents)
    assert json.loads(status.text)["ok"] is True
    assert "The heron eats at dawn." in brief.text
    assert unknown.value.error.code == types.INVALID_PARAMS


async def test_prompts_name_only_tools_there_are_and_carry_the_user_s_words(
    owner: RunningOwner, tmp_path: Path, transport: str, era: str
) -> None:
    async with connected(owner, transport, era, root=tmp_path) as client:
        listed = (await client.list_prompts()).prompts
        found = await client.get_prompt("start-task", {"task": "mend the roof"})
        with pytest.raises(MCPError) as unknown:
            await client.get_prompt("no-such-prompt")

    assert [one.name for one in listed] == [one.name for one in PROMPTS]
    text = found.messages[0].content.text  # type: ignore[union-attr]
    assert text.endswith("task: mend the roof")
    assert "`north`" in text
    assert unknown.value.error.code == types.INVALID_PARAMS


async def test_an_agent_is_what_its_host_calls_itself_unless_it_says_more(
    owner: RunningOwner, repository: Repositories, transport: str, era: str
) -> None:
    root = repository("x")
    host = types.Implementation(name="Claude Code", version="1")
    async with connected(owner, transport, era, root=root, client_info=host) as client:
        await client.call_tool("ingest", {"path": str(root), "project_root": str(root)})
        named = await client.call_tool("memorize", {"node_label": "a", "text": "A is so."})
    async with connected(owner, transport, era, root=root, client_info=host, agent="codex:maker") as client:
        told = await client.call_tool("memorize", {"node_label": "b", "text": "B is so."})
        in_call = await client.call_tool("memorize", {"node_label": "c", "text": "C is so.", "agent_id": "codex:reviewer"})

    acts = owner.call("ledger.show", root=root)
    assert [answer.is_error for answer in (named, told, in_call)] == [False, False, False]
    assert {"claude-code:agent", "codex:maker", "codex:reviewer"} <= {act["actor"] for act in acts["entries"]}


async def test_a_forged_human_gains_nothing(owner: RunningOwner, repository: Repositories, transport: str, era: str) -> None:
    root = repository("x")
    async with connected(owner, transport, era, root=root, agent="human:founder") as client:
        await client.call_tool("ingest", {"path": str(root), "project_root": str(root)})
        await client.call_tool("memorize", {"node_label": "a", "text": "A is so.", "agent_id": "human:founder"})
        forget = await client.call_tool("forget", {"claim": "a", "reason": "x", "agent_id": "human:founder"})

    acts = owner.call("ledger.show", root=root)
    assert forget.structured_content["ok"] is False
    assert forget.structured_content.get("refused", forget.structured_content.get("error", {}).get("code")) == "human_needed"
    assert {act["channel"] for act in acts["entries"] if act["actor"] == "human:founder"} == {"agent"}
