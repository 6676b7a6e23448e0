"""Slice M6: sharing is an act that can be read, bounced, taken back and audited (MED-364 … MED-369)."""

import pytest

from tests.support.world import DAY, World

MAKER, CHIEF = "codex:maker", "claude:orchestrator"


@pytest.mark.req("MED-364", "MED-174")
def test_med_364_promote_then_recall(any_world: World) -> None:
    x, y = any_world.brain("x"), any_world.brain("y")
    any_world.at(y).memorize("Retry with jitter", "wait a random while before a retry")
    assert any_world.at(x).north("retry")["memory"] == []

    any_world.at(y, CHIEF).call("promote", claim="retry-with-jitter", reason="seen in x too")

    (row,) = any_world.at(x).north("retry")["memory"]
    assert (row["tier"], row["origin_brain"], row["text"]) == ("medulla", y, "wait a random while before a retry")


@pytest.mark.req("MED-365", "MED-157")
def test_med_365_provenance_chain_render(any_world: World) -> None:
    x, y = any_world.brain("x"), any_world.brain("y")
    any_world.at(y, MAKER).memorize("Retry with jitter", "wait a random while before a retry")
    any_world.clock.forward(4 * DAY)
    any_world.at(y, CHIEF).call("promote", claim="retry-with-jitter", reason="confirmed in gitrooms too")

    (row,) = any_world.at(x).north("retry")["memory"]

    for part in (y, MAKER, CHIEF, "confirmed in gitrooms too", "2026-07-04", "2026-07-08"):
        assert part in row["chain"]["text"]
        assert part in any_world.at(x).north("retry")["rendered"]


@pytest.mark.req("MED-366", "MED-167")
def test_med_366_downgrade_bounce(any_world: World) -> None:
    x, y = any_world.brain("x"), any_world.brain("y")
    for root, confidence in ((x, 0.9), (y, 0.5)):
        any_world.at(root).memorize("Retry", f"wait, says {root}", state="verified", confidence=confidence)
    any_world.at(x, CHIEF).call("promote", claim="retry", reason="first")
    copy, witness = any_world.file(None, "retry").read_bytes(), any_world.file(y, "retry").read_bytes()

    bounced = any_world.at(y, CHIEF).call("promote", claim="retry", reason="second")

    assert bounced["error"]["code"] == "would_downgrade"
    assert any_world.file(None, "retry").read_bytes() == copy
    assert any_world.file(y, "retry").read_bytes() == witness
    assert any_world.history(None) == []


@pytest.mark.req("MED-367", "MED-187")
def test_med_367_demotion_preserves_witness(any_world: World) -> None:
    x = any_world.brain("x")
    any_world.at(x).memorize("Retry", "wait a random while", state="verified", confidence=0.9)
    any_world.at(x, CHIEF).call("promote", claim="retry", reason="holds everywhere")
    witness = any_world.file(x, "retry").read_bytes()

    any_world.at(x, CHIEF).memorize("Retry", f"moved_to: {x}", state="verified", confidence=0.95, tier="medulla")

    assert any_world.file(x, "retry").read_bytes() == witness
    assert b"Promoted-To: medulla@retry@" in witness
    (row,) = any_world.at(x).seek("wait random", tier="project")["results"]
    assert row["witness"] is True


@pytest.mark.req("MED-368", "MED-165")
def test_med_368_secret_refused_at_promotion_floor(any_world: World) -> None:
    x = any_world.brain("x")
    any_world.at(x).memorize("Deploy", "deploys run at noon")
    file = any_world.file(x, "deploy")
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    file.write_text(file.read_text().replace("deploys run at noon", f"deploys run with {secret}"))
    before = file.read_bytes()

    refused = any_world.at(x, CHIEF).call("promote", claim="deploy", reason="everybody deploys")

    assert (refused["error"]["code"], refused["error"]["pattern_class"]) == ("hygiene", "github_token")
    assert secret[8:] not in str(refused)
    assert not any_world.file(None, "deploy").exists()
    assert file.read_bytes() == before


@pytest.mark.req("MED-369", "MED-176", "MED-177")
def test_med_369_maker_promote_is_auditable(any_world: World) -> None:
    x = any_world.brain("x")
    for label, agent in (("By a maker", MAKER), ("By the chief", CHIEF)):
        any_world.at(x).memorize(label, f"{label}: a belief")
        assert any_world.at(x, agent).call("promote", claim=label, reason="because")["ok"]

    audit = {row["slug"]: row for row in any_world.at(x).call("audit_promotions")["claims"]}

    assert audit["by-the-chief"]["flags"] == []
    assert (audit["by-a-maker"]["promoted_by"], audit["by-a-maker"]["reason"]) == (MAKER, "because")
    assert len(audit["by-a-maker"]["flags"]) == 1
