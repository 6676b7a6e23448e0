"""MCP over streamable HTTP: sessions, who a caller is, and what the endpoint refuses."""

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
import pytest

from tests.mcp.conftest import Repositories
from tests.mcp.hosts import INITIALIZE, connected
from tests.support.owner import Answer, RunningOwner, stores_digest

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def post(owner: RunningOwner, method: str, params: Mapping[str, Any], **headers: str) -> Answer:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return owner.request("POST", "/mcp", body=body, headers={**ACCEPT, **told})


def initialized(owner: RunningOwner, **headers: str) -> str:
    """A 2025 session; its id."""
    answer = post(owner, "initialize", INITIALIZE, **headers)
    assert answer.status == 200, answer.body
    session = answer.headers["mcp-session-id"]
    body = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    assert owner.request("POST", "/mcp", body=body, headers={**ACCEPT, "Mcp-Session-Id": session}).status == 202
    return session


def called(owner: RunningOwner, session: str, tool: str, arguments: Mapping[str, Any], **headers: str) -> dict[str, Any]:
    """The structured answer of one tool call in a 2025 session."""
    answer = post(owner, "tools/call", {"name": tool, "arguments": arguments}, Mcp_Session_Id=session, **headers)
    data = next(line for line in answer.body.decode().splitlines() if line.startswith("data: {"))
    found: dict[str, Any] = json.loads(data.removeprefix("data: "))["result"]["structuredContent"]
    return found


@pytest.mark.req("GR-171")
def test_gr_171_a_session_is_minted_at_initialize_and_an_unknown_one_is_not_found(owner: RunningOwner) -> None:
    session = initialized(owner)

    known = post(owner, "tools/list", {}, Mcp_Session_Id=session)
    unknown = post(owner, "tools/list", {}, Mcp_Session_Id="0" * 32)

    assert known.status == 200
    assert unknown.status == 404
    assert unknown.json["error"]["code"] == -32001


@pytest.mark.req("GR-171")
def test_gr_171_a_session_that_the_client_ended_is_not_found_any_more(owner: RunningOwner) -> None:
    session = initialized(owner)

    ended = owner.request("DELETE", "/mcp", headers={**ACCEPT, "Mcp-Session-Id": session})
    after = post(owner, "tools/list", {}, Mcp_Session_Id=session)

    assert ended.status == 200
    assert (after.status, after.json["error"]["code"]) == (404, -32001)


def refused_root(owner: RunningOwner, session: str, **headers: str) -> Any:
    """Where a call seems to come from: a write from a directory without a brain is refused, and says which one."""
    answer = called(owner, session, "memorize", {"node_label": "somewhere", "text": "It is somewhere."}, **headers)
    assert answer["ok"] is False
    return answer["refused"], answer["caller_root"]


@pytest.mark.req("MED-017")
def test_med_017_the_root_comes_from_the_header_else_from_the_session_s_initialize(
    owner: RunningOwner, repository: Repositories
) -> None:
    x, y = repository("repo-x"), repository("repo-y")
    session = initialized(owner, Hindbrain_Caller_Root=str(x))

    from_session = refused_root(owner, session)
    from_header = refused_root(owner, session, Hindbrain_Caller_Root=str(y))
    afterwards = refused_root(owner, session)
    nowhere = refused_root(owner, initialized(owner))

    assert from_session == ("brainless_root", str(x))
    assert from_header == ("brainless_root", str(y))
    assert afterwards == ("brainless_root", str(x))
    assert nowhere == ("caller_root_unknown", None)


@pytest.mark.req("MED-017")
def test_med_017_a_root_beyond_ascii_arrives_as_it_was_meant(owner: RunningOwner, repository: Repositories) -> None:
    root = repository("gedächtnis übung")
    session = initialized(owner, Hindbrain_Caller_Root=str(root).replace("ä", "%C3%A4"))

    assert refused_root(owner, session) == ("brainless_root", str(root))


@pytest.mark.anyio
@pytest.mark.req("MED-017")
async def test_med_017_a_2025_client_that_offers_roots_is_asked_for_them_when_nothing_else_is_known(
    owner: RunningOwner, repository: Repositories
) -> None:
    offered, asked = repository("offered"), []

    async def roots(context: Any) -> types.ListRootsResult:
        asked.append(1)
        return types.ListRootsResult(roots=[types.Root(uri=offered.as_uri())])

    async with connected(owner, "http", "2025", root=None, list_roots_callback=roots) as client:
        answers = [await client.call_tool("memorize", {"node_label": "somewhere", "text": "It is."}) for _ in range(2)]

    assert [answer.structured_content["caller_root"] for answer in answers] == [str(offered), str(offered)]
    assert asked == [1]


def test_a_root_that_is_no_absolute_path_is_refused_with_its_code(owner: RunningOwner) -> None:
    for wrong in ("relative/path", "/a/../b", "/a%00b", "/a%ff"):
        session = initialized(owner, Hindbrain_Caller_Root=wrong)

        answer = called(owner, session, "north", {})

        assert answer["error"]["code"] == "path_refused", wrong


def test_a_root_in_the_arguments_is_held_to_the_same_rule(owner: RunningOwner) -> None:
    session = initialized(owner)

    answers = [called(owner, session, "north", {"caller_root": wrong}) for wrong in ("relative", "/a/../b")]

    assert [answer["error"]["code"] for answer in answers] == ["path_refused", "path_refused"]


def test_the_human_s_token_makes_no_human_of_an_mcp_client(owner: RunningOwner, repository: Repositories) -> None:
    root, token = repository("x"), f"Bearer {owner.human_token}"
    session = initialized(owner, Hindbrain_Caller_Root=str(root), Authorization=token)
    called(owner, session, "ingest", {"path": str(root), "project_root": str(root)}, Authorization=token)
    called(owner, session, "memorize", {"node_label": "a", "text": "A is so."}, Authorization=token)

    forgotten = called(owner, session, "forget", {"claim": "a"}, Authorization=token)
    shown = called(owner, session, "history", {"claim": "a"}, Authorization=token)

    assert forgotten["error"]["code"] == "human_needed"
    assert "A is so." in json.dumps(shown)


@pytest.mark.parametrize(
    ("headers", "token", "status", "code"),
    [
        ({"Host": "evil.example"}, "", 403, "host_refused"),
        ({"Origin": "http://evil.example"}, "", 403, "origin_refused"),
        ({}, None, 401, "unauthorized"),
        ({}, "wrong", 401, "unauthorized"),
    ],
)
def test_a_foreign_host_or_origin_and_a_missing_token_are_refused_before_mcp(
    owner: RunningOwner, headers: dict[str, str], token: str | None, status: int, code: str
) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode()

    answer = owner.request("POST", "/mcp", body=body, headers={**ACCEPT, **headers}, token=token)

    assert (answer.status, answer.code) == (status, code)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"\\ud800"}}', 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"' + b"x" * (2 << 20) + b'"}}', 413),
    ],
)
def test_what_is_no_message_is_refused_and_changes_nothing(owner: RunningOwner, body: bytes, status: int) -> None:
    before = stores_digest(owner.home)

    answer = owner.request("POST", "/mcp", body=body, headers=ACCEPT)

    assert answer.status == status
    assert stores_digest(owner.home) == before
