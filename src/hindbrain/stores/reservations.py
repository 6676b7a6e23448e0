"""Reservations as a file of a bus: that of the main checkout of a repository."""

from collections.abc import Sequence

import msgspec

from hindbrain.domain.errors import StoreDamaged
from hindbrain.domain.reservation import Reservation
from hindbrain.domain.typed import decoded, names_its_schema
from hindbrain.stores.bus_files import FileLook, FileTurn

__all__ = ["ReservationsFile", "put_reservations", "read_reservations"]

_NAME = "reservations.json"


class ReservationsFile(msgspec.Struct, frozen=True, kw_only=True):
    """Who reserved which files of a repository."""

    schema: str = "hindbrain-cowork-reservations-v0"
    reservations: tuple[Reservation, ...] = ()


def read_reservations(look: FileLook) -> list[Reservation]:
    """What was reserved, whether it has ended or not."""
    raw = look.read(_NAME)
    if not raw:
        return []
    try:
        found = decoded(raw, ReservationsFile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as damaged:
        raise _damaged() from damaged
    if not names_its_schema(found):
        raise _damaged()  # of another release: it is not written over
    return list(found.reservations)


def _damaged() -> StoreDamaged:
    fix = "run hindbrain doctor --fix; agents reserve again"
    return StoreDamaged(f"{_NAME} of this bus is damaged or of another release", fix=fix, path=_NAME)


def put_reservations(turn: FileTurn, held: Sequence[Reservation]) -> None:
    turn.replace(_NAME, msgspec.json.format(msgspec.json.encode(ReservationsFile(reservations=tuple(held))), indent=2) + b"\n")
