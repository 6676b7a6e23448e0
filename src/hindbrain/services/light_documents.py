"""Strategy documents of a repository: written as a skeleton, checked against the code, confirmed by whoever read both. What was
confirmed stands in a file beside the document, so that every machine and every run of the tests can check it."""

import hashlib
import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import looks_like_light
from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.domain.ledger import Act
from hindbrain.domain.mission import EventType, EvidenceClass, MissionEvent
from hindbrain.domain.stored import stored_record
from hindbrain.domain.typed import converted, decoded
from hindbrain.engines.code.extract import parse_file
from hindbrain.engines.light_drift import CHECKS, Declared, Drift, Facts, covers, declared, drift, is_path, pair_drift, symbol_of
from hindbrain.engines.light_graph import evidence_path
from hindbrain.engines.light_note import skeleton
from hindbrain.engines.moments import stamped
from hindbrain.policy.graph import MAX_FILE_BYTES
from hindbrain.policy.non_claims import STANDING_BY_ID
from hindbrain.services import anchors
from hindbrain.services.adapters import DOCUMENTS_KEY
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.gateway import Gateway
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_below, write_new
from hindbrain.stores.checkout import listing
from hindbrain.stores.git import asked
from hindbrain.stores.home import REPO_DIR

__all__ = ["LightDocuments", "confirmation_path", "drift_of", "facts_of", "pairs_of", "stale_warning"]

PAIRS = "light-pairs.toml"
_ENDING = ".light.md"
_CLAIMS = f"{REPO_DIR}/agent-memory/"
_LISTED_S = 10.0
_MISSIONS = 50  # the latest ones, whose runs of tests are looked at
_SCHEMA = "hindbrain-light-lock-v1"


class _Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """What was confirmed: the digest of each bound file as it was read then."""

    bindings: dict[str, str]
    confirmed_at: str = ""
    confirmed_by: str = ""
    schema: str = _SCHEMA


class _Pair(msgspec.Struct, frozen=True, kw_only=True):
    prose: str
    light: str
    headings: tuple[str, ...] | None = None


class _Pairs(msgspec.Struct, frozen=True, kw_only=True):
    pair: tuple[_Pair, ...] = ()


def confirmation_path(path: str) -> str:
    """The file beside a document that holds what was confirmed."""
    return path.removesuffix(".markdown").removesuffix(".md") + ".lock"


def _text(root: str, path: str) -> str | None:
    found = anchors.content(root, path)
    return None if found is None else found.decode("utf-8", "replace")


def pairs_of(root: str) -> Iterator[tuple[str, str, tuple[str, ...] | None]]:
    """Declared pairs of a repository: prose, L1GHT file and declared headings. Paths are relative to the root."""
    for one in listing(root).files:
        if os.path.basename(one.path) == PAIRS:
            yield from _pairs_in(root, one.path)


def _pairs_in(root: str, path: str) -> Iterator[tuple[str, str, tuple[str, ...] | None]]:
    if (text := _text(root, path)) is None:
        return
    try:
        found = converted(tomllib.loads(text), _Pairs)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as wrong:
        raise InvalidParams(f"{path} declares no pairs: {wrong}", fix="give tables [[pair]] with prose and light") from wrong
    beside = os.path.dirname(path)
    for pair in found.pair:
        yield os.path.join(beside, pair.prose), os.path.join(beside, pair.light), pair.headings


def facts_of(root: str, path: str, said: Declared, runs: Callable[[str], bool | None] = lambda _: None) -> Facts:
    """What the files that a document binds say now."""
    digests: dict[str, str] = {}
    symbols: dict[str, frozenset[tuple[str, ...]]] = {}
    asked = {evidence_path(value) for _, value, _ in (*said.bindings, *said.tests) if is_path(value) and symbol_of(value)}
    for one in said.paths:
        content = anchors.content(root, one)
        if content is None:
            if os.path.isdir(os.path.join(root, one)) and ".." not in one.split("/"):
                digests[one] = _tree_digest(root, one)
            continue
        digests[one] = hashlib.sha256(content).hexdigest()
        if one in asked:
            symbols[one] = _symbols(one, content)
    passed = {value: told for _, value, _ in said.tests if is_path(value) and (told := runs(value)) is not None}
    return Facts(digests=digests, confirmed=_confirmed(root, path), symbols=symbols, passed=passed)


def _tree_digest(root: str, path: str) -> str:
    """A directory is the names and contents of its files."""
    below = path.rstrip("/") + "/"
    found = (f"{one.path}\0{anchors.file_digest(root, one.path)}\n" for one in listing(root).files if one.path.startswith(below))
    return hashlib.sha256("".join(sorted(found)).encode()).hexdigest()


def _symbols(path: str, content: bytes) -> frozenset[tuple[str, ...]]:
    if len(content) > MAX_FILE_BYTES:
        return frozenset()
    nodes = parse_file(path, content, mtime_ns=0).nodes[1:]
    return frozenset(tuple(node.id.removeprefix(f"file::{path}").split("::")[2::2]) for node in nodes)


