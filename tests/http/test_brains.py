"""Brains over HTTP: which there are, which one answers, and whose numbers are whose."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.owner import RunningOwner, Starter, start_owner, stores_digest


def a_project(place: Path, name: str) -> Path:
    root = place / name
    (root / "src").mkdir(parents=True)
    (root / "src" / f"{name}.py").write_text("x = 1\n")
    return root


def bootstrap(running: RunningOwner, root: Path, session: str | None = None) -> None:
    answer = running.call("ingest", path=str(root), project_root=str(root), root=root, session=session)
    assert answer["ok"] is True, answer


def memorize(running: RunningOwner, root: Path | None, label: str, session: str | None = None, **more: Any) -> dict[str, Any]:
    return running.call("memorize", node_label=label, text=f"{label} holds", root=root, session=session, **more)


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningOwner, Path, Path]]:
    """An owner bound to X, with brains for X and Y and one claim in each."""
    place = tmp_path_factory.mktemp("bound").resolve()
    x, y = a_project(place, "repo-x"), a_project(place, "repo-y")
    running = start_owner(place / "home", root=str(x))
    for root in (x, y):
        bootstrap(running, root)
        assert memorize(running, root, f"fact of {root.name}")["ok"] is True
    assert memorize(running, x, "doctrine", tier="medulla")["ok"] is True
    yield running, x, y
    running.kill()


Bound = tuple[RunningOwner, Path, Path]


@pytest.mark.req("MED-001")
def test_med_001_one_owner_hosts_the_medulla_and_every_project_each_in_its_own_directory(bound: Bound) -> None:
    running, x, y = bound

    rows = running.get("/api/instances").json["instances"]

    assert {row["display_name"] for row in rows} == {"medulla", "repo-x", "repo-y"}
    assert {row["project_root"] for row in rows} == {None, str(x), str(y)}
    stores = [running.home / "medulla", *(running.home / "brains" / row["fingerprint"] for row in rows if row["project_root"])]
    assert len(set(stores)) == 3
    assert all(any((store / "agent-memory").iterdir()) for store in stores)


@pytest.mark.req("MED-002")
def test_med_002_two_agents_of_two_hosts_read_one_medulla(bound: Bound) -> None:
    running, x, y = bound

    answers = [
        running.post("north", {"tier": "medulla"}, hindbrain_caller_root=str(root), hindbrain_agent=agent).json
        for root, agent in ((x, "codex:maker"), (y, "claude-code:main"))
    ]

    rows = [[row["node_id"] if "node_id" in row else row["slug"] for row in answer["memory"]] for answer in answers]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 1


@pytest.mark.req("MED-031")
def test_med_031_without_the_selector_the_bound_brain_answers_and_with_it_the_same_bytes(bound: Bound) -> None:
    running, x, _ = bound

    plain = running.get("/api/graph/stats")
    named = running.get(f"/api/graph/stats?brain={quote(str(x), safe='')}")

    assert plain.status == 200
    assert plain.body == named.body
    assert plain.json["node_count"] > 0


@pytest.mark.req("MED-031")
@pytest.mark.parametrize("path", ["/api/graph/stats", "/api/status", "/api/events", "/api/op/north", "/api/tools/seek"])
@pytest.mark.parametrize("name", ["/nowhere", "../../etc", "/etc/../etc", "repo-x", "/", "", "%00", "MEDULLA", "%ff"])
def test_med_031_an_unknown_brain_is_a_typed_miss_that_lists_what_exists(bound: Bound, path: str, name: str) -> None:
    running, x, y = bound
    before = stores_digest(running.home)
    method, body = (
        ("GET", None) if "op" not in path and "tools" not in path else ("POST", b'{"query": "x"}' if "seek" in path else b"{}")
    )

    answer = running.request(method, f"{path}?brain={name}", body=body, headers={"Content-Type": "application/json"})

    assert answer.status == 404
    assert answer.json["ok"] is False
    assert answer.json["error"].keys() == {"code", "message", "fix", "known"}
    assert answer.json["error"]["code"] == "unknown_brain"
    assert set(answer.json["error"]["known"]) == {str(x), str(y), "medulla"}
    assert stores_digest(running.home) == before


@pytest.mark.req("MED-031")
def test_med_031_the_named_path_is_never_looked_at(bound: Bound, tmp_path: Path) -> None:
    running, _, _ = bound
    stranger = a_project(tmp_path.resolve(), "stranger")

    assert running.get(f"/api/graph/stats?brain={quote(str(stranger))}").status == 404

    assert running.call("test.touched", under=str(stranger))["paths"] == []
    assert running.call("test.touched", under=str(running.home))["paths"] != []


@pytest.mark.req("MED-032")
def test_med_032_an_answer_to_a_selection_says_which_brain_it_is_of(bound: Bound) -> None:
    running, _, y = bound

    of_y = running.get(f"/api/graph/stats?brain={quote(str(y))}").json["served_brain"]
    of_medulla = running.get("/api/graph/stats?brain=medulla").json["served_brain"]
    status = running.get(f"/api/status?brain={quote(str(y))}").json

    assert of_y == {"project_root": str(y), "display_name": "repo-y"}
    assert of_medulla == {"project_root": None, "display_name": "medulla"}
    assert status["served_brain"] == of_y
    assert "served_brain" not in running.get("/api/status").json


@pytest.mark.req("GR-175")
def test_gr_175_the_selector_works_on_reads_by_operation(bound: Bound) -> None:
    running, x, y = bound
    asked = {name: f"/api/tools/seek?brain={quote(str(name))}" for name in (x, y, "medulla")}
    told = {"Content-Type": "application/json", "Hindbrain-Caller-Root": str(x)}

    found = {
        name: running.request("POST", path, body=b'{"query": "fact holds doctrine", "tier": "project"}', headers=told).json
        for name, path in asked.items()
        if name != "medulla"
    }

    for root, answer in found.items():
        assert answer["served_brain"]["project_root"] == str(root)
        assert [row["origin_brain"] for row in answer["results"]] == [str(root)]
    assert running.get("/api/tools").json["rest_brain_selector"] is True


@pytest.mark.req("GR-175")
def test_gr_175_the_medulla_is_read_by_its_name(bound: Bound) -> None:
    running, _, _ = bound

    answer = running.request("POST", "/api/op/north?brain=medulla", body=b"{}", headers={"Content-Type": "application/json"}).json

    assert answer["served_brain"]["display_name"] == "medulla"
    assert {row["tier"] for row in answer["memory"]} == {"medulla"}


@pytest.mark.req("GR-175")
@pytest.mark.parametrize("operation", ["knowledge.list", "review"])
def test_gr_175_the_cards_of_the_medulla_are_read_by_its_name(bound: Bound, operation: str) -> None:
    running, _, _ = bound
    told = {"Content-Type": "application/json"}

    answer = running.request("POST", f"/api/op/{operation}?brain=medulla", body=b"{}", headers=told).json
    elsewhere = running.request("POST", "/api/op/activate?brain=medulla", body=b'{"query": "a"}', headers=told)

    assert (answer["ok"], answer["served_brain"]["display_name"]) == (True, "medulla")
    assert (elsewhere.status, elsewhere.code) == (400, "invalid_params")


@pytest.mark.req("GR-175", "MED-033")
def test_gr_175_the_selector_never_aims_a_write(bound: Bound) -> None:
    running, _, y = bound
    before = stores_digest(running.home)
    body = json.dumps({"node_label": "aimed", "text": "at another brain"}).encode()

    answer = running.request(
        "POST", f"/api/op/memorize?brain={quote(str(y))}", body=body, headers={"Content-Type": "application/json"}
    )

    assert (answer.status, answer.code) == (400, "invalid_params")
    assert stores_digest(running.home) == before


def test_med_005_a_look_by_name_does_not_move_the_session(bound: Bound) -> None:
    running, x, y = bound
    told = {"Content-Type": "application/json", "Hindbrain-Session": "stays-in-x", "Hindbrain-Caller-Root": str(x)}
    sessions = running.get("/api/instance/self").json["active_sessions"]

    running.request("POST", f"/api/op/north?brain={quote(str(y))}", body=b"{}", headers=told)
    written = memorize(running, None, "after the look", session="stays-in-x", caller_root=str(x))

    assert written["origin_brain"] == str(x)
    assert running.get("/api/instance/self").json["active_sessions"] == sessions + 1


@pytest.mark.req("MED-033")
def test_med_033_a_call_from_y_writes_into_y_though_the_owner_is_bound_to_x(bound: Bound) -> None:
    running, _, y = bound

    answer = memorize(running, y / "src", "written from y")

    assert answer["origin_brain"] == str(y)
    assert "written from y" in Path(answer["path"]).read_text()


@pytest.mark.req("MED-401")
def test_med_401_a_header_is_believed_and_the_session_keeps_that_it_was_a_header(bound: Bound) -> None:
    running, x, _ = bound

    answer = running.call("session_handshake", root=x, session="told-by-header")
    later = running.call("session_handshake", session="told-by-header")

    assert answer["write_target"]["store_brain"] == str(x)
    assert answer["caller_root_source"] == "header"
    assert later["caller_root_source"] == "header"


@pytest.mark.req("MED-012", "MED-017")
def test_med_017_a_session_remembers_the_root_of_its_first_call(bound: Bound) -> None:
    running, _, y = bound
    first = running.post("health", {}, hindbrain_caller_root=str(y))

    answer = memorize(running, None, "without a header", session=first.headers["hindbrain-session"])

    assert answer["origin_brain"] == str(y)


@pytest.mark.req("MED-018")
def test_med_018_a_missing_root_is_unknown_and_nothing_is_guessed(owner: RunningOwner) -> None:
    answer = owner.call("north")

    assert answer["reception"] is None
    assert "caller_root_unknown" in [gap["kind"] for gap in answer["honest_gaps"]]


@pytest.mark.req("MED-034", "MED-035")
def test_med_035_after_a_restart_every_brain_is_listed_dormant_and_wakes_when_called(starter: Starter, tmp_path: Path) -> None:
    place = tmp_path.resolve()
    roots = [a_project(place, f"repo-{name}") for name in "abc"]
    running = starter(place / "home")
    for root in roots:
        bootstrap(running, root)
        memorize(running, root, f"fact of {root.name}")
    counted = {row["project_root"]: row["node_count"] for row in running.get("/api/instances").json["instances"]}
    running.process.terminate()
    assert running.wait() == 0

    again = starter(place / "home")
    rows = [row for row in again.get("/api/instances").json["instances"] if row["kind"] == "project"]
    north = again.call("north", root=roots[0])

    assert {row["project_root"] for row in rows} == {str(root) for root in roots}
    assert {row["state"] for row in rows} == {"dormant"}
    assert all(row["node_count"] == counted[row["project_root"]] > 0 and row["edge_count"] > 0 for row in rows)
    assert [row["origin_brain"] for row in north["memory"]] == [str(roots[0])]
    states = {row["project_root"]: row["state"] for row in again.get("/api/instances").json["instances"]}
    assert states[str(roots[0])] == "warm"


@pytest.mark.req("MED-034")
def test_med_034_a_store_whose_manifest_names_another_root_is_not_served(starter: Starter, tmp_path: Path) -> None:
    place = tmp_path.resolve()
    root = a_project(place, "repo-x")
    running = starter(place / "home")
    bootstrap(running, root)
    memorize(running, root, "fact of repo-x")
    running.process.terminate()
    running.wait()
    (manifest,) = (place / "home" / "brains").glob("*/project_brain.json")
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "project_root": "/somewhere/else"}))

    again = starter(place / "home")

    assert again.call("north", root=root)["memory"] == []
    assert "manifest_mismatch" in json.dumps(again.call("doctor", root=root))


@pytest.mark.req("MED-036")
def test_med_036_no_more_brains_than_the_cap_are_warm_and_a_dropped_one_kept_its_last_claim(
    starter: Starter, tmp_path: Path
) -> None:
    place = tmp_path.resolve()
    home = place / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("warm_brain_cap = 2\n")
    running = starter(home)
    roots = [a_project(place, f"repo-{number}") for number in range(5)]
    for root in roots:
        bootstrap(running, root)
        memorize(running, root, f"fact of {root.name}")
        states = [row["state"] for row in running.get("/api/instances").json["instances"] if row["kind"] == "project"]
        assert states.count("warm") <= 2

    for root in roots:
        assert [row["origin_brain"] for row in running.call("north", root=root)["memory"]] == [str(root)]


def numbers(running: RunningOwner) -> dict[str | None, tuple[int, int]]:
    rows = running.get("/api/instances").json["instances"]
    return {row["project_root"]: (row["active_sessions"], row["queries_processed"]) for row in rows}


@pytest.mark.req("MED-310", "MED-311", "MED-312", "MED-313", "MED-314", "MED-315")
def test_med_310_each_brain_has_its_own_numbers_and_the_totals_wear_their_caption(starter: Starter, tmp_path: Path) -> None:
    place = tmp_path.resolve()
    x, y, nowhere = a_project(place, "repo-x"), a_project(place, "repo-y"), a_project(place, "repo-z")
    running = starter(place / "home")
    bootstrap(running, x, session="one")
    bootstrap(running, y, session="three")

    for session, count in (("one", 3), ("two", 2)):
        for _ in range(count):
            running.call("north", root=x, session=session)
    running.call("north", root=y, session="three")
    running.call("north", root=nowhere, session="four")

    totals = running.get("/api/instance/self").json
    assert numbers(running) == {str(x): (2, 5), str(y): (1, 1)}
    assert totals["scope"] == "across all brains"
    assert (totals["active_sessions"], totals["queries_processed"]) == (3, 6)
    assert totals["unrouted"]["queries_processed"] == 1
    health = running.call("health", root=x, session="one")
    assert (health["active_sessions"], health["queries_processed"]) == (2, 5)
    owner_health = running.call("health", root=x, session="one", scope="owner")
    assert (owner_health["active_sessions"], owner_health["queries_processed"]) == (3, 6)
    assert owner_health["scope"] == "across all brains"

    running.process.terminate()
    assert running.wait() == 0
    assert numbers(starter(place / "home")) == {str(x): (0, 5), str(y): (0, 1)}


@pytest.mark.req("MED-314")
def test_med_314_housekeeping_writes_counters_and_takes_in_edited_files_before_anybody_asks(
    starter: Starter, tmp_path: Path
) -> None:
    place = tmp_path.resolve()
    x = a_project(place, "repo-x")
    running = starter(place / "home", housekeeping_s=0.1)
    bootstrap(running, x)
    path = Path(memorize(running, x, "edited in place")["path"])
    running.call("north", root=x)

    with running.stream("/api/events", human=True) as stream:
        stream.next()
        path.write_text(path.read_text().replace("edited in place holds", "an editor was here"))
        heard = stream.next() or {}
    running.kill()

    assert heard["data"]["slug"] == "edited-in-place"
    assert numbers(starter(place / "home")) == {str(x): (0, 1)}


@pytest.mark.req("MED-312")
def test_med_312_every_number_of_a_row_belongs_to_its_brain(bound: Bound) -> None:
    running, _, _ = bound
    partitioned = {"active_sessions", "queries_processed", "memory_beats_served", "mailbox_open_count"}
    of_the_store = {"node_count", "edge_count", "last_ingest_ms", "active_claims"}

    for row in running.get("/api/instances").json["instances"]:
        counted = {name for name, value in row.items() if isinstance(value, int)}
        assert counted <= partitioned | of_the_store
        assert "scope" not in row
    assert "self" not in running.get("/api/instances").json


def test_must_show_6_a_forged_agent_id_is_recorded_by_its_channel_and_gains_nothing(bound: Bound) -> None:
    running, x, _ = bound
    forged = "human:founder"
    written = running.call("memorize", node_label="forged", text="by a forger", agent_id=forged, root=x)
    assert written["ok"] is True

    refused = running.post("forget", {"claim": written["slug"], "agent_id": forged}, hindbrain_caller_root=str(x))
    entries = running.call("ledger.show", act="claim.", limit=1000, root=x)["entries"]

    assert refused.status == 403
    assert refused.code == "human_needed"
    assert {entry["channel"] for entry in entries if entry["actor"] == forged} == {"agent"}
    assert Path(written["path"]).exists()


def test_must_show_6_the_human_token_is_the_human_channel(bound: Bound) -> None:
    running, x, _ = bound
    written = memorize(running, x, "to be forgotten")

    answer = running.post("forget", {"claim": written["slug"]}, token=running.human_token, hindbrain_caller_root=str(x))

    assert answer.json["ok"] is True
    assert not Path(written["path"]).exists()


@pytest.mark.req("GR-174", "GR-175", "GR-133")
def test_gr_174_the_graph_can_be_read_whole_and_around_a_node(bound: Bound) -> None:
    running, x, y = bound

    whole = running.get(f"/api/graph/snapshot?brain={quote(str(x), safe='')}").json
    assert whole["ok"], whole
    first = whole["nodes"][0]["external_id"]
    around = running.get(f"/api/graph/subgraph?node={quote(first, safe='')}&depth=1&brain={quote(str(x), safe='')}").json
    other = running.get(f"/api/graph/subgraph?node={quote(first, safe='')}&depth=far&brain={quote(str(y), safe='')}")

    assert (whole["ok"], whole["version"]) == (True, 3)
    assert whole["served_brain"]["project_root"] == str(x)
    assert first in {node["external_id"] for node in around["nodes"]}
    assert len(around["nodes"]) <= len(whole["nodes"])
    assert other.json["error"]["code"] == "invalid_params"


@pytest.mark.req("GR-174")
@pytest.mark.parametrize("path", ["health", "instance/self", "instances", "tools", "graph/stats"])
def test_gr_174_each_route_answers_json(bound: Bound, path: str) -> None:
    running, _, _ = bound

    answer = running.get(f"/api/{path}")

    assert (answer.status, answer.json["ok"]) == (200, True)
