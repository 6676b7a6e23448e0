"""Scope only shrinks: a packet under a packet is cut to the outer one, by argument and by what the session knows."""

import dataclasses
import os

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.engines.delegation import inside, narrowed
from tests.support.delegation import CHILD, TASK, cherry, outcomes, records
from tests.support.world import Actor, World

HOUR = 3_600_000
PATHS = st.lists(st.sampled_from(["a", "a/b", "a/b/c.py", "a/bc.py", "d", "d/e.py", "f.py", "."]), max_size=4)
FILES = ("a/b/c.py", "a/b/x.py", "a/bc.py", "a/x.py", "d/e.py", "d/y.py", "f.py", "g.py")


@given(wanted=PATHS, outer=PATHS)
def test_a_narrowed_scope_allows_exactly_what_both_allow(wanted: list[str], outer: list[str]) -> None:
    kept, lost = narrowed(wanted, outer)

    for path in FILES:
        assert inside(path, kept) == (inside(path, wanted) and inside(path, outer)), path
    assert set(lost) == {path for path in wanted if not inside(path, outer)}


def test_a_childs_packet_is_cut_to_its_own_scope_and_its_own_end(world: World) -> None:
    root, mother = cherry(world)
    outer = mother.call("delegate", task=TASK, scope={"paths": ["src/worker"]})
    world.clock.forward(3 * HOUR)
    child = world.at(root, CHILD)

    wide = child.call("delegate", task=TASK, scope={"paths": ["src", "tests/test_retry.py"]}, under=outer["delegation_id"])
    same = child.call("delegate", task=TASK, scope={"paths": ["src/worker/retry.py"]}, under=outer["delegation_id"])
    out = child.call("delegate", task=TASK, scope={"paths": ["src/ship.py"]}, under=outer["delegation_id"])
    inner = child.call("delegate", task=TASK, scope={"paths": ["."]}, under=same["delegation_id"])

    assert wide["scope"]["may_touch"] == ["src/worker"]
    cut = [gap["text"] for gap in wide["honest_gaps"] if gap["kind"] == "outside_outer_scope"]
    assert [text.split()[0] for text in cut] == ["src", "tests/test_retry.py"]
    assert wide["expires_ms"] == outer["expires_ms"] == same["expires_ms"]
    assert (wide["mission"]["under"], wide["prompt_markdown"].count("was cut to")) == (outer["delegation_id"], 3)
    assert (out["verdict"], out["reason"]) == ("abstain", "outside_outer_scope")
    assert inner["scope"]["may_touch"] == ["src/worker/retry.py"]

    world.clock.forward(2 * HOUR)
    late = child.call("delegate", task=TASK, under=outer["delegation_id"])

    assert (late["verdict"], late["reason"]) == ("abstain", "outer_expired")
    assert len(records(world, root)) == 4


def test_a_session_that_knows_its_packet_cannot_leave_it_by_naming_another(world: World) -> None:
    root, mother = cherry(world)
    _, stranger = cherry(world, "other")
    foreign = stranger.call("delegate", task=TASK)
    narrow = mother.call("delegate", task=TASK, scope={"paths": ["src/worker/retry.py"]})
    wide = mother.call("delegate", task=TASK, scope={"paths": ["."]})

    def child(delegation: str) -> Actor:
        return Actor(world, dataclasses.replace(world.at(root, CHILD).caller, delegation=delegation))

    known = child(narrow["delegation_id"])
    for more in ({}, {"under": wide["delegation_id"]}):
        found = known.call("delegate", task=TASK, scope={"paths": ["src"]}, **more)
        assert found["scope"]["may_touch"] == ["src/worker/retry.py"]
    for strange in (foreign["delegation_id"], "unreadable", "../x"):
        assert child(strange).call("delegate", task=TASK)["error"]["code"] == "unknown_delegation"
    assert mother.call("delegate", task=TASK, under=foreign["delegation_id"])["error"]["code"] == "unknown_delegation"


def test_what_a_child_did_outside_is_graded_and_not_hidden(world: World) -> None:
    root, mother = cherry(world)
    outer = mother.call("delegate", task=TASK, scope={"paths": ["src/worker"]})
    inner = world.at(root, CHILD).call("delegate", task=TASK, scope={"paths": ["src"]}, under=outer["delegation_id"])

    answer = world.at(root, CHILD).call(
        "debrief",
        delegation_id=inner["delegation_id"],
        subagent_id="codex:maker-3",
        outcome="success",
        diff="diff --git a/src/ship.py b/src/ship.py\n--- a/src/ship.py\n+++ b/src/ship.py\n@@ -1 +1 @@\n-a\n+b\n",
        findings=["Ships depend on the retry path."],
    )

    assert answer["conformance"] == {"verdict": "deviated", "within": [], "outside": ["src/ship.py"]}
    assert len(answer["learned"]["memorized"]) == 2
    assert outcomes(world, root)[0]["outside_scope"] == 1
    # Makers propose: a child's own promotion is not blocked, and it is seen.
    slug = answer["learned"]["memorized"][0]["slug"]
    promoted = world.at(root, "codex:maker-3").call("promote", claim=slug, reason="it holds everywhere")
    assert promoted["ok"]
    (row,) = [row for row in mother.call("audit_promotions")["claims"] if row["slug"] == slug]
    assert (row["promoted_by"], len(row["flags"])) == ("codex:maker-3", 1)


def test_what_leads_out_of_the_repository_is_in_no_scope(world: World) -> None:
    root, mother = cherry(world)
    os.symlink("/etc", os.path.join(root, "src", "link"))
    packet = mother.call("delegate", task=TASK, scope={"paths": [".", "src"]})
    beyond = ["/etc/hosts", "../other/x.py", "..", "src/link/hosts"]

    answer = mother.call(
        "debrief",
        delegation_id=packet["delegation_id"],
        subagent_id=CHILD + "\n# a heading",
        outcome="success",
        touched_paths=[*beyond, "./src/ship.py"],
        report_text=f"[m1nd {packet['delegation_id']}]\nDEVIATIONS: {', '.join(beyond)}\nFINDINGS: none",
    )

    assert answer["conformance"] == {"verdict": "deviated", "within": ["src/ship.py"], "outside": beyond}
    assert answer["caveats"] == []
    assert (answer["refused"], len(answer["learned"]["memorized"])) == ([], 1), "the surprise in the repository is remembered"
    assert "/etc" not in world.file(root, answer["learned"]["memorized"][0]["slug"]).read_text(encoding="utf-8")
    assert "\n# a heading" not in answer["rendered"]
    assert packet["known_static_dependents"]["expected_change"] == ["src/worker/retry.py"], "files, and no directories"
    assert answer["map_grade"]["expected_untouched"] == ["src/worker/retry.py"]
