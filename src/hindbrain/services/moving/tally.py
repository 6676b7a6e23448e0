"""The tally of one import: what came, what was here, what stays out and why."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.moving import Item, ItemKind, Unread
from hindbrain.policy.evidence import REFUSED_MOST
from hindbrain.policy.legacy import FLAGGED_MOST
from hindbrain.services.card_arrival import plain, refusal, shown

__all__ = ["NAMES", "Tally"]

# What each kind of item is counted as: its name in the answer, and what a person calls it.
NAMES: dict[ItemKind, tuple[str, str]] = {
    ItemKind.CLAIM: ("claims", "claim(s)"),
    ItemKind.EVIDENCE: ("evidence", "row(s) of evidence"),
    ItemKind.FILE: ("file_rows", "row(s) from files"),
    ItemKind.LETTER: ("letters", "letter(s)"),
    ItemKind.BOOT: ("boot_entries", "boot entr(ies)"),
}


@dataclass(slots=True, kw_only=True)
class Tally:
    """Numbers of everything, and names of the first."""

    counts: Counter[str] = field(default_factory=Counter)
    refused: list[dict[str, Any]] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)
    flagged: list[dict[str, Any]] = field(default_factory=list)
    odd: int = 0
    others: Counter[str] = field(default_factory=Counter)  # items of other projects, by the name that the source gives them
    persons: Counter[str] = field(default_factory=Counter)  # what only a person may take, and why

    def count(self, kind: ItemKind, *, created: int = 0, unchanged: int = 0) -> None:
        name = NAMES[kind][0]
        self.counts[name] += created
        if unchanged:
            self.counts[f"{name}_unchanged"] += unchanged

    def refuse(self, key: str, error: HindbrainError) -> None:
        self.refuse_rows([refusal(key, error)])

    def unread(self, one: Unread) -> None:
        self.refuse_rows([{"name": shown(one.key), "code": one.code, "reason": one.reason[:400]}])

    def refuse_rows(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            self.codes[str(row["code"])] += 1
            if len(self.refused) < REFUSED_MOST:
                self.refused.append(row | {"name": plain(str(row["name"])), "reason": plain(str(row["reason"]))})

    def flag(self, item: Item) -> None:
        for flag in item.odd:
            self.odd += 1
            if len(self.flagged) < FLAGGED_MOST:
                self.flagged.append({"name": shown(item.key), "flag": flag})

    @property
    def taken(self) -> int:
        return sum(self.counts[name] for name, _ in NAMES.values())

    @property
    def unchanged(self) -> int:
        return sum(self.counts[f"{name}_unchanged"] for name, _ in NAMES.values())

    @property
    def refusals(self) -> int:
        return self.codes.total()
