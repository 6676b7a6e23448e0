"""Drift of strategy documents: through the operations, on real files, in a real repository."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.mission import EventType, EvidenceClass, Outcome
from hindbrain.engines.light_drift import covers, declared, pair_drift
from hindbrain.engines.light_note import light_note
from hindbrain.services.missions.log import Draft, MissionLog
from tests.graph.test_ingest import graph, ingest
from tests.support.missions import spec
from tests.support.world import World

HEAD = "---\nProtocol: L1GHT/1.0\nNode: Shop\nState: building\n---\n\n# Shop\n\n## Worker\n\n[⍂ entity: Worker]\n"
PATH = "docs/shop.light.md"


class Shop:
    """A repository with a worker, its test and a strategy document."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.root = world.brain(
            "shop",
            src__worker_py="class Worker:\n    def run(self) -> None: ...\n",
            tests__test_worker_py="def test_it_runs() -> None: ...\n",
        )
        Path(self.root, "docs").mkdir()

    def write(self, *markers: str, head: str = HEAD) -> None:
        Path(self.root, PATH).write_text(head + "\n".join(f"[{one}]" for one in markers) + "\n")

    def file(self, path: str, text: str) -> None:
        Path(self.root, path).write_text(text)

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self.world.at(self.root).call(operation, **arguments)

    def drift(self, path: str = PATH) -> list[tuple[str, str]]:
        answer = self.call("light.check", paths=[path])
        assert answer["ok"], answer
        return [(one["kind"], one["subject"]) for one in answer["documents"][0]["drift"]]

    def verify(self, claim: str) -> dict[str, Any]:
        return self.call("mission.verify", claim=claim, evidence_class="doc_bound", evidence_refs=[f"doc_bound:{PATH}"])

    def grade(self) -> EvidenceClass | None:
        house = self.world.app.house
        brain = house.home.project(self.root)
        assert brain is not None
        with house.brains.use(brain) as opened:
            return house.light.evidence_class(opened, self.root, PATH)

    def warnings(self) -> tuple[str, ...]:
        house = self.world.app.house
        brain = house.home.project(self.root)
        assert brain is not None
        with house.brains.use(brain) as opened:
            return house.light.warnings(opened, self.root)

    def ran(self, command: str, outcome: str, *, source: str = "runtime") -> None:
        """A run of tests as a mission records it."""
        house = self.world.app.house
        brain = house.home.project(self.root)
        assert brain is not None
        log = MissionLog(self.world.clock)
        caller = self.world.at(self.root, "a1").caller
        self.world.clock.forward(1000)
        with house.brains.use(brain) as opened:
            if opened.store.mission("msn_01TEST") is None:
                with log.begin(opened, caller, spec(repo=self.root)):
                    pass
            with log.turn(opened, caller, "msn_01TEST", anyone=True) as turn:
                draft = Draft(event_type=EventType.TEST_RUN, source=source, target=command, outcome=Outcome(outcome))
                turn.add(draft)


@pytest.fixture
def shop(world: World) -> Shop:
    return Shop(world)


def test_aol_173_aol_174_a_bound_file_that_changed_or_went_is_drift(shop: Shop) -> None:
    shop.write("⟁ binds_to: src/worker.py")
    assert shop.drift() == [("unconfirmed", "src/worker.py")]

    confirmed = shop.call("light.confirm", path=PATH)
    assert confirmed["ok"]
    assert list(confirmed["bindings"]) == ["src/worker.py"]
    assert (shop.drift(), shop.grade()) == ([], EvidenceClass.DOC_BOUND)

    shop.file("src/worker.py", "class Worker: ...\n")
    assert shop.drift() == [("changed", "src/worker.py")]
    Path(shop.root, "src/worker.py").unlink()
    assert shop.drift() == [("missing", "src/worker.py")]


def test_aol_174_a_confirmation_travels_with_the_repository(shop: Shop) -> None:
    shop.write("⟁ binds_to: src/")
    shop.call("light.confirm", path=PATH)

    assert "sha256:" in Path(shop.root, "docs/shop.light.lock").read_text()
    shop.file("src/other.py", "x = 1\n")
    assert shop.drift() == [("changed", "src/")]


def test_aol_175_a_bound_symbol_must_still_be_defined_there(shop: Shop) -> None:
    shop.write("⟁ binds_to: src/worker.py::Worker", "⟁ binds_to: src/worker.py::Worker.run")
    assert shop.drift() == []

    shop.file("src/worker.py", "import os\n\nclass Worker:\n    def start(self) -> None: ...\n")
    assert shop.drift() == [("symbol_missing", "src/worker.py::Worker.run")]

    shop.file("src/worker.py", "# Worker and its run are only spoken of\nrun = 'Worker'\n")
    assert [kind for kind, _ in shop.drift()] == ["symbol_missing", "symbol_missing"]


