"""Slice M7: what a child inherits and what comes home (MED-370; MED-371 is in `tests/delegation/test_children.py`, MED-372 and
MED-373 in `tests/delegation/test_debrief.py`). Rewrite the golden packet on purpose with HINDBRAIN_GOLDEN=write."""

import json
import os
from pathlib import Path

from hindbrain.domain.brain import fingerprint
from tests.support.delegation import MOTHER, TASK, cherry
from tests.support.world import DAY, World

GOLDEN = Path(__file__).parents[1] / "golden" / "delegation" / "two_brain_packet.json"


def test_med_370_two_brain_packet_golden(world: World) -> None:
    x, mother = cherry(world)
    _, stranger = cherry(world, "second")
    world.at(x, "codex:maker").memorize("Retry with jitter", "A fix of the retry path waits a random time.")
    stranger.memorize("Retry of the second", "A fix of the retry path of the second brain.")
    world.at(x, MOTHER).memorize("Proof standard", "A fix of a retry path is proved by a test.", tier="medulla")
    world.clock.forward(12 * DAY)

    packet = mother.call("delegate", task=TASK)

    assert [(row["claim"], row["tier"]) for row in packet["context"]["memory"]] == [
        ("Retry with jitter", "project"),
        ("Proof standard", "medulla"),
    ]
    assert "[project] Retry with jitter" in packet["prompt_markdown"]
    assert "[medulla] Proof standard" in packet["prompt_markdown"]
    assert "Sources: " in packet["prompt_markdown"]
    assert packet["etiquette"] in packet["prompt_markdown"]
    assert "second" not in json.dumps(packet)
    packet["context"]["sufficiency"].pop("proof_state")  # like the scores, it follows the times of files
    for anchor in packet["context"]["anchors"]:
        assert anchor.pop("score") > 0
    shown = json.dumps(packet, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    for found, name in {packet["delegation_id"]: "<id>", x: "<cherry>", fingerprint(x): "<fingerprint>"}.items():
        shown = shown.replace(found, name)
    if os.environ.get("HINDBRAIN_GOLDEN") == "write":
        GOLDEN.write_text(shown, encoding="utf-8")
    assert shown == GOLDEN.read_text(encoding="utf-8")
