"""Closing: what a mission still owes before it may be closed."""

from collections.abc import Collection, Iterator

from hindbrain.domain.mission import EvidenceClass, MissionMode
from hindbrain.engines.course import Course

__all__ = ["open_requirements"]


def open_requirements(course: Course, gaps: Collection[str] = ()) -> tuple[str, ...]:
    """What is open, each as its name and the reason. A claim, the tests of a release and statements of documents may be
    listed as gaps instead, by name or by text; a wrong workspace and a missing sweep take a forced close."""
    listed = {one.strip() for one in gaps}
    waived = (f"{name}: {why}" for names, why in _waivable(course) if not listed & set(names) for name in names[:1])
    return (*_fixed(course), *waived)


def _fixed(course: Course) -> Iterator[str]:
    if course.guard is not None and course.guard.classification == "wrong_workspace_binding":
        yield f"context_guard: the workspace is not the one of this mission ({course.guard.reason})"
    if course.sweep_due:
        yield "coverage_sweep: a finding was verified and nothing around it was swept since"


def _waivable(course: Course) -> Iterator[tuple[tuple[str, ...], str]]:
    """Names under which something may be listed as a gap, the first of them its own, and why it is open."""
    for claim in course.open_claims:
        yield (claim.claim_id, claim.claim), "it was claimed and never judged"
    for claim in course.claims.values():
        if claim.verdict == "insufficient_evidence":
            yield (claim.claim_id, claim.claim), "it was judged and no direct evidence shows it"
        if claim.verdict == "stale":
            yield (claim.claim_id, claim.claim), "what it rests on changed since it was verified: verify it again"
    if all(one.inherited_from is not None for one in course.claims.values()) and not course.direct_count:
        yield ("nothing_proven",), "nothing was claimed here, and nothing was read or run"
    if course.spec.mode is MissionMode.RELEASE and course.verified and not course.direct[EvidenceClass.DIRECT_TEST]:
        yield ("release_tests",), "no test was run that the runtime saw"
    if course.spec.mode is MissionMode.DOCS_DRIFT:
        for text, standing in course.statements.items():
            if standing == "open":
                yield (text,), "it is neither bound to code nor reported unbound"
