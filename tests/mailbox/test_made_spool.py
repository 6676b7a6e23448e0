"""A spool of every shape that letters come in: each in the one place where whoever made it says it belongs."""

import os
from pathlib import Path

import pytest

from tests.support.letters import ALIASES, BASES, Post, box, letters_in
from tests.support.world import World, tree_hash


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = Path(os.path.realpath(tmp_path)) / "user"
    monkeypatch.setenv("HOME", str(home))
    return home


def boxes(post: Post) -> dict[str, list[str]]:
    """Every box there is, found by looking, not by what an answer says."""
    found = {str(path.parent.parent): letters_in(path) for path in post.place.rglob(".hindbrain/inbox.jsonl")}
    return found | {"medulla": letters_in(post.home.medulla_box)}


def test_med_330_med_340_med_341_med_374_med_375_every_letter_has_one_place(user: Path, tmp_path: Path) -> None:
    count = 1_000  # `make bench NAME=letters` does the same with 10,000 in 200 repositories
    world = World(tmp_path, repo_aliases=ALIASES, worktree_bases=BASES)
    post = Post(user, world.home, repositories=30).fill(count, seed=1)
    spool = post.written()
    before = spool.read_bytes()

    first = world.at(None).call("mailbox.distribute")
    held = boxes(post)

    wanted: dict[str, list[str]] = {}
    for one, where in post.expected.items():
        if where not in ("pending", "refused"):
            wanted.setdefault(where, []).append(one)
    assert held == wanted  # each in its box, once, in the order of the spool, and in no other
    assert sorted(one["id"] for one in first["pending"]) == sorted(post.at("pending"))
    assert sorted(one["id"] for one in first["refused_hygiene"]) == sorted(post.at("refused"))
    assert (first["spool_total"], first["malformed"]) == (count, post.malformed)
    assert first["appended"] == first["to_project"] + first["to_medulla"] == sum(map(len, held.values()))
    assert set(held["medulla"]) == set(post.at("medulla"))  # no letter that names a project lies there

    files = tree_hash(post.place), tree_hash(post.home.path)
    second = world.at(None).call("mailbox.distribute")
    assert second["appended"] == 0
    assert [(one["id"], one["target"]) for one in second["filed"]] == [(one["id"], one["target"]) for one in first["filed"]]
    assert (tree_hash(post.place), tree_hash(post.home.path)) == files
    assert spool.read_bytes() == before
    assert box(post.roots[0]).exists()
    world.close()


def test_med_330_the_spool_that_was_there_first(user: Path, tmp_path: Path) -> None:
    """53 letters as an older program left them: one repository by many names, a few others, and seven of the runtime."""
    world = World(tmp_path, repo_aliases="gitrooms=reporooms", worktree_bases="m1nd")
    post = Post(user, world.home, repositories=4)
    m1nd, almus, rooms = (post.repository(name) for name in ("m1nd", "almus", "reporooms"))
    world.home.register(m1nd, brain_id=None, now=0)
    world.home.register(rooms, brain_id=None, now=0)
    shapes = [
        *[("m1nd", m1nd)] * 12,
        *[("m1nd (worktree m1nd-hall)", m1nd)] * 6,
        *[("m1nd-l00p", m1nd), ("m1nd-hall", m1nd), (m1nd, m1nd), ("~/m1nd", m1nd), ("m1nd/", m1nd)] * 3,
        *[("~/almus", almus)] * 3,
        *[("gitrooms", rooms)] * 2,
        *[("all", "medulla"), ("(research task, no repo)", "medulla"), ("", "medulla")],
        *[("~/.m1nd/runtimes/owner", "medulla")] * 7,
        *[("cherry", "pending"), ("~/cherry", "pending"), ("/Users/someone/m1nd-x", "pending")],
        *[("room-0", post.roots[0]), (post.roots[3], post.roots[3])],
    ]
    assert len(shapes) == 53
    for number, (name, where) in enumerate(shapes):
        post._put(f'{{"repo": "{name}", "class": "friction", "what": "{number}"}}'.encode(), where, b"\n")
    post.written()

    answer = world.at(None).call("mailbox.distribute")

    held = boxes(post)
    assert {where: sorted(held.get(where, [])) for where in set(post.expected.values()) - {"pending"}} == {
        where: sorted(post.at(where)) for where in set(post.expected.values()) - {"pending"}
    }
    assert len(held["medulla"]) == 10
    assert sorted(one["id"] for one in answer["pending"]) == sorted(post.at("pending"))
    assert world.at(None).call("mailbox.distribute")["appended"] == 0
    world.close()
