"""Anthropic's messages endpoint, in one piece or as a stream."""

import time
from collections.abc import Mapping
from typing import Any

from hindbrain.providers.http import Answer, Endpoint, Turned
from hindbrain.providers.port import LIMITS, PACE, Key, Limits, Pace, ProviderFailed, Reply, Usage, estimated
from hindbrain.providers.wire import count, events, member, value_of

__all__ = ["BASE_URL", "Anthropic"]

BASE_URL = "https://api.anthropic.com"
_PATH = "/v1/messages"
_VERSION = "2023-06-01"


class Anthropic:
    """One model behind the messages endpoint. A schema is asked for in words: who asks puts it into the prompt."""

    name = "anthropic"

    def __init__(
        self,
        *,
        model: str,
        tier: int,
        base_url: str = BASE_URL,
        key: Key | None = None,
        stream: bool = True,
        limits: Limits = LIMITS,
        pace: Pace = PACE,
    ) -> None:
        self.model, self.tier = model, tier
        self._stream = stream
        base = base_url.rstrip("/").removesuffix(_PATH).removesuffix("/v1")
        self._endpoint = Endpoint(
            base,
            headers={"anthropic-version": _VERSION},
            key=key,
            key_header=lambda value: ("x-api-key", value),
            limits=limits,
            pace=pace,
        )
        self._temperature = True

    def complete(
        self,
        role: str,
        system: str,
        user: str,
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        temperature: float = 0.0,
        timeout_s: float,
    ) -> Reply:
        began = time.monotonic()
        body: dict[str, Any] = {
            "model": self.model,
            "system": system,
            "messages": [{"role": "user", "content": user}],
            "max_tokens": max_tokens,
            "stream": self._stream,
        }
        if self._temperature:
            body["temperature"] = temperature
        while True:
            left = timeout_s - (time.monotonic() - began)
            try:
                text, usage = self._endpoint.post(_PATH, body, timeout_s=left, read=_read)
                break
            except Turned as turned:  # some models take no temperature
                if turned.status != 400 or "temperature" not in turned.said or "temperature" not in body:
                    raise
                self._temperature = False
                del body["temperature"]
        return Reply(
            text=text,
            usage=usage or estimated(system, user, text),
            elapsed_ms=round((time.monotonic() - began) * 1000),
            provider=self.name,
            model=self.model,
            tier=self.tier,
        )

    def reachable(self) -> str | None:
        return self._endpoint.reachable("/v1/models")


def _read(answer: Answer) -> tuple[str, Usage | None]:
    return _streamed(answer) if answer.content_type == "text/event-stream" else _whole(value_of(answer.whole()))


def _whole(value: Mapping[str, Any]) -> tuple[str, Usage | None]:
    content = value.get("content")
    if not isinstance(content, list):
        raise ProviderFailed("broken", "the answer has no content")
    text = "".join(found for place in content if isinstance(found := member(place, "text"), str))
    return _ended(text, value.get("stop_reason"), _usage(value.get("usage"), None))


def _usage(found: object, before: Usage | None) -> Usage | None:
    """What the endpoint counted. Parts of a prompt that it kept from an earlier call are tokens of the prompt as well."""
    if not isinstance(found, dict):
        return before
    cached = count(found.get("cache_creation_input_tokens")) + count(found.get("cache_read_input_tokens"))
    given = count(found.get("input_tokens")) + cached
    written = count(found.get("output_tokens"))
    return Usage(
        prompt_tokens=max(given, before.prompt_tokens if before else 0),
        completion_tokens=max(written, before.completion_tokens if before else 0),
    )


def _ended(text: str, stop: object, usage: Usage | None) -> tuple[str, Usage | None]:
    if stop == "refusal":
        raise ProviderFailed("stopped", "the model would not answer", usage=usage)
    if stop in ("max_tokens", "model_context_window_exceeded"):
        raise ProviderFailed("cut", "the answer was cut off at max_tokens", usage=usage)
    if not text.strip():
        raise ProviderFailed("empty", "the answer is empty", usage=usage)
    return text, usage


def _streamed(answer: Answer) -> tuple[str, Usage | None]:
    pieces: list[str] = []
    stop: object = None
    usage: Usage | None = None
    ended = False
    for data in events(answer.chunks):
        value = value_of(data)
        kind = value.get("type")
        if kind == "message_start":
            usage = _usage(member(value, "message", "usage"), usage)
        elif kind == "content_block_delta":
            piece = member(value, "delta", "text")
            if isinstance(piece, str):
                pieces.append(piece)
        elif kind == "message_delta":
            stop = member(value, "delta", "stop_reason") or stop
            usage = _usage(value.get("usage"), usage)
        elif kind == "error":
            raise ProviderFailed("server", "the endpoint broke its answer off with an error", usage=usage)
        elif kind == "message_stop":
            ended = True
            break
    if not ended:
        raise ProviderFailed("broken", "the stream ended in the middle", usage=usage)
    return _ended("".join(pieces), stop, usage)
