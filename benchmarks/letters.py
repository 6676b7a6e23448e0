"""Ten thousand letters of every shape into the boxes of two hundred repositories, each into the one where it belongs.

    .venv/bin/python benchmarks/letters.py                          # 10,000 letters, 200 repositories
    .venv/bin/python benchmarks/letters.py --letters 1000 --check   # smaller; ends with 1 when the limit is passed

A home and repositories on disk, and a spool that is made (tests/support/letters.py): who makes a letter says where it belongs,
and every box is compared with that. `first` files all letters, `second` finds that nothing is to do, `one` files one more.
Limit: 3 s for the first run. Wrong letters, a second run that adds something, or a spool that changed end it with 1 always.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from tests.support.letters import ALIASES, BASES, Post, letters_in
from tests.support.world import Actor, World

LIMIT_S = 3.0


def timed(actor: Actor) -> tuple[tuple[float, float], dict[str, Any]]:
    """Seconds by the clock and of the processor: other work of the machine is in the first only."""
    begin, busy = time.perf_counter(), time.process_time()
    answer = actor.call("mailbox.distribute")
    return (time.perf_counter() - begin, time.process_time() - busy), answer


def wrong(post: Post, answer: dict[str, Any]) -> int:
    """How many letters are not where they belong, in the boxes themselves and in what the answer says of the rest."""
    found = {one: str(path.parent.parent) for path in post.place.rglob(".hindbrain/inbox.jsonl") for one in letters_in(path)}
    found |= dict.fromkeys(letters_in(post.home.medulla_box), "medulla")
    found |= {one["id"]: "pending" for one in answer["pending"]}
    found |= {one["id"]: "refused" for one in answer["refused_hygiene"]}
    return sum(found.get(one) != post.expected.get(one) for one in found.keys() | post.expected.keys())


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--letters", type=int, default=10_000)
    options.add_argument("--repositories", type=int, default=200)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--check", action="store_true", help=f"exit 1 when the first run takes more than {LIMIT_S:g} s")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="hindbrain-letters-") as made:
        place = Path(os.path.realpath(made))
        os.environ["HOME"] = str(place / "user")
        world = World(place, repo_aliases=ALIASES, worktree_bases=BASES)
        post = Post(place / "user", world.home, repositories=chosen.repositories).fill(chosen.letters, chosen.seed)
        spool = post.written()
        before = spool.read_bytes()
        actor = world.at(None)
        assert actor.call("operations")["ok"]  # the house is put together before the clock runs
        first_s, first = timed(actor)
        astray = wrong(post, first)
        second_s, second = timed(actor)
        kept = spool.read_bytes() == before
        assert actor.call("report", **{"class": "bug"}, what="one more", repo=post.roots[0])["ok"]
        one_s, one = timed(actor)
        world.close()
    shape = f"{first['spool_total']} letters ({len(before) / 1e6:.1f} MB), {chosen.repositories} repositories"
    print(f"{shape}, {first['malformed']} lines that are no letters")
    rest = f"{len(first['pending'])} pending, {len(first['refused_hygiene'])} kept back"
    for name, (wall, busy), answer, more in (
        ("first", first_s, first, f", {rest}"),
        ("second", second_s, second, ""),
        ("one", one_s, one, ""),
    ):
        print(f"  {name:<7} {wall:5.2f} s ({busy:4.2f} s of the processor)   {answer['appended']} filed{more}")
    print(f"  {first_s[0] / LIMIT_S:.2f} of the limit of {LIMIT_S:g} s")
    print(f"  {astray} letters astray, the spool is {'untouched' if kept else 'CHANGED'}")
    if astray or second["appended"] or not kept or one["appended"] != 1:
        return 1
    return int(chosen.check and first_s[0] > LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
