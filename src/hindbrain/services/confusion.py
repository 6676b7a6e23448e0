"""Confusion telemetry: what letters tell the doctor. Whole numbers by week and by kind; nothing is judged, nothing is filed."""

from collections.abc import Sequence
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import ConfigInvalid
from hindbrain.domain.misdelivery import Misdelivery
from hindbrain.engines.confusion import confusion
from hindbrain.engines.fates import counted, open_among
from hindbrain.engines.fence import plain_line
from hindbrain.services.mailbox.sweep import Sweep

__all__ = ["ConfusionNumbers"]

_NAMES_MOST = 20  # of repositories that letters wait for; the count says how many letters there are
_NAME_CHARS = 100


class ConfusionNumbers:
    """The numbers of letters for the doctor's section on memory."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def told(self, caller: Caller, weeks: Sequence[str]) -> dict[str, Any]:
        """`weeks` with their events, `mailbox` and `confusion`. When the letters cannot be read, -1 for each and `unreadable`."""
        try:
            known, plan = self._sweep.look(caller)
        except (OSError, ConfigInvalid) as failed:
            return _unknown(weeks) | {"unreadable": (failed.strerror if isinstance(failed, OSError) else None) or str(failed)}
        letters = known.letters
        found = confusion(letters, known.graph, weeks)
        pending = [target.name for target in plan.targets.values() if target.reason is not None]
        # A name is what a letter of any project says, so it is told only to who may read that letter.
        names = sorted({plain_line(name)[:_NAME_CHARS] for name in pending}) if self._sweep.reads_all(caller) else []
        return {
            "weeks": [{"confusion_rate": sum(kinds.values()), "by_kind": kinds} for kinds in found.weeks],
            "mailbox": {
                "spool_letters": len(known.spool.letters),
                "open": open_among(counted(letters, known.graph)),
                "pending_distribution": {"count": len(pending), "names": names[:_NAMES_MOST]},
                "refused_hygiene": len(plan.refused),
                "malformed": known.spool.malformed + sum(batch.malformed for batch in known.boxes.values()),
                "undated": found.undated,
            },
            "confusion": {"by_kind": found.by_kind, "invalid_kind": found.invalid_kind, "rejected": found.rejected},
        }


def _unknown(weeks: Sequence[str]) -> dict[str, Any]:
    """The same without numbers. A nought would say that all is well."""
    kinds = {kind.value: -1 for kind in Misdelivery}
    counts = dict.fromkeys(("spool_letters", "open", "refused_hygiene", "malformed", "undated"), -1)
    return {
        "weeks": [{"confusion_rate": -1, "by_kind": kinds} for _ in weeks],
        "mailbox": counts | {"pending_distribution": {"count": -1, "names": []}},
        "confusion": {"by_kind": kinds, "invalid_kind": -1, "rejected": -1},
    }
