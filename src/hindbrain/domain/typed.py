"""Typed: data from outside as the values we declared. The one place where msgspec is given a type.

msgspec learns a type when it first meets it, and two threads that meet one at the same time end the process. Here a type is
learnt by one thread while the others wait; `tests/architecture/test_typed.py` holds everybody to this door.
"""

import threading
from typing import Any, TypeVar

import msgspec

__all__ = ["converted", "decoded", "decoder", "names_its_schema", "unpacker"]

Value = TypeVar("Value")

_learning = threading.Lock()
_learnt: set[Any] = set()


def decoded(raw: bytes | str, kind: type[Value]) -> Value:
    """What a JSON text says. Raises msgspec.DecodeError, and ValidationError where it says something else."""
    _learn(kind)
    return msgspec.json.decode(raw, type=kind)


def names_its_schema(record: msgspec.Struct) -> bool:
    """Whether a record has the schema that its kind writes; one without a schema always has."""
    known = {field.name: field.default for field in msgspec.structs.fields(record)}
    return not isinstance(known.get("schema"), str) or getattr(record, "schema", None) == known["schema"]


def converted(value: Any, kind: type[Value], *, strict: bool = True, from_attributes: bool = False) -> Value:
    """The value that plain data stands for. Raises msgspec.ValidationError."""
    _learn(kind)
    return msgspec.convert(value, kind, strict=strict, from_attributes=from_attributes)


def decoder(kind: type[Value]) -> msgspec.json.Decoder[Value]:
    """A reader of many JSON texts of one kind."""
    _learn(kind)
    return msgspec.json.Decoder(kind)


def unpacker(kind: type[Value]) -> msgspec.msgpack.Decoder[Value]:
    """A reader of MessagePack of one kind."""
    _learn(kind)
    return msgspec.msgpack.Decoder(kind)


def _learn(kind: Any) -> None:
    if kind in _learnt:
        return
    with _learning:
        msgspec.json.Decoder(kind)
        _learnt.add(kind)
