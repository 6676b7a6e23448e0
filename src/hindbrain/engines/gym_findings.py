"""What each finding of a lane counts as: a planted defect, the same one again, or an extra that waits for a judge. Pure."""

from collections.abc import Iterable

from hindbrain.domain.gym import FindingStanding, JudgeRuling, Standing
from hindbrain.domain.gym_fixture import AnswerKey, Finding
from hindbrain.engines.gym_key import matched

__all__ = ["precision", "ruled", "standings"]

_DIGITS = 9
_RULED: dict[str, Standing] = {"confirmed": "extra_confirmed", "refuted": "extra_refuted"}


def ruled(rulings: Iterable[JudgeRuling]) -> dict[str, JudgeRuling]:
    """The ruling that holds, by finding: a person's before any other, and among equals the last."""
    found: dict[str, JudgeRuling] = {}
    for one in rulings:
        before = found.get(one.finding_id)
        if one.verdict == "undecided" or (before is not None and before.judge == "human" != one.judge):
            continue
        found[one.finding_id] = one
    return found


def standings(key: AnswerKey, findings: tuple[Finding, ...], rulings: Iterable[JudgeRuling] = ()) -> tuple[FindingStanding, ...]:
    """One standing for each finding, in their order."""
    seeds, said = matched(key, findings), ruled(rulings)
    taken = set(seeds.values())
    found = []
    for at, one in enumerate(findings):
        seed, why = seeds.get(at), ""
        standing: Standing = "seeded"
        if seed is None:
            again = next(iter(matched(key, [one]).values()), None)
            ruling = said.get(one.finding_id)
            if again in taken:
                standing, seed = "duplicate", again
            elif ruling is not None:
                standing, why = _RULED[ruling.verdict], f"{ruling.judge}: {ruling.why}"
            else:
                standing = "extra_unadjudicated"
        found.append(
            FindingStanding(
                finding_id=one.finding_id,
                standing=standing,
                path=one.path,
                line=one.line,
                statement=one.statement,
                seed_id=seed,
                why=why,
            )
        )
    return tuple(found)


def precision(found: Iterable[FindingStanding]) -> float | None:
    """The share of what was found that is right; None while an extra waits for its judge, or nothing was found."""
    kinds = [one.standing for one in found]
    if not kinds or "extra_unadjudicated" in kinds:
        return None
    return round(1 - kinds.count("extra_refuted") / len(kinds), _DIGITS)
