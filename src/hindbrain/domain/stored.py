"""Stored values: what a row of brain.db holds as text, read in its form. A row in another form is damage, and is named."""

import json
from typing import Any, TypeVar

import msgspec

from hindbrain.domain.errors import StoreDamaged
from hindbrain.domain.typed import decoded

__all__ = ["malformed_row", "stored_json", "stored_number", "stored_record"]

T = TypeVar("T")


def malformed_row(table: str) -> StoreDamaged:
    """A row that Hindbrain did not write like this. Its text is not repeated: nobody knows what it is."""
    return StoreDamaged(
        f"a row of the table {table} in brain.db cannot be read",
        fix="hindbrain doctor, then restore the brain.db it names from a copy",
        table=table,
    )


def stored_json(text: str, table: str) -> Any:
    """The value of a JSON text."""
    try:
        return json.loads(text)
    except ValueError as wrong:
        raise malformed_row(table) from wrong


def stored_record(text: str | bytes, kind: type[T], table: str) -> T:
    """The record of a JSON text."""
    try:
        return decoded(text, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        raise malformed_row(table) from wrong


def stored_number(text: str | None, table: str) -> int:
    """The whole number of a text; 0 where there is none."""
    try:
        return int(text or 0)
    except ValueError as wrong:
        raise malformed_row(table) from wrong