def test_aol_176_a_named_test_exists_and_its_last_recorded_run_passed(shop: Shop) -> None:
    test = "tests/test_worker.py::test_it_runs"
    shop.write(f"⟁ tests: {test}")
    assert shop.drift() == [("test_not_run", test)]
    assert shop.grade() is EvidenceClass.DOC_BOUND

    shop.ran("pytest tests/test_worker.py", "passed", source="agent")
    assert shop.drift() == [("test_not_run", test)]  # what an agent tells is no run
    shop.ran("pytest tests/test_worker.py", "passed")
    assert shop.drift() == []
    shop.ran(f"pytest {test}", "failed")
    assert (shop.drift(), shop.grade()) == ([("test_failing", test)], EvidenceClass.DOC_STALE)
    shop.ran("pytest tests/other.py", "passed")
    assert shop.drift() == [("test_failing", test)]

    shop.file("tests/test_worker.py", "def test_it_walks() -> None: ...\n")
    assert shop.drift() == [("test_missing", test)]


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("pytest", True),
        ("python -m pytest -q", True),
        (".venv/bin/python -m pytest tests/a.py::test_x", True),
        ("pytest ./tests/a.py", True),
        ("pytest tests/", True),
        ("pytest tests/a.py::test_y", False),
        ("pytest tests/ab.py", False),
    ],
)
def test_aol_176_a_command_runs_the_tests_below_the_places_it_names(command: str, runs: bool) -> None:
    assert covers(command, "tests/a.py::test_x") is runs


def test_aol_177_both_files_of_a_pair_speak_of_the_same(shop: Shop) -> None:
    shop.file("docs/light-pairs.toml", '[[pair]]\nprose = "shop.md"\nlight = "shop.light.md"\n')
    shop.file("docs/shop.md", "# Shop\n\n## Worker\n\nThe worker runs.\n")
    shop.write()
    assert shop.drift() == []

    shop.file("docs/shop.md", "# Shop\n\n## Counter\n\nNobody runs.\n")
    assert shop.drift() == [("not_in_prose", "Worker"), ("not_in_light", "Counter")]


def test_aol_162_a_declared_pair_of_which_one_is_missing_is_found(shop: Shop) -> None:
    shop.file("docs/light-pairs.toml", '[[pair]]\nprose = "shop.md"\nlight = "shop.light.md"\n')
    shop.write()
    assert shop.drift() == [("pair_missing", "docs/shop.md")]

    shop.file("docs/shop.md", "# Shop\n\n## Worker\n")
    Path(shop.root, PATH).unlink()
    answer = shop.call("light.check")
    assert answer["stale"] == [PATH]
    assert answer["documents"][0]["drift"][0]["kind"] == "pair_missing"


def test_aol_177_names_are_compared_however_they_are_written() -> None:
    light = HEAD.replace("Worker", "MissionKernelV1")

    assert pair_drift(light, "## Mission kernel\n") == ()
    assert [one.subject for one in pair_drift(light, "## Mission\n\nKernel\n", headings=())] == ["MissionKernelV1"]


def test_aol_178_a_document_with_drift_is_stale_and_is_told_so(shop: Shop) -> None:
    shop.write("⟁ binds_to: src/gone.py")

    assert shop.grade() is EvidenceClass.DOC_STALE
    answer = shop.call("light.check")
    assert answer["documents"][0]["grade"] == "doc_stale"
    assert "src/gone.py is gone" in answer["rendered"]


def test_aol_178_recall_and_router_show_a_stale_document_with_a_warning(shop: Shop) -> None:
    shop.write("⟁ binds_to: src/worker.py::Worker")
    ingest(shop.world, shop.root, path=str(Path(shop.root, "docs")), adapter="light", mode="merge")

    def asked() -> tuple[set[str], str]:
        answer = shop.call("activate", query="Shop", learn=False)
        return {row["warning"] for row in answer["activated"] if "warning" in row}, answer["rendered"]

    assert asked()[0] == set()
    shop.file("src/worker.py", "class Other: ...\n")
    said, rendered = asked()
    assert said == {f"doc_stale: {PATH}: src/worker.py::Worker is not defined there any more"}
    assert f"warning: {said.pop()}" in rendered
    assert [one.startswith(f"doc_stale: {PATH}") for one in shop.warnings()] == [True]


def test_aol_178_a_mission_is_warned_and_a_stale_document_supports_nothing(shop: Shop) -> None:
    shop.write("⟁ binds_to: src/worker.py::Worker")
    assert not any("doc_stale" in one for one in shop.call("mission.start", task="review it", mode="review")["warnings"])
    bound = shop.verify("The worker runs.")
    shop.file("src/worker.py", "class Other: ...\n")
    stale = shop.verify("The worker still runs.")

    assert (bound["evidence_grade"], stale["evidence_grade"]) == ("graph_only", "inferred")
    assert stale["verdict"] == "insufficient_evidence"
    shop.call("mission.abandon", reason="enough")
    begun = shop.call("mission.start", task="review it", mode="review")
    assert [one for one in begun["warnings"] if one.startswith(f"doc_stale: {PATH}: src/worker.py::Worker")]


