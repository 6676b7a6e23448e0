"""OpenAI-compatible chat completions: any endpoint that speaks them, in one piece or as a stream."""

import time
from collections.abc import Mapping
from typing import Any

from hindbrain.providers.http import Answer, Endpoint, Turned
from hindbrain.providers.port import LIMITS, PACE, Key, Limits, Pace, ProviderFailed, Reply, Usage, estimated
from hindbrain.providers.wire import count, events, member, value_of

__all__ = ["BASE_URL", "OpenAI"]

BASE_URL = "https://api.openai.com/v1"
_PATH = "/chat/completions"
# What an endpoint may not know. The first that it names in its refusal is left out from then on; where it names none, these two.
_EXTRAS = ("response_format", "stream_options", "temperature", "max_tokens")
_OFTEN_UNKNOWN = ("response_format", "stream_options")


class OpenAI:
    """One model behind chat completions."""

    name = "openai"

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
        base = base_url.rstrip("/").removesuffix(_PATH)
        self._endpoint = Endpoint(
            base, headers={}, key=key, key_header=lambda value: ("authorization", f"Bearer {value}"), limits=limits, pace=pace
        )
        self._unknown: frozenset[str] = frozenset()

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
        unknown = self._unknown
        while True:
            body = self._body(system, user, json_schema, max_tokens, temperature, unknown)
            left = timeout_s - (time.monotonic() - began)
            try:
                text, usage = self._endpoint.post(_PATH, body, timeout_s=left, read=self._read)
            except Turned as turned:
                less = _less(turned, body)
                if not less:
                    raise
                unknown |= less
                continue
            self._unknown = unknown  # what it was turned away for does not come again
            return Reply(
                text=text,
                usage=usage or estimated(system, user, text),
                elapsed_ms=round((time.monotonic() - began) * 1000),
                provider=self.name,
                model=self.model,
                tier=self.tier,
            )

    def reachable(self) -> str | None:
        return self._endpoint.reachable("/models")

    def _body(
        self,
        system: str,
        user: str,
        json_schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float,
        unknown: frozenset[str],
    ) -> dict[str, Any]:
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "stream": self._stream,
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        if self._stream:
            asked["stream_options"] = {"include_usage": True}
        if json_schema is not None:
            shape = {"name": "reply", "schema": dict(json_schema), "strict": False}
            asked["response_format"] = {"type": "json_schema", "json_schema": shape}
        body = {name: value for name, value in asked.items() if name not in unknown}
        if "max_tokens" in unknown:
            body["max_completion_tokens"] = max_tokens
        return body

    def _read(self, answer: Answer) -> tuple[str, Usage | None]:
        if answer.content_type == "text/event-stream":
            return _streamed(answer)
        return _whole(value_of(answer.whole()))  # also when a stream was asked for and the endpoint has none


def _less(turned: Turned, body: Mapping[str, Any]) -> frozenset[str]:
    """What to leave out after a refusal: nothing when the request itself is at fault."""
    if turned.status not in (400, 404, 415, 422):
        return frozenset()
    sent = [name for name in _EXTRAS if name in body]
    named = [name for name in sent if name in turned.said]
    if not named and "max_completion_tokens" in body:
        return frozenset()
    return frozenset(named or [name for name in _OFTEN_UNKNOWN if name in body])


def _usage(value: object) -> Usage | None:
    found = member(value, "usage")
    if not isinstance(found, dict):
        return None
    return Usage(prompt_tokens=count(found.get("prompt_tokens")), completion_tokens=count(found.get("completion_tokens")))


def _ended(text: str, finish: object, refusal: object, usage: Usage | None) -> tuple[str, Usage | None]:
    if isinstance(refusal, str) and refusal:
        raise ProviderFailed("stopped", "the model would not answer", usage=usage)
    if finish == "content_filter":
        raise ProviderFailed("stopped", "a filter of the endpoint stopped the answer", usage=usage)
    if finish == "length":
        raise ProviderFailed("cut", "the answer was cut off at max_tokens", usage=usage)
    if not text.strip():
        raise ProviderFailed("empty", "the answer is empty", usage=usage)
    return text, usage


def _failed(value: Mapping[str, Any]) -> None:
    if value.get("error"):
        raise ProviderFailed("server", "the endpoint reports an error instead of an answer")


def _whole(value: Mapping[str, Any]) -> tuple[str, Usage | None]:
    _failed(value)
    message = member(value, "choices", 0, "message")
    if not isinstance(message, dict):
        raise ProviderFailed("broken", "the answer has no message")
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise ProviderFailed("broken", "the content of the message is no text")
    return _ended(content or "", member(value, "choices", 0, "finish_reason"), message.get("refusal"), _usage(value))


def _streamed(answer: Answer) -> tuple[str, Usage | None]:
    pieces: list[str] = []
    refusal: list[str] = []
    finish: object = None
    usage: Usage | None = None
    done = False
    for data in events(answer.chunks):
        if data.strip() == "[DONE]":
            done = True
            break
        value = value_of(data)
        _failed(value)
        usage = _usage(value) or usage
        for place, kept in (("content", pieces), ("refusal", refusal)):
            piece = member(value, "choices", 0, "delta", place)
            if isinstance(piece, str):
                kept.append(piece)
        finish = member(value, "choices", 0, "finish_reason") or finish
    if not done and finish is None:
        raise ProviderFailed("broken", "the stream ended in the middle", usage=usage)
    return _ended("".join(pieces), finish, "".join(refusal), usage)
