"""Debriefs: what a child brings back is graded, remembered under its name in the project, and told once."""

from typing import Any

from hindbrain.domain.claim import parse
from tests.support.delegation import CHILD, TASK, cherry, outcomes, record
from tests.support.world import Actor, World, tree_hash

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
HOUR = 3_600_000


def brought(mother: Actor, packet: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = {"delegation_id": packet["delegation_id"], "subagent_id": CHILD, "outcome": "success"}
    return mother.call("debrief", **given | more)


def test_med_220_an_unknown_packet_and_an_unknown_outcome_are_errors(world: World) -> None:
    root, mother = cherry(world)
    _, stranger = cherry(world, "other")
    packet = mother.call("delegate", task=TASK)

    assert brought(mother, {"delegation_id": "dlg_1_aaaaaa"})["error"]["code"] == "unknown_delegation"
    assert brought(mother, packet, outcome="ok")["error"]["code"] == "invalid_params"
    # A packet of another project is as unknown as one that never was, whatever directory the call names.
    assert brought(stranger, packet)["error"]["code"] == "unknown_delegation"
    assert brought(stranger, packet, caller_root=root)["error"]["code"] == "unknown_delegation"
    assert outcomes(world, root) == []

    answer = brought(mother, packet, touched_paths=["src/worker/retry.py", "src/worker/main.py", "src/ship.py"])

    assert answer["conformance"] == {
        "verdict": "deviated",
        "within": ["src/worker/retry.py"],
        "outside": ["src/worker/main.py", "src/ship.py"],
    }
    assert record(world, root, packet["delegation_id"])["status"] == "debriefed"


def test_med_221_med_372_findings_land_in_the_project_under_the_childs_id(world: World) -> None:
    root, mother = cherry(world)
    mother.memorize("Law", "ships sail at noon", tier="medulla")
    medulla = tree_hash(world.store(None))
    packet = mother.call("delegate", task=TASK)

    answer = brought(
        world.human(root),
        packet,
        findings=["The retry path runs twice.", {"text": "It never stops.", "label": "Endless", "evidence": ["src/ship.py"]}],
    )

    landed = answer["learned"]["memorized"]
    assert len(landed) == 2
    for one in landed:
        claim = parse(world.file(root, one["slug"]).read_text(encoding="utf-8"))
        assert (claim.source_agent, claim.origin_brain, claim.state) == (CHILD, world.origin(root), "authored")
    assert landed[1]["slug"] == "endless"
    assert tree_hash(world.store(None)) == medulla
    entries = [entry for entry in mother.call("ledger.show", limit=100)["entries"] if entry["act"] == "claim.memorize"]
    told = [entry for entry in entries if "delegation" in entry["payload"]]
    # The words are the child's: a person who passes them on does not lend them a person's channel.
    assert [(one["actor"], one["channel"]) for one in told] == [(CHILD, "agent")] * 2
    assert {one["payload"]["delegation"] for one in told} == {packet["delegation_id"]}


def test_med_222_a_debrief_has_no_tier(world: World) -> None:
    root, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)

    answer = brought(mother, packet, findings=["The retry path runs twice."], tier="medulla")

    assert answer["error"]["code"] == "invalid_params"
    assert outcomes(world, root) == []


def test_med_223_without_findings_and_surprises_nothing_is_memorized(world: World) -> None:
    _, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    before = mother.call("ledger.show", limit=100)["entries"]

    calm = brought(mother, packet, touched_paths=["src/worker/retry.py", "tests/test_retry.py"])

    assert calm["learned"] == {"memorized": [], "taught": []}
    assert calm["map_grade"]["verdict"] == "good"
    assert mother.call("ledger.show", limit=100)["entries"] == before

    surprised = brought(mother, packet, touched_paths=["src/worker/retry.py", "src/ship.py", "gone.py"])
    failed = brought(mother, packet, outcome="failure", touched_paths=["src/ship.py"])

    (landed,) = surprised["learned"]["memorized"]
    (row,) = [row for row in mother.seek("map foreseen src/ship.py")["results"] if row.get("slug") == landed["slug"]]
    assert (row["source_agent"], row["evidence"]) == (CHILD, ["src/ship.py"])
    assert failed["learned"]["memorized"] == []


