"""The witness: turns what an agent reports into an event whose evidence class the runtime itself established. It reads the file,
finds the quoted line again, looks the commit up. What nobody saw stays a statement."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import HumanNeeded, InvalidParams
from hindbrain.domain.mission import EventType, EvidenceClass, MissionEvent, Outcome
from hindbrain.domain.mission_run import Origin, Ran
from hindbrain.engines.course import Course
from hindbrain.engines.mission_chain import sealed
from hindbrain.engines.mission_evidence import Reference, Resolved, about, place_of, read_reference, subjects
from hindbrain.engines.mission_report import Report
from hindbrain.engines.moments import stamped
from hindbrain.engines.ran_draft import shown_of
from hindbrain.policy.missions import EVENTS, GRADES, SWEEPS
from hindbrain.policy.proof import HITS_MOST, RANKS, READ_BY_US
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.cited import CHANGED, cited, of_file
from hindbrain.services.missions.log import Draft, MissionLog, Turn
from hindbrain.services.missions.surroundings import may_read
from hindbrain.stores.git import asked
from hindbrain.stores.source_file import SeenFile, Unseen, file_digest, named_within, seen_file

__all__ = ["OPERATOR", "Witness"]

OPERATOR = "operator"  # the actor of what a person says

_E, _C = EventType, EvidenceClass
_REVISION = re.compile(r"\A[0-9A-Za-z_][0-9A-Za-z_./~^@{}-]{0,120}\Z")
_RANGE = re.compile(r"\A(.+?):(\d{1,8})-(\d{1,8})\Z", re.DOTALL)
_COMMITS_MOST = 8
_LINKS_MOST = 200
_TOUCHED_MOST = 100  # files of a diff that are named
_GIT_S = 10.0
_GRAPH = frozenset({_E.SEMANTIC_SEARCH, _E.GRAPH_QUERY, _E.AUDIT, _E.IMPACT, _E.GRAPH_INGEST})
_TOLD_ONLY = frozenset({_E.TEST_RUN, _E.COMPILE, _E.LINT, _E.COMMAND, _E.RUNTIME_PROBE})
_PATHS = frozenset({_E.FILE_READ, _E.DIR_LIST, _E.FILE_EDIT})
_PAGES = ("http://", "https://")
_DOCUMENTS = (".md", ".markdown", ".light")

Seen = tuple[EvidenceClass, dict[str, Any]]


class Witness:
    """Looks for itself. `document` tells whether a L1GHT document still agrees with its code; `handshake` when a host's session
    shook hands."""

    def __init__(
        self,
        log: MissionLog,
        *,
        document: Callable[[OpenBrain, str, str], EvidenceClass | None],
        handshake: Callable[[str], int | None],
    ) -> None:
        self._log = log
        self._document = document
        self._handshake = handshake

    # -- what an agent tells -----------------------------------------------------------------------------------------

    def draft(self, turn: Turn, report: Report) -> Draft:
        """The event that a report becomes."""
        human = turn.caller.channel is Channel.HUMAN
        if report.event_type is _E.HUMAN_STATEMENT and not human:
            raise HumanNeeded("a statement of a person comes from a person", fix="ask one to say it in a terminal")
        if report.at is not None and report.at > turn.now:
            raise InvalidParams("the event lies in the future", fix="send the time when it happened, or leave it out")
        roots = _roots(turn)
        report = _placed(report, roots)
        established, found, outcome, digest = self._established(turn, report, roots)
        target = str(found.pop("target", report.target))  # a file by the place where it was read
        return Draft(
            event_type=report.event_type,
            actor=OPERATOR if human and report.event_type is _E.HUMAN_STATEMENT else turn.agent,
            source="agent",
            tool=report.tool,
            target=target,
            target_digest=digest,
            evidence=_weighed(report.label, established, EVENTS[report.event_type].evidence),
            outcome=outcome or report.outcome,
            failure_class=report.failure_class,
            duration_ms=report.duration_ms,
            confidence=report.confidence,
            payload={**report.payload, **found},
            event_id=report.event_id,
            timestamp=stamped(report.at) if report.at is not None else None,
        )

    def _established(
        self, turn: Turn, report: Report, roots: tuple[str, ...]
    ) -> tuple[EvidenceClass, dict[str, Any], Outcome | None, str | None]:
        """The class that the runtime can vouch for, what it adds to the payload, the outcome if the told one cannot stand, and
        the digest of the file that was read."""
        kind = report.event_type
        if kind is _E.FILE_READ:
            return self._read(turn, report, roots)
        if kind is _E.WEB_FETCH:
            return (*_fetched(report, roots), None, None)
        if kind is _E.RECOVERY:
            return self._repaired(turn, report)
        if kind in _TOLD_ONLY:
            return _C.DIRECT_UNVERIFIED, {}, None, None
        if kind in _GRAPH and turn.course.guard is not None:
            return EVENTS[kind].evidence, {"graph_generation": turn.course.guard.graph_generation}, None, None
        looks: dict[EventType, Callable[[], Seen]] = {
            _E.LITERAL_SEARCH: lambda: _found_again(report, roots),
            _E.DIFF_READ: lambda: _committed(report, roots),
            _E.HOST_HANDSHAKE: lambda: self._shaken(turn, report),
            **dict.fromkeys(SWEEPS, lambda: self._linked(turn, report)),
        }
        look = looks.get(kind)
        return (*look(), None, None) if look is not None else (EVENTS[kind].evidence, {}, None, None)

    def _read(
        self, turn: Turn, report: Report, roots: tuple[str, ...]
    ) -> tuple[EvidenceClass, dict[str, Any], Outcome | None, str | None]:
        seen = seen_file(roots, report.target)
        if isinstance(seen, Unseen):
            return _C.DIRECT_UNVERIFIED, {"not_seen": seen.why}, report.outcome or Outcome.EMPTY, None
        if report.told_digest is not None and report.told_digest.removeprefix("sha256:") != seen.digest.removeprefix("sha256:"):
            return _C.DIRECT_UNVERIFIED, {"not_seen": "the file is not the one that was read"}, None, seen.digest
        document = self._documented(turn, seen)
        return document or _C.DIRECT_SOURCE, {"target": seen.path}, None, seen.digest

    def _documented(self, turn: Turn, seen: SeenFile) -> EvidenceClass | None:
        """What a L1GHT document is worth: it speaks about code, so reading it shows no code."""
        if not seen.path.endswith(_DOCUMENTS):
            return None
        return self._document(turn.opened, turn.course.spec.repo, seen.path)

    def _shaken(self, turn: Turn, report: Report) -> Seen:
        session = str(report.payload.get("session_id") or report.target)
        at = self._handshake(session)
        if at is None or at <= turn.course.created_at:
            return _C.HOST_DESCRIBED, {"session_id": session, "not_seen": "no handshake of that session since the mission began"}
        return _C.HOST_HANDSHAKE, {"session_id": session, "handshake_at": stamped(at), "targets": [f"session:{session}"]}

    def _repaired(self, turn: Turn, report: Report) -> tuple[EvidenceClass, dict[str, Any], Outcome | None, str | None]:
        """A repair that is only told has not happened: a new handshake shows it."""
        if report.payload.get("session_id"):
            established, found = self._shaken(turn, report)
            if established is _C.HOST_HANDSHAKE:
                return established, found, report.outcome or Outcome.RECOVERED, None
        told = {"told_outcome": report.outcome.value} if report.outcome is Outcome.RECOVERED else {}
        return _C.HOST_DESCRIBED, told, Outcome.NOT_RECOVERED if told else report.outcome, None

    def _linked(self, turn: Turn, report: Report) -> Seen:
        """A sweep is what lies in it: direct events after what was verified last."""
        names, places = _links(report.payload)
        events = list(self._log.named(turn.opened, turn.course.spec.mission_id, names).values())
        events += [one for one in turn.made if one.event_id in names]
        for seq in places:
            events += [one for one in turn.made if one.seq == seq]
            if 0 < seq <= turn.course.seq:
                events += self._log.events(turn.opened, turn.course.spec.mission_id, after=seq - 1, limit=1)
        inside = {
            one.seq: one
            for one in events
            if GRADES[one.evidence_class] == "direct" and one.event_type not in SWEEPS and one.seq > turn.course.last_verified
        }
        if not inside:
            why = "linked_events or linked_seqs names no direct event since the last verified claim, so it does not count"
            return _C.DIRECT_UNVERIFIED, {"linked_seqs": [], "not_seen": why}
        seen = sorted({name for one in inside.values() for name in subjects(one)})
        return _C.DIRECT_COVERAGE_SWEEP, {"linked_seqs": sorted(inside), "targets": seen[:_LINKS_MOST]}

    # -- what a claim refers to --------------------------------------------------------------------------------------

    def references(
        self, turn: Turn, refs: Sequence[str], *, label: EvidenceClass | None = None, targets: Sequence[str] = ()
    ) -> tuple[Resolved, ...]:
        """Look every reference up. A named file is read now, and that reading is an event of its own."""
        read = [read_reference(one, label) for one in dict.fromkeys(refs)]
        names = tuple(one.event_id for one in read if one.event_id is not None)
        known = self._log.named(turn.opened, turn.course.spec.mission_id, names) if names else {}
        known |= {one.event_id: one for one in turn.made if one.event_id in names}
        wanted = frozenset(about(one) for one in targets)
        return tuple(self._resolved(turn, one, known, wanted) for one in read)

    def _resolved(self, turn: Turn, reference: Reference, known: dict[str, MissionEvent], wanted: frozenset[str]) -> Resolved:
        if reference.event_id is not None:
            event = known.get(reference.event_id)
            if event is not None and sealed(event, event.prev_hash).hash != event.hash:
                return Resolved(reference=reference, why="it is not what was written: see mission verify-chain")
            if event is None:
                return Resolved(reference=reference, why="there is no such event in this mission")
            sources = cited(event, _roots(turn), lambda seqs: self._numbered(turn, seqs))
            gone = event.event_type in (_E.FILE_READ, _E.WEB_FETCH) and not sources
            return Resolved(reference=reference, event=event, sources=sources, why=CHANGED if gone else "")
        if reference.path is None:
            return Resolved(reference=reference, why="it names no event and no file")
        label = reference.label
        seen = seen_file(_roots(turn), reference.path)
        if label in (_C.DOC_BOUND, _C.DOC_STALE):
            held = self._document(turn.opened, turn.course.spec.repo, reference.path) if isinstance(seen, SeenFile) else None
            return Resolved(reference=reference, established=held or _C.INFERRED, why=_document_lack(held))
        if label is not None and label not in READ_BY_US:
            why = "name the event in which it was recorded" if GRADES[label] == "direct" else "it shows only where to look"
            return Resolved(reference=reference, why=why)
        if isinstance(seen, Unseen):
            return Resolved(reference=reference, why=seen.why)
        if reference.line is not None and reference.line > len(seen.lines):
            return Resolved(reference=reference, why=f"it has only {len(seen.lines)} lines")
        held = self._documented(turn, seen)
        if held is not None and seen.path not in wanted:
            return Resolved(reference=reference, established=held, why=_document_lack(held))
        lines = (reference.line, reference.line) if reference.line is not None else None
        return Resolved(reference=reference, event=self._read_now(turn, seen, reference), sources=(of_file(seen, lines),))

    def _read_now(self, turn: Turn, seen: SeenFile, reference: Reference) -> MissionEvent:
        """The event of this reading; an earlier one of the same bytes is taken again, for nothing new was seen."""
        before = turn.course.files.get(seen.path)
        if before is not None and before.digest == seen.digest:
            event = self._event(turn, before.last_event_id)
            same = event is not None and event.evidence_class is _C.DIRECT_SOURCE and event.target_digest == seen.digest
            if event is not None and same and (reference.line is None or event.payload.get("line") == reference.line):
                return event
        payload: dict[str, Any] = {"origin": "reference"}
        if reference.line is not None:
            payload |= {"line": reference.line, "range": [reference.line, reference.line]}
        return turn.add(
            Draft(event_type=_E.FILE_READ, tool="mission_verify", target=seen.path, target_digest=seen.digest, payload=payload)
        )

    def _numbered(self, turn: Turn, seqs: Sequence[int]) -> list[MissionEvent]:
        """Events of the mission by their numbers."""
        found = [one for one in turn.made if one.seq in seqs]
        for seq in seqs[:_LINKS_MOST]:
            if 0 < seq <= turn.course.seq:
                found += self._log.events(turn.opened, turn.course.spec.mission_id, after=seq - 1, limit=1)
        return list({one.seq: one for one in found}.values())

    def _event(self, turn: Turn, event_id: str) -> MissionEvent | None:
        mine = next((one for one in turn.made if one.event_id == event_id), None)
        return mine or self._log.named(turn.opened, turn.course.spec.mission_id, (event_id,)).get(event_id)

    @staticmethod
    def targets(course: Course, told: Sequence[str]) -> tuple[str, ...]:
        """Targets as events name them: of the repository, with the line that stood behind."""
        found = []
        for one in told:
            path, line, _ = place_of(one)
            name = named_within((course.spec.repo, *_ingested(course)), path) if path.startswith("/") else path
            found.append(one if name is None else f"{name}:{line}" if line is not None else name)
        return tuple(dict.fromkeys(found))

    def changed(self, turn: Turn) -> tuple[str, ...]:
        """Inherited files that are not what they were, as they are now on the disk."""
        course = turn.course
        if not course.inherited.files_read or not may_read(turn):
            return ()
        inherited = [one for one in course.inherited.files_read if one.digest is not None]
        return tuple(one.path for one in inherited if file_digest(course.spec.repo, one.path) != one.digest)

    # -- what was run ------------------------------------------------------------------------------------------------

    def ran(self, turn: Turn, ran: Ran, *, origin: Origin) -> Draft:
        """The event of a command that the runtime or a host's hook saw end; of one that was only told, a statement."""
        roots = _roots(turn)
        cwd = os.path.join(turn.course.spec.repo, ran.cwd)
        shown = shown_of(ran, named=lambda word: _file_named(roots, os.path.join(cwd, word)))
        payload = {**shown.payload, "origin": origin, "cwd": named_within(roots, cwd) or "outside"}
        seen = origin != "told"
        if not seen:
            payload["not_seen"] = "it was told by an agent and not by the hook of its host"
        return Draft(
            event_type=shown.event_type,
            actor=turn.agent,
            source="runtime" if seen else "agent",
            tool=shown.tool,
            target=shown.target,
            target_digest=ran.stdout_digest,
            evidence=shown.evidence if seen else _C.DIRECT_UNVERIFIED,
            outcome=shown.outcome,
            failure_class=shown.failure_class,
            duration_ms=ran.duration_ms,
            payload=payload,
        )


