"""Reconciliation: files and database agree again. What git or an editor brought passes the gateway on the channel `file`;
what a crash or another machine left undone is rolled forward."""

import time
from collections.abc import Callable, Mapping

from hindbrain.domain.caller import Channel
from hindbrain.domain.claim import outdated, parse
from hindbrain.domain.errors import HindbrainError, Refusal
from hindbrain.domain.ledger import Act
from hindbrain.engines.hygiene import has_conflict_markers
from hindbrain.engines.text import TERMS_VERSION
from hindbrain.policy.limits import CLAIM_MAX_BYTES, LOCK_WAIT_S, SCAN_INLINE_FILES, SWEEP_SHARE
from hindbrain.services.brains import OpenBrain
from hindbrain.services.floor import findings
from hindbrain.services.gateway import TERMS_META, Draft, Gateway, claim_terms
from hindbrain.settings import Settings
from hindbrain.stores.files import ClaimDirectory, FileFacts, digest_of
from hindbrain.stores.port import Mark

__all__ = ["CONFLICT", "KEPT_OUT", "REFUSED_FILE", "SECRET", "WAITING", "Reconciler", "kept_out_fix"]

CONFLICT = "conflict_markers"
REFUSED_FILE = "file_refused"
SECRET = "secret_in_file"  # noqa: S105 - the kind of a mark
KEPT_OUT = (CONFLICT, REFUSED_FILE, SECRET)  # the marks of a file that is not served
WAITING = "waiting_for_ingest"
_FILE_ACTOR = "file"


