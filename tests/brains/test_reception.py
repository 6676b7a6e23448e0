"""What a caller is told who stands where no brain is, and what becomes of its writes."""

import pytest

from tests.support.world import World, tree_hash

RECEIVED = ("north", "health", "session_handshake")


@pytest.mark.req("MED-019")
@pytest.mark.parametrize("operation", RECEIVED)
def test_med_019_a_known_root_without_a_brain_is_received(world: World, operation: str) -> None:
    world.bound_root = x = world.repository("x")
    world.brain("x")
    z = world.repository("z")

    reception = world.at(z).call(operation)["reception"]

    assert reception["schema"] == "m1nd-reception-degraded-v0"
    assert reception["match"] == "caller_root_mismatch"
    assert reception["caller_root"] == z
    assert reception["bound_workspace"] == x
    assert z in reception["honest"]
    assert [option["action"] for option in reception["options"]] == ["continue_bound", "ingest_your_repo"]


@pytest.mark.req("MED-020")
def test_med_020_the_offered_call_is_executed_as_it_stands(world: World) -> None:
    world.brain("x")
    z = world.repository("z")
    actor = world.at(z)
    option = actor.call("health")["reception"]["options"][1]

    answer = actor.call(option["call"]["tool"], **option["call"]["arguments"])

    assert answer["ok"] is True
    assert answer["project_root"] == z
    assert actor.call("health")["reception"] is None


@pytest.mark.req("MED-021")
def test_med_021_reception_and_handshake_say_where_a_write_would_go(world: World) -> None:
    x, z = world.brain("x"), world.repository("z")

    at_z, at_x = world.at(z).call("session_handshake"), world.at(x).call("session_handshake")

    assert at_z["write_target"] == at_z["reception"]["write_target"] == {"refused": "brainless_root"}
    assert at_x["write_target"] == {"tier": "project", "store_brain": x, "path": str(world.store(x))}
    assert world.at(None).call("session_handshake")["write_target"] == {"refused": "caller_root_unknown"}
    assert at_x["write_target"]["path"].endswith("agent-memory")
    assert world.at(x).memorize("Here")["path"] == at_x["write_target"]["path"] + "/here.light.md"
    assert world.at(x).call("init", path=x)["ok"]
    carried = world.at(x).call("session_handshake")["write_target"]["path"]
    assert carried == f"{x}/.hindbrain/agent-memory"
    assert world.at(x).memorize("There")["path"] == f"{carried}/there.light.md"


@pytest.mark.req("MED-016", "MED-022")
@pytest.mark.parametrize("operation", RECEIVED)
def test_med_022_a_match_needs_no_reception_and_no_setup(world: World, operation: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Known", "known thing")
    world.restart()
    session = world.at(x, session="second")

    answer = session.call(operation)

    assert answer["reception"] is None
    assert [row["slug"] for row in world.at(None, session="second").north("known thing")["memory"]] == ["known"]


@pytest.mark.req("MED-023")
def test_med_023_exactly_one_related_brain_is_named(world: World) -> None:
    app = world.brain("r/app")
    r = world.directory("r")
    one = world.at(r).call("health")["reception"]
    call = one["options"][1]["call"]
    assert world.at(r).call(call["tool"], **call["arguments"])["reused_existing_brain"] is True
    world.brain("r/lib")

    several = world.at(r).call("health")["reception"]
    none = world.at(world.repository("elsewhere")).call("health")["reception"]

    assert one["known_brain"] == app
    assert call["arguments"]["project_root"] == app
    assert "known_brain" not in several
    assert "known_brain" not in none


@pytest.mark.req("MED-024")
def test_med_024_a_write_from_a_root_without_a_brain_is_an_ordinary_refusal(world: World) -> None:
    z = world.repository("z")

    answer = world.at(z).call("memorize", node_label="Z", text="z belief")

    reason, fix = answer.pop("reason"), answer.pop("fix")
    assert answer == {
        "ok": False,
        "schema": "m1nd-memorize-v0",
        "refused": "brainless_root",
        "caller_root": z,
        "bytes_written": 0,
        "claims_written": 0,
        "ingested": False,
        "superseded": False,
    }
    assert z in reason
    assert fix["action"] == "ingest_your_repo"
    assert fix["call"]["arguments"]["project_root"] == z


@pytest.mark.req("MED-025", "MED-028")
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("memorize", {"node_label": "Z", "text": "z"}),
        ("boot_memory", {"action": "set", "key": "k", "value": 1}),
        ("boot_memory", {"action": "delete", "key": "k"}),
        ("import", {"source": "nowhere.tar.gz", "as_candidates": True}),
        ("ingest", {"path": "."}),
    ],
    ids=["memorize", "boot-set", "boot-delete", "import", "ingest"],
)
def test_med_028_no_write_of_memory_passes_without_a_brain_and_none_leaves_a_trace(
    world: World, operation: str, arguments: dict[str, object]
) -> None:
    x, z = world.brain("x"), world.repository("z")
    world.at(x).call("boot_memory", action="set", key="k", value="of x")
    world.human(x).call("boot_memory", action="set", key="k", value="of all", tier="medulla")
    before, counts = state(world, x)

    answer = world.at(z).call(operation, **arguments)

    assert answer["ok"] is False
    assert answer.get("refused", answer.get("error", {}).get("code")) == "brainless_root"
    assert state(world, x) == (before, counts)
    assert not any(world.home.path.rglob("z.lock"))


def state(world: World, root: str) -> tuple[str, list[tuple[int, int]]]:
    counts = []
    for brain in (world.home.project(root), world.home.medulla()):
        assert brain is not None
        with world.app.house.brains.use(brain) as opened:
            found = opened.store.counts()
            counts += [(found.nodes, found.edges), opened.store.head()]
    return tree_hash(world.home.brains_dir, world.home.medulla_dir), counts


@pytest.mark.req("MED-026")
def test_med_026_the_fix_of_a_refusal_suffices(world: World) -> None:
    z = world.repository("z")
    actor = world.at(z)
    call = actor.call("memorize", node_label="Z", text="z belief")["fix"]["call"]

    assert actor.call(call["tool"], **call["arguments"])["ok"] is True
    answer = actor.memorize("Z", "z belief")

    assert answer["path"] == str(world.file(z, "z"))
    assert f"Origin-Brain: {world.origin(z)}" in world.file(z, "z").read_text().splitlines()
    assert answer["tier"] == "project"


@pytest.mark.req("MED-028")
def test_med_028_a_refused_boot_value_has_the_same_shape(world: World) -> None:
    z = world.repository("z")

    answer = world.at(z).call("boot_memory", action="set", key="k", value=1)

    assert (answer["ok"], answer["refused"], answer["caller_root"]) == (False, "brainless_root", z)
    assert answer["fix"]["call"]["arguments"]["project_root"] == z
    assert not any(world.home.path.rglob("boot_memory_state.json"))
