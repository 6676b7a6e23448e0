"""Reserving: which paths a pattern means, whether two patterns can mean one file, and who is in whose way.

A pattern is a path of the repository in which `*` and `?` stand for characters of one part and `**` for any parts. One that ends
with a slash is a directory and means everything below it."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from hindbrain.domain.reservation import Reservation
from hindbrain.engines.fence import shown
from hindbrain.engines.moments import stamped
from hindbrain.policy.reservations import PATH_CHARACTERS

__all__ = ["checked_pattern", "conflicts", "covers", "live", "overlap", "row", "told"]

_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ANY = "**"

Part = TypeVar("Part")


def checked_pattern(text: str) -> str:
    """The one spelling of a pattern; ValueError says why it cannot be one."""
    if not text.strip():
        raise ValueError("a path is empty")
    if len(text) > PATH_CHARACTERS:
        raise ValueError(f"a path has more than {PATH_CHARACTERS} characters")
    if _STEERING.search(text):
        raise ValueError("a path holds control characters")
    if text.startswith(("/", "~")):
        raise ValueError("a path is relative to the repository")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError("a path leads outside of the repository")
    return "/".join(parts) + ("/" if text.endswith("/") else "") if parts else _ANY


def overlap(one: str, other: str) -> bool:
    """Whether there can be a file that both patterns mean."""
    if not any(sign in one + other for sign in "*?"):  # as nearly all are
        plain, also = one.rstrip("/") + "/", other.rstrip("/") + "/"
        return plain == also or (one.endswith("/") and also.startswith(one)) or (other.endswith("/") and plain.startswith(other))
    return _meet(_parts(one), _parts(other), _ANY, _parts_meet)


def covers(pattern: str, path: str) -> bool:
    """Whether a pattern means this very file, whatever characters its name has."""
    return _meet(_parts(pattern), path.split("/"), _ANY, _spelled, one_sided=True)


def live(held: Iterable[Reservation], now: int) -> list[Reservation]:
    """What has not ended."""
    return [one for one in held if one.until_ms > now]


def conflicts(held: Iterable[Reservation], agent_id: str | None, path: str, *, shared: bool, literal: bool) -> list[Reservation]:
    """What others hold of a path. Two that share are in nobody's way, and so are two of which one was told of the other."""
    means = covers if literal else overlap
    own = [one for one in held if one.agent_id == agent_id and means(one.path, path)]
    excused = {name for one in own for name in one.forced_over}
    return [
        one
        for one in held
        if one.agent_id != agent_id
        and not (one.shared and shared)
        and one.agent_id not in excused
        and agent_id not in one.forced_over
        and means(one.path, path)
    ]


def row(one: Reservation) -> dict[str, Any]:
    """A reservation as answers have it."""
    return {
        "agent_id": one.agent_id,
        "path": one.path,
        "shared": one.shared,
        "reason": one.reason,
        "made_at": stamped(one.made_ms),
        "until": stamped(one.until_ms),
        "checkout": one.checkout,
        "forced_over": list(one.forced_over),
    }


def told(one: Reservation) -> str:
    """A reservation in one line. The reason is what its holder wrote."""
    kind = "shares" if one.shared else "holds"
    why = f', saying "{" ".join(shown(one.reason).split())}"' if one.reason else ""
    return f"{one.agent_id} {kind} {shown(one.path)} until {stamped(one.until_ms)}{why}"


def _parts(pattern: str) -> list[str]:
    return [*pattern[:-1].split("/"), _ANY] if pattern.endswith("/") else pattern.split("/")


def _parts_meet(one: str, other: str) -> bool:
    if not any(sign in one + other for sign in "*?"):
        return one == other
    return _meet(one, other, "*", lambda a, b: a == b or "?" in (a, b))


def _spelled(part: str, name: str) -> bool:
    if not any(sign in part for sign in "*?"):
        return part == name
    return _meet(part, name, "*", lambda a, b: a in (b, "?"), one_sided=True)


def _meet(
    one: Sequence[Part], other: Sequence[Part], star: Part, same: Callable[[Part, Part], bool], *, one_sided: bool = False
) -> bool:
    """Whether something fits both rows, in which a star stands for anything. One-sided: the other row means itself only."""
    below = [False] * (len(other) + 1)
    for i in range(len(one), -1, -1):
        row = [False] * (len(other) + 1)
        for j in range(len(other), -1, -1):
            first = i < len(one) and one[i] == star
            second = not one_sided and j < len(other) and other[j] == star
            if i == len(one) and j == len(other):
                row[j] = True
            elif first or second:  # the star ends, or takes one more of the other side
                row[j] = (i < len(one) and below[j]) or (j < len(other) and row[j + 1])
            elif i < len(one) and j < len(other):
                row[j] = below[j + 1] and same(one[i], other[j])
        below = row
    return below[0]