class Reconciler:
    """Keeps claim files and rows one."""

    def __init__(self, gateway: Gateway, settings: Settings, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._clock = clock
        self._cap = settings.number("memory_load_cap")
        self._adopted = settings.number("memory_adopt_cap")
        # place -> when the next scan may run: scans of a large directory never take more than a tenth of the time
        self._rest: dict[str, float] = {}
        self._swept: dict[str, float] = {}  # place -> when it is next looked through although nothing hints at a change
        gateway.settle = self.settle

    # -- whole directories -------------------------------------------------------------------------------------------

    def fresh(self, opened: OpenBrain, *, wait: bool = True) -> bool:
        """Take in what changed in the directories since the last look. False when it was left to the background."""
        done = True
        for place in opened.places:
            if opened.state.directory(str(place.path)) == place.mtime_ns():
                continue
            resting = time.monotonic() < self._rest.get(str(place.path), 0.0)
            # A small directory is looked at in every call: a file that was put there just now is never absent.
            if (resting or not wait) and opened.store.counts().active_claims > SCAN_INLINE_FILES:
                done = False
                continue
            self.scan(opened, place)
        return done

    def sweep(self, opened: OpenBrain) -> None:
        """Beside the calls: what changed in the directories, and now and then files that were edited in place."""
        for place in opened.places:
            key = str(place.path)
            changed = opened.state.directory(key) != place.mtime_ns()
            if changed or time.monotonic() >= self._swept.get(key, 0.0):
                began = time.monotonic()
                self.scan(opened, place)
                self._swept[key] = time.monotonic() + SWEEP_SHARE * (time.monotonic() - began)

    def scan(self, opened: OpenBrain, place: ClaimDirectory) -> int:
        """Compare every file with what was seen last and with its row; returns how many needed a hand."""
        with opened.lock:
            began, before = time.monotonic(), place.mtime_ns()
            key = str(place.path)
            seen, rows = opened.state.all(key), opened.store.digests()
            found = {facts.slug: facts for facts in place.scan()}
            kept_out = _kept_out(opened)
            touched = [
                slug
                for slug, facts in found.items()
                if slug not in seen
                or not seen[slug].same(facts)
                or (rows[slug] != seen[slug].digest if slug in rows else slug not in kept_out)
            ]
            elsewhere = {f.slug for other in opened.places if str(other.path) != key for f in other.scan()}
            gone = [slug for slug in {*seen, *rows} - set(found) - elsewhere if slug in rows or slug in seen]
            for slug in self._capped(opened, place, touched, found, rows):
                with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                    self.settle(opened, slug)
            for slug in gone:
                with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                    self.settle(opened, slug)
            # A change within the clock's grain after this look would leave the directory's time as it was: look again then.
            settled = place.mtime_ns()
            young = time.time_ns() - settled < 50_000_000
            again = (young and settled == before and not touched) or opened.waiting.get(key)
            opened.state.put_directory(key, 0 if again else settled)
            if len(found) > SCAN_INLINE_FILES:
                self._rest[key] = time.monotonic() + 10 * (time.monotonic() - began)
            return len(touched) + len(gone)

    def _capped(
        self, opened: OpenBrain, place: ClaimDirectory, touched: list[str], found: dict[str, FileFacts], rows: dict[str, str]
    ) -> list[str]:
        """With a load cap only the newest files and those without a birth stamp are loaded; the rest is reported."""
        touched = self._adoptable(opened, place, touched, rows)
        if not self._cap or len(found) <= self._cap:
            return sorted(touched)
        loaded = [slug for slug in touched if slug in rows]
        births = {slug: parse(place.read(slug) or "").created for slug in touched if slug not in rows}
        loaded += [slug for slug, created in births.items() if created is None]
        stamped = sorted(((created, slug) for slug, created in births.items() if created is not None), reverse=True)
        room = max(0, self._cap - len({*loaded, *(found.keys() & rows.keys())}))
        opened.warned = {slug for _, slug in stamped[room:]}
        return loaded + [slug for _, slug in stamped[:room]]

    def _adoptable(self, opened: OpenBrain, place: ClaimDirectory, touched: list[str], rows: dict[str, str]) -> list[str]:
        """Thousands of files of a clone do not become memory without a person's word: those beyond the cap wait, named."""
        new = sorted(slug for slug in touched if slug not in rows)
        room = max(0, self._adopted - opened.store.arrived(Channel.FILE.value)) if new and self._adopted else len(new)
        waiting = set(new[room:])
        opened.waiting[str(place.path)] = len(waiting)
        return [slug for slug in touched if slug not in waiting]

    def take_up(self, opened: OpenBrain) -> None:
        """Let claims into recall that were written without it, and find all of them by the words that are looked for today; the
        next load or ingest of their store does this."""
        waiting = opened.store.marks(kind=WAITING)
        outdated = opened.store.meta(TERMS_META) != str(TERMS_VERSION) and opened.store.counts().active_claims > 0
        if not waiting and not outdated:
            return
        opened.store.rebuild_index(lambda version: claim_terms(parse(version.text, fallback_label=version.slug)))
        with opened.store.writing() as writer:
            for mark in waiting:
                writer.drop_mark(mark.slug, WAITING)
            writer.set_meta(TERMS_META, str(TERMS_VERSION))

    def stale_rows(self, opened: OpenBrain, rows: Mapping[str, str | None]) -> bool:
        """Look at the files behind rows (slug -> digest) that are about to be shown; True when one of them was not what the
        row says: edited in place, removed, or written by another machine that shares this brain."""
        moved = False
        for slug, digest in rows.items():
            place = opened.holding(slug)
            facts, seen = place.facts(slug), opened.state.get(str(place.path), slug)
            if facts is not None and seen is not None and seen.same(facts) and digest in (None, seen.digest):
                continue
            with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                moved |= self.settle(opened, slug)
        return moved

    # -- one slug ----------------------------------------------------------------------------------------------------

    def settle(self, opened: OpenBrain, slug: str) -> bool:
        """Make file and row of one slug agree; the caller holds its lock. True when something changed."""
        place = opened.holding(slug)
        key = str(place.path)
        facts, seen = place.facts(slug), opened.state.get(key, slug)
        row = opened.store.live([slug]).get(slug)
        if facts is None:
            return self._settle_absent(opened, slug)
        if seen is not None and seen.same(facts) and row is not None and row.digest == seen.digest:
            return False
        text = place.read(slug)
        if text is None:
            return False
        digest = digest_of(text)
        if row is not None and row.digest == digest:
            opened.state.put(key, facts, digest)
            return False
        if row is not None and seen is not None and seen.digest == digest:
            return self._roll_forward(opened, slug)
        if row is None and seen is not None and seen.digest == digest and self._stays_out(opened, place, slug, digest):
            return False
        changed = self._take_in(opened, slug, text)
        if facts.size and (now := place.facts(slug)) is not None:
            opened.state.put(key, now, digest_of(place.read(slug) or ""))
        return changed

    def _stays_out(self, opened: OpenBrain, place: ClaimDirectory, slug: str, digest: str) -> bool:
        """A file that agreed with its row once and has none now: refused and still the same, or left by a writer that died."""
        if slug in _kept_out(opened):
            return True
        last = next(iter(opened.store.versions(slug)), None)
        if last is None or last.digest != digest:
            return False  # its rows are gone: forgotten, which the gateway knows, or lost with an older database
        if all(path.read_bytes() != outdated(last.text).encode() for _, path in place.history(slug)):
            place.archive(slug, last.text, at=last.ended_at or self._clock())
        place.remove(slug)
        opened.state.drop(str(place.path), slug)
        return True

    def _settle_absent(self, opened: OpenBrain, slug: str) -> bool:
        """No file: removed by hand where it was seen last, or never written. A whole directory that is gone removes nothing."""
        row = opened.store.live([slug]).get(slug)
        seen = [opened.state.get(str(place.path), slug) for place in opened.places]
        removed = row is not None and any(one is not None and one.digest == row.digest for one in seen)
        if row is None or removed:
            for place in opened.places:
                opened.state.drop(str(place.path), slug)
        if row is None:
            self._clear_marks(opened, slug)
            return False
        if removed:
            self._gateway.end(opened, slug, act="claim.removed", actor=_FILE_ACTOR, channel=Channel.FILE)
            return True
        return self._roll_forward(opened, slug)

    def _roll_forward(self, opened: OpenBrain, slug: str) -> bool:
        """The row is ahead of the file: a writer died between its commit and its rename, or another machine wrote."""
        place = opened.holding(slug)
        versions = opened.store.versions(slug)
        live = next((v for v in versions if v.ended_at is None), None)
        if live is None:
            return False
        kept = {path.read_bytes() for _, path in place.history(slug)}
        replaced = place.read(slug)
        if replaced is not None and replaced != live.text:
            staged = place.stage(slug, live.text, replaced=replaced)
            if staged.archive is not None and staged.archive.read_bytes() in kept:
                staged.archive.unlink()
                staged = type(staged)(live=staged.live, archive=None)
        else:
            staged = place.stage(slug, live.text, replaced=None)
        place.place(slug, staged, at=live.born_at)
        facts = place.facts(slug)
        if facts is not None:
            opened.state.put(str(place.path), facts, live.digest)
        return True

    def _take_in(self, opened: OpenBrain, slug: str, text: str) -> bool:
        """A file that came by git or an editor: through the gateway, or kept out and named."""
        if has_conflict_markers(text):
            return self._keep_out(opened, slug, CONFLICT, "a merge was left unfinished in the file")
        if len(text.encode("utf-8", "surrogateescape")) > CLAIM_MAX_BYTES:
            return self._keep_out(opened, slug, REFUSED_FILE, f"the file is larger than {CLAIM_MAX_BYTES} bytes")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return self._keep_out(opened, slug, REFUSED_FILE, "the file is not UTF-8")
        # A file of a clone or an editor was never refused by a write, so it is looked through here.
        if secret := next(findings(opened, text), None):
            return self._keep_out(opened, slug, SECRET, f"line {secret.line} looks like {secret.pattern_class}")
        claim = parse(text, fallback_label=slug)
        draft = Draft(
            claim=claim,
            act="claim.file",
            actor=_FILE_ACTOR,
            channel=Channel.FILE,
            slug=slug,
            text=text,
            gated=False,
            on_disk=True,
        )
        try:
            self._gateway.check_text(text)
            salt = self._gateway.salt(opened)
            self._gateway.check_tombstones(opened, claim, slug=slug)
            self._gateway.put_locked(opened, draft, slug, salt)
        except Refusal as refusal:
            return self._keep_out(opened, slug, REFUSED_FILE, refusal.message)
        except HindbrainError as failure:
            if failure.http_status >= 500:
                raise
            return self._keep_out(opened, slug, REFUSED_FILE, failure.message)
        self._clear_marks(opened, slug)
        return True

    def _keep_out(self, opened: OpenBrain, slug: str, kind: str, why: str) -> bool:
        """The file stays as it is, is not served, and is named until it is put right."""
        now = self._clock()
        live = opened.store.live([slug]).get(slug)
        with opened.store.writing() as writer:
            subject = f"claim:{live.claim_id}" if live else "file"
            writer.append(
                Act(act="claim.refused", subject=subject, actor=_FILE_ACTOR, channel=Channel.FILE, at=now, payload={"why": kind})
            )
            if live is not None:
                writer.end_claim(slug, expected=live.version, at=now, ended_act="claim.refused")
                writer.put_graph(f"claim:{slug}", [], [])
            for other in KEPT_OUT:
                writer.drop_mark(slug, other)
            writer.put_mark(Mark(slug=slug, kind=kind, at=now, by=_FILE_ACTOR, channel=Channel.FILE.value, note=why))
        if live is not None:
            opened.holding(slug).archive(slug, live.text, at=now)
        return True

    @staticmethod
    def _clear_marks(opened: OpenBrain, slug: str) -> None:
        found = [mark for mark in opened.store.marks(slugs=[slug]) if mark.kind in KEPT_OUT]
        if found:
            with opened.store.writing() as writer:
                for mark in found:
                    writer.drop_mark(slug, mark.kind)


def _kept_out(opened: OpenBrain) -> set[str]:
    """Labels whose file was refused; each is named until it is put right."""
    return {mark.slug for kind in KEPT_OUT for mark in opened.store.marks(kind=kind)}


def kept_out_fix(kind: str, path: object) -> str:
    """What a person does about a file that is not served."""
    return f"take the secret out of {path} and rotate it" if kind == SECRET else f"put {path} right by hand"
