"""The record of a brain proves itself: what was changed behind its back is found, named and told in the one shape of an error."""

import apsw
import pytest

from hindbrain.domain.brain import fingerprint
from tests.support.world import World


@pytest.mark.parametrize(
    ("tampering", "reason"),
    [
        ("update ledger set actor = 'human:founder' where seq = 3", "was changed after it was written"),
        ("delete from ledger where seq = 3", "entry 3 is missing"),
    ],
    ids=["changed", "removed"],
)
def test_ledger_1_a_changed_or_missing_entry_is_named(world: World, tampering: str, reason: str) -> None:
    root = world.brain("shop")
    world.at(root).memorize("Retry policy", "three times")
    world.at(root).memorize("Release day", "Tuesdays")
    before = world.at(root).call("ledger.verify")
    world.close()

    database = apsw.Connection(str(world.home.brains_dir / fingerprint(root) / "brain.db"))
    database.execute(tampering)
    database.close()
    after = world.at(root).call("ledger.verify")

    assert (before["ok"], before["intact"], before["breaks"]) == (True, True, [])
    assert (after["ok"], after["intact"], after["error"]["code"]) == (False, False, "ledger_broken")
    assert {"seq": 3, "reason": reason} in after["breaks"]
    assert "entry 3" in after["error"]["message"]
    assert after["error"]["fix"]
