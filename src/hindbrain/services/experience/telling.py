"""Telling: what a brain's experience says, as somebody reads it who wants to know. Looks only; asking here is not using."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.experience import Effective, EventKind, Pair
from hindbrain.domain.stored import stored_json
from hindbrain.engines.bankruptcy import standing
from hindbrain.engines.curves import Curve, drawn, earlier, sampled, svg
from hindbrain.engines.fence import fenced, shown
from hindbrain.engines.moments import stamped
from hindbrain.engines.potentials import attention, broken_law, counts, half_life_days, potentials, rounded, settled
from hindbrain.policy.experience import ACTIONS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.experience.drafts import normalised, rule_note
from hindbrain.services.experience.pictures import png
from hindbrain.services.experience.room import chosen
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_new
from hindbrain.stores.port import BrainStore, MegramFilter

__all__ = ["Telling"]

_LEVELS = ("M", "K", "C", "T")
_RULES_MOST = 200
_GROUPS_MOST = 500
_GROUP_MOST = 20  # megrams told of one group
_SOURCES_MOST = 50
_POINTS = 60
_AGAINST_MOST = 5


class Telling:
    """Answers of the commands that look at experience."""

    def __init__(self, brains: Brains, router: Router, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._clock = clock

    def query(self, caller: Caller, *, space: str, entity: str | None, recent: int) -> dict[str, Any]:
        """Both sums of a pair or of a whole space, what they advise, its rules and its newest episodes."""
        brain, now = self._router.write_route(caller), self._clock()
        pair = Pair(space=space, entity=normalised(entity)) if entity else None
        with self._brains.use(brain) as opened:
            store = opened.store
            sums = store.potentials(pair, at=now) if pair else store.space_potentials(space, at=now)
            rules = list(
                store.effective(MegramFilter(levels=("C",), pair=pair, space=None if pair else space), limit=_RULES_MOST)
            )
            newest = (
                list(store.effective(MegramFilter(levels=("M", "K"), pair=pair, space=None if pair else space), limit=recent))
                if recent
                else []
            )
        told = settled(sums.attention, sums.decision)
        return {
            "ok": True,
            "schema": "hindbrain-experience-query-v0",
            "brain": brain.name,
            "space": space,
            "entity": pair.entity if pair else None,
            "attention": told.attention,
            "decision": told.decision,
            "action": told.action.value,
            "count": sums.count,
            "rules": [_rule(one) for one in rules],
            "recent": [_line(one, now) for one in newest],
            "rendered": _told(
                f"{shown(space)}{f' / {shown(pair.entity)}' if pair else ''}: {told.action.value} "
                f"(attention {told.attention:.4g}, decision {told.decision:+.4g}, {sums.count} experience(s))",
                [
                    *(f"rule {one.megram.id[:8]} {one.megram.content}" for one in rules),
                    *(f"{one.megram.id[:8]} {one.megram.state}: {one.megram.content[:160]}" for one in newest),
                ],
            ),
        }

    def explain(self, caller: Caller, *, id_prefix: str) -> dict[str, Any]:
        """Behind a megram or a rule: the message and task it came from, its loss, its sources and what befell it."""
        brain, now = self._router.write_route(caller), self._clock()
        with self._brains.use(brain) as opened:
            store = opened.store
            held = chosen(store, id_prefix)
            megram = held.megram
            events = store.megram_events(megram.id)
            sources = store.megrams(list(megram.derived_from[:_SOURCES_MOST]))
            first = store.megram_events(megram.derived_from[0]) if megram.derived_from else ()
            event = _event(store, megram.task_id, megram.source_event_id)
            trust = _trust(store, held, now)
        carried = next((one for one in events if one.kind is EventKind.CONSOLIDATED), None)
        by = next(
            (stored_json(one.detail, "megram_event").get("distilled_by") for one in first if one.into_id == megram.id), None
        )
        listed = [
            _line(sources[id_], now) if id_ in sources else {"id": id_, "gone": True}
            for id_ in megram.derived_from[:_SOURCES_MOST]
        ]
        return {
            "ok": True,
            "schema": "hindbrain-experience-explain-v0",
            "brain": brain.name,
            "megram": _line(held, now)
            | {
                "writer": megram.writer.value,
                "category": megram.category,
                "tags": list(megram.tags),
                "last_recalled_at": stamped(held.last_recalled_at) if held.last_recalled_at is not None else None,
                "recalls": held.recalls,
                "half_life_days": round(half_life_days(held.k), 3) if held.k else None,
            },
            "event": event,
            "source_event_id": megram.source_event_id,
            "task_id": megram.task_id,
            "mission_id": megram.mission_id,
            "round": megram.round,
            "loss": stored_json(megram.loss, "megram") if megram.loss else None,
            "sources": listed,
            "sources_left_out": max(len(megram.derived_from) - _SOURCES_MOST, 0),
            "distilled_by": by,
            "supersedes": megram.supersedes,
            "carried_by": carried.into_id if carried else None,
            "history": [{"at": stamped(one.at), "kind": one.kind.value, "into": one.into_id} for one in events],
            "trust": trust,
            "rendered": _explained(held, now, event, listed, by, trust),
        }

    def summary(self, caller: Caller, *, verbose: bool) -> dict[str, Any]:
        """How much there is at each level, and every rule; with `verbose` every group with its sums."""
        brain, now = self._router.write_route(caller), self._clock()
        with self._brains.use(brain) as opened:
            counts = {level: opened.store.level_counts().get(level, 0) for level in _LEVELS}
            rules = list(opened.store.effective(MegramFilter(levels=("C",)), limit=_RULES_MOST))
            told = [_rule(one) | _origin(one) | {"trust": _trust(opened.store, one, now)} for one in rules]
            thinking = [
                _rule(one) | _origin(one) for one in opened.store.effective(MegramFilter(levels=("T",)), limit=_RULES_MOST)
            ]
            groups, left = _groups(opened, now) if verbose else (None, 0)
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-experience-summary-v0",
            "brain": brain.name,
            "level_counts": counts,
            "c_level": told,
            "t_level": thinking,
        }
        lines = [f"{one.megram.id[:8]} ({one.megram.space} / {one.megram.entity}) {one.megram.content}" for one in rules]
        if groups is not None:
            answer |= {"groups": groups, "groups_left_out": left}
            lines += [line for group in groups for line in _group_lines(group)]
        head = f"{brain.display_name}: " + ", ".join(f"{level} {count}" for level, count in counts.items())
        return answer | {"rendered": _told(head, lines)}

    def curve(
        self,
        caller: Caller,
        *,
        space: str | None,
        entity: str | None,
        id_prefix: str | None,
        days: float,
        out: str | None,
        back: float = 0.0,
    ) -> dict[str, Any]:
        """How a pair or a single experience fades from now on, drawn, and as a picture where one is asked for. With `back` also
        how it came about, as far as what is kept tells."""
        if (id_prefix is None) == (space is None):
            raise InvalidParams("one thing is drawn: a pair or an experience", fix="give megram, or space with entity")
        if out is not None and Path(out).suffix.lower() not in (".svg", ".png"):
            raise InvalidParams("a picture is an SVG or a PNG", fix="let out end in .svg or .png")
        brain, now = self._router.write_route(caller), self._clock()
        with self._brains.use(brain) as opened:
            if id_prefix is not None:
                held = [chosen(opened.store, id_prefix)]
                title = f"{held[0].megram.state} {held[0].megram.id[:8]}"
            else:
                pair = Pair(space=space or "", entity=normalised(entity)) if entity else None
                where = MegramFilter(pair=pair, space=None if pair else space, settled=back > 0)
                held = list(opened.store.effective(where))
                title = f"{space}{f' / {entity}' if entity else ''}"
        drawing = sampled(held, now, days=days, points=_POINTS)
        before = earlier(held, now, days=back, points=_POINTS) if back > 0 else None
        path = None
        if out is not None:
            picture = svg(drawing, title).encode() if out.lower().endswith(".svg") else png(drawing)
            path = out
            write_new(Path(out), picture)
        return {
            "ok": True,
            "schema": "hindbrain-experience-curve-v0",
            "brain": brain.name,
            "title": title,
            "megrams": sum(counts(one) for one in held) if id_prefix is None else 1,
            "days": list(drawing.days),
            "attention": list(drawing.attention),
            "decision": list(drawing.decision),
            **({"before": _numbers(before)} if before is not None else {}),
            "heard_from": ACTIONS.attention,
            "path": path,
            "rendered": (f"{shown(title)}, {len(held)} experience(s)\n{drawn(drawing)}" if held else _unknown(title))
            + (f"\nWritten to {path}." if path else ""),
        }


def _numbers(curve: Curve) -> dict[str, Any]:
    return {"days": list(curve.days), "attention": list(curve.attention), "decision": list(curve.decision)}


def _unknown(title: str) -> str:
    return f"nothing was experienced with {shown(title)} yet: hindbrain experience summary lists what there is"


def _rule(one: Effective) -> dict[str, Any]:
    note = rule_note(one)
    law = broken_law(note.content, note.sigma)
    told = {"id": note.id, "space": note.space, "entity": note.entity, "content": note.content, "sigma": note.sigma}
    return told | ({"withheld_by_law": law.number} if law else {})


def _origin(one: Effective) -> dict[str, Any]:
    megram = one.megram
    return {
        "state": megram.state,
        "writer": megram.writer.value,
        "created_at": stamped(megram.created_at),
        "recalls": one.recalls,
    }


def _trust(store: BrainStore, rule: Effective, now: int) -> dict[str, Any] | None:
    """How far a rule is from losing its trust, and what would take it; None for what is no rule."""
    found = standing(rule, list(store.effective(MegramFilter(pair=rule.megram.pair))), now)
    if found is None:
        return None
    return {
        "attention": found.sums.attention,
        "decision": found.sums.decision,
        "margin": found.margin,
        "for_it": found.for_it,
        "against": [_line(one, now) for one in found.against[:_AGAINST_MOST]],
        "against_count": len(found.against),
        "overruled": found.overruled,
        "lost": found.lost,
        "would_take_it": [{"state": blow.state, "needed": blow.needed} for blow in found.blows],
    }


def _line(one: Effective, now: int) -> dict[str, Any]:
    megram, left = one.megram, rounded(attention(one, now))
    return {
        "id": megram.id,
        "level": one.level.value,
        "space": megram.space,
        "entity": megram.entity,
        "state": megram.state,
        "content": megram.content,
        "f": megram.f,
        "sigma": megram.sigma,
        "k": one.k,
        "created_at": stamped(megram.created_at),
        "attention": left,
        "decision": rounded(left * megram.sigma),
    }


def _event(store: BrainStore, task_id: str | None, event_id: str | None) -> dict[str, Any] | None:
    after = 0
    while task_id and event_id and (page := store.messages(after=after, task_id=task_id)):
        for one in page:
            if one.id == event_id:
                return {
                    "id": one.id,
                    "seq": one.seq,
                    "at": stamped(one.at),
                    "from": one.sender,
                    "to": one.recipient,
                    "type": one.type,
                }
        after = page[-1].seq
    return None


def _groups(opened: OpenBrain, now: int) -> tuple[list[dict[str, Any]], int]:
    """Every level of every pair, in the order of the levels, then by name."""
    made: list[dict[str, Any]] = []
    left = 0
    for level in _LEVELS:
        for pair in _pairs(opened.store, level):
            if len(made) >= _GROUPS_MOST:
                left += 1
                continue
            held = list(opened.store.effective(MegramFilter(pair=pair, levels=(level,))))
            sums = potentials(held, now)
            made.append(
                {
                    "level": level,
                    "space": pair.space,
                    "entity": pair.entity,
                    "attention": sums.attention,
                    "decision": sums.decision,
                    "action": sums.action.value,
                    "megrams": [_line(one, now) for one in held[:_GROUP_MOST]],
                    "megrams_left_out": max(len(held) - _GROUP_MOST, 0),
                }
            )
    return made, left


def _pairs(store: BrainStore, level: str) -> Iterator[Pair]:
    found = sorted(one.megram.pair for one in store.effective(MegramFilter(levels=(level,))))
    return (pair for pair, _ in groupby(found))


def _told(head: str, lines: Sequence[str]) -> str:
    """A line of ours, then what is stored, as the data it is."""
    return f"{head}\n{fenced(chr(10).join(lines))}" if lines else head


def _group_lines(group: dict[str, Any]) -> list[str]:
    sums = f"{group['action']} ({group['attention']:.4g} / {group['decision']:+.4g})"
    return [
        f"{group['level']} {group['space']} / {group['entity']}: {sums}",
        *(f"    {one['id'][:8]} {one['state']} {one['attention']:.4g} {one['content'][:100]}" for one in group["megrams"]),
    ]


def _explained(
    held: Effective,
    now: int,
    event: dict[str, Any] | None,
    sources: Sequence[dict[str, Any]],
    by: str | None,
    trust: dict[str, Any] | None,
) -> str:
    megram = held.megram
    head = (
        f"{megram.id}: level {held.level.value}, attention {attention(held, now):.4g}, sigma {megram.sigma:+g}, "
        f"decay {held.k:g} a day, written by {megram.writer.value}"
    )
    if trust is not None:
        blows = ", or ".join(f"{one['needed']} x {one['state']}" for one in trust["would_take_it"])
        head += f"\nIts trust: {trust['margin']:.4g} above losing it. It would be taken by {blows}, coming at once."
    lines = [f"{megram.state} at {megram.space} / {megram.entity}: {megram.content}"]
    if event:
        lines.append(f"because of {event['type']} {event['id']} ({event['from']} to {event['to']}, {event['at']})")
    if megram.task_id:
        lines.append(f"task {megram.task_id}" + (f", round {megram.round}" if megram.round is not None else ""))
    if megram.loss:
        lines.append(f"loss {megram.loss}")
    if sources:
        lines.append(f"from {len(megram.derived_from)} source(s)" + (f", worded by {by}" if by else "") + ":")
        lines += [
            f"  {one['id'][:8]} " + ("(gone)" if one.get("gone") else f"{one['state']}: {one['content'][:120]}")
            for one in sources
        ]
    return _told(head, lines)
