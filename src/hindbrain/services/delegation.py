"""Delegation: one packet for one child. Names the brain, cuts the scope, chooses the memory that goes along. Changes nothing but
the record of the packet."""

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hindbrain.domain.agent_errors import UnknownDelegation
from hindbrain.domain.brain import Brain, Tier, contains
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import slug_of
from hindbrain.domain.delegation import (
    Binding,
    Context,
    DelegationRecord,
    MemoryRow,
    Mission,
    Packet,
    Scope,
    Sources,
    Staleness,
)
from hindbrain.domain.errors import InvalidParams, PathRefused, UnknownClaim
from hindbrain.engines.delegation import fitted, named_path, narrowed
from hindbrain.engines.delegation_prompt import prompt_markdown
from hindbrain.engines.fence import cut
from hindbrain.engines.light_graph import evidence_path
from hindbrain.policy.delegation import (
    ETIQUETTE,
    KEPT_MS,
    MAX_NODES,
    NON_CLAIMS,
    PACKET_TOKENS,
    PACKET_TOKENS_MAX,
    PACKET_TTL_MS,
    ROW_TOKENS,
)
from hindbrain.policy.limits import DAY_MS
from hindbrain.services.arrivals import claim_of
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.contract import Contract
from hindbrain.services.delegation_ground import Ground, Grounding, checkout_of, ways_to_check
from hindbrain.services.feeds import Feeds
from hindbrain.services.gateway import Gateway
from hindbrain.services.recall import Recall
from hindbrain.services.routing import Gap, Router, gap
from hindbrain.services.rows import DEMOTION, Row
from hindbrain.stores.delegations import DelegationFiles
from hindbrain.stores.repository import main_path

__all__ = ["Delegation", "Wish", "record_of", "relative_path"]

SCHEMA = "m1nd-delegation-packet-v0"
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a mother asks for."""

    task: str
    paths: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    tokens: int = PACKET_TOKENS
    max_nodes: int = MAX_NODES
    slice: bool = True
    pin: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    subagent_hint: str | None = None
    under: str | None = None
    tier: str | None = None


_CITED = "the task matches memory but no code; the scope is the files that those claims cite"
_UNCITED = "the task matches memory but no code, and no claim cites a file: no change is allowed; give scope.paths to allow one"


@dataclass(slots=True)
class _Draft:
    """A packet on its way."""

    brain: Brain
    root: str
    checkout: str
    outers: tuple[DelegationRecord, ...]
    gaps: list[Gap] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)


def record_of(files: DelegationFiles, brain: Brain, delegation_id: str) -> DelegationRecord:
    """The record of a packet of this brain. Another brain's packet is as unknown as one that never was."""
    found = files.read(delegation_id)
    if found is None or found.fingerprint != brain.fingerprint:
        raise UnknownDelegation(
            f"{brain.display_name} made no packet {delegation_id[:80]!r}",
            fix="give the delegation_id of a packet that was made in this project; delegate makes one",
        )
    return found


def relative_path(text: str, *, root: str, checkout: str) -> str | None:
    """A path as all worktrees of the repository name it; None when it leads out of the repository."""
    told = text.strip()
    if "\x00" in told:
        return None
    if os.path.isabs(told):
        real = main_path(os.path.realpath(told))
        return named_path(os.path.relpath(real, root)) if contains(root, real) else None
    path = named_path(told)
    # A link in the repository may lead out of it.
    return path if path is not None and contains(checkout, os.path.realpath(os.path.join(checkout, path))) else None


