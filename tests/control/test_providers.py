"""Providers against a real server that speaks both wire formats, well and badly."""

import json
import socket
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from hindbrain.providers.anthropic import Anthropic
from hindbrain.providers.openai import OpenAI
from hindbrain.providers.port import Key, Limits, Pace, Provider, ProviderFailed, Reply
from tests.support.model_server import Answer, ModelServer, anthropic, hang, openai, raw, serving, status

KEY = "sk-planted-5f7c1e09b2"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
SMALL = Limits(max_bytes=100_000)
FAST = Limits(connect_s=1.0, first_byte_s=0.3, total_s=0.6, max_bytes=100_000)
BOTH = pytest.mark.parametrize("wire", ["openai", "anthropic"])
EITHER = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


class Waits:
    """A waiter that keeps how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def pace(self, jitter: float = 0.0) -> Pace:
        return Pace(wait=self.waited.append, jitter=lambda: jitter)


def made(wire: str, server: ModelServer, *, stream: bool = True, key: bool = True, **more: Any) -> Provider:
    kind: Callable[..., Provider] = OpenAI if wire == "openai" else Anthropic
    base = server.url + ("/v1" if wire == "openai" else "")
    return kind(model="m-1", tier=2, base_url=base, key=Key(KEY) if key else None, stream=stream, **more)


def said(wire: str, text: str, **more: Any) -> Answer:
    return openai(text, **more) if wire == "openai" else anthropic(text, **more)


def asked(provider: Provider, *, timeout_s: float = 60.0, schema: dict[str, Any] | None = None) -> Reply:
    return provider.complete("R2", "be brief", "count", json_schema=schema, max_tokens=50, timeout_s=timeout_s)


def failure(provider: Provider, *, timeout_s: float = 60.0) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as failed:
        asked(provider, timeout_s=timeout_s)
    assert KEY not in str(failed.value)
    assert KEY not in repr(failed.value)
    return failed.value


@BOTH
@EITHER
def test_ctl_300_ctl_302_ctl_303_an_answer_has_text_usage_time_and_names(wire: str, stream: bool) -> None:
    with serving(said(wire, "seven files, zwölf Wörter", usage=(21, 9))) as server:
        reply = asked(made(wire, server, stream=stream))

        (request,) = server.asked
    assert (reply.text, reply.provider, reply.model, reply.tier) == ("seven files, zwölf Wörter", wire, "m-1", 2)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.estimated) == (21, 9, False)
    assert 0 <= reply.elapsed_ms < 60_000
    assert request.body["model"] == "m-1"
    assert request.body["stream"] is stream
    assert request.body["temperature"] == 0
    assert request.body["max_tokens"] == 50


def test_ctl_302_chat_completions_as_they_are_sent() -> None:
    with serving(openai('{"a": 1}')) as server:
        asked(made("openai", server), schema=SCHEMA)
        (request,) = server.asked
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["messages"] == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "count"}]
    assert request.body["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize("tail", ["", "/", "/chat/completions", "/chat/completions/"])
def test_ctl_302_a_trailing_path_of_the_address_is_removed(tail: str) -> None:
    with serving(openai("yes")) as server:
        asked(OpenAI(model="m", tier=1, base_url=server.url + "/v1" + tail))
        assert [one.path for one in server.asked] == ["/v1/chat/completions"]
        assert "authorization" not in server.asked[0].headers


def test_ctl_303_messages_as_they_are_sent() -> None:
    with serving(anthropic("yes")) as server:
        asked(made("anthropic", server), schema=SCHEMA)
        (request,) = server.asked
    assert request.path == "/v1/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert (request.body["system"], request.body["messages"]) == ("be brief", [{"role": "user", "content": "count"}])


def test_ctl_302_an_endpoint_without_schemas_is_asked_in_plain_words_from_then_on() -> None:
    with serving(status(400, {"error": {"message": "unknown field"}}), openai('{"a": 1}'), openai('{"a": 2}')) as server:
        provider = made("openai", server)
        assert [asked(provider, schema=SCHEMA).text for _ in range(2)] == ['{"a": 1}', '{"a": 2}']
        bodies = [one.body for one in server.asked]
    assert ["response_format" in body for body in bodies] == [True, False, False]


def test_ctl_302_a_model_with_other_names_for_its_limits_is_asked_by_them() -> None:
    refused = status(400, {"error": {"message": "'max_tokens' is not supported, use 'max_completion_tokens'"}})
    cold = status(400, {"error": {"message": "Unsupported value: 'temperature' does not support 0"}})
    with serving(refused, cold, openai("yes")) as server:
        assert asked(made("openai", server)).text == "yes"
        last = server.asked[-1].body
    assert last["max_completion_tokens"] == 50
    assert not {"max_tokens", "temperature"} & set(last)


def test_ctl_303_a_model_without_temperature_is_asked_without_it() -> None:
    with serving(status(400, {"error": {"message": "temperature is not supported"}}), anthropic("yes")) as server:
        provider = made("anthropic", server)
        asked(provider)
        asked(provider)
        assert ["temperature" in one.body for one in server.asked] == [True, False, False]


def test_ctl_302_tokens_are_estimated_where_the_endpoint_counts_none() -> None:
    with serving(openai("x" * 40, usage=None)) as server:
        usage = asked(made("openai", server)).usage
    assert usage.estimated
    assert usage.completion_tokens == 10


@BOTH
def test_ctl_302_ctl_303_a_busy_endpoint_is_asked_again_when_it_says(wire: str) -> None:
    waits = Waits()
    with serving(status(429, None, retry_after="2"), status(529), said(wire, "yes")) as server:
        assert asked(made(wire, server, pace=waits.pace(jitter=0.5))).text == "yes"
    assert waits.waited == [2.0, 0.75]  # what was asked for, then one second of which half is chance


def test_ctl_302_a_date_to_come_back_at_is_understood() -> None:
    waits = Waits()
    with serving(status(429, None, retry_after=formatdate(time.time() + 30, usegmt=True)), openai("yes")) as server:
        asked(made("openai", server, pace=waits.pace()))
    assert len(waits.waited) == 1
    assert 10 < waits.waited[0] <= 30


def test_ctl_302_a_wait_beyond_the_time_is_not_begun() -> None:
    waits = Waits()
    with serving(status(429, None, retry_after="60")) as server:
        failed = failure(made("openai", server, pace=waits.pace()), timeout_s=5)
    assert failed.kind == "rate_limited"
    assert "60 s" in failed.reason
    assert waits.waited == []


@pytest.mark.parametrize(("code", "requests", "kind"), [(500, 3, "server"), (503, 3, "server"), (429, 6, "rate_limited")])
def test_ctl_302_second_tries_are_bounded_and_further_apart(code: int, requests: int, kind: str) -> None:
    waits = Waits()
    with serving(status(code)) as server:
        failed = failure(made("openai", server, pace=waits.pace()), timeout_s=100)
        assert len(server.asked) == requests
    assert failed.kind == kind
    assert waits.waited == sorted(waits.waited)
    assert len(set(waits.waited)) == requests - 1


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413])
def test_ctl_302_ctl_308_a_refused_request_is_not_repeated_and_its_text_shows_no_key(code: int) -> None:
    with serving(status(code, {"error": {"message": f"Incorrect API key provided: {KEY}"}})) as server:
        provider = OpenAI(model="m", tier=1, base_url=server.url, key=Key(KEY), stream=False, pace=Waits().pace())
        assert failure(provider).kind == "refused"
        assert len(server.asked) == 1


@BOTH
def test_ctl_308_a_redirect_is_not_followed_and_the_key_stays(wire: str) -> None:
    with serving(said(wire, "caught")) as elsewhere, serving(status(307, None, location=elsewhere.url + "/v1")) as server:
        assert failure(made(wire, server)).kind == "redirected"
        assert elsewhere.asked == []


BROKEN: list[tuple[str, Answer, str]] = [
    ("cut json", raw(b'{"choices": [{"mess'), "broken"),
    ("no json", raw(b"<html>hello</html>", "text/html"), "broken"),
    ("a list", raw(b"[]"), "broken"),
    ("another shape", raw(b'{"answer": 1}'), "broken"),
    ("content of another kind", raw(b'{"choices": [{"message": {"content": 5}}], "content": 5}'), "broken"),
    ("nothing", raw(b""), "empty"),
    ("not utf-8", raw(b'{"choices": [{"message": {"content": "\xff"}}]}'), "broken"),
    ("too large", raw(b'{"a": "' + b"x" * 200_000 + b'"}'), "too_large"),
    ("packed", raw(b"x", content_encoding="gzip"), "broken"),
    ("deep", raw(b"[" * 90_000), "broken"),
    ("a stream that is no json", raw(b"data: {oops\n\n", "text/event-stream"), "broken"),
    ("a stream that is not utf-8", raw(b"data: \xff\xfe\n\n", "text/event-stream"), "broken"),
    ("a stream of nothing", raw(b"", "text/event-stream"), "broken"),
    ("204", status(204), "broken"),
    ("an error that is not said to be one", raw(b'{"error": {"message": "no"}}'), "server"),
]


@BOTH
@pytest.mark.parametrize(("answer", "kind"), [one[1:] for one in BROKEN], ids=[one[0] for one in BROKEN])
def test_ctl_302_ctl_303_a_broken_answer_is_one_failure_with_a_reason(wire: str, answer: Answer, kind: str) -> None:
    with serving(answer) as server:
        failed = failure(made(wire, server, limits=SMALL))
        assert len(server.asked) == 1
    assert failed.kind == ("broken" if wire == "anthropic" and kind == "server" else kind)
    assert failed.reason


@BOTH
def test_ctl_302_ctl_303_a_stream_that_is_cut_is_no_answer(wire: str) -> None:
    with serving(said(wire, "half of it", end=False)) as server:
        failed = failure(made(wire, server))
    assert (failed.kind, failed.reason) == ("broken", "the stream ended in the middle")


@EITHER
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (openai("half", finish="length"), "cut"),
        (openai("x", finish="content_filter"), "stopped"),
        (openai("", refusal="no"), "stopped"),
        (openai("  "), "empty"),
    ],
)
def test_ctl_302_an_answer_that_the_model_did_not_finish_is_none_but_costs(answer: Answer, kind: str, stream: bool) -> None:
    with serving(answer) as server:
        failed = failure(made("openai", server, stream=stream))
    assert failed.kind == kind
    assert failed.usage is not None
    assert (failed.usage.prompt_tokens, failed.usage.completion_tokens) == (11, 7)


@EITHER
@pytest.mark.parametrize(("stop", "kind"), [("max_tokens", "cut"), ("refusal", "stopped")])
def test_ctl_303_an_answer_that_the_model_did_not_finish_is_none_but_costs(stop: str, kind: str, stream: bool) -> None:
    with serving(anthropic("half", stop=stop)) as server:
        failed = failure(made("anthropic", server, stream=stream))
    assert failed.kind == kind
    assert failed.usage is not None
    assert failed.usage.prompt_tokens == 13


def test_ctl_303_an_error_inside_of_a_stream_ends_it() -> None:
    with serving(anthropic("half", error=True)) as server:
        assert failure(made("anthropic", server)).kind == "server"


HUNG = [
    ("says nothing", hang()),
    ("begins and stops", hang(after=b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n')),
    ("never ends", hang(forever=b": still here\n")),
    ("drips without a line", hang(forever=b"x")),
]


@BOTH
@pytest.mark.parametrize("answer", [one[1] for one in HUNG], ids=[one[0] for one in HUNG])
def test_ctl_302_ctl_303_a_server_that_does_not_end_is_left_in_time(wire: str, answer: Answer) -> None:
    began = time.monotonic()
    with serving(answer) as server:
        failed = failure(made(wire, server, limits=FAST), timeout_s=60)
    assert failed.kind == "timeout"
    assert time.monotonic() - began < 30  # of the sixty that were allowed


def test_ctl_302_an_endpoint_that_is_not_there_is_unreachable() -> None:
    with socket.socket() as deaf:  # bound and not listening: nobody else gets the port
        deaf.bind(("127.0.0.1", 0))
        gone = made("openai", ModelServer(url=f"http://127.0.0.1:{deaf.getsockname()[1]}"))
        assert failure(gone).kind == "unreachable"
        assert gone.reachable() is not None


def test_ctl_302_the_limits_are_those_of_the_catalog() -> None:
    limits = Limits()
    assert (limits.connect_s, limits.first_byte_s, limits.total_s) == (10, 30, 120)


@BOTH
def test_ctl_308_whether_an_endpoint_can_be_reached_costs_no_tokens(wire: str) -> None:
    with serving(raw(b'{"data": []}')) as server:
        assert made(wire, server).reachable() is None
        assert [one.path for one in server.asked] == ["/v1/models"]
    with serving(status(401, {"error": f"bad {KEY}"})) as server:
        reason = made(wire, server).reachable()
    assert reason is not None
    assert KEY not in reason


def test_ctl_308_a_key_hides_itself() -> None:
    key = Key(KEY)
    assert KEY not in f"{key} {key!r} {[key]}"
    with pytest.raises(TypeError):
        json.dumps(key)
