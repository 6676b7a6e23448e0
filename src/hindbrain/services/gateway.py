"""The gateway: the one door for every write of a claim. Size and encoding, hygiene, tombstones, strength, then one
transaction with its ledger event, then the files. A refusal writes nothing."""

import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.claim import Block, Claim, body_text, outdated, parse, render
from hindbrain.domain.errors import ClaimTooLarge, InvalidParams, Rejected, StaleWrite, WouldDowngrade
from hindbrain.domain.ledger import Act
from hindbrain.engines.hygiene import scan
from hindbrain.engines.text import TERMS_VERSION, folds, terms
from hindbrain.policy.hygiene import HIGH_ENTROPY
from hindbrain.policy.limits import AGENT_MAX, CLAIM_MAX_BYTES, LOCK_WAIT_S
from hindbrain.services import anchors
from hindbrain.services.arrivals import arrived_by, capped, claim_of
from hindbrain.services.brains import OpenBrain
from hindbrain.services.floor import findings, name_findings, unclean
from hindbrain.services.grounding import LINES, claim_graph, line_anchors
from hindbrain.services.rows import OF_ITS_TEXT
from hindbrain.stores.files import ClaimDirectory, Staged, digest_of
from hindbrain.stores.port import Mark, Version, Writer

__all__ = [
    "STANDS_ALONE",
    "TERMS_META",
    "Draft",
    "Gateway",
    "Put",
    "claim_terms",
    "findings",
    "fingerprints",
    "recorded",
    "strings_in",
]

TERMS_META = "terms_version"  # which words the claims of a brain are found by

STANDS_ALONE = 16  # folded characters from which a value is a value also under another label
_NEIGHBOURS = 8  # lines or blocks that are read together when a value may have been cut into pieces
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A version that wants to become live."""

    claim: Claim
    act: str
    actor: str
    channel: Channel
    slug: str = ""
    text: str | None = None  # the exact file text, when it is not rendered from the claim
    gated: bool = True  # compared with the live version's strength
    indexed: bool = True
    on_disk: bool = False  # the file is there already: it came by git or an editor
    new_file: bool = True  # False for a stamp: a file that this checkout lacks is not written
    checkout: str | None = None  # the linked worktree in which the caller stands: evidence is read there first
    payload: dict[str, Any] = field(default_factory=dict)
    before: Callable[[Writer], None] | None = None  # more rows for the same transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """What a write left behind."""

    version: Version
    previous: Version | None
    path: Path
    resolved: int
    unresolved: int


def claim_terms(claim: Claim) -> list[str]:
    """The words a claim is found by: labels, title, prose, cited paths and dependencies."""
    parts = [claim.label, claim.title or "", body_text(claim)]
    parts += [block.label for block in claim.blocks]
    parts += [path for block in claim.blocks for path in (*block.evidence, *block.depends_on)]
    return terms("\n".join(parts))


def fingerprints(claim: Claim, salt: str, *, slug: str | None = None) -> list[str]:
    """What a tombstone remembers of a value: each block under its label, and by itself when it is long enough to be one."""
    made = []
    whole = body_text(claim)
    for text in dict.fromkeys([whole, *(block.text or block.label for block in claim.blocks)]):
        for label, folded in product(folds(claim.label), folds(text)):
            if not folded:
                continue
            made.append(_mac(salt, f"{label or slug or ''}\x1f{folded}"))
            if len(folded) >= STANDS_ALONE:
                made.append(_mac(salt, folded))
    return list(dict.fromkeys(made))


def traces(claim: Claim, salt: str, *, slug: str) -> list[str]:
    """What a buried value would look like anywhere in a version: in any field, on a line of its own, cut over neighbours."""
    words = [claim.label, claim.title, claim.source_agent, claim.promoted_by, claim.promotion_reason]
    words += [line.partition(":")[2] for line in claim.extra]
    for block in claim.blocks:
        words += [block.label, block.confidence, block.ambiguity, *block.evidence, *block.depends_on]
    alone = {folded for word in words if word for folded in folds(word)}
    rows = _rows_of(claim)
    forms = {line: folds(line) for row in rows for line in row}
    distinct = {tuple(filter(None, (forms[line][form] for line in row))) for row in rows for form in (0, -1)}
    together = {run for row in distinct for run in _runs(row)}
    made = fingerprints(claim, salt, slug=slug)
    made += [_mac(salt, f"{label or slug}\x1f{folded}") for label, folded in product(folds(claim.label), alone)]
    made += [_mac(salt, folded) for folded in alone | together if len(folded) >= STANDS_ALONE]
    return list(dict.fromkeys(made))


def _as_name_only(claim: Claim, salt: str, *, slug: str, buried: frozenset[str]) -> frozenset[str]:
    """Marks that only say: the value once was the label itself. The label stays free for what holds instead."""
    named = folds(claim.label)
    pairs = frozenset(_mac(salt, f"{label or slug}\x1f{label}") for label in named)
    if not pairs & buried or buried & set(fingerprints(claim, salt, slug=slug)):
        return frozenset()
    return pairs | {_mac(salt, label) for label in named}


def _rows_of(claim: Claim) -> list[list[str]]:
    """The lines of a claim as a reader meets them: all under its label, all under its title, and each block under its own."""
    blocks = [[block.label, *block.text.splitlines()] for block in claim.blocks]
    body = [line for block in blocks for line in block[1:]]
    return [[claim.label, *body], [claim.title or "", *body], *blocks]


def _runs(row: tuple[str, ...]) -> Iterator[str]:
    """Every line of a row, alone and with those after it."""
    for at in range(len(row)):
        for end in range(at + 1, min(at + _NEIGHBOURS, len(row)) + 1):
            yield "".join(row[at:end])


def recorded(salt: str, text: str) -> str:
    """What the ledger keeps of a claim's text: enough to know it again, nothing to read."""
    return _mac(salt, text)


