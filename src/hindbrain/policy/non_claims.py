"""Standing non-claims: what no packet, report or page may be read as saying, until a gate has disproved it. The texts are in
`policy.missions`; here stands which of them a gate has ended."""

from collections.abc import Mapping

from hindbrain.policy.missions import NON_CLAIMS

__all__ = ["DRIFT_CHECKS", "ENDED", "STANDING", "STANDING_BY_ID"]

# id -> the gate that ended it. Taking a non-claim away is a change of this table, and names the gate.
ENDED: Mapping[str, str] = {}

# The four checks of drift, and the test that runs each against this repository. AOL-308 ends when all four have one and gate 2
# says so; a check that runs nowhere keeps it standing.
DRIFT_CHECKS: Mapping[str, str | None] = {
    "path": "tests/docs/test_strategy.py",
    "symbol": "tests/docs/test_strategy.py",
    "test": None,  # a run of the tests is recorded by a mission, and none is recorded where the tests themselves run
    "pair": "tests/docs/test_strategy.py",
}

STANDING_BY_ID: Mapping[str, str] = {name: text for name, text in NON_CLAIMS.items() if name not in ENDED}
STANDING: tuple[str, ...] = tuple(STANDING_BY_ID.values())