def test_aol_177_a_declaration_that_cannot_be_read_is_drift_and_no_obstacle(shop: Shop) -> None:
    shop.write()
    shop.file("docs/light-pairs.toml", "[[pair]]\nprose = 3\n")

    assert shop.drift() == [("pairs_unreadable", "docs/light-pairs.toml")]
    assert shop.call("mission.start", task="review it", mode="review")["ok"]


def test_aol_180_a_closed_mission_writes_what_it_proved_as_a_note(shop: Shop) -> None:
    shop.call("mission.start", task="review it", mode="review")
    proven = shop.call(
        "mission.verify",
        claim="Worker has a method run.",
        evidence_class="direct_source",
        evidence_refs=["direct_source:src/worker.py:2"],
    )
    assert proven["verdict"] == "verified_for_mission", proven
    closed = shop.call("mission.close", summary="done", write_light=True)
    assert closed["ok"], closed

    text = Path(closed["light_file"]).read_text()
    (event,) = re.findall(r"\[𝔻 evidence: (evt_\w+)\]", text)
    shown = shop.call("mission.status", mission_id=closed["mission_id"], events=50)
    assert event in json.dumps(shown)
    answer = ingest(shop.world, shop.root, path=closed["light_file"], adapter="light", mode="merge")
    assert answer["files_parsed"] == 1
    assert graph(shop.world, shop.root).nodes(["light::light::entity::worker-has-a-method-run"])


def test_aol_178_a_claim_of_an_agent_and_plain_markdown_are_no_strategy_documents(shop: Shop) -> None:
    shop.write("⟁ binds_to: src/gone.py", head=HEAD.replace("State:", "Source-Agent: a1\nState:"))
    assert shop.grade() is None
    assert shop.call("light.check", paths=[PATH])["error"]["code"] == "invalid_params"
    assert shop.call("light.check")["documents"] == []


def test_aol_179_the_check_says_that_it_is_not_complete(shop: Shop) -> None:
    shop.write()
    answer = shop.call("light.check")

    assert answer["non_claims"] == ["that drift detection for strategy documents is complete"]


def test_aol_180_a_skeleton_parses_and_is_taken_in(shop: Shop) -> None:
    answer = shop.call("light.new", path="docs/plan.light.md", title="Plan", entities=["Worker", "Queue"])
    assert answer["ok"], answer
    again = shop.call("light.new", path="docs/plan.light.md", title="Plan")
    assert (again["ok"], "exists" in again["error"]["message"]) == (False, True)

    text = Path(shop.root, "docs/plan.light.md").read_text()
    assert declared(text).entities == ("Worker", "Queue")
    ingest(shop.world, shop.root, path=str(Path(shop.root, "docs/plan.light.md")), adapter="light")
    edges = graph(shop.world, shop.root).edges_of("light::light::entity::queue", limit=20)
    assert any(edge.relation == "depends_on" and edge.target == "light::light::entity::worker" for edge in edges)


@pytest.mark.parametrize("path", ["../plan.light.md", "plan.md", "nowhere/plan.light.md"])
def test_aol_180_a_skeleton_is_written_inside_the_project_only(shop: Shop, path: str) -> None:
    assert not shop.call("light.new", path=path, title="Plan")["ok"]


def test_aol_180_a_note_of_a_mission_carries_its_events_and_is_taken_in(shop: Shop) -> None:
    from hindbrain.domain.mission import MissionClaim

    claim = MissionClaim(
        claim_id="clm_1",
        claim="run() never returns [on an empty queue]\n[⍂ entity: Forged]",
        created_at="2026-01-01T00:00:00.000Z",
        targets=("src/worker.py",),
        evidence_refs=("evt_1", "evt_2"),
        verdict="verified_for_mission",
        confidence=0.9,
    )
    open_one = MissionClaim(claim_id="clm_2", claim="a guess", created_at="2026-01-01T00:00:00.000Z")

    text = light_note(spec(), [claim, open_one], stamp="2026-01-01T00:00:01.000Z")
    shop.file("docs/note.light.md", text)

    said = declared(text)
    assert len(said.entities) == 1
    assert said.entities[0].startswith("run() never returns")
    assert [value for _, value, _ in said.bindings] == ["src/worker.py"]
    assert "[𝔻 evidence: evt_1]" in text
    assert "[𝔻 evidence: evt_2]" in text
    answer = ingest(shop.world, shop.root, path=str(Path(shop.root, "docs/note.light.md")), adapter="light")
    assert answer["files_parsed"] == 1
