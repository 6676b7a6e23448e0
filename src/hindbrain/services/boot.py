"""Boot memory: small keyed values per brain. The database holds them; `boot_memory_state.json` shows them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain, TierAsked
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import one_line
from hindbrain.domain.errors import ClaimTooLarge, HindbrainError, InvalidParams, StoreUnavailable, UnknownClaim
from hindbrain.domain.ledger import Act
from hindbrain.domain.stored import stored_json
from hindbrain.policy.etiquette import BIRTH_WARNING, may_share
from hindbrain.policy.limits import CLAIM_MAX_BYTES
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.experience.erasing import Value
from hindbrain.services.gateway import Gateway
from hindbrain.services.recall import WIDE_IS_OFF, tier_asked
from hindbrain.services.routing import Router
from hindbrain.services.rows import RowMaker
from hindbrain.stores.atomic import write_whole
from hindbrain.stores.port import BootEntry

__all__ = ["Boot", "boot_text", "entry_text", "plain_entry", "show_boot"]

SCHEMA = "m1nd-boot-memory-v0"


class Boot:
    """get, list, set and delete of boot entries."""

    name = "boot_memory"

    def __init__(self, brains: Brains, router: Router, gateway: Gateway, maker: RowMaker, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._maker = maker
        self._clock = clock

    def write(
        self,
        caller: Caller,
        *,
        key: str,
        value: Any,
        tags: Sequence[str],
        source_refs: Sequence[str],
        tier: str | None,
        delete: bool,
    ) -> dict[str, Any]:
        """Set or delete a key in the caller's project, or with tier `medulla` in the doctrine's."""
        if not key.strip():
            raise InvalidParams("key is empty", fix="name the key")
        doctrine = tier == MEDULLA
        brain = self._router.named(caller, tier)
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
        if len(text.encode("utf-8", "surrogatepass")) > CLAIM_MAX_BYTES:
            raise ClaimTooLarge(
                f"the value of {key!r} has more than {CLAIM_MAX_BYTES} bytes", fix="keep a pointer, not the material"
            )
        self._gateway.check_text(key + text + "".join(tags) + "".join(source_refs))
        with self._brains.use(brain) as opened:
            if not delete:
                more = [*tags, *source_refs, caller.agent]
                self._gateway.check_keyed(opened, key, value, more=more, site="boot_memory")
            now = self._clock()
            entry = BootEntry(
                key=key,
                value=text,
                tags=json.dumps(list(tags), ensure_ascii=False),
                source_refs=json.dumps(list(source_refs), ensure_ascii=False),
                updated_at_ms=now,
                updated_by_agent=caller.agent,
            )
            with opened.lock, opened.store.writing() as writer:
                act = "boot.delete" if delete else "boot.set"
                writer.append(Act(act=act, subject="boot", actor=caller.agent, channel=caller.channel, at=now, payload={}))
                if not delete:
                    writer.put_boot(entry)
                elif not writer.drop_boot(key):
                    raise UnknownClaim(f"{brain.display_name} has no boot key {key!r}", fix="boot_memory list shows the keys")
            show_boot(opened)
        answer: dict[str, Any] = {
            "ok": True,
            "schema": SCHEMA,
            "action": "delete" if delete else "set",
            "key": key,
            "tier": brain.tier.value,
            "rendered": f"{'Deleted' if delete else 'Set'} “{one_line(key)}” in {brain.display_name}.",
        }
        if doctrine and not may_share(caller.agent):
            answer["etiquette"] = BIRTH_WARNING
        return answer

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Delete the entries that hold a forgotten value, in the database and in the file."""
        held = [
            one.key
            for one in opened.store.boot()
            if value.held_by(one.key) or any(map(value.held_in, (one.value, one.tags, one.source_refs)))
        ]
        if not held:
            return 0
        with opened.lock, opened.store.writing() as writer:
            act = Act(
                act="boot.forget",
                subject="boot",
                actor=caller.agent,
                channel=caller.channel,
                at=self._clock(),
                payload={"entries": len(held)},
            )
            writer.append(act)
            writer.erase_boot(held)
        show_boot(opened)
        return len(held)

    def read(self, caller: Caller, *, key: str | None, tier: str | None, may_go_wide: bool) -> dict[str, Any]:
        """All entries, or one, of this brain and the medulla; equal keys are both shown, the project's first."""
        asked, warning = tier_asked(tier)
        if asked is TierAsked.ALL_BRAINS and not may_go_wide:
            asked, warning = TierAsked.DEFAULT, WIDE_IS_OFF
        route = self._router.route(caller)
        brains: list[Brain] = []
        if asked is not TierAsked.MEDULLA and route.brain is not None:
            brains.append(route.brain)
        if asked is not TierAsked.PROJECT and self._brains.has_medulla():
            brains.append(self._brains.home.medulla())
        if asked is TierAsked.ALL_BRAINS:
            brains += [brain for brain in self._brains.all() if brain not in brains]
        entries: list[dict[str, Any]] = []
        unreachable: list[dict[str, str]] = []
        for brain in brains:
            try:
                entries += [entry for entry in self._entries(brain) if key is None or entry["key"] == key]
            except (HindbrainError, OSError) as failure:
                unreachable.append({"store_brain": brain.name, "reason": str(failure)})
        answer: dict[str, Any] = {"ok": True, "schema": SCHEMA, "tier": asked.value}
        if unreachable:
            answer["unreachable"] = unreachable
        if warning:
            answer["tier_warning"] = warning
        if key is None:
            return answer | {"action": "list", "entries": entries}
        if not entries and unreachable:
            raise StoreUnavailable(f"{unreachable[0]['store_brain']}: {unreachable[0]['reason']}", fix="hindbrain doctor")
        if not entries:
            raise UnknownClaim(f"no boot key {key!r} here", fix="boot_memory list shows the keys")
        return answer | {"action": "get", "entry": entries[0], "also": entries[1:]}

    def _entries(self, brain: Brain) -> list[dict[str, Any]]:
        with self._brains.use(brain) as opened:
            now = self._clock()
            return [
                {
                    **plain_entry(one),
                    "tier": brain.tier.value,
                    "origin_brain": brain.name,
                    "source_agent": one.updated_by_agent,
                    "age_ms": max(0, now - one.updated_at_ms),
                    "stale": self._maker.is_old(one.updated_at_ms, now),
                }
                for one in opened.store.boot()
            ]


def plain_entry(entry: BootEntry) -> dict[str, Any]:
    """One entry as plain values, as files and archives hold it."""
    return {
        "key": entry.key,
        "value": stored_json(entry.value, "boot"),
        "tags": stored_json(entry.tags, "boot"),
        "source_refs": stored_json(entry.source_refs, "boot"),
        "updated_at_ms": entry.updated_at_ms,
        "updated_by_agent": entry.updated_by_agent,
    }


def boot_text(opened: OpenBrain) -> str:
    """What `boot_memory_state.json` says."""
    entries = {one.key: plain_entry(one) for one in opened.store.boot()}
    return json.dumps({"entries": entries}, indent=2, ensure_ascii=False) + "\n"


def show_boot(opened: OpenBrain) -> None:
    """Write the file that people and old tools read; the database is the truth of it."""
    with opened.lock:
        write_whole(opened.directory / "boot_memory_state.json", boot_text(opened))


def entry_text(entry: dict[str, Any]) -> str:
    """One entry in words, attributed like every recalled text."""
    value = entry["value"] if isinstance(entry["value"], str) else json.dumps(entry["value"], ensure_ascii=False)
    return f"{entry['key']} ({entry['tier']}, by {entry['source_agent']}, from {entry['origin_brain']})\n{value}"
