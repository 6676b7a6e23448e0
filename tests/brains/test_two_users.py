"""Two users of one machine, each with a home and a clone of one repository, on one PostgreSQL: git in one clone is no act on
the team's memory."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.person import Person, other_users

CLAIMS = Path(".hindbrain", "agent-memory")


@pytest.fixture
def users(postgres_schema_url: str) -> Iterator[tuple[Person, Person]]:
    """Alice and Bob, with clones of a bare repository that both may push to, and one brain."""
    other_users()
    place = Path(tempfile.mkdtemp(prefix="hb-users-", dir="/tmp"))
    place.chmod(0o755)
    alice, bob = Person("alice", 1, place), Person("bob", 2, place)
    shared = place / "shared"
    shared.mkdir()
    os.chown(shared, alice.uid, -1)
    shared.chmod(0o777)
    origin = str(shared / "app.git")
    try:
        alice.run("git", "init", "-q", "--bare", "-b", "main", "--shared=all", origin, cwd=str(place))
        alice.run("git", "clone", "-q", origin, alice.clone, cwd=str(alice.home))
        alice.run("sh", "-c", "echo '{}' > package.json && git add -A && git commit -qm first && git push -q origin HEAD:main")
        alice.start(postgres_schema_url)
        assert alice.call("init", path=alice.clone)["ok"]
        alice.git("add", "-A")
        alice.git("commit", "-qm", "a brain")
        alice.git("push", "-q", "origin", "HEAD:main")
        bob.run("git", "clone", "-q", origin, bob.clone, cwd=str(bob.home))
        bob.start(postgres_schema_url)
        assert bob.call("init", path=bob.clone)["ok"]
        yield alice, bob
    finally:
        alice.close()
        bob.close()
        shutil.rmtree(place)


def files(person: Person) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(person.clone, CLAIMS).glob("*.light.md")}


def test_two_users_lose_and_overwrite_nothing_whatever_git_does_in_their_clones(users: tuple[Person, Person]) -> None:
    alice, bob = users
    assert bob.call("memorize", node_label="Release day", text="We release on Tuesdays.")["ok"]
    assert alice.known() == {"release-day": "We release on Tuesdays."}
    assert files(alice) == {}
    bob.git("add", "-A")
    bob.git("commit", "-qm", "release day")
    bob.git("push", "-q", "origin", "HEAD:main")
    alice.git("pull", "-q", "origin", "main")  # of a claim that the database brought before
    assert files(alice) == files(bob)
    assert bob.call("memorize", node_label="Retry policy", text="The worker retries three times.")["ok"]  # not committed
    everything = {"release-day": "We release on Tuesdays.", "retry-policy": "The worker retries three times."}
    his = files(bob)
    owners = {path.stat().st_uid for path in Path(bob.clone, CLAIMS).glob("*.light.md")}
    assert owners == {bob.uid}

    def nothing_happened() -> None:
        assert alice.known() == bob.known() == everything
        assert files(bob) == his

    for words in (
        ("checkout", "-q", "HEAD~1"),
        ("checkout", "-q", "HEAD~1"),
        ("checkout", "-q", "main"),
        ("rm", "-q", str(CLAIMS / "release-day.light.md")),
        ("stash", "-q", "-u"),
        ("stash", "pop", "-q"),
        ("reset", "-q", "--hard"),
        ("checkout", "-q", "-b", "side", "HEAD~1"),
        ("commit", "-q", "--allow-empty", "-m", "on the side"),
        ("rebase", "-q", "main"),
        ("checkout", "-q", "main"),
        ("merge", "-q", "--no-ff", "-m", "merge", "side"),
        ("branch", "-q", "-D", "side"),
        ("push", "-q", "origin", "main"),
    ):
        alice.git(*words)
        nothing_happened()
    bob.git("pull", "-q", "origin", "main")
    nothing_happened()

    # Both edit one claim: a conflict in one clone is that clone's.
    for person, day in ((alice, "Mondays"), (bob, "Fridays")):
        file = Path(person.clone, CLAIMS, "release-day.light.md")
        person.run("sed", "-i", f"s/Tuesdays/{day}/", str(file))
        assert person.known()["release-day"] == f"We release on {day}."
        person.git("commit", "-qam", day)
    bob.git("push", "-q", "origin", "main")
    assert "CONFLICT" in alice.git("pull", "-q", "origin", "main", fails=True)
    assert [one["kind"] for one in alice.call("north", task="release")["honest_gaps"]][:1] == ["conflict_markers"]
    everything["release-day"] = "We release on Fridays."
    assert bob.known() == everything
    alice.git("checkout", "--theirs", ".")
    alice.git("commit", "-qam", "merge")
    assert alice.known() == bob.known() == everything
    alice.git("push", "-q", "origin", "main")
    bob.git("pull", "-q", "origin", "main")

    # A deletion that reached the default branch is an act; nothing in Bob's clone is deleted but by his own pull.
    alice.git("rm", "-q", str(CLAIMS / "release-day.light.md"))
    alice.git("commit", "-qm", "no release day")
    assert alice.known() == bob.known() == everything
    alice.git("push", "-q", "origin", "main")
    assert alice.known() == bob.known() == {"retry-policy": "The worker retries three times."}
    assert "release-day.light.md" in files(bob)
    bob.git("pull", "-q", "origin", "main")
    assert files(bob).keys() == {"retry-policy.light.md"}
    for person in users:
        assert person.call("ledger.verify")["intact"]
        assert person.call("doctor")["warnings"] == []
