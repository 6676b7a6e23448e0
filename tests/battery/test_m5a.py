"""Slice M5a: no write without a brain, and files from before the provenance keys (MED-355, MED-356)."""

import pytest

from tests.support.world import World, tree_hash


@pytest.mark.req("MED-355", "MED-024")
def test_med_355_brainless_root_refusal(any_world: World) -> None:
    x, z = any_world.brain("x"), any_world.repository("z")
    any_world.at(x).memorize("Harbour", "the harbour opens at six")
    before = tree_hash(any_world.home.brains_dir), any_world.home.medulla_dir.exists()
    stranger = any_world.at(z)

    refused = stranger.call("memorize", node_label="Lantern", text="a lantern hangs in the east wing")

    assert (refused["ok"], refused["refused"], refused["caller_root"]) == (False, "brainless_root", z)
    assert (refused["bytes_written"], refused["claims_written"]) == (0, 0)
    assert (tree_hash(any_world.home.brains_dir), any_world.home.medulla_dir.exists()) == before
    assert list(any_world.place.rglob("lantern*")) == []

    call = refused["fix"]["call"]
    assert stranger.call(call["tool"], **call["arguments"])["ok"]
    assert stranger.memorize("Lantern", "a lantern hangs in the east wing")["origin_brain"] == z
    assert any_world.file(z, "lantern").is_file()


LEGACY = """Protocol: L1GHT/1.0
Node: Token validator
State: authored

# Token validator

## Token validator

The validator rejects tokens that are older than an hour.

[⍂ entity: Token validator]
"""


@pytest.mark.req("MED-356", "MED-062")
def test_med_356_legacy_frontmatter_tolerance(any_world: World) -> None:
    x = any_world.brain("x")
    any_world.store(x).mkdir(parents=True, exist_ok=True)
    file = any_world.file(x, "token-validator")
    file.write_text(LEGACY)

    (row,) = any_world.at(x).seek("token validator")["results"]
    (beat,) = any_world.at(x).north("the token validator rejects tokens")["memory"]

    for one in (row, beat):
        assert one["text"] == "The validator rejects tokens that are older than an hour."
        assert (one["origin_brain"], one["source_agent"], one["age_ms"]) == ("unknown", "unknown", None)
        assert "stale" not in one
    assert file.read_text() == LEGACY
