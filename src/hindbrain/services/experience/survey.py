"""Survey: a brain's experience from above. Every pair with what it advises, and the Dreamer's last nights. Looks only."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.experience import Effective, EventKind, Level, Pair, Potentials, Writer
from hindbrain.domain.ledger import Entry
from hindbrain.domain.stored import stored_json
from hindbrain.engines.fence import fenced
from hindbrain.engines.moments import stamped
from hindbrain.engines.potentials import settled
from hindbrain.policy.experience import ACTIONS
from hindbrain.services.brains import Brains
from hindbrain.services.routing import Router
from hindbrain.stores.port import BrainStore, MegramFilter

__all__ = ["Survey"]

_CYCLE = "dream.cycle"
_RULES_MOST = 2_000  # rules looked at for whose night they are of
_TOLD_MOST = 20  # rules named of one night


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    pair: Pair
    told: Potentials
    count: int


@dataclass(slots=True, kw_only=True)
class _Night:
    """A cycle that changed something, with the rules it made and those it took the trust from."""

    entry: Entry
    counts: dict[str, Any]
    promoted: list[Effective] = field(default_factory=list)
    demoted: list[Effective] = field(default_factory=list)

    def many(self, what: str) -> int:
        return int(self.counts.get(what, 0))


class Survey:
    """Answers about all of a brain's experience at once."""

    def __init__(self, brains: Brains, router: Router, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._clock = clock

    def pairs(self, caller: Caller, *, find: str, action: str | None, limit: int) -> dict[str, Any]:
        """Every pair with both sums and what they advise, the strongest first."""
        brain, now = self._router.write_route(caller), self._clock()
        words = find.casefold().split()
        with self._brains.use(brain) as opened:
            store = opened.store
            found = [_summed(store, pair, now) for pair in store.pairs() if _named(pair, words)]
            counted = [one for one in found if one.count]
            wanted = [one for one in counted if action is None or one.told.action.value == action]
            wanted.sort(key=lambda one: (-one.told.attention, one.pair))
            rows = [_row(store, one) for one in wanted[:limit]]
        advice = {
            name: sum(one.told.action.value == name for one in counted) for name in ("Exploit", "Avoid", "Caution", "Ignore")
        }
        head = f"{brain.display_name}: {len(wanted)} pair(s), " + ", ".join(f"{name} {count}" for name, count in advice.items())
        lines = [
            f"{one['space']} / {one['entity']}: {one['action']} ({one['attention']:.4g} / {one['decision']:+.4g})" for one in rows
        ]
        return {
            "ok": True,
            "schema": "hindbrain-experience-pairs-v0",
            "brain": brain.name,
            "pairs": rows,
            "total": len(wanted),
            "left_out": len(wanted) - len(rows),
            "by_action": advice,
            "thresholds": {"attention": ACTIONS.attention, "decision": ACTIONS.decision},
            "rendered": _told(head, lines),
        }

    def nights(self, caller: Caller, *, limit: int) -> dict[str, Any]:
        """The last cycles that changed something, the latest first. One that found nothing to do leaves no trace."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            store = opened.store
            nights = [
                _Night(entry=one, counts=stored_json(one.payload, "ledger"))
                for one in store.entries(act=_CYCLE, limit=limit, newest=True)
            ]
            _shared_out(store, nights)
        rows = [_night(one) for one in nights]
        return {
            "ok": True,
            "schema": "hindbrain-experience-nights-v0",
            "brain": brain.name,
            "nights": rows,
            "rendered": _told(
                f"{brain.display_name}: {len(rows)} night(s)" if rows else "The Dreamer has changed nothing yet.",
                [line for row in rows for line in _night_lines(row)],
            ),
        }


def _named(pair: Pair, words: Sequence[str]) -> bool:
    name = f"{pair.space} {pair.entity}".casefold()
    return all(word in name for word in words)


def _summed(store: BrainStore, pair: Pair, now: int) -> _Sums:
    sums = store.potentials(pair, at=now)
    return _Sums(pair=pair, told=settled(sums.attention, sums.decision), count=sums.count)


def _row(store: BrainStore, one: _Sums) -> dict[str, Any]:
    held = list(store.effective(MegramFilter(pair=one.pair, levels=("M", "K", "C"))))
    return {
        "space": one.pair.space,
        "entity": one.pair.entity,
        "attention": one.told.attention,
        "decision": one.told.decision,
        "action": one.told.action.value,
        "count": one.count,
        "levels": {level: sum(each.level.value == level for each in held) for level in ("M", "K", "C")},
        "newest_at": stamped(max(each.megram.created_at for each in held)) if held else None,
    }


def _shared_out(store: BrainStore, nights: Sequence[_Night]) -> None:
    """Give each night its rules. A cycle is recorded when it ends, so what happened belongs to the first that ended after it and
    says that it did such a thing."""
    if not nights:
        return
    since = nights[-1].entry.at - nights[-1].many("elapsed_ms")
    rules = store.effective(MegramFilter(levels=("C", "K"), settled=True), limit=_RULES_MOST)
    for rule in (one for one in rules if one.megram.level is Level.C):
        if rule.megram.writer is Writer.DREAMER and rule.megram.created_at >= since:
            _give(nights, "promoted", rule.megram.created_at, rule)
        if rule.level is Level.K:
            lost = [one.at for one in store.megram_events(rule.megram.id) if one.kind is EventKind.DEMOTED]
            if lost and lost[-1] >= since:
                _give(nights, "demoted", lost[-1], rule)


def _give(nights: Sequence[_Night], what: str, at: int, rule: Effective) -> None:
    own = next((one for one in reversed(nights) if one.entry.at >= at and one.many(what)), None)
    if own is not None:
        (own.promoted if what == "promoted" else own.demoted).append(rule)


def _night(one: _Night) -> dict[str, Any]:
    return {
        "seq": one.entry.seq,
        "at": stamped(one.entry.at),
        **{name: one.many(name) for name in ("forgotten", "spent", "pairs", "staged", "hypotheses", "failed", "elapsed_ms")},
        "promoted": one.many("promoted"),
        "promoted_rules": _rules(one.promoted),
        "demoted": one.many("demoted"),
        "demoted_rules": _rules(one.demoted),
    }


def _rules(rules: Iterable[Effective]) -> list[dict[str, Any]]:
    """Those that are still kept; a night may have made more."""
    return [
        {
            "id": one.megram.id,
            "space": one.megram.space,
            "entity": one.megram.entity,
            "content": one.megram.content,
            "sigma": one.megram.sigma,
            "level": one.level.value,
        }
        for one in list(rules)[:_TOLD_MOST]
    ]


def _night_lines(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['at']}: {row['forgotten'] + row['spent']} forgotten, {row['demoted']} demoted, {row['promoted']} promoted"
        + (f", {row['hypotheses']} supposed" if row["hypotheses"] else ""),
        *(f"    + {one['id'][:8]} {one['content'][:120]}" for one in row["promoted_rules"]),
        *(f"    - {one['id'][:8]} {one['content'][:120]}" for one in row["demoted_rules"]),
    ]


def _told(head: str, lines: Sequence[str]) -> str:
    return f"{head}\n{fenced(chr(10).join(lines))}" if lines else head
