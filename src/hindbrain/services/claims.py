"""Claims: memorize a belief, and read the history of a label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.claim import Block, Claim, body_text, one_line, parse, slug_of
from hindbrain.domain.errors import HumanNeeded, InvalidLabel, InvalidParams, InvalidState, UnknownClaim, WouldDowngrade
from hindbrain.policy.etiquette import BIRTH_WARNING, may_share
from hindbrain.policy.limits import MEDULLA_SOFT_CAP, MEDULLA_WARN_AT
from hindbrain.services import anchors
from hindbrain.services.arrivals import arrived_by, claim_of
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.gateway import Draft, Gateway, Put
from hindbrain.services.past_grades import PastGrades
from hindbrain.services.reconcile import WAITING, Reconciler
from hindbrain.services.routing import Router
from hindbrain.services.rows import WITNESS_SUPERSEDED, Row, RowMaker, date_of
from hindbrain.stores.port import Mark, Version, Writer
from hindbrain.stores.repository import repository_of

__all__ = ["BlockInput", "Claims", "medulla_size", "version_text"]

SCHEMA = "m1nd-memorize-v0"
_STATES = ("authored", "verified")
_KINDS = ("entity", "state", "event")

BlockInput = dict[str, Any]


def medulla_size(count: int) -> dict[str, Any]:
    """What every write of the medulla reports: how full it is against its soft cap."""
    return {
        "medulla_claim_count": count,
        "soft_cap": MEDULLA_SOFT_CAP,
        "warn_at": MEDULLA_WARN_AT,
        "over_soft_cap": count > MEDULLA_SOFT_CAP,
    }


def _label(value: str, field: str) -> str:
    label = one_line(value)
    if "]" in label:
        raise InvalidLabel(f"{field} holds a ']', which would end its marker", fix="leave the bracket out of the label")
    return label


def _number_text(value: str | int | float | None) -> str | None:
    """Numbers keep their own text form."""
    return None if value is None else one_line(str(value))


def _confidence(value: str | int | float | None) -> str | None:
    """A confidence as the file holds it. One above 1 is a slip (7 for 0.7) that no later version could ever match."""
    text = _number_text(value)
    try:
        within = text is None or 0 <= float(text) <= 1
    except ValueError:
        within = True  # a word; what is none of ours counts as no confidence
    if not within:
        raise InvalidParams(f"confidence {text} is not between 0 and 1", fix="give 0 to 1, or low, medium or high")
    return text


def _checkout(caller: Caller, brain: Brain) -> str | None:
    """The linked worktree of the brain's repository in which the caller stands."""
    if caller.root is None or brain.root is None:
        return None
    repository = repository_of(caller.root)
    return repository.worktree if repository.root == brain.root != repository.worktree else None


