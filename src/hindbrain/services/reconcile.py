"""Reconciliation: claim files of this checkout against the rows of the database.

What git or an editor brings passes the gateway on the channel `file`; what a crash left undone is completed. A file that this
checkout does not have, or has in an earlier version, is a state of the checkout and no act: other clones share the rows. A claim
ends by an act, or by a commit on the repository's default branch that deletes its file."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from hindbrain.domain.caller import Channel
from hindbrain.domain.claim import outdated, parse
from hindbrain.domain.errors import HindbrainError, Refusal, StaleWrite
from hindbrain.domain.ledger import Act
from hindbrain.engines.hygiene import has_conflict_markers
from hindbrain.engines.text import TERMS_VERSION
from hindbrain.policy.limits import CLAIM_MAX_BYTES, LOCK_WAIT_S, SCAN_INLINE_FILES, SWEEP_SHARE
from hindbrain.services.brains import OpenBrain
from hindbrain.services.claim_branch import DELETED, ClaimBranches, deletion_of
from hindbrain.services.floor import findings
from hindbrain.services.gateway import TERMS_META, Draft, Gateway, claim_terms
from hindbrain.settings import Settings
from hindbrain.stores.files import ClaimDirectory, FileFacts, digest_of
from hindbrain.stores.filestate import KeptOut, Seen
from hindbrain.stores.port import Version, Writer

__all__ = ["CONFLICT", "KEPT_OUT", "REFUSED_FILE", "SECRET", "WAITING", "Reconciler", "kept_out", "kept_out_fix"]

CONFLICT = "conflict_markers"
REFUSED_FILE = "file_refused"
SECRET = "secret_in_file"  # noqa: S105 - the kind of a mark
KEPT_OUT = (CONFLICT, REFUSED_FILE, SECRET)  # why a file is not served
WAITING = "waiting_for_ingest"
_FILE_ACTOR = "file"
_REFUSED_ACT = "claim.refused"  # 0.1.0 ended a claim by it


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
        self._shared = bool(settings.text("store_url"))  # other clones write rows of the same brain
        self._branches = ClaimBranches(shared=self._shared)
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
        self._follow_branch(opened)
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
        self._follow_branch(opened)

    def scan(self, opened: OpenBrain, place: ClaimDirectory) -> int:
        """Compare every file with what was seen last and with its row; returns how many needed a hand."""
        with opened.lock:
            began, before = time.monotonic(), place.mtime_ns()
            key = str(place.path)
            seen, rows = opened.state.all(key), opened.store.digests()
            found = {facts.slug: facts for facts in place.scan()}
            touched = [
                slug
                for slug, facts in found.items()
                if slug not in seen or not seen[slug].same(facts) or seen[slug].row != rows.get(slug, "")
            ]
            elsewhere = {f.slug for other in opened.places if str(other.path) != key for f in other.scan()}
            gone = {slug for slug, one in seen.items() if not one.absent or slug not in rows} | opened.state.owing(key)
            if not self._shared:  # no other clone writes rows: one without a file was written here by somebody who died
                gone |= rows.keys() - seen.keys()
            gone -= found.keys() | elsewhere
            for slug in self._capped(opened, place, touched, found, rows):
                with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                    self.settle(opened, slug)
            changed = 0
            for slug in sorted(gone):
                with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                    changed += self.settle(opened, slug)
            # A change within the clock's grain after this look would leave the directory's time as it was: look again then.
            settled = place.mtime_ns()
            young = time.time_ns() - settled < 50_000_000
            again = (young and settled == before and not touched) or opened.waiting.get(key)
            opened.state.put_directory(key, 0 if again else settled)
            if len(found) > SCAN_INLINE_FILES:
                self._rest[key] = time.monotonic() + 10 * (time.monotonic() - began)
            return len(touched) + changed

    def write_files(self, opened: OpenBrain) -> int:
        """Write the file of every live claim that this checkout does not have; returns how many. For an act that brought them."""
        written = 0
        for slug in sorted(opened.store.digests()):
            with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                if not opened.holding(slug).has(slug):
                    written += self.roll_forward(opened, slug)
        return written

    def _follow_branch(self, opened: OpenBrain) -> None:
        """End the claims whose file a commit on the default branch deleted, and look again at files that wait for that branch."""
        place = opened.carried
        if place is None or not self._branches.moved(opened, place):
            return
        key = str(place.path)
        if opened.state.directory(key) is None:
            return  # this repository never carried claims
        with opened.lock:
            view = self._branches.view(opened, place)
            before = opened.state.tips(key)
            self._branches.followed(place)
            if view is None or before == view.tips:
                return
            rows = opened.store.digests()
            suspects = {slug for slug in rows if not view.has_everywhere(slug)}
            if suspects and before and (deleted := view.deleted_since(before)) is not None:
                suspects &= deleted
            for slug in sorted(suspects):
                with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                    self._end_deleted(opened, place, slug)
            for slug, seen in opened.state.all(key).items():
                if not seen.agreed and not seen.absent:
                    with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                        self.settle(opened, slug, again=True)
            if view.unanswered:
                self._branches.ask_again(place)
            elif not view.branch.shallow:  # a history that grows backwards is looked at as a whole each time
                opened.state.put_tips(key, view.tips)

    def _end_deleted(self, opened: OpenBrain, place: ClaimDirectory, slug: str) -> None:
        """End a claim if the default branch had its live text and a commit deleted the file since. A file of it here stays."""
        view, live = self._branches.view(opened, place), opened.store.live([slug]).get(slug)
        if view is None or live is None:
            return
        commit = view.deletion(slug, live.text, deletion_of(opened, live.claim_id))
        if commit is None:
            return
        payload = {"commit": commit, "branch": view.branch.name}
        try:
            self._gateway.end(
                opened, slug, act=DELETED, actor=_FILE_ACTOR, channel=Channel.FILE, payload=payload, remove_file=False
            )
        except StaleWrite:
            return  # somebody wrote a newer version meanwhile: that one was not deleted
        if (facts := place.facts(slug)) is not None:
            opened.state.put(str(place.path), facts, digest_of(place.read(slug) or ""), row="")

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
            if facts is not None and seen is not None and seen.same(facts) and digest in (None, seen.row):
                continue
            absent = facts is None and (seen.absent if seen is not None else self._shared)
            if absent and opened.state.owed(str(place.path), slug) is None:
                continue
            with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                moved |= self.settle(opened, slug)
        return moved

    # -- one slug ----------------------------------------------------------------------------------------------------

    def settle(self, opened: OpenBrain, slug: str, *, again: bool = False) -> bool:
        """Compare file and row of one slug and act on the difference; the caller holds its lock. True when something changed.

        `again` looks also at a file that is as it was at the last look: the default branch moved."""
        place = opened.holding(slug)
        key = str(place.path)
        if self._complete(opened, place, slug):
            return True
        facts, seen = place.facts(slug), opened.state.get(key, slug)
        row = opened.store.live([slug]).get(slug)
        compared = row.digest if row is not None else ""
        if facts is None:
            return self._settle_absent(opened, slug, row)
        if not again and seen is not None and seen.same(facts) and seen.row == compared:
            return False
        text = place.read(slug)
        if text is None:
            return False
        digest = digest_of(text)
        if digest == compared:
            opened.state.put(key, facts, digest)
            opened.state.let_in(key, slug)
            return False
        if seen is not None and seen.digest == digest and not again:
            if seen.agreed and seen.same(facts) and not self._shared:
                # No other clone writes these rows: a writer of this home died between its commit and its file.
                if row is not None:
                    return self.roll_forward(opened, slug)
                if self._remove(opened, place, slug, digest):
                    return True
            if row is not None or any(one.slug == slug for one in opened.state.kept_out(key)):
                opened.state.put(key, facts, digest, row=compared)  # the same file as before; another clone wrote the row
                return False
        if self._stays(opened, place, slug, text, digest, row, seen):
            opened.state.put(key, facts, digest, row=compared)
            opened.state.let_in(key, slug)
            return False
        changed = self._take_in(opened, place, slug, text)
        if facts.size and (now := place.facts(slug)) is not None:
            live = opened.store.live([slug]).get(slug)
            opened.state.put(key, now, digest_of(place.read(slug) or ""), row=live.digest if live is not None else "")
        return changed

    def _stays(
        self, opened: OpenBrain, place: ClaimDirectory, slug: str, text: str, digest: str, row: Version | None, seen: Seen | None
    ) -> bool:
        """Whether a file that differs from memory is only the state of this checkout: an earlier version, or one that ended."""
        versions = opened.store.versions(slug)
        known = any(one.digest == digest for one in versions)
        if row is None:
            if known and opened.checkout_of(place) is None:
                # Nothing but a hand changes a file here, and nothing but an act of ours removes one.
                return self._shared if seen is None else seen.digest == digest and not seen.absent
            if known:
                brings_back = self._branches.brings_back(opened, place, versions[0], text)
                return versions[0].ended_act != _REFUSED_ACT and not brings_back
            if versions:
                return False  # a new text for a label that ended
            view = self._branches.view(opened, place)
            return view is not None and view.deletion(slug, text) is not None
        if opened.checkout_of(place) is None:
            # Nothing but a hand changes a file here. Without an earlier look nobody knows that it was changed.
            return known and (seen is None or seen.digest == digest)
        view = self._branches.view(opened, place)
        if known:
            return view is None or not view.replaced(slug, row.text, text)
        return view is not None and view.outrun(slug, text, [one.text for one in versions])

    def _complete(self, opened: OpenBrain, place: ClaimDirectory, slug: str) -> bool:
        """Complete what a writer of this checkout began and did not live to finish. True when a file was changed."""
        key = str(place.path)
        owed = opened.state.owed(key, slug)
        if owed is None:
            return False
        row, text = opened.store.live([slug]).get(slug), place.read(slug)
        here = digest_of(text) if text is not None else None
        if owed.removal and row is None and here == owed.digest:
            return self._remove(opened, place, slug, owed.digest)
        # A text that no version had was written by hand since: it is looked at as any edit.
        ours = here is None or any(one.digest == here for one in opened.store.versions(slug))
        if not owed.removal and row is not None and row.digest == owed.digest != here and ours:
            return self.roll_forward(opened, slug)
        opened.state.settle(key, slug)
        return False

    def _remove(self, opened: OpenBrain, place: ClaimDirectory, slug: str, digest: str) -> bool:
        """The row ended in this home, and its writer died before it removed the file: archive the text and remove the file."""
        last = next(iter(opened.store.versions(slug)), None)
        if last is None or last.digest != digest or last.ended_act == DELETED:
            return False  # never a text of this claim, or ended by a commit, which removes no file of a checkout
        if all(path.read_bytes() != outdated(last.text).encode() for _, path in place.history(slug)):
            place.archive(slug, last.text, at=last.ended_at or self._clock())
        place.remove(slug)
        opened.state.drop(str(place.path), slug)
        return True

    def _settle_absent(self, opened: OpenBrain, slug: str, row: Version | None) -> bool:
        """No file: this checkout does not have it. That says nothing about the claim."""
        seen = {str(place.path): opened.state.get(str(place.path), slug) for place in opened.places}
        for key, one in seen.items():
            opened.state.let_in(key, slug)
            if row is None:
                opened.state.drop(key, slug)
            elif one is not None and not one.absent:
                opened.state.put_absent(key, slug, one.digest)
        if row is None or self._shared or any(seen.values()):
            return False
        place = opened.place
        if (view := self._branches.view(opened, place)) is not None and view.recorded(slug, row.text):
            opened.state.put_absent(str(place.path), slug, row.digest)  # git has the file; another commit is checked out
            return False
        return self.roll_forward(opened, slug)  # never written: its writer died before, or its note was lost

    def roll_forward(self, opened: OpenBrain, slug: str) -> bool:
        """Write the live version into the file of this checkout; the caller holds the lock. The text it replaces is archived."""
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

    def _take_in(self, opened: OpenBrain, place: ClaimDirectory, slug: str, text: str) -> bool:
        """A file that came by git or an editor: through the gateway, or kept out and named."""
        if has_conflict_markers(text):
            return self._keep_out(opened, place, slug, CONFLICT, "a merge was left unfinished in the file")
        if len(text.encode("utf-8", "surrogateescape")) > CLAIM_MAX_BYTES:
            return self._keep_out(opened, place, slug, REFUSED_FILE, f"the file is larger than {CLAIM_MAX_BYTES} bytes")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return self._keep_out(opened, place, slug, REFUSED_FILE, "the file is not UTF-8")
        # A file of a clone or an editor was never refused by a write, so it is looked through here.
        if secret := next(findings(opened, text), None):
            return self._keep_out(opened, place, slug, SECRET, f"line {secret.line} looks like {secret.pattern_class}")
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
            return self._keep_out(opened, place, slug, REFUSED_FILE, refusal.message)
        except HindbrainError as failure:
            if failure.http_status >= 500:
                raise
            return self._keep_out(opened, place, slug, REFUSED_FILE, failure.message)
        opened.state.let_in(str(place.path), slug)
        if any(mark.kind in KEPT_OUT for mark in opened.store.marks(slugs=[slug])):
            with opened.store.writing() as writer:
                self._drop_marks(writer, slug)
        return True

    @staticmethod
    def _drop_marks(writer: Writer, slug: str) -> None:
        """0.1.0 noted in the database that a file is not served."""
        for kind in KEPT_OUT:
            writer.drop_mark(slug, kind)

    def _keep_out(self, opened: OpenBrain, place: ClaimDirectory, slug: str, kind: str, why: str) -> bool:
        """The file stays as it is and is named until it is put right. Meanwhile this checkout does not serve the claim. Its row,
        which other clones read, stays."""
        now = self._clock()
        live = opened.store.live([slug]).get(slug)
        with opened.store.writing() as writer:
            subject = f"claim:{live.claim_id}" if live else "file"
            writer.append(
                Act(act=_REFUSED_ACT, subject=subject, actor=_FILE_ACTOR, channel=Channel.FILE, at=now, payload={"why": kind})
            )
            self._drop_marks(writer, slug)
        opened.state.keep_out(str(place.path), KeptOut(slug=slug, kind=kind, at=now, note=why))
        return True


def kept_out(opened: OpenBrain) -> dict[str, tuple[KeptOut, Path]]:
    """Return the files of this checkout that are not served, with their paths: slug -> why."""
    return {
        one.slug: (one, place.file(one.slug))
        for place in reversed(opened.places)
        for one in opened.state.kept_out(str(place.path))
    }


def kept_out_fix(kind: str, path: object) -> str:
    """What a person does about a file that is not served."""
    return f"take the secret out of {path} and rotate it" if kind == SECRET else f"put {path} right by hand"