def _file_named(roots: tuple[str, ...], path: str) -> str | None:
    """A file of the repository by its name there; None for all else."""
    name = named_within(roots, path)
    return name if name is not None and os.path.isfile(path) else None


def _roots(turn: Turn) -> tuple[str, ...]:
    """Where evidence of a mission may lie: its repository and what else is in its graph; nowhere for who may not read there."""
    return tuple(dict.fromkeys((turn.course.spec.repo, *_ingested(turn.course)))) if may_read(turn) else ()


def _ingested(course: Course) -> tuple[str, ...]:
    return course.guard.ingest_roots if course.guard is not None else ()


def _placed(report: Report, roots: tuple[str, ...]) -> Report:
    """The same report with its target as the repository names it, and the lines that stood behind it as a range."""
    if report.event_type not in _PATHS:
        inside = named_within(roots, report.target) if report.target.startswith("/") else None
        return replace(report, target=inside) if inside is not None else report
    payload = dict(report.payload)
    target = report.target
    if not roots or not os.path.lexists(os.path.join(roots[0], target)):  # a file may be called `a:3`
        if spanned := _RANGE.match(target):
            target = spanned[1]
            payload.setdefault("range", [int(spanned[2]), int(spanned[3])])
        else:
            target, line, _ = place_of(target)
            if line is not None:
                payload.setdefault("range", [line, line])
    if "range" in payload and not _is_range(payload["range"]):
        payload.pop("range")
    return replace(report, target=named_within(roots, target) or target, payload=payload)


