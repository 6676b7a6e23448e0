"""Reservations: agents of one repository say which files they are about to change. Advice with an end."""

import json
import random
from pathlib import Path
from typing import Any

from hindbrain.engines.reserving import covers, overlap
from tests.support.cowork import BusScene, code_of
from tests.support.still import still
from tests.support.world import World, git

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def held(scene: BusScene, **more: Any) -> list[tuple[str, str]]:
    return [(one["agent_id"], one["path"]) for one in scene.ok("cowork.reservations", **more)["reservations"]]


def test_a_reserved_file_is_refused_with_holder_reason_and_end_until_it_ends(world: World) -> None:
    scene = BusScene.of(world, "a", "b")
    made = scene.ok("cowork.reserve", agent_id="a", paths=["src/worker.py"], minutes=30, reason="splitting it")
    until = made["reservations"][0]["until"]

    refused = scene.call("cowork.reserve", agent_id="b", paths=["docs", "src/worker.py"])

    assert code_of(refused) == "path_reserved"
    assert refused["error"]["message"] == f'a holds src/worker.py until {until}, saying "splitting it"'
    assert [(one["agent_id"], one["reason"], one["until"]) for one in refused["error"]["conflicts"]] == [
        ("a", "splitting it", until)
    ]
    assert held(scene) == [("a", "src/worker.py")]  # nothing of a refused call is held
    world.clock.forward(30 * 60_000 - 1)
    assert code_of(scene.call("cowork.reserve", agent_id="b", paths=["src/worker.py"])) == "path_reserved"
    world.clock.forward(1)
    assert held(scene) == []
    scene.ok("cowork.reserve", agent_id="b", paths=["src/worker.py"])
    assert held(scene) == [("b", "src/worker.py")]


def test_directories_and_patterns_are_in_the_way_of_what_they_can_mean(world: World) -> None:
    scene = BusScene.of(world, "a", "b")
    (Path(scene.root) / "lib").mkdir()
    paths = ["src/api/", "./docs//*.md", "**/schema.sql", f"{scene.root}/Makefile", "lib", "new"]
    scene.ok("cowork.reserve", agent_id="a", paths=paths)

    assert [path for _, path in held(scene)] == ["src/api/", "docs/*.md", "**/schema.sql", "Makefile", "lib/", "new"]
    taken = [
        "src/api/",
        "src/api/v1/users.py",
        "src/",
        "docs/a.md",
        "docs/*",
        "db/schema.sql",
        "*",
        "Makefile",
        "sr?/*/v1",
        "lib/x",
    ]
    for path in taken:
        assert code_of(scene.call("cowork.reserve", agent_id="b", paths=[path])) == "path_reserved", path
    for path in ["src/apis", "docs/a.txt", "docs/sub/a.md", "db/schema", "src/web/*.py", "[abc]", "Makefile.am", "new/x", "docs"]:
        scene.ok("cowork.reserve", agent_id="b", paths=[path])
    assert held(scene, path="docs/guide.md") == [("a", "docs/*.md")]
    assert [one for one, _ in held(scene, agent_id="a")] == ["a"] * 6


def test_patterns_meet_exactly_when_a_file_fits_both() -> None:
    """Against every short path there is."""
    chosen = random.Random(7)
    names = ["a", "b", "aa", "ab", "ba", "bb", "aab", "abb", "aba"]
    pairs = [f"{x}/{y}" for x in names for y in names]
    paths = [*names, *pairs, *(f"{x}/{y}" for x in pairs for y in ("a", "b", "ab"))]
    parts = ["a", "b", "*", "a*", "*b", "?", "a?"]
    met = 0
    for _ in range(150):
        one, other = ("/".join(chosen.choices(parts, k=chosen.randint(1, 2))) + chosen.choice(["", "", "/"]) for _ in range(2))
        fits = any(covers(one, path) and covers(other, path) for path in paths)
        assert overlap(one, other) == overlap(other, one) == fits, (one, other)
        met += fits
    assert 15 < met < 135
    assert [overlap("**/b", "a/*"), overlap("a/**/b", "a/b"), overlap("**/b", "a/?c")] == [True, True, False]
    assert not covers("a", "*")  # a file may be called so
    assert not covers("a*a*a*a*a*a*a*a*a*b", "a" * 200)


def test_those_who_share_are_in_nobodys_way_and_a_holder_renews(world: World) -> None:
    scene = BusScene.of(world, "a", "b", "c")
    scene.ok("cowork.reserve", agent_id="a", paths=["src/"], shared=True)
    scene.ok("cowork.reserve", agent_id="b", paths=["src/x.py"], shared=True)
    assert code_of(scene.call("cowork.reserve", agent_id="c", paths=["src/x.py"])) == "path_reserved"
    world.clock.forward(59 * 60_000)

    scene.ok("cowork.reserve", agent_id="a", paths=["src/"], shared=True, minutes=2)

    world.clock.forward(60_000)
    assert held(scene) == [("a", "src/")]
    assert scene.ok("cowork.release", agent_id="b")["released"] == []
    assert scene.ok("cowork.release", agent_id="a", paths=["src"])["released"] == ["src/"]
    assert held(scene) == []