def _confirmed(root: str, path: str) -> dict[str, str]:
    found = anchors.content(root, confirmation_path(path))
    if found is None:
        return {}
    try:
        return {one: digest.removeprefix("sha256:") for one, digest in decoded(found, _Confirmed).bindings.items()}
    except msgspec.DecodeError:
        return {}  # as if nobody had confirmed anything; the next confirmation writes it anew


def drift_of(opened: OpenBrain, root: str, path: str) -> tuple[Drift, ...] | None:
    """Where a document has drifted; None when the file is no strategy document."""
    text = _text(root, path) if path.lower().endswith((".md", ".markdown")) else None
    if text is None or not looks_like_light(text):
        return None
    said = declared(text)
    if said.signed:
        return None
    return drift(said, facts_of(root, path, said, lambda test: _passed(opened, test))) + _paired(root, path, text)


def stale_warning(opened: OpenBrain, node_path: str) -> str | None:
    """What is to be said beside a node of the graph that a stale document gave; None when there is nothing to say."""
    root, graph = opened.brain.root, opened.graph
    known = decoded((graph.meta(DOCUMENTS_KEY) if graph is not None else None) or "{}", dict[str, str])
    full = known.get(node_path)
    if root is None or full is None or not full.startswith(root.rstrip("/") + "/"):
        return None
    path = os.path.relpath(full, root)
    found = tuple(one for one in drift_of(opened, root, path) or () if one.stale)
    return _warning(path, found) if found else None


def _warning(path: str, found: tuple[Drift, ...]) -> str:
    return f"{EvidenceClass.DOC_STALE.value}: {path}: {found[0].text}" + (f", and {len(found) - 1} more" if found[1:] else "")


def _paired(root: str, path: str, text: str) -> tuple[Drift, ...]:
    """What the other file of the pair says; pairs are declared beside the document or above it."""
    place = os.path.dirname(path)
    while True:
        declaring = os.path.join(place, PAIRS)
        try:
            named = [(prose, headings) for prose, light, headings in _pairs_in(root, declaring) if light == path]
        except InvalidParams:
            return (Drift(kind="pairs_unreadable", subject=declaring),)
        for prose, headings in named:
            other = _text(root, prose)
            return (Drift(kind="pair_missing", subject=prose),) if other is None else pair_drift(text, other, headings=headings)
        if not place:
            return ()
        place = os.path.dirname(place)


def _passed(opened: OpenBrain, test: str) -> bool | None:
    """Whether the last run of a test that the runtime saw itself passed."""
    latest: tuple[int, bool] | None = None
    for head in opened.store.missions(limit=_MISSIONS):
        for stored in opened.store.mission_events(head.mission_id):
            if stored.event_type != EventType.TEST_RUN.value or (latest is not None and stored.at < latest[0]):
                continue
            event = stored_record(stored.body, MissionEvent, "mission_event")
            command = str(event.payload.get("command") or event.target or "")
            if event.source == "runtime" and covers(command, test) and event.outcome.value in ("passed", "failed"):
                latest = (stored.at, event.outcome.value == "passed")
    return latest[1] if latest is not None else None


