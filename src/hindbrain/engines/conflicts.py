"""Conflict classes: pure decisions over two claims with one slug."""

from hindbrain.domain.brain import Brain, born_in
from hindbrain.domain.claim import Claim, body_text
from hindbrain.policy.conflicts import CONTRADICTED, CROSS_PROJECT, DOCTRINE, DOCTRINE_ABSOLUTE, REPOSITORY_FACT, Rule

__all__ = ["differ", "is_witness_pair", "rule_for"]


def _folded(claim: Claim) -> str:
    return " ".join(body_text(claim).casefold().split())


def differ(project: Claim, medulla: Claim) -> bool:
    """True when the two say different things, case and white space aside."""
    return _folded(project) != _folded(medulla)


def is_witness_pair(project: Claim, medulla: Claim, root: str) -> bool:
    """True for an original and its shared copy."""
    return medulla.origin_claim == f"{root}#{project.slug}"


def rule_for(medulla: Claim, project: Brain, *, evidence_changed: bool) -> Rule:
    """The class of a conflicting pair, as the policy table has it."""
    if evidence_changed:
        return CONTRADICTED
    if medulla.origin_claim:
        return REPOSITORY_FACT if born_in(project, medulla.origin_brain) else CROSS_PROJECT
    return DOCTRINE_ABSOLUTE if medulla.absolute else DOCTRINE
