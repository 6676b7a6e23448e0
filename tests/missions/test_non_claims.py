"""What is not claimed: standing texts, and what takes one away."""

import re

import pytest

from hindbrain.engines.pack import doctrine_text, reference
from hindbrain.operations import REGISTRY
from hindbrain.policy.missions import NON_CLAIMS
from hindbrain.policy.non_claims import ENDED, STANDING
from tests.architecture.source import ROOT

WORDS = {
    "AOL-306": ("operating layer", "finished"),
    "AOL-307": ("mission control v1", "accept v1"),
    "AOL-308": ("drift detection", "complete"),
    "AOL-309": ("direct work on files", "every task"),
    "AOL-310": ("semantic retrieval", "always reliable"),
    "AOL-311": ("rebound", "fresh handshake"),
    "AOL-312": ("tests", "compilers", "probes", "source", "replaced"),
    "AOL-313": ("benchmark", "public"),
    "AOL-314": ("unattended updates", "production"),
    "AOL-315": ("orchestration", "complete"),
    "AOL-316": ("graph's contents", "list of tools"),
}


@pytest.mark.parametrize("name", sorted(WORDS))
def test_aol_306_aol_307_aol_308_aol_309_aol_310_aol_311_aol_312_aol_313_aol_314_aol_315_aol_316_each_stands(name: str) -> None:
    """Each non-claim says what it is about, and stands in the reference of the pack unless a gate ended it."""
    text = NON_CLAIMS[name]

    assert all(word in text for word in WORDS[name])
    assert (text in STANDING) is (name not in ENDED)
    assert (f"- {text}" in reference([])) is (name not in ENDED)


def test_aol_306_to_316_taking_one_away_names_a_gate() -> None:
    assert set(NON_CLAIMS) == set(WORDS)
    for name, gate in ENDED.items():
        assert name in NON_CLAIMS
        assert re.fullmatch(r"(gate [1-6]|accept v1)", gate), f"{name} was ended by no gate"


def test_aol_267_aol_287_hand_overs_prevent_repeated_work_and_nothing_orchestrates() -> None:
    assert "prevents repeated work; it orchestrates nobody" in " ".join(doctrine_text().split())
    assert "nothing here orchestrates agents" in (ROOT / "docs/strategy/operating-layer.md").read_text(encoding="utf-8")
    # There is no operation by which one agent starts, steers or schedules another; `delegate` writes a packet and starts nobody.
    forbidden = re.compile(r"schedul|spawn|swarm|orchestrat|assign|dispatch_agent")
    assert [name for name in REGISTRY if forbidden.search(name)] == []
    rooms = [path.name for path in (ROOT / "src/hindbrain").rglob("*.py")]
    assert [name for name in rooms if re.search(r"scheduler|swarm|orchestrat", name)] == []