def _is_range(value: Any) -> bool:
    whole = isinstance(value, list | tuple) and len(value) == 2
    return whole and all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in value)


def _weighed(label: EvidenceClass | None, established: EvidenceClass, usual: EvidenceClass) -> EvidenceClass:
    """An agent may call its evidence weaker than it is, never stronger. A direct label that nothing backs is told as that."""
    if label is None or label in (established, usual):
        return established
    if GRADES[label] == "direct":
        return _C.DIRECT_UNVERIFIED
    return label if RANKS[GRADES[label]] < RANKS[GRADES[established]] else established


def _found_again(report: Report, roots: tuple[str, ...]) -> Seen:
    """Every hit that still stands at its line; the others are counted and prove nothing."""
    query = str(report.payload.get("query") or "")
    told = report.payload.get("hits")
    hits = [hit for one in (told if isinstance(told, list) else [])[:HITS_MOST] if (hit := _hit(one)) is not None]
    files = {path: seen_file(roots, path) for path, _, _ in hits}
    lines = {path: seen.lines for path, seen in files.items() if isinstance(seen, SeenFile)}
    again = []
    for path, line, text in hits:
        wanted, seen = text or query, files[path]
        if isinstance(seen, SeenFile) and wanted and 0 < line <= len(lines[path]) and wanted in lines[path][line - 1]:
            again.append((seen, line))
    found = {
        "hits": [f"{seen.path}:{line}" for seen, line in again],
        "targets": list(dict.fromkeys(seen.path for seen, _ in again)),
        "digests": {seen.path: seen.digest for seen, _ in again},
        "hits_not_found": len(told) - len(again) if isinstance(told, list) else 0,
    }
    return (_C.DIRECT_SEARCH if again else _C.DIRECT_UNVERIFIED), found


