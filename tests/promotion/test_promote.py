"""Promote: a copy with its provenance goes to the medulla, the original stays as the stamped witness."""

import difflib
import os
import shutil
from typing import Any

import pytest

from hindbrain.engines.light_file import read_light
from tests.support.light import light_file
from tests.support.world import DAY, World, tree_hash

BOSS = "claude:orchestrator"


def promote(world: World, root: str, claim: str, *, agent: str = BOSS, reason: str = "confirmed elsewhere", **more: Any) -> Any:
    elsewhere = more.get("brain", root) != root  # a person's act
    return world.at(root, agent, human=elsewhere).call("promote", **{"brain": root, "claim": claim, "reason": reason, **more})


def promoted(world: World, root: str, claim: str, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = promote(world, root, claim, **more)
    assert answer["ok"], answer
    return answer


def keys(text: str) -> dict[str, str]:
    head = text.split("---\n")[1]
    return dict(line.split(": ", 1) for line in head.splitlines())


def stores(world: World, *roots: str | None) -> str:
    """All claim files, archives included, of these brains."""
    return tree_hash(*(world.store(root) for root in roots if world.store(root).exists()))


@pytest.mark.req("MED-162", "MED-181")
@pytest.mark.parametrize("claim", ["retry-with-jiter", "Retry", "gone"])
def test_med_162_an_unknown_slug_is_an_error_without_a_guess(world: World, claim: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Retry with jitter", "Retries need jitter.")
    world.at(x).memorize("Gone", "It was here.")
    assert world.human(x).call("claim.remove", claim="gone")["ok"]
    before = stores(world, x, None)

    error = promote(world, x, claim)["error"]

    assert error["code"] == "unknown_claim"
    assert "jitter" not in str(error), "nothing is proposed"
    assert stores(world, x, None) == before


@pytest.mark.req("MED-163")
def test_med_163_only_a_registered_project_brain_gives(world: World) -> None:
    x, stranger = world.brain("x"), world.repository("stranger")
    world.at(x).memorize("Retry")
    brains = set(os.listdir(world.home.brains_dir))
    cases = {"medulla": "not_a_project_brain", stranger: "unknown_brain", "x": "unknown_brain", f"{x}/../x/": None}

    codes = {brain: promote(world, x, "retry", brain=brain).get("error", {}).get("code") for brain in cases}

    assert codes == cases
    assert set(os.listdir(world.home.brains_dir)) == brains


@pytest.mark.req("MED-163")
def test_med_163_a_dormant_brain_gives_too(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Retry")
    world.restart()

    assert promoted(world, y, "retry", brain=x)["origin_brain"] == x


@pytest.mark.req("MED-164")
@pytest.mark.parametrize("named", ["Retry with jitter", "retry-with-jitter", "RETRY with  Jitter!"])
def test_med_164_a_label_is_turned_into_its_slug(world: World, named: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Retry with jitter")

    assert promoted(world, x, named)["medulla_slug"] == "retry-with-jitter"


@pytest.mark.req("MED-166", "MED-168", "MED-169", "MED-170", "MED-175")
def test_med_166_copy_and_witness_are_what_the_rows_say(world: World) -> None:
    x = world.brain("x", src__a_py="a\n")
    for number in range(4):
        world.at(x).memorize(f"Doctrine {number}", tier="medulla")
    world.at(x).memorize("Retry with jitter", "Retries need jitter.", title="How it behaves", evidence=["src/a.py:1"])
    original = world.file(x, "retry-with-jitter").read_text(encoding="utf-8")
    active = world.at(x).north("x", tier="project")["memory_exists"]
    world.clock.forward(DAY)
    now = world.clock()

    answer = promoted(world, x, "retry-with-jitter", reason="confirmed in\ngitrooms too")

    copy = world.file(None, "retry-with-jitter").read_text(encoding="utf-8")
    told = keys(copy)
    assert (
        told
        | {
            "Origin-Brain": world.origin(x),
            "Origin-Claim": f"{x}#retry-with-jitter",
            "Promoted-By": BOSS,
            "Promotion-Reason": "confirmed in gitrooms too",
            "Source-Agent": "codex:maker",
            "State": "authored",
            "Created": str(now),
            "Origin-Created": str(now - DAY),
        }
        == told
    )
    body = original.split("---\n", 2)[2]
    assert copy.split("---\n", 2)[2] == body.replace("evidence: src/a.py:1", f"evidence: {x}#src/a.py:1")

    witness = world.file(x, "retry-with-jitter").read_text(encoding="utf-8")
    changed = [line for line in difflib.ndiff(original.splitlines(), witness.splitlines()) if line[0] in "+-"]
    assert changed == [f"+ Promoted-To: medulla@retry-with-jitter@{now}"]
    archived = [path.read_text(encoding="utf-8") for path in world.history(x)]
    assert archived == [original.replace("State: authored", "State: outdated")]

    assert answer["medulla_path"] == str(world.file(None, "retry-with-jitter"))
    assert answer["witness_path"] == str(world.file(x, "retry-with-jitter"))
    sizes = {"medulla_claim_count": 5, "soft_cap": 200, "warn_at": 300, "over_soft_cap": False}
    assert answer | sizes == answer
    assert answer["warnings"] == []
    assert world.at(x).north("x", tier="project")["memory_exists"] == active


@pytest.mark.req("MED-167")
def test_med_167_the_copy_passes_the_strength_gate(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Port", "It is 1338.", state="verified", confidence=0.9)
    promoted(world, x, "port")
    first = world.file(None, "port").read_text(encoding="utf-8")

    world.at(y).memorize("Port", "It is 1339.", state="verified", confidence=0.5)
    before = stores(world, x, y, None)
    weaker = promote(world, y, "port")
    unchanged = stores(world, x, y, None)
    world.at(y).memorize("Port", "It is 1339.", state="verified", confidence=0.9)
    promoted(world, y, "port")

    assert weaker["error"]["code"] == "would_downgrade"
    assert unchanged == before
    assert keys(world.file(None, "port").read_text(encoding="utf-8"))["Origin-Brain"] == world.origin(y)
    assert [path.read_text(encoding="utf-8") for path in world.history(None)] == [
        first.replace("State: verified", "State: outdated")
    ]


@pytest.mark.req("MED-169")
def test_med_169_the_stamp_needs_no_confidence_and_keeps_created(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Port", "It is 1338.")
    born = keys(world.file(x, "port").read_text(encoding="utf-8"))["Created"]
    world.clock.forward(DAY)

    promoted(world, x, "port")

    assert keys(world.file(x, "port").read_text(encoding="utf-8"))["Created"] == born


@pytest.mark.req("GR-045")
def test_gr_045_a_shared_claim_has_its_origin_on_every_node_and_in_its_row(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Port", "It is 1338.")
    promoted(world, x, "port")
    world.clock.forward(DAY)

    graph = read_light("port.light.md", world.file(None, "port").read_text(encoding="utf-8"), namespace=None)
    row = world.at(y).seek("port")["results"][0]

    assert graph is not None
    assert graph.nodes
    for node in graph.nodes:
        assert {
            "source_agent:codex:maker",
            f"origin_brain:{world.origin(x).replace(' ', '_')}",
            f"promoted_by:{BOSS}",
            f"origin_claim:{x}#port",
        } <= set(node.tags)
        assert any(tag.startswith("authored_ms:") for tag in node.tags)
    assert (row["source_agent"], row["origin_brain"], row["age_ms"]) == ("codex:maker", x, DAY)


@pytest.mark.req("MED-174")
def test_med_174_the_copy_is_in_the_next_beat_of_every_other_brain(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Port", "It is 1338.")
    assert world.at(y).north("port")["memory"] == []

    promoted(world, x, "port")
    row = world.at(y).north("port")["memory"][0]

    assert (row["tier"], row["origin_brain"], row["state"]) == ("medulla", x, "promoted")
    assert {"learned_by", "learned_in", "learned_at", "promoted_by", "promoted_at", "reason", "text"} <= set(row["chain"])
    assert None not in row["chain"].values()


@pytest.mark.req("MED-176")
@pytest.mark.parametrize(("agent", "warned"), [("codex:maker", True), (BOSS, False), ("human:founder", False)])
def test_med_176_any_role_may_promote_and_a_maker_is_told_the_etiquette(world: World, agent: str, warned: bool) -> None:
    x = world.brain("x")
    world.at(x).memorize("Port")

    answer = promoted(world, x, "port", agent=agent)

    assert answer["warnings"] == (["etiquette: makers propose, orchestrators promote"] if warned else [])
    assert keys(world.file(None, "port").read_text(encoding="utf-8"))["Promoted-By"] == agent


@pytest.mark.req("MED-177")
def test_med_177_the_audit_flags_makers_and_hand_written_files(world: World) -> None:
    x = world.brain("x")
    for label in ("By maker", "By boss"):
        world.at(x).memorize(label)
    promoted(world, x, "by-maker", agent="codex:maker", reason="I say so")
    promoted(world, x, "by-boss")
    (world.store(None) / "by-hand.light.md").write_text(light_file("By hand"), encoding="utf-8")

    rows = {row["slug"]: row for row in world.at(x).call("audit_promotions")["claims"]}

    assert set(rows) == {"by-maker", "by-boss", "by-hand"}
    assert (rows["by-maker"]["promoted_by"], rows["by-maker"]["reason"]) == ("codex:maker", "I say so")
    assert rows["by-maker"]["at"] == world.clock()
    assert "orchestrator" in rows["by-maker"]["flags"][0]
    assert any("Origin-Brain" in flag for flag in rows["by-hand"]["flags"])
    assert rows["by-boss"]["flags"] == []


@pytest.mark.req("MED-178")
def test_med_178_a_dry_run_gives_the_checklist_and_writes_nothing(world: World) -> None:
    x = world.brain("x", src__a_py="a\n")
    world.at(x).memorize("Port", "Set it in src/app/main.py with --port.", evidence=["src/a.py"])
    before = stores(world, x)

    answer = promoted(world, x, "port", dry_run=True)

    assert answer["promoted"] is False
    assert set(answer["checklist"]["p1_suspects"]) >= {"src/app/main.py", "--port"}
    assert answer["checklist"]["evidence"] == ["src/a.py"]
    assert "two or more projects" in answer["checklist"]["p2"]
    assert stores(world, x) == before
    assert not world.store(None).exists()


@pytest.mark.req("MED-179")
def test_med_179_evidence_is_qualified_and_asked_of_its_origin(world: World) -> None:
    x, y = world.brain("x", src__a_py="a\n"), world.brain("y")
    world.at(x).memorize("Port", evidence=["src/a.py"])
    answer = promoted(world, x, "port")
    assert f"[𝔻 evidence: {x}#src/a.py]" in world.file(None, "port").read_text(encoding="utf-8")
    assert answer["evidence"] == {"origin_qualified": 1, "evidence_unverifiable": False}

    def reasons() -> list[str]:
        return [one["reason"] for one in world.at(y).call("cross_verify")["stale_evidence"]]

    assert reasons() == []
    (world.place / "x" / "src" / "a.py").write_text("b\n", encoding="utf-8")
    assert reasons() == ["evidence_changed"]
    world.close()
    shutil.rmtree(world.store(x).parent)
    assert reasons() == ["unverifiable"]


@pytest.mark.req("MED-179", "MED-156")
def test_med_179_evidence_of_an_unknown_origin_says_so(world: World) -> None:
    x = world.brain("x", src__a_py="a\n")
    world.at(x).memorize("Other")
    (world.store(x) / "port.light.md").write_text(light_file("Port", evidence=("src/a.py",)), encoding="utf-8")

    answer = promoted(world, x, "port")

    assert answer["evidence"]["evidence_unverifiable"] is True
    assert keys(world.file(None, "port").read_text(encoding="utf-8"))["Evidence-Unverifiable"] == "true"


@pytest.mark.req("MED-180")
def test_med_180_a_second_promotion_duplicates_nothing(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Port")
    promoted(world, x, "port")
    world.clock.forward(DAY)

    promoted(world, x, "port")

    assert [path.name for path in world.store(None).glob("*.light.md")] == ["port.light.md"]
    assert len(world.history(None)) == 1
    stamp = keys(world.file(x, "port").read_text(encoding="utf-8"))["Promoted-To"]
    assert stamp == f"medulla@port@{world.clock()}"
    assert world.file(x, "port").read_text(encoding="utf-8").count("Promoted-To") == 1


@pytest.mark.req("MED-181")
def test_med_181_a_pointer_is_not_live(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Other")
    text = light_file("Port", "moved_to: /elsewhere", State="outdated")
    (world.store(x) / "port.light.md").write_text(text, encoding="utf-8")
    before = stores(world, x, None)

    assert promote(world, x, "port")["error"]["code"] == "not_live"
    assert stores(world, x, None) == before


@pytest.mark.req("MED-182", "MED-183")
def test_med_182_proposing_is_an_ordinary_claim_and_memorize_never_promotes(world: World) -> None:
    x = world.brain("x")

    world.at(x).memorize("Port", "It is 1338. Candidate for promotion, please promote to the medulla.")
    answer = world.at(x).call("memorize", node_label="Port two", text="It is 1339.", promote=True)

    assert answer["error"]["code"] == "invalid_params"
    assert not world.store(None).exists()
    assert not world.file(x, "port-two").exists()
