"""Mission facts: what the router decides by. The course of a mission, the time, and what the service knows around it."""

from collections.abc import Iterator
from dataclasses import dataclass

from hindbrain.domain.mission import BudgetLeft, EvidenceClass, MissionClaim
from hindbrain.engines.course import Course
from hindbrain.engines.inheriting import rechecks_due
from hindbrain.engines.targets import normalised_target
from hindbrain.policy.mission_routes import SHORT_OF_PROOF
from hindbrain.policy.missions import GRAPH_STREAK

__all__ = ["Facts", "remaining"]

_ACTIONS = frozenset({"refine", "change_path", "change_approach", "break_symmetry"})
_OVER = "abandon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One moment of a mission. The same facts give the same move."""

    course: Course
    now: int
    experience: tuple[tuple[str, str, str], ...] = ()  # item, kind, reason: what memory advises against
    missing_tools: frozenset[str] = frozenset()
    graph: bool = True  # whether there is one at all
    test_command: tuple[str, ...] = ()  # how the tests of this repository are run
    release_files: tuple[str, ...] = ()  # where version and changes stand

    @property
    def consumed(self) -> float:
        return self.course.consumed(self.now)

    @property
    def spent(self) -> bool:
        return self.consumed >= 1.0

    @property
    def late(self) -> bool:
        """The deadline has passed; it is soft."""
        return self.course.elapsed(self.now) > self.course.spec.budget.soft_deadline_ms

    @property
    def short_of_proof(self) -> bool:
        """Much of the budget is used, and nothing was seen directly."""
        return self.consumed > SHORT_OF_PROOF and not self.course.direct_count

    @property
    def wrong_workspace(self) -> bool:
        guard = self.course.guard
        return guard is not None and guard.classification == "wrong_workspace_binding"

    @property
    def graph_used_up(self) -> bool:
        return self.course.streak >= GRAPH_STREAK[self.course.spec.route]

    @property
    def graph_open(self) -> bool:
        """Whether the route allows one more call of the graph."""
        return self.graph and not (self.graph_used_up or self.short_of_proof or self.wrong_workspace)

    @property
    def graph_behind(self) -> bool:
        trust = self.course.trust
        return trust is not None and trust.graph_freshness in ("empty", "stale")

    @property
    def directed(self) -> str | None:
        """What the controller said after the last verification, while none has succeeded since."""
        course, said = self.course, self.course.control.directive
        if said not in _ACTIONS | {_OVER} or not course.rounds or course.rounds[-1]["seq"] <= course.last_verified:
            return None
        return said

    @property
    def tested(self) -> bool:
        """A test was run that the runtime saw itself; one that was only told of is none."""
        return bool(self.course.direct[EvidenceClass.DIRECT_TEST])

    @property
    def own_claims(self) -> tuple[MissionClaim, ...]:
        """Claims of this mission; those of a hand-over are the work of others until they are judged here."""
        return tuple(one for one in self.course.claims.values() if one.verdict not in ("inherited", "stale"))

    def targets(self) -> Iterator[str]:
        """Targets that are named and were not looked at directly: what a hand-over wants checked, what was given at the start,
        the files of claims. One that was tried in vain or is dead is not named again."""
        course = self.course
        due = rechecks_due(course) if course.inherited.rechecks else ()
        named = [*due, *course.spec.known_targets]
        for claim in course.claims.values():
            if claim.verdict in ("candidate", "stale"):
                named += [one for one in claim.targets if one in course.existing or claim.verdict == "stale"]
        for one in dict.fromkeys(named):
            plain = self.plain(one)
            if self.unseen(plain):
                yield one if one in course.inherited.reruns else plain

    def unseen(self, target: str) -> bool:
        """Whether looking at it may still bring something."""
        course = self.course
        seen = target in course.directs_by_target or target in course.missed
        return not seen and course.loops.dead_end(target) is None

    def plain(self, target: str) -> str:
        """A path as events have it: relative to the repository."""
        return normalised_target(target, self.course.spec.repo).removeprefix("./")

    @property
    def candidates(self) -> tuple[str, ...]:
        """Where the last answer of the graph points and nobody looked yet."""
        return tuple(one for one in map(self.plain, self.course.candidates) if self.unseen(one))

    @property
    def targeted(self) -> bool:
        """Whether anybody named a target."""
        return bool(self.course.spec.known_targets) or any(one.targets for one in self.own_claims)


def remaining(course: Course, now: int) -> BudgetLeft:
    """What is left of the budget, in its three amounts."""
    budget = course.spec.budget
    return BudgetLeft(
        tool_calls=max(0, budget.tool_calls_max - course.tool_calls),
        files=max(0, budget.files_read_max - len(course.files)),
        ms=max(0, budget.soft_deadline_ms - course.elapsed(now)),
    )
