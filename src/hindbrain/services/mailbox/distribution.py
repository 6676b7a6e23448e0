"""Distribution: each letter of the spool into its one box. Anybody may run it at any time; a second run does nothing."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import Busy
from hindbrain.domain.letter import Letter, LetterId, letter_id
from hindbrain.engines.fence import plain_line
from hindbrain.engines.letter_places import Target, box_of
from hindbrain.engines.letters import Batch, secret_in
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.mailbox.places import PostRoom
from hindbrain.services.mailbox.spool import Spool
from hindbrain.services.projects import WARNING
from hindbrain.stores.git import asked
from hindbrain.stores.home import BOX, REPO_DIR, Home
from hindbrain.stores.letter_files import box_lines, file_missing
from hindbrain.stores.repository import repository_of

__all__ = ["UNWRITABLE", "Distribution", "Plan"]

UNWRITABLE = "box_unwritable"
_NAMES_SHOWN = 20

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where the letters of the spool belong today. Made by reading only."""

    batch: Batch
    targets: dict[LetterId, Target]  # of every letter that may be filed
    refused: dict[LetterId, str]  # letters with a secret in them: what it looks like

    def pending(self) -> list[dict[str, str]]:
        """Letters whose repository is not on this machine, with the name that was looked for."""
        return [_waiting(one, target, target.reason) for one, target in self.targets.items() if target.reason is not None]


@dataclass(slots=True)
class _Run:
    filed: dict[LetterId, tuple[str, bool]] = field(default_factory=dict)  # target, appended
    pending: dict[LetterId, dict[str, str]] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)  # repositories that got their first box


class Distribution:
    """Files letters. Beside the boxes it writes what it saw of repositories into the home, and nothing else anywhere."""

    def __init__(self, home: Home, spool: Spool, room: PostRoom, *, wait_s: float = LOCK_WAIT_S) -> None:
        self._home = home
        self._spool = spool
        self._room = room
        self._wait_s = wait_s

    def plan(self, caller: Caller) -> Plan:
        """Where each letter of the spool belongs, and which may not be filed. Changes nothing."""
        batch = self._spool.read()
        places = self._room.places(caller.root)
        targets: dict[LetterId, Target] = {}
        refused: dict[LetterId, str] = {}
        decided: dict[tuple[str | None, str | None], Target] = {}
        for letter in batch.letters:
            if (found := secret_in(letter)) is not None:
                refused[letter.id] = found
                continue
            key = (letter.brain, letter.repo)
            if key not in decided:
                decided[key] = box_of(letter, places)
            targets[letter.id] = decided[key]
        return Plan(batch=batch, targets=targets, refused=refused)

    def run(self, caller: Caller, progress: Progress) -> dict[str, Any]:
        """File what is missing in each box, in the order of the spool."""
        if caller.root is not None and (project := self._room.project_at(caller.root)) is not None:
            self._room.saw_box(project)
        plan = self.plan(caller)
        self._spool.link_legacy()
        run = _Run()
        boxes: dict[str | None, list[Letter]] = {}
        for letter in plan.batch.letters:
            target = plan.targets.get(letter.id)
            if target is not None and target.reason is not None:
                run.pending[letter.id] = _waiting(letter.id, target, target.reason)
            elif target is not None:
                boxes.setdefault(target.root, []).append(letter)
        for number, (root, letters) in enumerate(boxes.items()):
            progress(number, len(boxes), f"filing letters of {os.path.basename(root) if root else 'no project'}")
            self._file(root, letters, plan, run)
        filled = {target for target, _ in run.filed.values()}
        self._room.saw(*(root for root in boxes if root is not None and root in filled))
        return self._receipt(plan, run)

    def _file(self, root: str | None, letters: list[Letter], plan: Plan, run: _Run) -> None:
        try:
            if root is not None and self._room.owns(root):
                raise PermissionError(f"the box of {root} would lie in the home")
            if root is None:
                self._home.make(self._home.medulla_dir)
            filed = file_missing(self._home.medulla_dir, [letter.raw for letter in letters], root=root, wait_s=self._wait_s)
        except (OSError, Busy) as failed:
            if root is None:  # the home itself cannot be written: that is for the caller to know
                raise
            self._unwritable(root, letters, plan, run, failed)
            return
        if filed.created and root is not None:
            run.created.append(root)
        for letter, added in zip(letters, filed.added, strict=True):
            run.filed[letter.id] = (plan.targets[letter.id].shown, added)
        if new := [letter.id for letter, added in zip(letters, filed.added, strict=True) if added]:
            self._spool.ring(root, "distribute", new)

    @staticmethod
    def _unwritable(root: str, letters: list[Letter], plan: Plan, run: _Run, failed: Exception) -> None:
        """What a box already holds is filed, though it takes no more; the rest waits."""
        try:
            have = {letter_id(raw) for raw in box_lines(root) if raw}
        except OSError:
            have = set()
        for letter in letters:
            if letter.id in have:
                run.filed[letter.id] = (root, False)
            else:
                run.pending[letter.id] = _waiting(letter.id, plan.targets[letter.id], UNWRITABLE) | {"why": _said(failed)}

    def _receipt(self, plan: Plan, run: _Run) -> dict[str, Any]:
        order = [letter.id for letter in plan.batch.letters]
        to_medulla = sum(plan.targets[one].medulla for one in run.filed)
        to_project = len(run.filed) - to_medulla
        appended = sum(added for _, added in run.filed.values())
        committed = any(_committed(root) for root in run.created)  # the first one that is decides; git is asked no further
        answer: dict[str, Any] = {
            "schema": "m1nd-mailbox-distribution-v0",
            "spool_total": len(plan.batch.letters),
            "appended": appended,
            "to_project": to_project,
            "to_medulla": to_medulla,
            "filed": [_filed(one, *run.filed[one]) for one in order if one in run.filed],
            "pending": [run.pending[one] for one in order if one in run.pending],
            "refused_hygiene": [{"id": one, "pattern_class": found} for one, found in plan.refused.items()],
            "malformed": plan.batch.malformed,
            "warnings": [WARNING] if committed else [],
        }
        return answer | {"rendered": _rendered(answer)}