class LightDocuments:
    """The L1GHT documents of whichever repository a call belongs to."""

    def __init__(self, brains: Brains, router: Router, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._clock = clock

    # -- for others --------------------------------------------------------------------------------------------------

    def drift(self, opened: OpenBrain, root: str, path: str) -> tuple[Drift, ...] | None:
        """Where a document has drifted; None when the file is no strategy document."""
        return drift_of(opened, root, path)

    def evidence_class(self, opened: OpenBrain, root: str, path: str) -> EvidenceClass | None:
        """What a statement of this file can prove: bound to code, or stale. None when it is no strategy document."""
        found = self.drift(opened, root, path)
        if found is None:
            return None
        return EvidenceClass.DOC_STALE if any(one.stale for one in found) else EvidenceClass.DOC_BOUND

    def stale(self, opened: OpenBrain, root: str) -> dict[str, tuple[Drift, ...]]:
        """Every stale document of a repository, with why."""
        found = {}
        for path in self._documents(root):
            told = tuple(one for one in self.drift(opened, root, path) or () if one.stale)
            if told:
                found[path] = told
        return found

    def warnings(self, opened: OpenBrain, root: str) -> tuple[str, ...]:
        """The same as lines for whoever is about to work there."""
        return tuple(_warning(path, found) for path, found in self.stale(opened, root).items())

    # -- operations --------------------------------------------------------------------------------------------------

    def new(self, caller: Caller, *, path: str, title: str, entities: tuple[str, ...]) -> dict[str, Any]:
        """Write a skeleton; nothing that is there is overwritten."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            root = self._root(opened)
            name = self._free(root, path)
            self._gateway.check_keyed(opened, name, title, more=entities, site="light.new")
            text = skeleton(title, entities or (title,))
            write_new(Path(root, name), text.encode(), mode=0o644)
            self._append(opened, caller, "light.written", {"entities": len(entities or (title,))})
        return {
            "ok": True,
            "schema": "hindbrain-light-new-v0",
            "path": name,
            "entities": list(entities or (title,)),
            "rendered": f"Wrote {name}. Take it in with: hindbrain ingest {name} --adapter light",
        }

    def check(self, caller: Caller, *, paths: tuple[str, ...]) -> dict[str, Any]:
        """The drift report of some documents, or of all and of the declared pairs."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            root = self._root(opened)
            rows = []
            for path in paths or self._documents(root):
                found = self.drift(opened, root, path)
                if found is None:
                    raise InvalidParams(f"{path[:120]!r} is no strategy document", fix="name a file that light new made, or none")
                rows.append(_row(path, found))
            rows += [] if paths else self._halves(root, {row["path"] for row in rows})
        stale = [row["path"] for row in rows if row["stale"]]
        lines = [f"{row['path']}: {row['grade']}" + "".join(f"\n  {one['text']}" for one in row["drift"]) for row in rows]
        return {
            "ok": True,
            "schema": "hindbrain-light-check-v0",
            "documents": rows,
            "stale": stale,
            "checks": list(CHECKS),
            "non_claims": [text for text in (STANDING_BY_ID.get("AOL-308"),) if text is not None],
            "rendered": "\n".join(lines) or "there are no strategy documents here",
        }

    def confirm(self, caller: Caller, *, path: str) -> dict[str, Any]:
        """Keep what the bound files say now: whoever asks has read the document and the files."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            root = self._root(opened)
            if self.drift(opened, root, path) is None:
                raise InvalidParams(f"{path[:120]!r} is no strategy document", fix="name a file that light new made")
            said = declared(_text(root, path) or "")
            facts = facts_of(root, path, said)
            bound = {evidence_path(value) for _, value, _ in said.bindings if is_path(value) and not symbol_of(value)}
            digests = {one: f"sha256:{facts.digests[one]}" for one in sorted(bound & facts.digests.keys())}
            gone = sorted(bound - facts.digests.keys())
            kept = _Confirmed(bindings=digests, confirmed_at=stamped(self._clock()), confirmed_by=caller.agent)
            place = Path(root, confirmation_path(path))
            if place.is_symlink():
                raise PathRefused(f"{place} is a link", fix="remove it and confirm again")
            text = msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"
            write_below(Path(root), confirmation_path(path), text, mode=0o644)
            self._append(opened, caller, "light.confirmed", {"bindings": len(digests)})
        return {
            "ok": True,
            "schema": "hindbrain-light-confirm-v0",
            "path": path,
            "confirmation": confirmation_path(path),
            "bindings": digests,
            "missing": gone,
            "rendered": f"Confirmed {len(digests)} file(s) of {path}" + (f"; missing: {', '.join(gone)}" if gone else "") + ".",
        }

    # -- within ------------------------------------------------------------------------------------------------------

    @staticmethod
    def _root(opened: OpenBrain) -> str:
        if opened.brain.root is None:
            raise InvalidParams("the medulla has no repository", fix="call from a project")
        return opened.brain.root

    @staticmethod
    def _documents(root: str) -> list[str]:
        """Git knows its files without a walk; a directory without git is walked. Claims are no strategy."""
        told = asked(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", seconds=_LISTED_S)
        names = (
            told.decode("utf-8", "surrogateescape").split("\0") if told is not None else [one.path for one in listing(root).files]
        )
        own = sorted({name for name in names if name.endswith(_ENDING) and not name.startswith(_CLAIMS)})
        return [name for name in own if (text := _text(root, name)) is not None and not declared(text).signed]

    @staticmethod
    def _halves(root: str, seen: set[str]) -> list[dict[str, Any]]:
        """Pairs whose L1GHT file is not there, so that nothing else would tell of them."""
        return [_row(light, (Drift(kind="pair_missing", subject=light),)) for _, light, _ in pairs_of(root) if light not in seen]

    @staticmethod
    def _free(root: str, path: str) -> str:
        (name,) = anchors.checked([path], root)
        if not name.endswith(_ENDING):
            raise InvalidParams(f"{path[:120]!r} does not end with {_ENDING}", fix=f"call it {name.split('.')[0]}{_ENDING}")
        place = Path(root, name)
        if os.path.lexists(place):
            raise InvalidParams(f"{name} exists already", fix="choose a name that is free")
        if not place.parent.is_dir():
            raise InvalidParams(f"{os.path.dirname(name)} is not a directory", fix="choose a directory that exists")
        return name

    def _append(self, opened: OpenBrain, caller: Caller, act: str, payload: dict[str, str | int]) -> None:
        with opened.store.writing() as writer:
            writer.append(
                Act(act=act, subject="light", actor=caller.agent, channel=caller.channel, at=self._clock(), payload=payload)
            )


def _row(path: str, found: tuple[Drift, ...]) -> dict[str, Any]:
    stale = any(one.stale for one in found)
    return {
        "path": path,
        "stale": stale,
        "grade": (EvidenceClass.DOC_STALE if stale else EvidenceClass.DOC_BOUND).value,
        "drift": [
            {
                "kind": one.kind,
                "subject": one.subject,
                "entity": one.entity,
                "line": one.line,
                "stale": one.stale,
                "text": one.text,
            }
            for one in found
        ],
    }