def test_med_224_the_child_and_the_map_are_graded_apart_and_a_bare_word_is_unverified(world: World) -> None:
    _, mother = cherry(world)
    packet = mother.call("delegate", task=TASK, scope={"paths": ["src"]})

    # In its scope, and not foreseen; out of its scope, and foreseen as a dependent.
    bare = brought(mother, packet, touched_paths=["src/ship.py", "tests/test_retry.py"])
    shown = brought(
        mother,
        packet,
        touched_paths=["src/worker/retry.py", "src/worker/main.py"],
        evidence={"command": "pytest", "exit_status": 0},
    )
    against = brought(mother, packet, touched_paths=["src/worker/retry.py"], evidence={"command": "pytest", "exit_status": 1})

    assert bare["conformance"]["outside"] == ["tests/test_retry.py"]
    assert (bare["map_grade"]["unpredicted"], bare["map_grade"]["predicted"]) == (["src/ship.py"], ["tests/test_retry.py"])
    assert (bare["outcome_unverified"], bare["learned"]["taught"]) == (True, [])
    assert (shown["outcome_unverified"], shown["caveats"]) == (False, [])
    assert shown["learned"]["taught"] == ["file::src/worker/retry.py", "file::src/worker/main.py"]
    assert against["caveats"] == ["evidence_contradicts_outcome"]
    assert against["learned"]["taught"] == []
    assert brought(mother, packet)["conformance"]["verdict"] == "ungraded"


def test_med_225_med_373_the_outcome_ledger_compares_runs_with_and_without_a_slice(world: World) -> None:
    root, mother = cherry(world)
    for number in range(3):
        mother.memorize(f"Retry {number}", "a fix of the retry path waits")
    for number in range(2):
        mother.memorize(f"Retry law {number}", "a fix of a retry path is bounded", tier="medulla")
    packet = mother.call("delegate", task=TASK)
    bare = mother.call("delegate", task=TASK, memory={"slice": False})

    brought(mother, packet)
    brought(mother, bare)

    with_slice, without = outcomes(world, root)
    columns = ("memory_rows_project", "memory_rows_medulla", "memory_rows_stale", "memory_slice")
    assert [with_slice[name] for name in columns] == [3, 2, 0, True]
    assert [without[name] for name in columns] == [0, 0, 0, False]
    assert with_slice["subagent_id"] == without["subagent_id"] == CHILD


def test_med_218_a_late_debrief_is_taken_with_a_caveat(world: World) -> None:
    _, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    world.clock.forward(3 * HOUR)
    in_time = brought(mother, packet, touched_paths=["src/worker/retry.py"])
    world.clock.forward(2 * HOUR)

    late = brought(mother, packet, findings=["The retry path runs twice."], touched_paths=["src/worker/retry.py"])

    assert in_time["caveats"] == []
    assert late["caveats"] == ["packet_expired"]
    assert len(late["learned"]["memorized"]) == 1


def test_a_refused_finding_is_named_and_the_rest_lands(world: World) -> None:
    root, mother = cherry(world)
    mother.memorize("Harbour", "the harbour opens at six in the morning")
    assert world.human(root).call("reject", claim="harbour", reason="it is wrong")["ok"]
    packet = mother.call("delegate", task=TASK)
    findings = [
        f"the key is {TOKEN}",
        "THE HARBOUR opens at six in the morning",
        {"text": "it lies elsewhere", "evidence": ["../../etc/passwd"]},
        "word " * 20_000,
        "a NUL \x00 in it",
        {"text": "it has few lines", "evidence": ["src/worker/retry.py:99999"]},
        "The retry path runs twice.",
    ]

    answer = brought(mother, packet, findings=findings)

    assert [(one["finding"], one["code"]) for one in answer["refused"]] == [
        (0, "hygiene"),
        (1, "rejected_value"),
        (2, "path_refused"),
        (3, "claim_too_large"),
        (4, "invalid_params"),
        (5, "invalid_params"),
    ]
    assert len(answer["learned"]["memorized"]) == 1
    assert TOKEN not in str(answer)
    acts = [
        entry["payload"]["code"] for entry in mother.call("ledger.show", limit=100)["entries"] if entry["act"] == "call.refused"
    ]
    assert sorted(acts) == ["hygiene", "rejected_value"]
    assert [(row["findings_landed"], row["findings_refused"]) for row in outcomes(world, root)] == [(1, 6)]