class Claims:
    """Writing and looking back at claims."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        reconciler: Reconciler,
        maker: RowMaker,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._reconciler = reconciler
        self._maker = maker
        self._clock = clock

    def memorize(
        self,
        caller: Caller,
        *,
        node_label: str,
        blocks: Sequence[BlockInput],
        title: str | None,
        state: str,
        tier: str | None,
        indexed: bool,
        absolute: bool,
        payload: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Write a belief into the caller's project, or with tier `medulla` as doctrine that belongs to none."""
        if tier not in (None, "", MEDULLA, "project"):
            raise InvalidParams(f"tier {tier!r} means nothing here", fix="leave tier out, or give medulla for doctrine")
        doctrine = tier == MEDULLA
        brain = self._router.named(caller, tier)
        if absolute and not (doctrine and caller.channel is Channel.HUMAN):
            raise HumanNeeded("absolute doctrine is set by a person, in the medulla", fix="a person writes it in a terminal")
        with self._brains.use(brain) as opened:
            # First of all checks on the words themselves: an error about a path or a label would repeat the secret in it.
            self._gateway.check_hygiene(opened, _fields(caller, node_label, title, state, blocks), site="memorize")
            claim = self._claim(caller, brain, node_label, blocks, title, state, absolute)
            slug = opened.slug_for(claim.label)
            draft = Draft(
                claim=claim,
                act="claim.birth" if doctrine else "claim.memorize",
                actor=caller.agent,
                channel=caller.channel,
                indexed=indexed,
                checkout=_checkout(caller, brain),
                slug=slug,
                payload=dict(payload or {}),
                before=self._waiting(caller, slug, indexed),
            )
            try:
                put = self._gateway.put(opened, draft)
            except WouldDowngrade as weaker:
                return {
                    "ok": True,
                    "schema": SCHEMA,
                    "bytes_written": 0,
                    "claims_written": 0,
                    "ingested": False,
                    "superseded": False,
                    "reason": weaker.code,
                    "live": weaker.details["live"],
                    "next_action": weaker.fix,
                    "rendered": _kept(claim.label, brain, weaker),
                }
            self._label_copy(opened, put)
            return self._answer(caller, opened, put, doctrine=doctrine, indexed=indexed)

    def _waiting(self, caller: Caller, slug: str, indexed: bool) -> Callable[[Writer], None]:
        """Note beside a claim whether it waits for the next ingest of its store."""
        mark = Mark(slug=slug, kind=WAITING, at=self._clock(), by=caller.agent, channel=caller.channel.value)
        return lambda writer: writer.drop_mark(slug, WAITING) if indexed else writer.put_mark(mark)

    def _claim(
        self,
        caller: Caller,
        brain: Brain,
        node_label: str,
        blocks: Sequence[BlockInput],
        title: str | None,
        state: str,
        absolute: bool,
    ) -> Claim:
        if not node_label.strip():
            raise InvalidParams("node_label is empty", fix="say in a few words what the claim is about")
        if not blocks or not all(str(block.get("label") or "").strip() for block in blocks):
            raise InvalidParams(
                "claims needs at least one block, and each block a label", fix='claims: [{"label": "…", "text": "…"}]'
            )
        if state not in _STATES:
            raise InvalidState(f"state {state!r} is not accepted from a caller", fix="use authored or verified")
        slug_of(node_label)
        return Claim(
            label=_label(node_label, "node_label"),
            state=state,
            created=self._clock(),
            source_agent=one_line(caller.agent) or "unknown",
            origin_brain=brain.origin,
            absolute=absolute,
            title=one_line(title) if title and title.strip() else None,
            blocks=tuple(self._block(block, brain, _checkout(caller, brain)) for block in blocks),
        )

    @staticmethod
    def _block(block: BlockInput, brain: Brain, checkout: str | None) -> Block:
        kind = block.get("kind") or "entity"
        return Block(
            label=_label(str(block["label"]), "a block's label"),
            text=str(block.get("text") or ""),
            kind=kind if kind in _KINDS else "entity",
            confidence=_confidence(block.get("confidence")),
            ambiguity=_number_text(block.get("ambiguity")),
            evidence=anchors.checked(
                [_label(str(path), "evidence") for path in block.get("evidence") or ()], brain.root, checkout
            ),
            depends_on=tuple(_label(str(label), "depends_on") for label in block.get("depends_on") or ()),
        )

    def _label_copy(self, opened: OpenBrain, put: Put) -> None:
        """The shared copy of a witness that was replaced says so from now on; its file is not touched."""
        if put.previous is None or opened.brain.root is None:
            return
        before = parse(put.previous.text)
        if before.promoted_to is None or not self._brains.has_medulla():
            return
        with self._brains.use(self._brains.home.medulla()) as medulla:
            copy = medulla.store.live([put.version.slug]).get(put.version.slug)
            if copy is None or parse(copy.text).origin_claim != f"{opened.brain.root}#{put.version.slug}":
                return
            mark = Mark(slug=copy.slug, kind=WITNESS_SUPERSEDED, at=self._clock(), by="hindbrain", channel=Channel.RUNTIME.value)
            with medulla.store.writing() as writer:
                writer.put_mark(mark)

    def _answer(self, caller: Caller, opened: OpenBrain, put: Put, *, doctrine: bool, indexed: bool) -> dict[str, Any]:
        counts = opened.counted()
        answer: dict[str, Any] = {
            "ok": True,
            "schema": SCHEMA,
            "path": str(put.path),
            "slug": put.version.slug,
            "bytes_written": len(put.version.text.encode()),
            "claims_written": len(parse(put.version.text).blocks),
            "ingested": indexed,
            "tier": opened.brain.tier.value,
            "origin_brain": opened.brain.name,
            "next_action": "done"
            if not put.unresolved
            else "some evidence did not resolve: ingest the code first, and give repository-relative paths",
            "rendered": f"Remembered “{parse(put.version.text).label}” in {opened.brain.display_name}.",
        }
        if put.previous is not None:
            answer["rendered"] += f"\n{_replaced(parse(put.previous.text), parse(put.version.text))}"
        if put.unresolved:
            missed = f"{put.unresolved} of its evidence led to no file or symbol of the graph"
            answer["rendered"] += f"\nwarning: {missed}; cite what exists, by its path in the repository."
        if indexed:
            answer |= {
                "node_count": counts.nodes,
                "edge_count": counts.edges,
                "light_evidence_resolved": put.resolved,
                "light_evidence_unresolved": put.unresolved,
            }
        if put.previous is not None:
            answer["superseded"] = True
        if doctrine:
            answer |= medulla_size(counts.active_claims)
            if not may_share(caller.agent):
                answer["etiquette"] = BIRTH_WARNING
        return answer

    # -- history -----------------------------------------------------------------------------------------------------

    def history(self, caller: Caller, *, claim: str, tier: str | None, as_of: int | None = None) -> dict[str, Any]:
        """Every version of a label, newest first, with who, when, by which channel and what ended it.

        With `as_of` everything is as it was at that time: later versions, grades and ends are left out."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            self._reconciler.fresh(opened)
            slug = opened.slug_for(claim)
            versions = [one for one in opened.store.versions(slug) if as_of is None or one.born_at <= as_of]
            versions = [one if as_of is None or (one.ended_at or 0) <= as_of else replace(one, ended_at=None) for one in versions]
            if not versions:
                raise UnknownClaim(f"{brain.display_name} has no claim {slug!r}", fix="seek shows what there is")
            entries = {entry.seq: entry for entry in opened.store.entries(subject=f"claim:{versions[0].claim_id}", limit=100_000)}
            rows = []
            for version in versions:
                told = claim_of(version)
                entry = entries.get(version.version)
                rows.append(
                    {
                        "version": version.version,
                        "live": version.ended_at is None,
                        "state": "superseded" if version.ended_at is not None else told.state,
                        "created": told.created,
                        "source_agent": told.source_agent or "unknown",
                        "channel": entry.channel if entry else "unknown",
                        "act": entry.act if entry else "unknown",
                        "archived_at": version.ended_at,
                        "ended_by": version.ended_act if version.ended_at is not None else None,
                        "belief": told.state,
                        "confidence": told.strength.confidence,
                        "evidence": list(told.evidence),
                        "body": body_text(told),
                        "text": version.text,
                        **({"arrived_by": how} if (how := arrived_by(version)) else {}),
                    }
                )
            row = self._shown(opened, versions[0], as_of) if versions[0].ended_at is None else None
        answer = {"ok": True, "schema": "hindbrain-history-v0", "slug": slug, "brain": brain.name, "row": row, "versions": rows}
        return answer if as_of is None else answer | {"as_of": as_of}

    def _shown(self, opened: OpenBrain, version: Version, as_of: int | None) -> Row:
        """The live version as every surface shows it, now or at a time, with how it was graded."""
        slug, past = version.slug, as_of is not None
        marks: Sequence[Mark] = opened.store.marks(slugs=[slug]) if as_of is None else PastGrades(opened, as_of).of(version)
        cited = None if past else opened.store.anchors([slug]).get(slug)
        now = self._clock() if as_of is None else as_of
        row = self._maker.row(opened, version, now=now, match="label", score=None, marks=marks, cited=cited, past=past)
        grades = {mark.kind.removeprefix("graded_"): mark for mark in marks if mark.kind.startswith("graded_")}
        row["grades"] = [{"grade": grade, "by": mark.by, "at": mark.at} for grade, mark in sorted(grades.items())]
        claim = parse(version.text)
        row |= {"created": claim.created, "promoted_to": claim.promoted_to}
        return row


def _fields(caller: Caller, label: str, title: str | None, state: str, blocks: Sequence[BlockInput]) -> list[str]:
    """Everything a caller wrote, each as it was written: what the hygiene floor looks at."""
    fields = [label, title or "", state, caller.agent]
    for block in blocks:
        fields += [str(block.get("label") or ""), str(block.get("text") or "")]
        fields += [str(block.get("confidence") or ""), str(block.get("ambiguity") or "")]
        fields += [str(one) for one in (*(block.get("evidence") or ()), *(block.get("depends_on") or ()))]
    return fields


def _kept(label: str, brain: Brain, weaker: WouldDowngrade) -> str:
    """Why nothing was written, in words; the reason is a code that callers go by."""
    live = weaker.details["live"]
    sure = f"confidence {live['confidence']}" if live["confidence"] is not None else "no confidence"
    told = f"Kept “{label}” in {brain.display_name} as it is: the live version ({live['state']}, {sure}) is stronger."
    return f"{told}\nreason: {weaker.code}; {weaker.fix}"


def version_text(version: dict[str, Any]) -> str:
    """One version in words: which, whose, since when, how it came, and what it said."""
    ended = f", ended by {version['ended_by']} on {date_of(version['archived_at'])}" if version["archived_at"] is not None else ""
    written = f"by {version['source_agent']} on {date_of(version['created'])}"
    head = f"version {version['version']} ({version['state']}, {written}, {version['channel']}{ended})"
    return "\n".join([head, body_text(parse(version["text"]))])


def _replaced(before: Claim, now: Claim) -> str:
    """Whose version a new one takes the place of: who writes over another's evidence is told so."""
    cited = any(block.evidence for block in before.blocks) and not any(block.evidence for block in now.blocks)
    told = f"It takes the place of what {before.source_agent or 'somebody'} wrote"
    return f"{told}, which cited evidence; this cites none." if cited else f"{told}; `hindbrain history` has both."
