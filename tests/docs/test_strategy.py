"""The strategy documents of this repository: both files of each pair, bound to code that is there, in the graph as it says."""

from pathlib import Path

import pytest

from hindbrain.engines.light_drift import CHECKS, Drift, declared, drift, pair_drift
from hindbrain.engines.light_file import markers, read_light
from hindbrain.policy.missions import NON_CLAIMS
from hindbrain.policy.non_claims import DRIFT_CHECKS, ENDED, STANDING
from hindbrain.services.light_documents import facts_of, pairs_of
from tests.architecture.source import ROOT
from tests.graph.test_ingest import graph, ingest
from tests.support.world import World

PROSE, LIGHT = "docs/strategy/operating-layer.md", "docs/strategy/operating-layer.light.md"
SEVEN = {
    "AgentFlightRecorder",
    "BenchmarkGym",
    "ContextGuard",
    "EvidenceLedger",
    "MissionKernelV1",
    "SkillMemory",
    "ToolPolicyRouter",
}


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_aol_161_aol_162_aol_172_every_declared_pair_is_whole() -> None:
    pairs = list(pairs_of(str(ROOT)))

    assert (PROSE, LIGHT) in [(prose, light) for prose, light, _ in pairs]
    for prose, light, headings in pairs:
        assert light.endswith(".light.md")
        assert (ROOT / prose).is_file(), f"{prose} is missing"
        assert (ROOT / light).is_file(), f"{light} is missing"
        assert pair_drift(text(light), text(prose), headings=headings) == ()
    # A document in this form that no pair declares would be checked by nobody.
    assert {str(one.relative_to(ROOT)) for one in (ROOT / "docs").rglob("*.light.md")} == {light for _, light, _ in pairs}


def test_aol_163_the_operating_layer_declares_its_seven_parts_and_how_they_depend() -> None:
    found = read_light("operating-layer.light.md", text(LIGHT))
    assert found is not None

    assert set(declared(text(LIGHT)).entities) == SEVEN
    by_relation = {relation: [edge for edge in found.edges if edge.relation == relation] for relation in _WANTED}
    assert all(by_relation.values()), by_relation
    assert {one.entity for one in markers(text(LIGHT)) if one.name == "depends_on"} == SEVEN


_WANTED = ("depends_on", "evidenced_by", "next_binding", "declares_blocker", "declares_warning")


def test_aol_173_aol_174_aol_175_aol_177_the_strategy_has_not_drifted() -> None:
    """After a change that the document is still right about: hindbrain light confirm docs/strategy/operating-layer.light.md."""
    said = declared(text(LIGHT))
    facts = facts_of(str(ROOT), LIGHT, said)

    assert [one.text for one in drift(said, facts) if one.kind != "test_not_run"] == []
    assert facts.confirmed, "nothing is confirmed"
    assert facts.symbols


@pytest.mark.parametrize("break_", ["path", "symbol", "test", "pair"])
def test_aol_179_each_check_would_find_a_fault_of_this_very_document(break_: str) -> None:
    whole = text(LIGHT)
    broken = {
        "path": whole.replace("0018-missions.md", "0018-nothing.md"),
        "symbol": whole.replace("course.py::Course]", "course.py::Curse]"),
        "test": whole.replace("tests/missions/test_skills.py", "tests/missions/test_nothing.py"),
        "pair": whole,
    }[break_]
    said = declared(broken)
    found: tuple[Drift, ...] = drift(said, facts_of(str(ROOT), LIGHT, said))
    prose = text(PROSE) if break_ != "pair" else text(PROSE).replace("Skill Memory", "Memory")
    found += pair_drift(broken, prose)

    kinds = {"path": "missing", "symbol": "symbol_missing", "test": "test_missing", "pair": "not_in_prose"}
    assert kinds[break_] in {one.kind for one in found if one.stale}


def test_aol_179_aol_308_drift_detection_is_not_called_complete_while_one_check_runs_nowhere() -> None:
    assert set(DRIFT_CHECKS) == set(CHECKS)
    for place in DRIFT_CHECKS.values():
        assert place is None or (ROOT / place).is_file()
    ended = "AOL-308" in ENDED
    assert ended is False or all(DRIFT_CHECKS.values())
    assert (NON_CLAIMS["AOL-308"] in STANDING) is not ended
    assert "drift detection is not complete" in text(PROSE)


def test_aol_171_aol_291_aol_304_the_strategy_is_taken_in_and_answers_as_a_graph(world: World) -> None:
    x = world.brain("x")
    Path(x, "strategy").mkdir()
    for name in (PROSE, LIGHT):
        Path(x, "strategy", Path(name).name).write_text(text(name))

    answer = ingest(world, x, path=str(Path(x, "strategy")), adapter="light", mode="merge")
    assert answer["files_parsed"] == 1

    kernel = "light::light::entity::missionkernelv1"
    around = {
        edge.target if edge.source == kernel else edge.source
        for edge in graph(world, x).edges_of(kernel, limit=200)
        if edge.relation == "depends_on"
    }
    assert {"light::light::entity::evidenceledger", "light::light::entity::benchmarkgym"} <= around
    for name in ("evidenceledger", "benchmarkgym"):  # and back, in one step
        back = graph(world, x).edges_of(f"light::light::entity::{name}", limit=200)
        assert any(kernel in (edge.source, edge.target) for edge in back)

    woken = world.at(x).call("activate", query="MissionKernelV1", learn=False)
    assert woken["activated"][0]["node_id"] == kernel
    shown = world.at(x).call("why", source="MissionKernelV1", target="BenchmarkGym")
    assert shown["ok"], shown
    literal = world.at(x).call("search", query="EvidenceLedger")
    assert any("operating-layer.light.md" in str(row) for row in literal["results"]), literal