def _filed(one: LetterId, target: str, added: bool) -> dict[str, Any]:
    return {"id": one, "target": target, "appended": added}


def _waiting(one: LetterId, target: Target, reason: str | None) -> dict[str, str]:
    return {"id": one, "name": plain_line(target.name)[:200], "reason": reason or ""}


def _said(failed: Exception) -> str:
    return (failed.strerror if isinstance(failed, OSError) else None) or str(failed)


def _committed(root: str) -> bool:
    """Whether git would take the box along: the repository has git, and no rule of it ignores the file."""
    if not repository_of(root).git:
        return False
    hidden = ("ls-files", "--others", "--ignored", "--exclude-standard")
    return not asked(root, *hidden, "--", f"{REPO_DIR}/{BOX}", seconds=5)


def _rendered(answer: dict[str, Any]) -> str:
    out = [
        f"{answer['spool_total']} letters: {answer['to_project']} in boxes of projects, {answer['to_medulla']} in the medulla's, "
        f"{len(answer['pending'])} pending, {len(answer['refused_hygiene'])} kept back; {answer['appended']} newly filed."
    ]
    waiting: dict[tuple[str, str], int] = {}
    for one in answer["pending"]:
        key = (one["name"], one["reason"])
        waiting[key] = waiting.get(key, 0) + 1
    out += [f"  pending: {name} ({reason}), {count}" for (name, reason), count in list(waiting.items())[:_NAMES_SHOWN]]
    if len(waiting) > _NAMES_SHOWN:
        out.append(f"  … and {len(waiting) - _NAMES_SHOWN} more names")
    out += [f"  kept back: {one['id']} looks like {one['pattern_class']}" for one in answer["refused_hygiene"][:_NAMES_SHOWN]]
    if answer["malformed"]:
        out.append(f"  {answer['malformed']} lines of the spool are no letters")
    return "\n".join([*out, *answer["warnings"]])