def _hit(value: Any) -> tuple[str, int, str] | None:
    """A hit as `path:line:text`, or as an object with path, line and text."""
    if isinstance(value, dict):
        path, line, text = value.get("path") or value.get("file"), value.get("line"), str(value.get("text") or "")
        whole = isinstance(path, str) and isinstance(line, int) and not isinstance(line, bool)
        return (str(path), int(line or 0), text.strip()) if whole else None
    if not isinstance(value, str):
        return None
    path, _, rest = value.partition(":")
    number, _, text = rest.partition(":")
    return (path, int(number), text.strip()) if number.isascii() and number.isdigit() and path else None


def _committed(report: Report, roots: tuple[str, ...]) -> Seen:
    """The commits of a diff, if the repository has all of them."""
    if not roots:
        return _C.DIRECT_UNVERIFIED, {"commits": [], "not_seen": "no directory was named to look in"}
    repo = roots[0]
    told = report.payload.get("commits")
    words = [str(one) for one in told] if isinstance(told, list) else re.split(r"\.{2,3}", report.target)
    words = [one.strip() for one in words if one.strip()]
    if not words or len(words) > _COMMITS_MOST or not all(_REVISION.match(one) for one in words):
        return _C.DIRECT_UNVERIFIED, {"commits": [], "not_seen": "it names no commit"}
    answer = asked(repo, "rev-parse", "-q", "--verify", f"{words[0]}^{{commit}}", seconds=_GIT_S) if len(words) == 1 else None
    if len(words) > 1:
        answer = asked(repo, "rev-list", "--no-walk=unsorted", "--end-of-options", *words, seconds=_GIT_S)
    found = answer.decode("ascii", "replace").split() if answer else []
    if not found:
        return _C.DIRECT_UNVERIFIED, {"commits": [], "not_seen": "the repository has no such commit"}
    return _C.DIRECT_DIFF, {"commits": found, "targets": _touched(repo, found)}