def test_who_goes_ahead_holds_it_too_and_both_are_told_on_their_own_bus(world: World) -> None:
    scene = BusScene.of(world, "a")
    git(scene.root, "commit", "-q", "--allow-empty", "-m", "x")
    tree = str(world.place / "tree")
    git(scene.root, "worktree", "add", "-q", tree)
    there = BusScene(world, world.at(tree), tree)
    there.ok("cowork.register", agent_id="b", tool="codex")
    scene.ok("cowork.reserve", agent_id="a", paths=["src/x.py"], reason="mine")

    # Two checkouts meet again in a merge: the reservation is the repository's.
    assert code_of(there.call("cowork.reserve", agent_id="b", paths=["src/"])) == "path_reserved"
    forced = there.ok("cowork.reserve", agent_id="b", paths=["src/"], force=True, reason="urgent")

    assert forced["forced_over"] == ["a"]
    assert forced["project"] == scene.root
    assert sorted(held(scene)) == sorted(held(there)) == [("a", "src/x.py"), ("b", "src/")]
    told, own = scene.ok("cowork.drain", agent_id="a")["messages"], there.ok("cowork.drain", agent_id="b")["messages"]
    assert [one["from"] for one in told + own] == ["hindbrain", "hindbrain"]
    assert told[0]["content"].startswith("b went ahead over your reservation: b holds src/ until ")
    assert 'saying "urgent"' in told[0]["content"]
    assert own[0]["content"].startswith("you went ahead although a holds src/x.py until ")
    assert scene.ok("cowork.ack", agent_id="a", message_id=told[0]["message_id"])["changed"]


def test_what_cannot_be_a_path_of_the_repository_is_refused_and_nothing_is_written(world: World) -> None:
    scene = BusScene.of(world, "a")
    other = BusScene.of(world, "z", name="other")
    wrong = [[], [""], ["  "], ["../x"], ["a/../../x"], ["~/x"], ["a\x00b"], ["a\nb"], ["a\u202eb"], ["x" * 301], ["p"] * 51]

    with still(scene.place):
        for paths in wrong:
            assert code_of(scene.call("cowork.reserve", agent_id="a", paths=paths)) == "invalid_params", paths
        for path in ("/etc/passwd", other.root, f"{scene.root}/../other/x"):
            assert code_of(scene.call("cowork.reserve", agent_id="a", paths=[path])) == "path_refused"
        assert code_of(scene.call("cowork.reserve", agent_id="nobody", paths=["x"])) == "unknown_agent"
        assert code_of(scene.call("cowork.reserve", agent_id="a", paths=["x"], reason=f"use {SECRET}")) == "hygiene"
        assert code_of(scene.call("cowork.reserve", agent_id="a", paths=[SECRET])) == "hygiene"
        for more in ({"minutes": 0}, {"minutes": 481}, {"reason": "x" * 201}):
            assert code_of(scene.call("cowork.reserve", agent_id="a", paths=["x"], **more)) == "invalid_params"
        for operation in ("cowork.reserve", "cowork.release"):
            answer = scene.call(operation, agent_id="a", paths=["x"], project_root=other.root)
            assert code_of(answer) == "path_refused"


def test_another_repository_neither_sees_nor_frees_what_is_held(world: World) -> None:
    scene, other = BusScene.of(world, "a"), BusScene.of(world, "a", name="other")
    scene.ok("cowork.reserve", agent_id="a", paths=["src"])

    assert held(other) == held(other, caller_root=scene.root) == []
    assert other.ok("cowork.release", agent_id="a", caller_root=scene.root)["released"] == []
    assert code_of(other.call("cowork.reservations", path="x", project_root=scene.root)) == "path_refused"
    other.ok("cowork.reserve", agent_id="a", paths=["src"])
    assert held(scene) == [("a", "src")]
    assert scene.databases() == []


def test_a_damaged_file_is_told_and_left_alone(world: World) -> None:
    scene = BusScene.of(world, "a")
    scene.ok("cowork.reserve", agent_id="a", paths=["src"])
    file = scene.place / "reservations.json"
    assert json.loads(file.read_text())["reservations"][0]["path"] == "src"
    file.write_bytes(b"\xff{")

    with still(scene.place):
        for operation, more in (("cowork.reserve", {"paths": ["x"]}), ("cowork.release", {}), ("cowork.reservations", {})):
            assert code_of(scene.call(operation, agent_id="a", **more)) == "store_damaged"


def test_a_repository_has_an_end_of_reservations(world: World) -> None:
    scene = BusScene.of(world, "a")
    for start in range(0, 500, 50):
        scene.ok("cowork.reserve", agent_id="a", paths=[f"f{start + one}" for one in range(50)])
    assert code_of(scene.call("cowork.reserve", agent_id="a", paths=["one-more"])) == "invalid_params"
    scene.ok("cowork.reserve", agent_id="a", paths=["f0"])  # what is held already is held anew