def _mac(salt: str, text: str) -> str:
    return hmac.digest(salt.encode(), text.encode("utf-8", "surrogatepass"), "sha256").hex()


def strings_in(value: Any) -> list[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        return [value]
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [text for one in inner for text in strings_in(one)]


class Gateway:
    """Every claim that becomes live in any brain passes here."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self.settle: Callable[[OpenBrain, str], bool] = lambda _brain, _slug: False  # the reconciler: file and row agree first

    # -- checks, in the order of the house ---------------------------------------------------------------------------

    def check_text(self, text: str) -> None:
        """Encoding and size of anything a caller wrote."""
        if "\x00" in text:
            raise InvalidParams("the text holds a NUL character", fix="remove it; a claim is plain text")
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as broken:
            raise InvalidParams("the text holds a lone surrogate: it is not Unicode text", fix="send valid UTF-8") from broken
        if size > CLAIM_MAX_BYTES:
            raise ClaimTooLarge(
                f"the text has {size} bytes; {CLAIM_MAX_BYTES} is the most",
                fix="keep the belief short and its material in a file or a row of evidence that it cites",
            )

    def check_hygiene(self, opened: OpenBrain, fields: Iterable[str], *, site: str) -> None:
        """Refuse secrets and unfinished merges. The answer names the class and the line of its field, never the secret."""
        for finding in (hit for text in fields for hit in findings(opened, text)):
            raise unclean(finding, site)

    def check_secrets(self, fields: Iterable[str], *, site: str, random: bool = True) -> None:
        """Refuse secrets where no brain has a say: there is no list of what a person let through. A merge marker is none.

        Without `random` a long random run passes, for names that may be digests.
        """
        passing = {"conflict_marker"} if random else {"conflict_marker", str(HIGH_ENTROPY["name"])}
        for finding in (hit for text in fields for hit in scan(text)):
            if finding.pattern_class not in passing:
                raise unclean(finding, site)

    def check_caller(self, caller: Caller) -> None:
        """Refuse a caller whose names cannot be recorded. This holds for reads as well: they are recorded too."""
        self.check_actor(caller.agent)
        for site, name in (("session", caller.session), ("delegation", caller.delegation)):
            for finding in name_findings(name or ""):
                raise unclean(finding, site)

    def check_actor(self, agent: str) -> None:
        """Refuse a name of somebody who acts that is long or a secret."""
        self.check_text(agent)
        if len(agent) > AGENT_MAX:
            raise InvalidParams(f"agent_id has {len(agent)} characters; {AGENT_MAX} is the most", fix="use host:role")
        for finding in name_findings(agent):
            raise unclean(finding, "agent_id")

    def check_tombstones(self, opened: OpenBrain, claim: Claim, *, slug: str) -> None:
        """A rejected or forgotten value does not come back by another case, spacing, look-alike, label or channel."""
        salt = opened.store.meta("salt")
        found = opened.store.tombstones(traces(claim, salt, slug=slug)) if salt else frozenset()
        if salt and found - _as_name_only(claim, salt, slug=slug, buried=found):
            raise Rejected(
                f"this value was rejected or forgotten in {opened.brain.display_name}",
                fix="write what holds instead; a person can lift the rejection in a terminal",
            )

    def check_keyed(self, opened: OpenBrain, key: str, value: Any, *, more: Iterable[str] = (), site: str) -> None:
        """The same for a keyed value: no secret in it, and none of its texts is a rejected value under that key."""
        more = list(more)
        texts = [value] if isinstance(value, str) else [json.dumps(value, ensure_ascii=False, sort_keys=True), *strings_in(value)]
        self.check_hygiene(opened, [key, *texts, f"{key}={texts[0]}", *more], site=site)
        blocks = tuple(Block(label=key, text=text) for text in (*texts, *more))
        self.check_tombstones(opened, Claim(label=key, blocks=blocks), slug=key)

    # -- the write ---------------------------------------------------------------------------------------------------

    def salt(self, opened: OpenBrain) -> str:
        """The brain's own salt: digests and tombstones mean nothing outside it."""
        if found := opened.store.meta("salt"):
            return found
        with opened.store.writing() as writer:
            if (found := opened.store.meta("salt")) is None:
                found = secrets.token_hex(16)
                writer.set_meta("salt", found)
        return found

    def put(self, opened: OpenBrain, draft: Draft) -> Put:
        """Make a draft live under its slug's lock. The checks before the lock leave no trace when they refuse."""
        slug = draft.slug or draft.claim.slug
        self.check_text(draft.text if draft.text is not None else render(draft.claim))
        salt = self.salt(opened)
        self.check_tombstones(opened, draft.claim, slug=slug)
        with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
            return self.put_locked(opened, draft, slug, salt)

    def put_locked(self, opened: OpenBrain, draft: Draft, slug: str, salt: str) -> Put:
        """The write itself; the caller holds the lock of the slug."""
        if not draft.on_disk:
            self.settle(opened, slug)
        for attempt in range(_TRIES):
            live = opened.store.live([slug]).get(slug)
            self._gate(live, draft)
            try:
                return self._write(opened, draft, slug, salt, live)
            except StaleWrite:
                # Another machine wrote this label between the read and the write; look again.
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _gate(self, live: Version | None, draft: Draft) -> None:
        if live is None or not draft.gated:
            return
        held = claim_of(live)
        offered = capped(draft.claim) if draft.channel in (Channel.FILE, Channel.IMPORT) else draft.claim
        if not offered.strength.holds_against(held.strength):
            raise WouldDowngrade(
                f"the live version ({held.state}, {held.strength.confidence}) is stronger than this one",
                fix="bring a verification or a higher confidence, or leave it",
                live={
                    "state": held.state,
                    "confidence": held.strength.confidence,
                    "source_agent": held.source_agent or "unknown",
                    "created": held.created,
                },
            )

    def _write(self, opened: OpenBrain, draft: Draft, slug: str, salt: str, live: Version | None) -> Put:
        now = self._clock()
        claim, text = draft.claim, draft.text
        if text is None:
            claim = replace(claim, supersedes=slug if live is not None else None)
            text = render(claim)
            self.check_text(text)
        place = opened.holding(slug) if draft.on_disk else opened.place
        # Asked before the first temporary file: what changes the directory from here on is this write.
        clean = opened.state.directory(str(place.path)) == place.mtime_ns()
        fileless = draft.on_disk or not (draft.new_file or opened.holding(slug).has(slug))
        staged = None if fileless else place.stage(slug, text, replaced=live.text if live else None)
        try:
            if staged is not None:
                opened.state.owe(str(place.path), slug, digest_of(text))
            version, resolved, unresolved = self._commit(opened, draft, slug, salt, live, claim, text, now)
        except BaseException:
            if staged is not None:
                place.unstage(staged)
                opened.state.settle(str(place.path), slug)
            raise
        path = self._files(opened, place, slug, staged, live, version, now, clean=clean)
        return Put(version=version, previous=live, path=path, resolved=resolved, unresolved=unresolved)

    def _commit(
        self,
        opened: OpenBrain,
        draft: Draft,
        slug: str,
        salt: str,
        live: Version | None,
        claim: Claim,
        text: str,
        now: int,
    ) -> tuple[Version, int, int]:
        root = opened.brain.root
        cited = anchors.digests(claim.evidence, root, draft.checkout)
        lines = line_anchors(claim.evidence, draft.checkout or root)
        claim_id = live.claim_id if live else self._claim_id(opened, slug)
        same = live is not None and body_text(parse(live.text, fallback_label=slug)) == body_text(claim)
        outlived = [] if same else [mark for mark in opened.store.marks(slugs=[slug]) if mark.kind in OF_ITS_TEXT]
        with opened.store.writing() as writer:
            entry = writer.append(
                Act(
                    act=draft.act,
                    subject=f"claim:{claim_id}",
                    actor=draft.actor,
                    channel=draft.channel,
                    at=now,
                    payload={"digest": recorded(salt, text), "state": claim.state, **draft.payload},
                )
            )
            if claim.active:
                # Once more where no other writer can come between: the value may have been rejected a moment ago.
                self.check_tombstones(opened, claim, slug=slug)
            version = Version(
                slug=slug,
                version=entry.seq,
                claim_id=claim_id,
                digest=digest_of(text),
                text=text,
                active=claim.active,
                created=claim.created,
                born_at=now,
            )
            words = claim_terms(claim) if claim.active and draft.indexed else []
            writer.put_claim(version, expected=live.version if live else None, ended_act=draft.act, terms=words)
            for mark in outlived:
                writer.drop_mark(slug, mark.kind)
            writer.put_anchors(slug, cited)
            writer.put_graph(f"claim:{slug}", *claim_graph(opened, slug, claim, text, cited))
            writer.drop_mark(slug, LINES)
            if lines:
                writer.put_mark(Mark(slug=slug, kind=LINES, at=now, by="hindbrain", channel=Channel.RUNTIME.value, note=lines))
            if opened.store.meta(TERMS_META) is None:  # a brain with claims of other terms was given these when it was opened
                writer.set_meta(TERMS_META, str(TERMS_VERSION))
            if draft.before is not None:
                draft.before(writer)
        return version, sum(bool(d) for d in cited.values()), sum(not d for d in cited.values())

    @staticmethod
    def _claim_id(opened: OpenBrain, slug: str) -> str:
        """A label that comes back keeps the id of its earlier versions, so that its history is one chain."""
        earlier = opened.store.versions(slug)
        return earlier[0].claim_id if earlier else secrets.token_hex(8)

    def _files(
        self,
        opened: OpenBrain,
        place: ClaimDirectory,
        slug: str,
        staged: Staged | None,
        live: Version | None,
        version: Version,
        now: int,
        *,
        clean: bool,
    ) -> Path:
        """The committed version onto the disk. A crash in here is rolled forward by the next reader."""
        if staged is not None:
            place.place(slug, staged, at=now)
            opened.state.let_in(str(place.path), slug)
            self._leave_other_places(opened, place, slug)
        elif live is not None and live.digest != version.digest:
            place.archive(slug, live.text, at=now)
        facts = place.facts(slug)
        if facts is not None:
            mtime = place.mtime_ns() if clean else None
            opened.state.put(str(place.path), facts, version.digest, directory_mtime=mtime)
        return place.file(slug)

    @staticmethod
    def _leave_other_places(opened: OpenBrain, place: ClaimDirectory, slug: str) -> None:
        """A label has one live file: a copy in the brain's other directory is an older place, already archived here."""
        for other in opened.places:
            if other.path != place.path and other.file(slug).exists():
                other.remove(slug)
                opened.state.drop(str(other.path), slug)

    def end(
        self,
        opened: OpenBrain,
        slug: str,
        *,
        act: str,
        actor: str,
        channel: Channel,
        payload: dict[str, Any] | None = None,
        before: Callable[[Writer], None] | None = None,
        remove_file: bool = True,
    ) -> Version | None:
        """End a live claim without a successor: archived in the history, gone from recall. The caller holds its lock.

        A file with a text that no version had is somebody's unfinished work: it stays."""
        live = opened.store.live([slug]).get(slug)
        if live is None:
            return None
        now = self._clock()
        place = opened.holding(slug)
        clean = opened.state.directory(str(place.path)) == place.mtime_ns()
        here = digest_of(text) if (text := place.read(slug)) is not None else None
        remove_file = remove_file and here is not None and any(one.digest == here for one in opened.store.versions(slug))
        if remove_file and here is not None:
            opened.state.owe(str(place.path), slug, here, removal=True)
        opened.state.put_directory(str(place.path), 0)  # whoever comes after a crash in here looks at the files again
        with opened.store.writing() as writer:
            writer.append(
                Act(act=act, subject=f"claim:{live.claim_id}", actor=actor, channel=channel, at=now, payload=payload or {})
            )
            writer.end_claim(slug, expected=live.version, at=now, ended_act=act)
            writer.put_anchors(slug, {})
            writer.put_graph(f"claim:{slug}", [], [])
            if before is not None:
                before(writer)
        place.archive(slug, live.text, at=now)
        if remove_file:
            place.remove(slug)
            opened.state.drop(str(place.path), slug)
        if clean:
            opened.state.put_directory(str(place.path), place.mtime_ns())
        return live

    def withdraw(self, opened: OpenBrain, slug: str, *, actor: str, channel: Channel) -> None:
        """Take back a version that was born in an act which failed as a whole: no file, no history of it."""
        live = opened.store.live([slug]).get(slug)
        if live is None:
            return
        place = opened.holding(slug)
        opened.state.owe(str(place.path), slug, live.digest, removal=True)
        with opened.store.writing() as writer:
            now = self._clock()
            writer.append(
                Act(act="claim.withdraw", subject=f"claim:{live.claim_id}", actor=actor, channel=channel, at=now, payload={})
            )
            writer.end_claim(slug, expected=live.version, at=now, ended_act="claim.withdraw")
            writer.put_graph(f"claim:{slug}", [], [])
        place.remove(slug)
        opened.state.drop(str(place.path), slug)

    def revert(self, opened: OpenBrain, previous: Version, *, actor: str, channel: Channel) -> None:
        """Put an earlier version back in place after an act that failed as a whole, and take its archive out again."""
        slug = previous.slug
        claim = parse(previous.text, fallback_label=slug)
        # It came as it came: putting it back makes nobody here its author.
        came = Channel(previous.channel) if arrived_by(previous) and previous.channel else channel
        draft = Draft(claim=claim, act="claim.withdraw", actor=actor, channel=came, slug=slug, text=previous.text, gated=False)
        before = {path for _, path in opened.place.history(slug)}
        self.put_locked(opened, draft, slug, self.salt(opened))
        place = opened.holding(slug)
        gone = [path for _, path in place.history(slug) if path not in before]
        archived = outdated(previous.text).encode()
        gone += [path for _, path in place.history(slug) if path not in gone and path.read_bytes() == archived][:1]
        for path in gone:
            path.unlink()
