"""Random steps over nested, moved, swapped, replaced, copied and forged repositories: no word of one in another. The long run is
benchmarks/isolation.py. Controls: a word that the product carries into another repository is found, on every surface."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.caller import AgentId
from tests.support.isolation import Isolation, Repo, words_of_files

SURFACES = {"operation", "any", "hook", "packet", "hand-over", "resource", "naming", "http", "Hall", "events"}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_no_word_of_a_repository_appears_in_another(tmp_path: Path, seed: int) -> None:
    running = Isolation(tmp_path, seed)
    try:
        told = running.run(600, 60.0)
    finally:
        running.close()

    assert told["leaks"] == [], json.dumps(told["leaks"][:3], indent=1)
    assert told["defects"] == {}
    assert told["reads"] == told["steps"] > 100


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Isolation]:
    made = Isolation(tmp_path, 5)
    yield made
    made.close()


def choose(running: Isolation, monkeypatch: pytest.MonkeyPatch, *repos: Repo) -> None:
    """The next steps are about these repositories, in this order."""
    chosen = iter(repos)
    monkeypatch.setattr(running, "_any", lambda fits=None: next(chosen))
    monkeypatch.setattr(running.rng, "random", lambda: 0.55)  # a clone commits first, and lies beside the others


def plant(running: Isolation, repo: Repo, word: str) -> None:
    """What a leak would do: a word gets into the memory and onto the bus of a repository through the product."""
    writes: list[tuple[str, dict[str, Any]]] = [
        ("memorize", {"node_label": "Shared rule", "text": f"the notes say {word}"}),
        ("record", {"text": f"the notes say {word} about the shared rule", "source": word, "thread": "t"}),
        ("boot_memory", {"action": "set", "key": "k1", "value": word}),
        ("mission.start", {"task": f"the notes say {word}", "mode": "review"}),
        ("cowork.register", {"agent_id": "one", "tool": "claude"}),
        ("cowork.register", {"agent_id": "two", "tool": "claude"}),
        ("cowork.send", {"from": "one", "to": "two", "message": f"the notes say {word}"}),
        ("mission.handoff", {"summary": word, "leave": False}),
    ]
    caller = replace(running._caller(repo.path, human=False, session=repo.session), agent=AgentId("codex:maker"))
    for operation, given in writes:
        if operation == "mission.handoff":
            given["mission_id"] = repo.missions[0]
        answer = running.app.call(operation, given, caller=caller)
        assert answer["ok"], answer
        if operation == "mission.start":
            repo.missions = [answer["mission_id"]]


@pytest.mark.parametrize("kind", ["f", "c", "d", "b"])
def test_control_a_planted_word_is_a_leak(running: Isolation, kind: str) -> None:
    reader, victim, *_ = running.repos
    plant(running, reader, victim.word(kind))

    for _ in range(150):
        running.read()

    assert running.leaks
    assert all(f"repo {reader.number} " in leak["in"] for leak in running.leaks)
    assert all(leak["words_of"] == [f"repo {victim.number} now at {victim.path}"] for leak in running.leaks)


def test_control_a_planted_word_is_found_on_every_surface(running: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, victim, *_ = running.repos
    plant(running, reader, victim.word("d"))
    running.repos = [reader]
    monkeypatch.setattr(reader, "word", victim.word)  # of the claims that are written while somebody hears the events

    for _ in range(1500):
        running.read()

    found = {name.removeprefix("leak by ") for name in running.counts if name.startswith("leak by ")}
    assert found >= SURFACES


def test_control_without_a_planted_word_nothing_is_found(running: Isolation) -> None:
    reader, *_ = running.repos
    plant(running, reader, reader.word("d"))

    for _ in range(150):
        running.read()

    assert running.leaks == []


def test_a_clone_through_a_forged_git_file_has_the_files_of_the_repository_it_names(
    running: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim, other, *_ = running.repos
    forger = running.new_plain()
    forger.git = forger.forged = True
    Path(forger.path, ".git").write_text(f"gitdir: {victim.path}/.git\n", encoding="utf-8")
    choose(running, monkeypatch, forger)
    secret, later = victim.word("d"), victim.count + 1

    running.step_clone()

    clone = running.repos[-1]
    assert os.path.isfile(os.path.join(clone.path, ".git", "HEAD"))
    assert clone.may_show("f", victim.number, 1)  # it stands in the file that git brought
    assert not clone.may_show("d", victim.number, victim.count), secret
    assert not clone.may_show("f", victim.number, later)
    assert not clone.may_show("f", other.number, 1)
    assert not forger.may_show("f", victim.number, 1)  # its own files are others


def test_a_source_word_that_stands_in_memory_only_is_not_brought_by_a_clone(
    running: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, victim, *_ = running.repos
    assert running._call(source, source.path, "init", {"path": source.path}, human=True)["ok"]
    plant(running, source, victim.word("f"))
    choose(running, monkeypatch, source)

    running.step_clone()

    clone, word = running.repos[-1], ("f", victim.number, victim.count)
    assert word in words_of_files(os.path.join(clone.path, ".hindbrain"))
    assert not clone.may_show(*word)


def test_a_full_copy_may_take_the_brain_of_a_repository_that_left_and_of_no_other(
    running: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, other, *_ = running.repos
    source.word("d")
    for one in (source, other):  # by `init`, which leaves the witness in the repository
        assert running._call(one, one.path, "init", {"path": one.path}, human=True)["ok"]
    choose(running, monkeypatch, source, source, source, other, running.new_git(), other)

    running.step_copy()
    before = running.repos[-1]
    stayed = before.may_show("d", source.number, source.count)
    running.step_move()
    running.step_copy()
    after = running.repos[-1]
    running.step_copy_memory()  # `.hindbrain` of another one, into a repository with a history of its own
    running.step_move()
    given = next(one for one in running.repos if other.number in one.copy_of)

    assert not stayed
    assert before.may_show("d", source.number, source.count)
    assert after.may_show("d", source.number, source.count)
    assert not after.may_show("d", other.number, other.count)
    assert not given.may_show("d", other.number, 1)


def test_a_directory_whose_outer_one_takes_a_brain_is_asked_from_a_new_session(running: Isolation) -> None:
    """MED-012: the older session keeps the brain further out, so its answers are no leak and nothing is asked through it."""
    outer, *_ = running.repos
    middle = running.new_plain(inside=outer)
    inner = running.new_plain(inside=middle)
    running._look_around()
    older, word = inner.session, outer.word("c")
    told = {"node_label": "Shared rule", "text": f"the notes say {word}"}
    assert running._call(inner, inner.path, "memorize", told, session=older)["ok"]
    assert inner.served_by is outer

    made = running._call(middle, middle.path, "ingest", {"path": middle.path, "project_root": middle.path}, session="maker")
    assert made["project_root"] == middle.path
    middle.brain = True
    running._look_around()

    def claims(session: str) -> str:
        return json.dumps(running._call(inner, inner.path, "claims", {}, session=session))

    assert inner.served_by is middle
    assert inner.session != older
    assert word in claims(older)
    assert word not in claims(inner.session)


def test_what_a_part_of_a_part_wrote_stays_with_the_repository_around_both(running: Isolation) -> None:
    """The bus of a plain directory is that of the checkout around it, and the messages stay there when the directory leaves."""
    outer = running.new_git()
    middle = running.new_plain(inside=outer)
    inner = running.new_plain(inside=middle)
    running._look_around()
    word = inner.word("b")
    assert running._call(inner, inner.path, "partner.push", {"content": word}, session="writer")["ok"]

    place = running._path()
    os.rename(middle.path, place)
    running._moved(middle, place)
    running._look_around()
    later = inner.word("b")
    assert running._call(inner, inner.path, "partner.push", {"content": later}, session="later")["ok"]
    shown = json.dumps(running._call(outer, outer.path, "partner.status", {}, session="reader"))

    assert word in shown
    assert later not in shown
    assert outer.may_show("b", inner.number, inner.count - 1)
    assert not outer.may_show("b", inner.number, inner.count)
