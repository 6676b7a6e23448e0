"""How missions stand, told in numbers: the list with its standing, the budget of one that is over, and a packet as a file."""

from pathlib import Path

import pytest

from tests.missions.test_kernel import begun, proven, said, swept
from tests.support.world import World, git

WORKER = "def retry(n):\n    done = 0\n    for _ in range(n + 1):\n        done += 1\n    return done\n"


@pytest.fixture
def root(world: World) -> str:
    made = world.repository("shop", src__worker_py=WORKER, src__other_py="def other():\n    return 1\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    assert world.at(made).call("ingest", path=made, project_root=made)["ok"]
    return made


def test_hall_1_a_list_tells_how_far_each_mission_is(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]
    proven(actor)
    said(actor, "mission.verify", claim="the graph says so", evidence_class="graph_orientation")
    said(actor, "mission.claim", claim="nobody looked at this")
    for _ in range(3):
        said(actor, "mission.event", event_type="literal_search", target="retry", payload={"query": "retry"})

    (plain,) = said(actor, "mission.list")["missions"]
    (told,) = said(actor, "mission.list", standing=True)["missions"]

    assert "claims" not in plain
    assert plain.items() <= told.items()
    assert told["claims"] == {"all": 3, "verified": 1, "open": 2, "rejected": 0}
    assert told["loop_warnings"] > 0
    status = said(actor, "mission.status", mission_id=mission)
    assert told["budget_consumed"] == status["budget_consumed"]
    assert status["budget_used"]["tool_calls"] > 0


def test_hall_1_a_mission_that_is_over_uses_no_more_of_its_time(world: World, root: str) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]
    said(actor, "mission.abandon", reason="not needed")
    before = said(actor, "mission.status", mission_id=mission)
    world.clock.forward(86_400_000)
    after = said(actor, "mission.status", mission_id=mission)

    assert after["budget_used"] == before["budget_used"]
    assert after["budget_consumed"] == before["budget_consumed"] < 1


def test_hall_1_a_packet_is_given_as_the_file_that_can_be_checked(world: World, root: str, tmp_path: Path) -> None:
    actor = world.at(root)
    mission = begun(actor)["mission_id"]
    proven(actor)
    swept(actor)
    closed = said(actor, "mission.close", gaps=["only one file was looked at"])
    given = said(actor, "mission.export", mission_id=mission, format="proof", file=True)["file"]

    assert given.encode() == Path(closed["proof_file"]).read_bytes()
    assert "file" not in said(actor, "mission.export", mission_id=mission, format="proof")