class Delegation:
    """Composes packets."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        contract: Contract,
        gateway: Gateway,
        recall: Recall,
        feeds: Feeds,
        ground: Grounding,
        playbook: Callable[[Caller], dict[str, Any]],
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._contract = contract
        self._gateway = gateway
        self._recall = recall
        self._feeds = feeds
        self._ground = ground
        self._playbook = playbook
        self._clock = clock

    def delegate(self, caller: Caller, wish: Wish) -> dict[str, Any]:
        """The packet of a task, or why there is none."""
        brain = self._router.write_route(caller)
        if not wish.task.strip():
            raise InvalidParams("task is empty", fix="say in a sentence what the child shall do")
        files = DelegationFiles(self._brains.home.delegations_dir(brain))
        with self._brains.use(brain) as opened:
            self._check(opened, wish)
            root = str(brain.root)
            named = dict.fromkeys(one for one in (caller.delegation, wish.under) if one)
            outers = tuple(record_of(files, brain, one) for one in named)
            draft = _Draft(brain=brain, root=root, checkout=checkout_of(root, caller.root), outers=outers)
            return self._composed(caller, opened, files, wish, draft)

    def _check(self, opened: OpenBrain, wish: Wish) -> None:
        """What stands in a packet is read by an agent and kept by its host: no secret goes into one."""
        texts = [wish.task, *wish.paths, *wish.seeds, *wish.pin, *wish.drop]
        for text in texts:
            self._gateway.check_text(text)
        self._gateway.check_hygiene(opened, texts, site="delegate")
        if wish.subagent_hint:
            self._gateway.check_actor(wish.subagent_hint)
        if both := sorted({*map(slug_of, wish.pin)} & {*map(slug_of, wish.drop)}):
            raise InvalidParams(f"memory pins and drops {both[0][:80]!r}", fix="give it in one of them only")

    def _composed(self, caller: Caller, opened: OpenBrain, files: DelegationFiles, wish: Wish, draft: _Draft) -> dict[str, Any]:
        now = self._clock()
        for outer in draft.outers:
            if outer.expires_ms <= now:
                return _none("abstain", "outer_expired", f"the packet {outer.delegation_id} that this one is under has ended")
        ground = self._ground.look(opened, wish.task, seeds=wish.seeds, max_nodes=wish.max_nodes, checkout=draft.checkout)
        if not ground.nodes:
            recovery = self._router.bootstrap_fix(caller, draft.root)["call"] | {"playbook": self._playbook(caller)}
            return _none("needs_ingest", "empty_graph", "this brain's graph has no code yet", recovery=recovery)
        if wish.seeds and not ground.seeds.resolved:
            evidence = {"unresolved": list(ground.seeds.unresolved), "nearest": list(ground.nearest)}
            return _none("abstain", "seeds_unresolvable", "no seed names a node of this graph", evidence=evidence)
        wanted, source = self._wanted(wish, ground, draft)
        known = self._recalled(caller, opened, wish, draft) if not wanted and wish.slice else []
        if known:
            wanted, source = _cited(known, draft), "memory"
            draft.gaps.append(gap("no_code_match", _CITED if wanted else _UNCITED))
        if not wanted and not known:
            state = {"proof_state": ground.proof_state}
            return _none("abstain", "unscopable", "the task wakes nothing coherent in the code", evidence=state)
        may_touch = self._within(wanted, draft)
        if wanted and not may_touch:
            evidence = {"wanted": list(wanted), "under": [outer.delegation_id for outer in draft.outers]}
            return _none("abstain", "outside_outer_scope", "nothing of this lies in the scope it is under", evidence=evidence)
        scope = Scope(may_touch=may_touch, derived_from=source, seeds=ground.seeds)
        packet = self._packet(caller, opened, wish, draft, ground, scope)
        self._keep(files, packet, wish)
        text = prompt_markdown(packet)
        told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(packet))
        answer = {"ok": True, **told, "prompt_markdown": text, "rendered": text}
        return answer | ({"warnings": draft.warnings} if draft.warnings else {})

    # -- scope -------------------------------------------------------------------------------------------------------

    def _wanted(self, wish: Wish, ground: Ground, draft: _Draft) -> tuple[tuple[str, ...], str]:
        """The paths that are asked for, and what they come from."""
        given = []
        for text in wish.paths:
            path = relative_path(text, root=draft.root, checkout=draft.checkout)
            if path is None:
                raise PathRefused(f"the path {text[:80]!r} lies outside {draft.root}", fix="give paths of this repository")
            if not os.path.lexists(os.path.join(draft.checkout, path)):
                draft.gaps.append(gap("path_absent", f"{path} is not there yet"))
            given.append(path)
        if ground.seeds.unresolved:
            draft.gaps.append(gap("seeds_unresolved", f"{len(ground.seeds.unresolved)} seeds name nothing in this graph"))
        if given and wish.seeds:
            return tuple(dict.fromkeys([*given, *ground.files])), "paths and seeds"
        if given:
            return tuple(dict.fromkeys(given)), "paths"
        return ground.files, "seeds" if wish.seeds else "activation"

    @staticmethod
    def _within(wanted: Sequence[str], draft: _Draft) -> tuple[str, ...]:
        """Cut to every packet that this one is under."""
        kept = tuple(wanted)
        for outer in draft.outers:
            kept, lost = narrowed(kept, outer.may_touch)
            for path in lost:
                text = f"{path} is not wholly in the scope of {outer.delegation_id} and was cut to it"
                draft.gaps.append(gap("outside_outer_scope", text))
        return kept

    # -- the packet --------------------------------------------------------------------------------------------------

    def _packet(self, caller: Caller, opened: OpenBrain, wish: Wish, draft: _Draft, ground: Ground, scope: Scope) -> Packet:
        now, brain = self._clock(), draft.brain
        if wish.tier:
            draft.warnings.append({"code": "tier_ignored", "text": "a packet always holds the default beat"})
        budget = min(wish.tokens, PACKET_TOKENS_MAX)
        if budget < wish.tokens:
            draft.warnings.append({"code": "budget_clamped", "text": f"a packet has at most {PACKET_TOKENS_MAX} tokens"})
        rows = self._memory(caller, opened, wish, draft) if wish.slice else ()
        if ground.behind:
            draft.gaps.append(gap("graph_behind", f"{ground.behind} files changed since the graph was made"))
        delegation_id = f"dlg_{now}_{''.join(secrets.choice(_LETTERS) for _ in range(6))}"
        expected = self._ground.files_within(opened, scope.may_touch, ground.files)
        near = self._ground.dependents(opened, expected, expected=expected)
        trust = self._contract.mode(self._router.route(caller), None)
        env = {"HINDBRAIN_WORKSPACE_ROOT": draft.root, "HINDBRAIN_DELEGATION": delegation_id}
        env |= {"HINDBRAIN_AGENT_ID": wish.subagent_hint} if wish.subagent_hint else {}
        binding = Binding(
            workspace_root=draft.root,
            fingerprint=brain.fingerprint,
            trust_mode=trust,
            ok=trust == "full_trust",
            graph_populated=bool(ground.nodes),
            env=env,
        )
        under = draft.outers[-1].delegation_id if draft.outers else None
        packet = Packet(
            delegation_id=delegation_id,
            created_ms=now,
            expires_ms=min([now + PACKET_TTL_MS, *(outer.expires_ms for outer in draft.outers)]),
            mission=Mission(
                task=wish.task, agent_id=caller.agent, binding=binding, under=under, subagent_hint=wish.subagent_hint
            ),
            scope=scope,
            context=Context(
                anchors=tuple(one for one in ground.anchors if one.path in expected),
                sufficiency={"proof_state": ground.proof_state, "memory_rows_found": len(rows)},
                memory=rows,
            ),
            known_static_dependents=near,
            staleness=Staleness(
                graph_generation=ground.generation, workspace_head=ground.head, files_changed_since_ingest=ground.behind
            ),
            proof=ways_to_check(ground, near),
            etiquette=ETIQUETTE,
            sources=Sources(project=f"{draft.root}@{ground.head}", fingerprint=brain.fingerprint, medulla=0, composed_ts=now),
            honest_gaps=tuple(draft.gaps),
            non_claims=NON_CLAIMS,
        )
        return fitted(packet, budget, prompt_markdown)

    def _keep(self, files: DelegationFiles, packet: Packet, wish: Wish) -> None:
        """The record by which a debrief is graded; those of long ago go."""
        rows = packet.context.memory
        files.forget_before(packet.created_ms - PACKET_TTL_MS - KEPT_MS)
        files.write(
            DelegationRecord(
                delegation_id=packet.delegation_id,
                agent_id=packet.mission.agent_id,
                workspace_root=packet.mission.binding.workspace_root,
                fingerprint=packet.mission.binding.fingerprint,
                created_ms=packet.created_ms,
                expires_ms=packet.expires_ms,
                may_touch=packet.scope.may_touch,
                expected_change=packet.known_static_dependents.expected_change,
                dependents=packet.known_static_dependents.dependents,
                memory_slice=wish.slice,
                memory_rows_project=sum(row.tier == "project" for row in rows),
                memory_rows_medulla=sum(row.tier == "medulla" for row in rows),
                memory_rows_stale=sum(row.stale is True for row in rows),
                under=packet.mission.under,
            )
        )

    # -- memory ------------------------------------------------------------------------------------------------------

    def _memory(self, caller: Caller, opened: OpenBrain, wish: Wish, draft: _Draft) -> tuple[MemoryRow, ...]:
        """The same recall as `north`, with what the mother pinned and without what she dropped."""
        return tuple(_memory_row(row) for row in self._recalled(caller, opened, wish, draft))

    def _recalled(self, caller: Caller, opened: OpenBrain, wish: Wish, draft: _Draft) -> list[Row]:
        pinned = [self._pinned(opened, slug) for slug in dict.fromkeys(map(opened.slug_for, wish.pin))]
        beat = self._recall.beat(self._router.route(caller), wish.task, tier=None, fallback=False)
        draft.gaps += [one for one in beat.gaps if one not in draft.gaps]
        dropped = set(map(opened.slug_for, wish.drop))
        had = {(row["tier"], row["slug"]) for row in pinned}
        found = [row for row in beat.rows if row["slug"] not in dropped and (row["tier"], row["slug"]) not in had]
        if not pinned and not found:
            known = "claims exist, but none matches the task" if beat.exists else "nothing was memorized here yet"
            draft.gaps.append(gap("no_memory", known))
        return [*pinned, *found]

    def _pinned(self, opened: OpenBrain, slug: str) -> Row:
        """A claim of one of the two stores of the default beat; no other store is looked into."""
        found = self._live(opened, slug)
        if found is None and self._brains.has_medulla():
            with self._brains.use(self._brains.home.medulla()) as medulla:
                found = self._live(medulla, slug)
        if found is None:
            raise UnknownClaim(
                f"neither {opened.brain.display_name} nor the medulla has a live claim {slug[:80]!r}",
                fix="seek shows what there is",
            )
        return found

    def _live(self, opened: OpenBrain, slug: str) -> Row | None:
        version = opened.store.live([slug]).get(slug)
        if version is None or not version.active or opened.store.marks(slugs=[slug], kind=DEMOTION):
            return None
        chosen = [(version, claim_of(version), 0.0)]
        return self._feeds.rows(opened, chosen, match="pinned", scored=False)[0]


def _cited(rows: Sequence[Row], draft: _Draft) -> tuple[str, ...]:
    """Files of this repository that claims of the project cite, as far as they are there."""
    values = (value for row in rows if row["tier"] == Tier.PROJECT.value for value in row["evidence"])
    named = (relative_path(evidence_path(value), root=draft.root, checkout=draft.checkout) for value in values)
    return tuple(dict.fromkeys(one for one in named if one and os.path.isfile(os.path.join(draft.checkout, one))))


def _memory_row(row: Row) -> MemoryRow:
    age = row["age_ms"]
    return MemoryRow(
        claim=row["claim"],
        text=cut(row["text"], ROW_TOKENS),
        slug=row["slug"],
        tier=row["tier"],
        origin_brain=row["origin_brain"],
        source_agent=row["source_agent"],
        age_days=None if age is None else age // DAY_MS,
        match=row["match"],
        stale=row.get("stale", msgspec.UNSET),
        arrived_by=row.get("arrived_by", msgspec.UNSET),
    )


def _none(verdict: str, reason: str, text: str, **more: Any) -> dict[str, Any]:
    """No packet, and why. Nothing is kept of it."""
    return {"ok": True, "schema": SCHEMA, "verdict": verdict, "reason": reason, **more, "rendered": f"No packet: {text}."}
