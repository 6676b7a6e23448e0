"""One call over HTTP: what is taken, what is refused, and what comes back."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.test_wire import BAD_BODIES
from tests.support.owner import LIMIT_S, RunningOwner, Starter, stores_digest


@pytest.fixture
def nothing_changes(owner: RunningOwner) -> Iterator[None]:
    before = stores_digest(owner.home)
    yield
    assert stores_digest(owner.home) == before


pytestmark = pytest.mark.usefixtures("nothing_changes")


def a_claim(**changed: object) -> dict[str, object]:
    return {"label": "a fact", "claims": [{"text": "the sky is blue"}], **changed}


@pytest.mark.parametrize("raw", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_gr_174_a_malformed_body_is_refused_with_its_code(owner: RunningOwner, raw: bytes) -> None:
    answer = owner.post("memorize", raw, hindbrain_caller_root="/tmp")

    assert (answer.status, answer.code) == (400, "invalid_params")
    assert answer.json["ok"] is False
    assert answer.json["error"]["fix"]


@pytest.mark.parametrize("size", [(1 << 20) + 1, 20 * 1000 * 1000])
@pytest.mark.parametrize("connection", ["keep-alive", "close"])
def test_gr_174_a_text_that_is_too_large_is_refused(owner: RunningOwner, size: int, connection: str) -> None:
    body = json.dumps(a_claim(label="x" * size)).encode()

    answer = owner.post("memorize", body, connection=connection)

    assert (answer.status, answer.code) == (413, "body_too_large")


def test_gr_174_a_large_body_without_a_length_is_refused_too(owner: RunningOwner) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"

    answer = owner.post("memorize", chunk * 40 + b"0\r\n\r\n", transfer_encoding="chunked")

    assert (answer.status, answer.code) == (413, "body_too_large")


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/json; charset=latin-1",
        "",
        "application/jsonp",
    ],
)
def test_gr_174_a_body_that_is_not_json_by_its_type_is_refused(owner: RunningOwner, kind: str) -> None:
    answer = owner.request("POST", "/api/op/memorize", body=b"{}", headers={"Content-Type": kind})

    assert (answer.status, answer.code) == (415, "unsupported_media_type")


def test_gr_174_a_body_without_a_type_is_refused(owner: RunningOwner) -> None:
    assert owner.request("POST", "/api/op/memorize", body=b"{}").status == 415


@pytest.mark.parametrize("root", ["repo", "../..", "/a/../../etc", "/a%00b", "%ff", "", "~"])
def test_med_017_a_caller_root_that_is_no_absolute_path_is_refused(owner: RunningOwner, root: str) -> None:
    answer = owner.post("memorize", a_claim(), hindbrain_caller_root=root)

    assert (answer.status, answer.code) == (400, "path_refused")


@pytest.mark.parametrize("root", ["repo", "../..", "/a/../../etc"])
def test_med_017_a_caller_root_in_the_body_obeys_the_same_rule(owner: RunningOwner, root: str) -> None:
    answer = owner.post("memorize", a_claim(caller_root=root))

    assert (answer.status, answer.code) == (400, "path_refused")


@pytest.mark.parametrize("session", ["", "a b", "x" * 129, "a/b", "é"])
def test_gr_174_a_session_that_is_no_id_is_refused(owner: RunningOwner, session: str) -> None:
    assert owner.post("health", {}, hindbrain_session=session).code == "invalid_params"


@pytest.mark.parametrize("agent", ["", " ", "a%0Ab", "x" * 257, "%ff"])
def test_gr_174_an_agent_that_is_no_word_is_refused(owner: RunningOwner, agent: str) -> None:
    assert owner.post("health", {}, hindbrain_agent=agent).code == "invalid_params"


def test_gr_174_an_unknown_operation_is_named_as_such(owner: RunningOwner) -> None:
    answer = owner.post("no_such_thing", {})

    assert (answer.status, answer.code) == (404, "unknown_operation")


def test_gr_173_an_unknown_argument_is_refused(owner: RunningOwner) -> None:
    answer = owner.post("test.wait", {"stepz": 1})

    assert (answer.status, answer.code) == (400, "invalid_params")


def test_gr_174_the_session_is_told_back_and_one_is_made_for_who_has_none(owner: RunningOwner) -> None:
    named = owner.post("test.wait", {}, hindbrain_session="my-session")
    made = [owner.post("test.wait", {}).headers["hindbrain-session"] for _ in range(2)]

    assert named.headers["hindbrain-session"] == "my-session"
    assert len({*made, "my-session"}) == 3


def test_gr_174_a_defect_is_an_answer_without_its_details(owner: RunningOwner) -> None:
    answer = owner.post("test.defect", {"text": "a private sentence"})

    assert (answer.status, answer.code) == (500, "internal")
    assert b"private" not in answer.body
    assert owner.post("test.wait", {}).status == 200


def test_gr_174_a_long_call_tells_its_progress_and_then_its_answer(owner: RunningOwner) -> None:
    body = b'{"steps": 3, "step_s": 0.02}'
    with owner.stream("/api/op/test.wait", method="POST", body=body, content_type="application/json") as stream:
        events = list(iter(stream.next, None))

    assert [event["data"] for event in events[:-1]] == [{"done": n, "total": 3, "text": f"step {n}"} for n in range(3)]
    assert events[-1] == {"event": "answer", "data": {"ok": True, "steps": 3}}


def test_gr_179_a_call_past_its_limit_is_given_up_and_the_next_one_works(starter: Starter, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("call_timeout_s = 3\n")
    running = starter(home)

    late = running.post("test.wait", {"steps": 1, "step_s": 60})

    assert (late.status, late.code) == (504, "timed_out")
    assert running.post("test.wait", {}).status == 200
    assert running.post("test.wait", {"steps": 20, "step_s": 0.2}).status == 200  # who tells how far it is has not got stuck


def test_gr_174_many_callers_are_served_at_once(owner: RunningOwner) -> None:
    statuses: list[int] = []
    barrier = threading.Barrier(16)

    def caller() -> None:
        barrier.wait(LIMIT_S)
        statuses.append(owner.post("test.wait", {"steps": 2}).status)

    threads = [threading.Thread(target=caller) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert statuses == [200] * 16


def test_gr_174_half_a_request_does_not_hold_up_others(owner: RunningOwner) -> None:
    with socket.create_connection(("127.0.0.1", owner.port), timeout=LIMIT_S) as stalled:
        head = f"POST /api/op/health HTTP/1.1\r\nHost: 127.0.0.1:{owner.port}\r\nAuthorization: Bearer {owner.token}\r\n"
        stalled.sendall(head.encode() + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")

        assert owner.get("/api/health").status == 200