def _touched(repo: str, commits: Sequence[str]) -> list[str]:
    """The files of a diff: between two commits, else those of each."""
    words = ("diff-tree", "-r", "--root", "--no-commit-id", "--name-only", "--no-renames", "-z")
    asks = [tuple(commits)] if len(commits) == 2 else [(one,) for one in commits]
    said = b"".join(asked(repo, *words, *one, seconds=_GIT_S) or b"" for one in asks)
    return list(dict.fromkeys(one.decode("utf-8", "replace") for one in said.split(b"\x00") if one))[:_TOUCHED_MOST]


def _fetched(report: Report, roots: tuple[str, ...]) -> Seen:
    copy = report.payload.get("copy")
    seen = seen_file(roots, copy) if isinstance(copy, str) else Unseen(why="no copy of it was kept")
    if isinstance(seen, Unseen):
        return _C.DIRECT_UNVERIFIED, {"not_seen": seen.why}
    named = [report.target] if report.target.startswith(_PAGES) else []  # any other name could be that of a file
    return _C.DIRECT_EXTERNAL, {"copy": seen.path, "copy_digest": seen.digest, "targets": [*named, seen.path]}


def _links(payload: dict[str, Any]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The events that a sweep names, by id and by number."""
    told = [one for name in ("linked_events", "linked_seqs", "events") for one in _listed(payload.get(name))]
    names = tuple(one for one in told if isinstance(one, str))[:_LINKS_MOST]
    places = tuple(one for one in told if isinstance(one, int) and not isinstance(one, bool))[:_LINKS_MOST]
    return names, places


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _document_lack(held: EvidenceClass | None) -> str:
    if held is _C.DOC_STALE:
        return "the document does not agree with its code any more: it supports nothing"
    return "a document shows what was meant, not what is" if held is _C.DOC_BOUND else "it is no document that is bound to code"
