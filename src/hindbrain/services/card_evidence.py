"""Evidence of cards: what a card may cite, and how it comes to the brain that holds the card."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hindbrain.domain.anchor import GLOBAL
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import Role
from hindbrain.domain.errors import HumanNeeded, InvalidParams, NotEvidence, Rejected, UnknownEvidence
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType, is_machine
from hindbrain.domain.ledger import Act
from hindbrain.engines.fence import cut
from hindbrain.policy.cards import EXCERPT_TOKENS, SELF_REPORT
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence import Observations
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.gateway import Gateway, recorded
from hindbrain.stores.port import Writer

__all__ = ["CardEvidence", "carried", "checked_ids", "hollow", "naming_copies"]

_SHAPE = re.compile(r"ev_[A-Za-z0-9_-]+")
Refs = Mapping[Role, Sequence[EvidenceId]]


def checked_ids(given: Iterable[str], name: str) -> tuple[EvidenceId, ...]:
    """Ids of evidence as a caller wrote them, each once."""
    made = []
    for one in given:
        if one.startswith("card_"):
            raise NotEvidence(f"{name}: {one[:80]} is a card, not evidence", fix="cite what was observed, by its ev_ id")
        if not _SHAPE.fullmatch(one):
            raise InvalidParams(f"{name}: {one[:80]!r} is no id of evidence", fix="give ids such as ev_0123abcd")
        made.append(EvidenceId(one))
    return tuple(dict.fromkeys(made))


def hollow(rows: Mapping[EvidenceId, Evidence]) -> set[EvidenceId]:
    """What the system reported about its own knowledge: it verifies nothing."""
    return {id_ for id_, row in rows.items() if row.provenance is Provenance.RUNTIME and SELF_REPORT in row.tags}


def carried(brain: Brain, rows: Mapping[EvidenceId, Evidence]) -> dict[EvidenceId, Evidence]:
    """Return rows of a brain as another brain stores them: each with its origin."""
    return {id_: replace(row, origin=row.origin or brain.origin) for id_, row in rows.items()}


def naming_copies(answer: dict[str, Any], copies: Sequence[Evidence]) -> dict[str, Any]:
    """Return an answer that names the rows of evidence which every project can read from now on."""
    if not copies:
        return answer
    rows = "1 row" if len(copies) == 1 else f"{len(copies)} rows"
    text = f" Copied {rows} of this project's evidence to shared memory: {', '.join(row.id for row in copies)}."
    shown = [{"evidence_id": row.id, "source_file": row.source, "excerpt": cut(row.content, EXCERPT_TOKENS)} for row in copies]
    return answer | {"left_the_project": shown, "rendered": answer["rendered"] + text}


class CardEvidence:
    """Finds and carries what cards cite."""

    def __init__(
        self, brains: Brains, observations: Observations, gateway: Gateway, batches: Batches, clock: Callable[[], int]
    ) -> None:
        self._brains = brains
        self._observations = observations
        self._gateway = gateway
        self._batches = batches
        self._clock = clock

    def found(self, caller: Caller, opened: OpenBrain, refs: Sequence[EvidenceId]) -> dict[EvidenceId, Evidence]:
        """The living rows behind these ids: of this brain, and for the medulla those of the project that the caller stands in."""
        rows = opened.store.evidence(refs)
        if opened.brain.root is None and (missing := [id_ for id_ in refs if id_ not in rows]):
            for brain in self._observations.readable(caller, "project"):
                with self._brains.use(brain) as near:
                    rows |= carried(near.brain, near.store.evidence(missing))
        for id_ in refs:
            if id_ not in rows:
                known = id_ in opened.store.evidence([id_], deleted=True)
                raise UnknownEvidence(
                    f"evidence {id_[:80]} was {'deleted' if known else 'not found'}",
                    fix="hindbrain memory restore brings a deleted row back"
                    if known
                    else "hindbrain memory list shows what there is",
                )
        return {id_: rows[id_] for id_ in refs}

    def check_roles(self, caller: Caller, rows: Mapping[EvidenceId, Evidence], refs: Refs) -> None:
        """Only what a person said can teach. Of a conversation only a person can know that: an agent may have written its log."""
        for id_ in refs.get(Role.TEACHING, ()):
            row = rows[id_]
            if row.provenance is not Provenance.HUMAN or (is_machine(row.role) and row.speaker is None):
                shown = row.role if row.provenance is Provenance.HUMAN else row.provenance.value
                raise InvalidParams(
                    f"{id_} is {shown} evidence; teaching is what a person said",
                    fix="cite it as supporting; a person records what they teach in a terminal: hindbrain record TEXT",
                )
            if row.source_type is SourceType.CONVERSATION and caller.channel is not Channel.HUMAN:
                raise HumanNeeded(
                    f"{id_} is of a conversation; only a person can say that it teaches",
                    fix="cite it as supporting, or ask a person to cite it in a terminal",
                )

    def bring(
        self, caller: Caller, opened: OpenBrain, writer: Writer, rows: Mapping[EvidenceId, Evidence], salt: str
    ) -> tuple[Evidence, ...]:
        """Copy rows of the project into the medulla, in the transaction that cites them, and return the copies."""
        there = writer.observed(list(rows))
        missing = [row for id_, row in rows.items() if id_ not in there]
        if not missing:
            return ()
        if opened.brain.root is not None:
            raise UnknownEvidence(f"evidence {missing[0].id} was deleted a moment ago", fix="cite what is there")
        if caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                f"this would take {len(missing)} row(s) of this project's evidence to every project, word for word",
                fix="ask a person to do it in a terminal, or keep the card at the repository",
            )
        for row in missing:
            if opened.store.tombstones([mark for mark, _, _ in traces_of(row.content, salt)]):
                raise Rejected(f"what {row.id} says was rejected or forgotten in the medulla", fix="cite other evidence")
        copies = [replace(row, anchor=GLOBAL, domain=Domain.GLOBAL, thread=None, position=0, message="") for row in missing]
        writer.append(
            Act(
                act="evidence.copied",
                subject="evidence",
                actor=caller.agent,
                channel=caller.channel,
                at=self._clock(),
                payload={"rows": len(copies), "ids": [recorded(salt, row.id)[:16] for row in copies]},
            )
        )
        writer.put_evidence([(row, self._batches.words(row)) for row in copies])
        return tuple(copies)
