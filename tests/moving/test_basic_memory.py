"""Import of basic-memory: its notes come as evidence, taken apart into prose, observations and relations, once."""

import os
from pathlib import Path

from hindbrain.engines.basic_memory import items_of
from tests.imports.test_mempal import opened, rows, state, taken
from tests.support.moving_notes import basic_memory
from tests.support.moving_sources import secret, tree
from tests.support.world import World


def test_notes_that_basic_memory_wrote_come_as_evidence_once(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    actor, before = world.at(root), state(world, root)
    notes = basic_memory(tmp_path / "notes")
    files = tree(notes)

    plan = actor.call("memory.import", path=str(notes))
    assert state(world, root) == before, "a plan writes nothing"
    first = taken(actor, str(notes))
    after = state(world, root)
    second = taken(actor, str(notes), kind="basic-memory")

    assert (plan["kind"], plan["writes"], plan["counts"]) == ("basic-memory", False, first["counts"])
    assert first["counts"] == {"evidence": 6, "refused": 0, "flagged": 0}
    assert (second["writes"], second["counts"]["evidence_unchanged"]) == (False, 6)
    assert state(world, root) == after
    assert tree(notes) == files
    kept = {row["content"]: row for row in rows(actor)}
    seen = kept["Ferry Timetable\nLow water cancels two trips\nContext: seen in March"]
    assert (seen["wing"], seen["room"]) == ("basic-memory", "decision")
    assert {"decision", "tide", "schedule", "boats", "time table"} == set(seen["tags"])
    assert kept["Harbour Master\nShe is called Ines"]["room"] == "name"
    for fact in ("Ferry Timetable leaves from Pier Two", "Ferry Timetable called by Harbour Master (by radio)"):
        assert kept[fact]["room"] == "fact"
    (prose,) = [text for text in kept if text.startswith("# Ferry timetable")]
    assert "On market days it leaves an hour early." in prose
    for stays in ("- [ ] ring the bell", "- [not] an observation, for it is code #code", "See also [[Tide Tables]]."):
        assert stays in prose
    for moved in ("Low water", "leaves_from"):
        assert moved not in prose
    with opened(world, root) as brain:
        held = [row for row in brain.store.each_evidence() if row.source == "memory://harbour/ferry-timetable"]
        assert not list(brain.store.each_live()), "notes are evidence, and no claims"
    assert len(held) == 5
    assert {row.added_at for row in held} == {(notes / "harbour" / "Ferry Timetable.md").stat().st_mtime_ns // 1_000_000}


def test_a_note_that_grew_brings_only_what_is_new(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    notes = basic_memory(tmp_path / "notes")
    taken(world.at(root), str(notes))
    note = notes / "harbour" / "Harbour Master.md"
    note.write_text(note.read_text().replace("- [name]", "- [habit] She naps at noon\n- [name]"))

    grown = taken(world.at(root), str(note))

    assert (grown["kind"], grown["counts"]["evidence"], grown["counts"]["evidence_unchanged"]) == ("basic-memory", 1, 1)
    assert "Harbour Master\nShe naps at noon" in {row["content"] for row in rows(world.at(root))}


def test_secrets_and_what_was_forgotten_stay_out_of_a_note(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    world.at(root).memorize("Second key", "The lighthouse keeper has the second key.")
    assert world.human(root).call("forget", claim="Second key", reason="private")["ok"]
    (tmp_path / "keys.md").write_text(
        f"---\ntitle: Keys\npermalink: keys\n---\n\n- [who] The lighthouse keeper has the second key. #keys (since May)\n"
        f"- [cloud] the key is {secret()}\n- [where] The first key hangs by the door\n"
    )

    answer = taken(world.at(root), str(tmp_path / "keys.md"))

    assert answer["refused_by_code"] == {"hygiene": 1, "rejected_value": 1}
    assert secret() not in str(answer)
    kept = {row["content"] for row in rows(world.at(root))}
    assert kept == {"Keys\nThe first key hangs by the door", "Keys", "Context: since May"}, (
        "the sentence went, what stood around it did not"
    )


def test_odd_notes_are_read_for_what_they_are(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    notes, outside = tmp_path / "notes", tmp_path / "outside.md"
    (notes / ".obsidian").mkdir(parents=True)
    outside.write_text("- [private] read by accident\n")
    (notes / "a.md").write_bytes(
        b'\xef\xbb\xbf---\r\ntitle: "A \\"quoted\\" one"\r\npermalink: a\r\ntags: [x, \'y z\']\r\n---\r\nbad \xff\x00 bytes\r\n'
    )
    (notes / "b.md").write_text("no front matter, only words\n")
    (notes / "c.md").write_text("---\ntitle: never ends\n")
    (notes / "d.md").write_text("---\ntitle: Nothing\n---\n\n# Nothing\n\n## Observations\n")
    (notes / "e.md").write_bytes(b"x" * (10 << 20))
    (notes / "f.md").symlink_to(outside)
    (notes / ".obsidian" / "g.md").write_text("not a note")
    os.mkfifo(notes / "h.md")

    answer = taken(world.at(root), str(notes))

    assert answer["left_out"] == {"notes without a word": 1}
    assert {one["name"]: one["code"] for one in answer["refused"]} == {"e.md": "path_refused", "f.md": "path_refused"}
    kept = {row["content"]: row for row in rows(world.at(root))}
    assert set(kept) == {
        'A "quoted" one\n\nbad \ufffd\ufffd bytes',
        "b\n\nno front matter, only words",
        "c\n\n---\ntitle: never ends",
    }
    assert set(kept['A "quoted" one\n\nbad \ufffd\ufffd bytes']["tags"]) == {"x", "y z"}


def test_a_directory_without_notes_is_refused_with_where_they_lie(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    (tmp_path / "empty").mkdir()

    none = world.at(root).call("memory.import", path=str(tmp_path / "empty"), kind="basic-memory")
    project = world.human(root).call("memory.import", path=str(basic_memory(tmp_path / "notes")), project=["main"])

    assert (none["error"]["code"], project["error"]["code"]) == ("invalid_params", "invalid_params")
    assert "project list" in none["error"]["fix"]


def test_lines_made_to_be_slow_are_read_in_one_pass() -> None:
    # Each would take minutes if a pattern looked again from every place.
    tags, spaces, headings, brackets = (
        "- [a] " + "#b " * 100_000 + "x",
        "- [[T]]" + " " * 300_000 + "x",
        "# a\n" * 50_000,
        "- [a" * 75_000,
    )

    found = [items_of("n", text, None) for text in (tags, spaces, headings, brackets)]

    assert [len(items) for items in found] == [1, 1, 0, 1]
    assert [item.room for items in found for item in items] == ["a", "note", "note"]
