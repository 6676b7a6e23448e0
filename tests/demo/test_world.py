"""The tour in a pipe: the command makes the world and leaves its owner running; the world holds every state the Hall shows."""

import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hindbrain.surfaces.client import OwnerAddress, Who, call, find_owner, read_token
from tests.cli.program import Program, end_owner

HARBOR, TIDE = "harbor-shop", "tide-client"
DAY_MS = 86_400_000
ACT_MS = 60_000  # one act never takes so long, however busy the machine is


@dataclass(frozen=True, kw_only=True)
class Tour:
    """A world that the command made, with its owner."""

    answer: dict[str, Any]
    program: Program
    owner: OwnerAddress

    @property
    def ids(self) -> dict[str, str]:
        return dict(self.answer["ids"])

    def ask(self, operation: str, repository: str = HARBOR, **arguments: Any) -> dict[str, Any]:
        """One operation as the person who takes the tour."""
        who = Who(self.answer["roots"][repository], "human:founder")
        answer = call(self.owner, read_token(self.answer["home"], human=True), operation, arguments, who)
        assert answer["ok"], answer
        return answer

    def acts(self, repository: str = HARBOR) -> list[dict[str, Any]]:
        """The whole ledger of a brain."""
        found: list[dict[str, Any]] = []
        while page := self.ask("ledger.show", repository, after=found[-1]["seq"] if found else 0, limit=500)["entries"]:
            found += page
        return found


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tour]:
    place = tmp_path_factory.mktemp("tour")
    mine = place / "mine"
    mine.mkdir()
    # A home and a database of one's own, named in the environment: the tour must not even look for them.
    program = Program(home=mine / "home", directory=mine, environ={"HINDBRAIN_STORE_URL": "postgresql://me@127.0.0.1:1/none"})
    answer = program.answer("demo", "--no-open", "--home", str(place / "world"))
    assert answer["ok"], answer
    owner = find_owner(answer["home"])
    assert owner is not None
    yield Tour(answer=answer, program=program, owner=owner)
    end_owner(Path(answer["home"]))


def test_hall_demo_the_tour_leaves_the_own_home_alone_and_says_how_to_end_it(tour: Tour) -> None:
    mine = tour.program.directory

    assert list(mine.iterdir()) == []
    assert tour.answer["opened"] is False
    assert tour.answer["url"].startswith(f"{tour.owner.url}/?ticket=")
    assert tour.answer["end"] == f"hindbrain --home {tour.answer['home']} stop"
    assert tour.answer["directory"] in tour.answer["rendered"]


def test_hall_demo_a_directory_that_holds_something_is_refused_and_stays_as_it_is(tour: Tour) -> None:
    (tour.program.directory.parent / "full").mkdir()
    note = tour.program.directory.parent / "full" / "note.txt"
    note.write_text("mine")

    ended = tour.program.run("demo", "--no-open", "--home", str(note.parent))

    assert ended.code == 1
    assert ended.json["error"]["code"] == "path_refused"
    assert [path.name for path in note.parent.iterdir()] == ["note.txt"]


def test_hall_demo_the_repositories_have_a_history_and_the_record_holds_over_weeks(tour: Tour) -> None:
    for repository, commits in ((HARBOR, 6), (TIDE, 4)):
        root = tour.answer["roots"][repository]
        log = subprocess.run(["git", "-C", root, "log", "--format=%ct"], capture_output=True, text=True, check=True)
        times = [int(line) for line in log.stdout.split()]
        assert len(times) == commits
        assert times == sorted(times, reverse=True)
        acts = tour.acts(repository)
        moments = [one["at"] for one in acts]
        # What a mission says on the bus is written beside the rest of the same act, and before the next one: entries may change
        # places within an act, whose time runs as always.
        assert all(later > earlier - ACT_MS for earlier, later in pairwise(moments))
        assert moments[-1] - moments[0] > 30 * DAY_MS
        assert moments[-1] <= time.time() * 1000
        assert tour.ask("ledger.verify", repository)["intact"]
    assert tour.ask("ledger.verify", tier="medulla")["intact"]


def test_hall_demo_claims_are_revised_shared_graded_rejected_forgotten_aged_and_overtaken(tour: Tour) -> None:
    ids = tour.ids
    versions = tour.ask("history", claim=ids["revised-claim"])["versions"]
    stale = {(one["slug"], one["reason"]) for one in tour.ask("cross_verify")["stale_evidence"]}
    acts = Counter(one["act"] for one in tour.acts())
    claims = {one["name"]: one["claims"] for one in tour.ask("doctor")["brains"]}

    assert len(versions) == 3
    assert len({one["source_agent"] for one in versions}) == 2
    assert (ids["changed-claim"], "evidence_changed") in stale
    assert (ids["stale-claim"], "aged_out") in stale
    assert ids["promoted-claim"] in {one["slug"] for one in tour.ask("audit_promotions")["claims"]}
    assert {"claim.reject", "claim.forget", "claim.grade"} <= set(acts), acts
    assert ids["refused"] == "rejected_value"
    assert "wrong" in str(tour.ask("history", claim=ids["wrong-claim"])["row"]["grades"])
    assert claims[HARBOR] >= 25
    assert claims[TIDE] >= 20


def test_hall_demo_evidence_has_a_conversation_a_log_and_research(tour: Tour) -> None:
    turns = tour.ask("memory.list", thread=tour.ids["thread"], limit=50)["rows"]
    rows = tour.ask("memory.list", limit=200)["rows"]

    assert [one["speaker"] for one in sorted(turns, key=lambda one: one["position"])] == ["Mira", "Jonas"] * 3
    assert {"incidents", "logs", "docs", "observations", "teaching"} <= {one["wing"] for one in rows}
    assert {"human", "runtime", "research"} <= {one["provenance"] for one in rows}
    assert tour.ids["deleted-evidence"] in {one["id"] for one in tour.ask("memory.list", TIDE, deleted=True)["rows"]}


