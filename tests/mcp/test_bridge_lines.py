"""Framing and stand-in of the bridge: pure parts, without a process."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain import __version__
from hindbrain.surfaces.bridge_handshake import REPLAY, Handshake, StandIn
from hindbrain.surfaces.bridge_lines import Lines, found_id
from hindbrain.surfaces.mcp_lines import lines_of

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_come_out_whole_however_they_arrive(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    buffer = Lines(limit=1000)

    found = [line for chunk in chunks for line in buffer.feed(chunk)]

    assert found == [(line, True) for line in lines]
    assert buffer.rest() == []


def test_the_owner_frames_lines_as_the_bridge_does() -> None:
    async def read() -> list[tuple[bytes, bool]]:
        reader = asyncio.StreamReader()
        reader.feed_data(b"short\n\n" + b"x" * 40 + b"\nlast")
        reader.feed_eof()
        return [line async for line in lines_of(reader, limit=30)]

    assert asyncio.run(read()) == [(b"short", True), (b"", True), (b"x" * 40, False), (b"last", True)]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"text":"%s"}}',
        b'{"method":"tools/call","params":{"text":"%s"},"jsonrpc":"2.0","id":7}',
        b'{ "id" : 7 , "method":"tools/call","params":{"text":"%s"}}',
    ],
)
def test_a_line_above_the_limit_is_cut_but_keeps_its_id(line: bytes) -> None:
    buffer = Lines(limit=2000)

    found = [cut for start in range(0, 5000, 700) for cut in buffer.feed((line % (b"x" * 5000))[start : start + 700])]
    found += buffer.feed((line % (b"x" * 5000))[5600:] + b"\n")

    ((ends, whole),) = found
    assert whole is False
    assert len(ends) < 2000
    assert found_id(ends) == 7


def test_an_id_inside_the_text_of_a_long_line_is_not_taken_for_its_own() -> None:
    assert found_id(b'{"method":"x","params":{"text":"\\"id\\":9,xxxx') is None
    assert found_id(b'{"method":"x","params":{"id":9,"text":"xxxx') is None


@pytest.fixture
def home(tmp_path: Path) -> Path:
    answers = {
        "2025-06-18": {"initialize": 0, "tools/list": 2, "ping": 3},
        "2025-11-25": {"initialize": 1, "tools/list": 2},
        "2026-07-28": {"server/discover": 4, "tools/list": 2},
    }
    texts = [json.dumps({"protocolVersion": version}) for version in ("2025-06-18", "2025-11-25")]
    told = {
        "version": __version__,
        "handshake_versions": ["2025-06-18", "2025-11-25"],
        "latest_handshake": "2025-11-25",
        "modern_versions": ["2026-07-28"],
        "texts": [*texts, '{"tools":[]}', "{}", '{"supportedVersions":["2026-07-28"]}'],
        "answers": {"default": answers},
    }
    (tmp_path / "manifest.json").write_text(json.dumps({"mcp": told}))
    return tmp_path


@pytest.mark.parametrize(
    ("method", "params", "negotiated", "answer"),
    [
        ("initialize", INITIALIZE, None, '{"protocolVersion": "2025-06-18"}'),
        ("initialize", {**INITIALIZE, "protocolVersion": "1999-01-01"}, None, '{"protocolVersion": "2025-11-25"}'),
        ("initialize", {**INITIALIZE, "clientInfo": None}, None, None),
        ("initialize", INITIALIZE, "2025-06-18", None),
        ("ping", None, "2025-06-18", "{}"),
        ("tools/list", {}, "2025-06-18", '{"tools":[]}'),
        ("tools/list", {"cursor": "x"}, "2025-06-18", None),
        ("tools/list", {}, None, None),
        ("tools/call", {"name": "north"}, "2025-06-18", None),
        ("server/discover", {"_meta": ENVELOPE}, None, '{"supportedVersions":["2026-07-28"]}'),
        ("tools/list", {"_meta": ENVELOPE}, None, '{"tools":[]}'),
        ("tools/list", {"_meta": ENVELOPE}, "2025-06-18", None),
        ("tools/list", {"_meta": {"progressToken": 1}}, "2025-06-18", '{"tools":[]}'),
        ("tools/list", {"_meta": {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}}, None, None),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}, None, None),
    ],
)
def test_the_stand_in_answers_what_an_owner_would_and_leaves_the_rest(
    home: Path, method: str, params: Any, negotiated: str | None, answer: str | None
) -> None:
    assert StandIn(str(home), "default").answer(method, params, negotiated) == answer


@pytest.mark.parametrize("written", [None, "not json", '{"version": "0"}', '{"mcp": {"version": "0.0.0"}}', '{"mcp": []}'])
def test_without_a_manifest_of_this_release_nothing_is_answered(tmp_path: Path, written: str | None) -> None:
    if written is not None:
        (tmp_path / "manifest.json").write_text(written)

    assert StandIn(str(tmp_path), "default").answer("initialize", INITIALIZE, None) is None


def test_a_new_owner_hears_the_first_handshake_again_and_nothing_before_there_was_one() -> None:
    handshake = Handshake()
    before = handshake.replay()
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}

    handshake.answered(request, {"protocolVersion": "2025-06-18"})
    handshake.initialized = b'{"method":"notifications/initialized"}\n'
    handshake.answered({**request, "id": 2}, {"protocolVersion": "2025-11-25"})

    (first, second), renewing = handshake.replay()
    assert before == ([], {})
    assert renewing == {}
    assert json.loads(first) == {**request, "id": REPLAY}
    assert second == handshake.initialized
    assert handshake.negotiated == "2025-06-18"
