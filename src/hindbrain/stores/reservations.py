"""Reservations as a file of a bus: that of the main checkout of a repository."""

from collections.abc import Sequence

import msgspec

from hindbrain.domain.errors import StoreUnavailable
from hindbrain.domain.reservation import Reservation
from hindbrain.domain.typed import decoded
from hindbrain.stores.bus_files import FileLook, FileTurn

__all__ = ["put_reservations", "read_reservations"]

_NAME = "reservations.json"


class _File(msgspec.Struct, frozen=True, kw_only=True):
    schema: str = "hindbrain-cowork-reservations-v0"
    reservations: tuple[Reservation, ...] = ()


def read_reservations(look: FileLook) -> list[Reservation]:
    """What was reserved, whether it has ended or not."""
    raw = look.read(_NAME)
    if not raw:
        return []
    try:
        return list(decoded(raw, _File).reservations)
    except (msgspec.MsgspecError, UnicodeDecodeError) as damaged:
        raise StoreUnavailable(f"{_NAME} of this bus is damaged", fix="move the file away; agents reserve again") from damaged


def put_reservations(turn: FileTurn, held: Sequence[Reservation]) -> None:
    turn.replace(_NAME, msgspec.json.format(msgspec.json.encode(_File(reservations=tuple(held))), indent=2) + b"\n")
