"""Taking: what becomes of one item. Claims and boot entries pass the gateway one by one; each is remembered by where it lay, so
that what was changed here since is never overwritten."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.claim import Block, Claim, one_line, parse, render, slug_of
from hindbrain.domain.errors import ClaimTooLarge, HumanNeeded, InvalidParams, StaleWrite, WouldDowngrade
from hindbrain.domain.ledger import Act
from hindbrain.domain.moving import Item
from hindbrain.engines.legacy_values import line_of
from hindbrain.engines.transcripts import cleaned
from hindbrain.policy.limits import AGENT_MAX, CLAIM_MAX_BYTES
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.gateway import Draft, Gateway, recorded
from hindbrain.stores.port import BootEntry, Writer

__all__ = ["BootTaking", "ClaimTaking", "Origin"]

SITE = "memory.import"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an item comes from: which program's, which store of it."""

    kind: str
    id: str

    def mark(self, key: str) -> str:
        """The name under which a brain remembers an item. A digest: a key may say more than the brain shall know."""
        digest = hashlib.sha256("\x1f".join((self.kind, self.id, key)).encode("utf-8", "surrogatepass")).hexdigest()
        return f"moved:{digest[:32]}"


class ClaimTaking:
    """Claims of elsewhere, with the age and the author they had."""

    def __init__(self, brains: Brains, gateway: Gateway) -> None:
        self._brains = brains
        self._gateway = gateway

    def take(self, caller: Caller, opened: OpenBrain, origin: Origin, item: Item, *, execute: bool) -> bool:
        """True when it came, False when it is here already. What may not come is raised."""
        claim, text, slug = _claim(item)
        live = opened.store.live([slug]).get(slug)
        salt = opened.store.meta("salt") or ""
        mark, digest = origin.mark(item.key), recorded(salt, text) if salt else ""
        if live is not None and live.text == text:
            return False
        if salt and opened.store.meta(mark) == digest:
            self._gateway.check_tombstones(opened, claim, slug=slug)
            return False  # it came before; what became of it here since is nobody's to undo
        self._gateway.check_text(text)
        self._gateway.check_hygiene(opened, [text], site=SITE)
        self._gateway.check_tombstones(opened, claim, slug=slug)
        self._check_born(opened, claim, slug)
        if claim.absolute and caller.channel is not Channel.HUMAN:
            raise HumanNeeded("absolute doctrine is set by a person, in the medulla", fix="a person imports it in a terminal")
        if live is not None:
            self._check_newer(opened, slug, claim, live.text)
        if not execute:
            return True
        salt = self._gateway.salt(opened)
        own = _own(slug)

        def remember(writer: Writer) -> None:
            writer.set_meta(mark, recorded(salt, text))
            writer.set_meta(own, recorded(salt, text))

        self._gateway.put(
            opened,
            Draft(
                claim=claim,
                act="claim.import",
                actor=caller.agent,
                channel=Channel.IMPORT,
                slug=slug,
                text=text,
                before=remember,
            ),
        )
        return True

    @staticmethod
    def _check_newer(opened: OpenBrain, slug: str, claim: Claim, live: str) -> None:
        """Another version stands here. It makes room only if it came by an import, nobody touched it since, and it is older."""
        held, salt = parse(live), opened.store.meta("salt") or ""
        untouched = opened.store.meta(_own(slug)) == recorded(salt, live)
        if not untouched or (claim.created or 0) <= (held.created or 0):
            raise StaleWrite(
                f"a claim of this name is here already, {'and newer' if untouched else 'and was written here'}",
                fix="compare both; memorize what holds",
            )
        if not claim.strength.holds_against(held.strength):
            raise WouldDowngrade("the version that stands here is stronger", fix="leave it, or verify the newer one")

    def _check_born(self, opened: OpenBrain, claim: Claim, slug: str) -> None:
        """What the brain it was born in has rejected or forgotten is not carried into another one of this home."""
        brain = self._brains.born_in(claim.origin_brain)
        if brain is not None and brain.name != opened.brain.name:
            with self._brains.use(brain) as there:
                self._gateway.check_tombstones(there, claim, slug=slug)


def _own(slug: str) -> str:
    """Where a brain remembers the text with which a claim came."""
    return f"moved-claim:{slug}"


def _claim(item: Item) -> tuple[Claim, str, str]:
    if item.light:
        if len(item.text.encode("utf-8", "surrogatepass")) > CLAIM_MAX_BYTES:
            raise ClaimTooLarge(f"the claim has more than {CLAIM_MAX_BYTES} bytes", fix="keep one belief a file")
        claim = parse(item.text, fallback_label=item.label)
        return claim, item.text, slug_of(item.label or claim.label)
    prose, label = cleaned(item.text)[0], line_of(item.label, AGENT_MAX)
    if not prose.strip():
        raise InvalidParams("the note says nothing", fix="leave it where it is")
    claim = Claim(
        label=label,
        created=item.at,
        source_agent=line_of(item.author, AGENT_MAX) or None,
        blocks=(Block(label=label, text=prose, evidence=tuple(map(one_line, item.refs))),),
    )
    return claim, render(claim), claim.slug


class BootTaking:
    """Small keyed values of elsewhere. A key that is here keeps its value."""

    def __init__(self, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._clock = clock

    def take(self, caller: Caller, opened: OpenBrain, item: Item, *, execute: bool) -> bool:
        """True when it came, False when the key is here already."""
        key = item.label
        if not key.strip():
            raise InvalidParams("a value without a key")
        if any(one.key == key for one in opened.store.boot()):
            return False
        by = line_of(item.author, AGENT_MAX) or caller.agent
        value = json.dumps(item.value, ensure_ascii=False, sort_keys=True)
        if len(value.encode("utf-8", "surrogatepass")) > CLAIM_MAX_BYTES:
            raise ClaimTooLarge(f"the value has more than {CLAIM_MAX_BYTES} bytes", fix="keep a pointer, not the material")
        self._gateway.check_actor(by)
        self._gateway.check_text("".join([key, value, *item.tags, *item.refs]))
        self._gateway.check_keyed(opened, key, item.value, more=[*item.tags, *item.refs], site=SITE)
        if execute:
            now = self._clock()
            entry = BootEntry(
                key=key,
                value=value,
                tags=json.dumps(list(item.tags), ensure_ascii=False),
                source_refs=json.dumps(list(item.refs), ensure_ascii=False),
                updated_at_ms=item.at or now,
                updated_by_agent=by,
            )
            with opened.store.writing() as writer:
                writer.append(Act(act="boot.set", subject="boot", actor=caller.agent, channel=Channel.IMPORT, at=now, payload={}))
                writer.put_boot(entry)
        return True