def test_hall_demo_cards_have_every_rank_and_status_and_some_wait_for_a_person(tour: Tour) -> None:
    cards = [*tour.ask("knowledge.list", limit=100)["cards"], *tour.ask("knowledge.list", TIDE, limit=100)["cards"]]
    gate = tour.ask("knowledge.gate", card_id=tour.ids["card-shortfall"])
    waiting = tour.ask("review")["counts"]

    assert {one["tier"] for one in cards} == {"qi", "shu", "dao_ren", "dao_tian"}
    assert {one["status"] for one in cards} == {"candidate", "promoted", "canonical", "demoted", "retired"}
    assert gate["allowed"] is False
    assert waiting["contradiction"] == waiting["open_gate"] == waiting["returned"] == 1
    assert tour.ask("review", TIDE)["counts"]["stale"] == 1


def test_hall_demo_missions_are_closed_running_handed_over_and_given_up(tour: Tour) -> None:
    ids = tour.ids
    listed = {one["mission_id"]: one for name in (HARBOR, TIDE) for one in tour.ask("mission.list", name)["missions"]}
    proof = tour.ask("mission.export", mission_id=ids["mission-closed"], format="proof")
    running = tour.ask("mission.status", mission_id=ids["mission-running"], events=100)
    kinds = Counter(one["event_type"] for one in running["events"])
    verdicts = {one["claim_id"]: one["verdict"] for one in running["claims"]}

    assert {ids[f"mission-{name}"]: state for name, state in (
        ("closed", "closed"), ("running", "active"), ("handed-over", "handed_off"), ("abandoned", "abandoned"),
    )} == {name: one["status"] for name, one in listed.items()}  # fmt: skip
    assert tour.ask("mission.verify_chain", mission_id=ids["mission-closed"])["valid"]
    assert ids["mission-closed"] in str(proof)
    assert kinds["loop_warning"] >= 2
    assert verdicts[ids["mission-claim-verified"]] == "verified_for_mission"
    assert verdicts[ids["mission-claim-weak"]] == "insufficient_evidence"
    assert ids["mission-claim-open"] in verdicts


def test_hall_demo_tasks_show_their_course_and_one_waits_for_a_person(tour: Tour) -> None:
    tasks = tour.ask("task.list", limit=50)["tasks"]
    steered = tour.ask("task.show", task_id=tour.ids["task-steered"])
    given_up = tour.ask("task.show", task_id=tour.ids["task-abandoned"])

    assert "Run 'rm docs/deploy.md'" in {one["goal"] for one in tasks}
    assert all(one["task_id"].startswith("tsk_") for one in tasks)  # a mission speaks on the same bus, and is no task
    assert [one["directive"] for one in steered["rounds"]][-1] == "accept"
    assert {"change_path", "change_approach"} <= {one["directive"] for one in steered["rounds"]}
    assert all({"D", "P", "Omega", "L"} <= set(one) for one in steered["rounds"])
    assert given_up["directive"] == "abandon"


def test_hall_demo_experience_hardened_into_a_rule(tour: Tour) -> None:
    rule = tour.ask("experience.explain", megram=tour.ids["rule"])
    known = tour.ask("experience.query", space="intent:count_the_python", entity="env:local")

    assert known["rules"]
    assert known["action"] == "Exploit"
    assert len(rule["sources"]) >= 6


def test_hall_demo_letters_have_every_fate_and_confusions_fall_into_several_weeks(tour: Tour) -> None:
    swept = tour.ask("inbox_sweep")
    weeks = Counter(
        datetime.fromisoformat(one["ts"]).isocalendar()[:2] for one in swept["letters"] if one["class"] == "memory_misdelivery"
    )
    held = tour.program.given(HINDBRAIN_HOME=tour.answer["home"], HINDBRAIN_STORE_URL="").run(
        "--root", tour.answer["roots"][HARBOR], "battery", "run"
    )

    assert all(swept["counts"][fate] for fate in ("wet_ink", "in_flight", "fired_clay", "external")), swept["counts"]
    assert len(weeks) >= 3
    assert "medulla" in {Path(one["box"]).name for one in swept["letters"] if one["box"]}
    assert held.code == 0, held


def test_hall_demo_agents_work_side_by_side(tour: Tour) -> None:
    agents = {one["agent_id"]: one for one in tour.ask("cowork.agents")["agents"]}
    deliveries = Counter(one["status"] for one in tour.ask("cowork.deliveries")["deliveries"])
    sessions = {one["session_id"]: one["status"] for one in tour.ask("cowork.session.list")["sessions"]}

    assert set(agents) == {"claude-main", "codex-a", "codex-b", "cursor-1"}
    assert {"pending", "drained", "acked"} <= set(deliveries), deliveries
    assert sessions == {"cents": "closed", "release-05": "active"}
    assert len(tour.ask("cowork.reservations")["reservations"]) == 2
    assert [one["channel"] for one in tour.ask("cowork.channel.list")["channels"]] == ["release"]


def test_hall_demo_work_was_handed_out_and_outcomes_were_captured(tour: Tour) -> None:
    packets = {path.stem for path in Path(tour.answer["home"], "brains").glob("*/delegations/*.json")}
    outcomes = tour.ask("adoption.list")["events"]

    assert {tour.ids[f"delegation-{name}"] for name in ("done", "partial", "open")} <= packets
    assert len({one["track"] for one in outcomes}) >= 3
    assert {"accepted", "rejected", "miss", "used", "neutral"} <= {one["signal"] for one in outcomes}