def test_telling_the_same_twice_changes_nothing(world: World) -> None:
    root, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    given = {
        "findings": ["The retry path runs twice.", f"the key is {TOKEN}"],
        "touched_paths": ["src/worker/retry.py", "src/ship.py"],
        "evidence": {"command": "pytest", "exit_status": 0},
    }
    first = brought(mother, packet, **given)
    mother.call("learn", feedback="wrong", node_ids=[first["learned"]["memorized"][0]["slug"]])
    before = (tree_hash(world.home.path), mother.call("ledger.show", limit=500)["entries"], mother.call("health"))

    world.clock.forward(60_000)
    second = brought(mother, packet, **given)

    assert (first["repeated"], second["repeated"]) == (False, True)
    assert all(one["already"] for one in second["learned"]["memorized"])
    assert second["refused"] == first["refused"]
    assert (tree_hash(world.home.path), mother.call("ledger.show", limit=500)["entries"]) == before[:2]
    assert mother.call("health")["binding_fingerprint"] == before[2]["binding_fingerprint"]
    # Another child may find out the same, and says so itself.
    other = brought(mother, packet, **given | {"subagent_id": "codex:maker-3"})
    assert not any(one["already"] for one in other["learned"]["memorized"])
    assert len(outcomes(world, root)) == 2


def test_a_forgotten_finding_does_not_come_back_by_the_same_report(world: World) -> None:
    root, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    slug = brought(mother, packet, findings=["The retry path runs twice."])["learned"]["memorized"][0]["slug"]
    assert world.human(root).call("forget", claim=slug)["ok"]

    brought(mother, packet, findings=["The retry path runs twice."])
    again = brought(mother, packet, subagent_id="codex:maker-3", findings=["The retry path runs twice."])

    assert not world.file(root, slug).exists()
    assert [one["code"] for one in again["refused"]] == ["rejected_value"]


def test_a_debrief_that_died_half_way_is_finished_by_the_next(world: World) -> None:
    """The claim was written and the record was not: the same words are not written twice."""
    root, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    place = world.home.brain_dir(world.home.project(root)) / "delegations"  # type: ignore[arg-type]
    kept = (place / f"{packet['delegation_id']}.json").read_bytes()
    slug = brought(mother, packet, findings=["The retry path runs twice."])["learned"]["memorized"][0]["slug"]
    (place / f"{packet['delegation_id']}.json").write_bytes(kept)
    (place / "outcomes.jsonl").write_bytes(b'{"torn": ')

    again = brought(mother, packet, findings=["The retry path runs twice."])

    assert again["learned"]["memorized"] == [{"slug": slug, "already": True}]
    assert world.history(root, slug) == []
    lines = (place / "outcomes.jsonl").read_bytes().splitlines()
    assert (lines[0], len(lines)) == (b'{"torn": ', 2)


def test_a_child_has_a_plain_name(world: World) -> None:
    root, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)

    for child in ("", "  ", TOKEN, "x" * 201, "a\x00b"):
        answer = brought(mother, packet, subagent_id=child, findings=["The retry path runs twice."])
        assert answer["ok"] is False, child
        assert TOKEN not in str(answer)
    assert outcomes(world, root) == []


def test_what_is_said_to_be_remembered_is_there(world: World) -> None:
    root, mother = cherry(world)
    (world.place / "cherry" / "src" / "[id].py").write_text("x = 1\n")
    packet = mother.call("delegate", task=TASK)

    first = brought(mother, packet, findings=[{"text": "It never stops.", "label": "A"}, {"text": "It does stop.", "label": "a"}])
    second = brought(mother, packet, findings=[{"text": "It never stops.", "label": "B"}])
    bracket = brought(mother, packet, touched_paths=["src/[id].py"])

    assert [one["slug"] for one in first["learned"]["memorized"]] == ["a"]
    assert [(one["finding"], one["code"]) for one in first["refused"]] == [(1, "invalid_params")], "it would replace the first"
    assert "It never stops." in world.file(root, "a").read_text(encoding="utf-8")
    assert [(one["slug"], one["already"]) for one in second["learned"]["memorized"]] == [("b", False)]
    assert world.file(root, "b").exists()
    assert (bracket["refused"], len(bracket["learned"]["memorized"])) == ([], 1)
    assert world.human(root).call("forget", claim="b")["ok"]
    again = brought(mother, packet, findings=[{"text": "It never stops.", "label": "B"}])
    assert (again["learned"]["memorized"], [one["code"] for one in again["refused"]]) == ([], ["invalid_params"])
