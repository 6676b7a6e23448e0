"""Reading: records and messages from data, of this version and of the one before. A criterion may come as a plain sentence."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hindbrain.domain.message import PAYLOADS, BusMessage, MessageType
from hindbrain.domain.task import Criterion, Record
from hindbrain.domain.typed import converted

__all__ = ["MESSAGE_SCHEMA", "MESSAGE_SCHEMA_BEFORE", "read_criteria", "read_criterion", "read_message", "read_record"]

MESSAGE_SCHEMA = "hindbrain-bus-message-v1"
MESSAGE_SCHEMA_BEFORE = "hindbrain-bus-message-v0"  # base fields only, and criteria as sentences

_CRITERIA = ("success_criteria", "task_criteria")


def read_criterion(value: Any) -> Criterion:
    """One criterion. A plain sentence is a verifiable one. Raises msgspec.ValidationError."""
    return converted({"criterion": value} if isinstance(value, str) else value, Criterion)


def read_criteria(values: Any) -> tuple[Criterion, ...]:
    """Criteria as somebody wrote them."""
    return tuple(read_criterion(value) for value in converted(values, list[Any]))


def read_record(kind: MessageType, payload: Mapping[str, Any]) -> Record:
    """The record that a payload is, checked. Raises msgspec.ValidationError."""
    return converted(_current(payload), PAYLOADS[kind])


def read_message(data: Mapping[str, Any]) -> BusMessage:
    """A message as it was kept, its payload in the form of now. Raises msgspec.ValidationError, for a later version, too."""
    told = data.get("schema", MESSAGE_SCHEMA)
    if told not in (MESSAGE_SCHEMA, MESSAGE_SCHEMA_BEFORE):
        raise msgspec.ValidationError(f"no reader of {told!r}")
    message = converted({**data, "schema": MESSAGE_SCHEMA}, BusMessage, strict=False)
    return msgspec.structs.replace(message, payload=_current(message.payload))


def _current(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same with criteria as objects, here and in the outcomes that a payload holds."""
    made = dict(payload)
    for name in _CRITERIA:
        if isinstance(listed := made.get(name), list | tuple):
            made[name] = [{"criterion": one} if isinstance(one, str) else one for one in listed]
    if isinstance(outcomes := made.get("outcomes"), list | tuple):
        made["outcomes"] = [_current(one) if isinstance(one, Mapping) else one for one in outcomes]
    return made
