"""Ingest of what is not code: descriptors, notes, L1GHT files, documents, and a mix of all."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.graph.test_ingest import files, graph, ingest, write
from tests.support.world import World

BOOKS = "@book{a,\n title={A},\n}\n@book{b,\n title={B},\n}\n"
LIGHT = (
    "---\nProtocol: L1GHT/1.0\nNode: Retry\nState: authored\n---\n\n## Retry\n\nRetries use jitter.\n\n"
    "[⍂ entity: Retry]\n[𝔻 evidence: src/a.py::run]\n[𝔻 evidence: ./src/a.py:1]\n[𝔻 evidence: gone.py]\n"
)


def ids(world: World, root: str, prefix: str) -> list[str]:
    return [node for node in graph(world, root).arrays().ids if node.startswith(prefix)]


@pytest.mark.req("GR-006", "GR-008", "GR-031")
def test_gr_031_a_descriptor_gives_its_nodes_and_edges_and_names_what_dangles(world: World) -> None:
    x = world.brain("x")
    nodes = [{"id": "svc::a", "label": "A", "type": "system"}, {"id": "svc::b", "type": "custom:3", "tags": ["t"]}]
    edges = [
        {"source": "svc::a", "target": "svc::b", "relation": "depends_on", "weight": float("nan")},
        {"source": "svc::a", "target": "svc::nowhere", "relation": "depends_on", "weight": 0.5},
    ]
    path = Path(world.directory("other"), "graph.json")
    path.write_text(json.dumps({"nodes": nodes, "edges": edges}))

    answer = ingest(world, x, path=str(path), adapter="json")

    found = graph(world, x).nodes(["svc::a", "svc::b"])
    assert (found["svc::a"].kind, found["svc::b"].kind) == ("system", "custom:3")
    assert [(e.target, e.weight) for e in graph(world, x).edges_of("svc::a", limit=5)] == [("svc::b", 0.0)]
    assert any("svc::nowhere" in one["path"] for one in answer["skipped"])
    assert "package.json" in files(world, x)


def test_gr_032_notes_become_entries_that_know_what_they_are(world: World) -> None:
    x = world.brain("x")
    notes = world.directory("notes")
    write(notes, day_md="# Monday\n\nDecision: use sqlite\n- [ ] write tests\n", plain_txt="just a note\n")

    answer = ingest(world, x, path=notes, adapter="memory")

    found = graph(world, x).nodes(ids(world, x, "memory::memory::entry"))
    assert {tag for node in found.values() for tag in node.tags} >= {"memory:decision", "memory:task", "memory:note"}
    assert (answer["files_parsed"], answer["namespace"]) == (2, "memory")


def test_gr_025_a_section_that_is_deleted_goes_and_nothing_else(world: World) -> None:
    x = world.brain("x", a_py="def f(): ...\n")
    notes = world.directory("notes")
    write(notes, one_md="# A\n\nalpha\n\n# B\n\nbeta\n", two_md="# C\n\ngamma\n")
    ingest(world, x, path=notes, adapter="memory")
    before = set(graph(world, x).arrays().ids)

    write(notes, one_md="# A\n\nalpha\n")
    os.unlink(Path(notes, "two.md"))
    ingest(world, x, path=notes, adapter="memory")

    gone = before - set(graph(world, x).arrays().ids)
    assert gone
    assert all(node.startswith("memory::") for node in gone)
    assert {graph_label for graph_label in ("beta", "gamma") if any(graph_label in node for node in gone)} == {"beta", "gamma"}


def test_gr_033_a_format_without_a_reader_is_named_and_not_an_empty_document(world: World) -> None:
    x = world.brain("x")
    docs = world.directory("docs")
    write(docs, guide_md="# Guide\n\ntext\n")
    Path(docs, "paper.pdf").write_bytes(b"%PDF-1.4\n%\xff\n")

    answer = ingest(world, x, path=docs, adapter="universal")

    assert answer["provider_status"]["pdf"] == "missing"
    assert [one["path"] for one in answer["skipped"] if "pdf" in one["path"]] == ["paper.pdf"]
    assert ids(world, x, "universal::")
    assert not [node for node in ids(world, x, "universal::") if "paper" in node]


def test_gr_034_a_document_that_names_a_file_is_bound_to_it(world: World) -> None:
    x = world.brain("x", src__auth_py="def login(): ...\n")
    docs = world.directory("docs")
    write(docs, guide_md="# Guide\n\nSee `src/auth.py` for the way in.\n")

    ingest(world, x, path=docs, adapter="universal")

    edges = graph(world, x).edges_of("file::src/auth.py", limit=50)
    assert [edge.relation for edge in edges if edge.source.startswith("universal::")] == ["references"]


def test_gr_035_a_mixed_directory_is_taken_in_file_by_file(world: World) -> None:
    x = world.brain("x")
    mixed = world.directory("mixed")
    Path(mixed, "retry.light.md").write_text(LIGHT)
    write(
        mixed,
        guide_md="# Guide\n\ntext\n",
        tool_py="def f(): ...\n",
        refs_bib="@book{a,\n title={A},\n}\n@book{b,\n title={B},\n}\n",
    )

    answer = ingest(world, x, path=mixed, adapter="auto")

    assert answer["adapters_used"] == ["bibtex", "code", "light", "universal"]
    assert "@mixed/tool.py" in files(world, x)
    assert "@mixed/guide.md" not in files(world, x)
    kinds = [graph(world, x).nodes([node])[node].kind for node in ids(world, x, "bibtex::")]
    assert kinds.count("reference") == 2


@pytest.mark.req("GR-039", "GR-050", "GR-051", "GR-053")
def test_gr_050_evidence_of_a_light_file_leads_to_the_code_it_cites(world: World) -> None:
    x = world.brain("x", src__a_py="def run(): ...\n")
    notes = world.directory("notes")
    Path(notes, "retry.light.md").write_text(LIGHT)

    answer = ingest(world, x, path=notes, adapter="light")

    grounded = {
        e.target for n in ids(world, x, "light::") for e in graph(world, x).edges_of(n, limit=9) if e.relation == "grounded_in"
    }
    assert grounded == {"file::src/a.py", "file::src/a.py::fn::run"}
    assert (answer["light_evidence_resolved"], answer["light_evidence_unresolved"]) == (2, 1)


@pytest.mark.req("GR-040", "GR-049")
def test_gr_040_other_markdown_is_scanned_and_not_parsed(world: World) -> None:
    x = world.brain("x")
    notes = world.directory("notes")
    for name in ("a", "b"):
        Path(notes, f"{name}.light.md").write_text(LIGHT.replace("Retry", name))
    write(notes, plain_md="# plain\n")

    answer = ingest(world, x, path=notes, adapter="light", namespace=" Docs ")

    assert (answer["files_scanned"], answer["files_parsed"]) == (3, 2)
    assert ids(world, x, "light::docs::file::")


def test_gr_041_notes_do_not_throw_code_away_unless_told_to(world: World) -> None:
    x = world.brain("x", a_py="x = 1\n")
    notes = world.directory("notes")
    Path(notes, "retry.light.md").write_text(LIGHT)

    refused = world.at(x).call("ingest", path=notes, adapter="light", mode="replace")
    assert "merge" in refused["error"]["fix"]
    assert "a.py" in files(world, x)

    ingest(world, x, path=notes, adapter="light", mode="replace", force=True)
    assert files(world, x) == set()


@pytest.mark.req("GR-041")
@pytest.mark.parametrize("again", ["replace", "auto"])
def test_gr_041_a_plain_ingest_keeps_merged_documents_and_seek_finds_them(world: World, again: str) -> None:
    x = world.brain("x", src__a_py="def run(): ...\n", old_py="def gone(): ...\n")
    notes = world.directory("notes")
    Path(notes, "retry.light.md").write_text(LIGHT)
    ingest(world, x, path=notes, adapter="light", mode="merge")
    before = set(ids(world, x, "light::"))
    grounded = {(n, e.target) for n in before for e in graph(world, x).edges_of(n, limit=9) if e.relation == "grounded_in"}
    Path(x, "old.py").unlink()
    Path(x, "new.py").write_text("def fresh(): ...\n")

    ingest(world, x, path=x, **({"adapter": "auto", "mode": "replace"} if again == "auto" else {}))

    assert set(ids(world, x, "light::")) == before
    assert {"src/a.py", "new.py"} <= files(world, x)
    assert "old.py" not in files(world, x)
    assert not [node for node in ids(world, x, "file::") if node.startswith("file::old.py")]
    after = {(n, e.target) for n in before for e in graph(world, x).edges_of(n, limit=9) if e.relation == "grounded_in"}
    assert after == grounded, "documents still lead to the code they cite"
    assert ("file::new.py", "file::new.py::fn::fresh") in {
        (e.source, e.target) for e in graph(world, x).edges_of("file::new.py", limit=9)
    }
    label = graph(world, x).nodes([min(before)])[min(before)].label
    for scope in (None, "light::"):
        found = [row["node_id"] for row in world.at(x).seek(label, scope=scope)["results"]]
        assert before & set(found), scope
    assert not before & {row["node_id"] for row in world.at(x).seek(label, scope="src")["results"]}


def test_gr_043_history_and_locks_are_not_read(world: World) -> None:
    x = world.brain("x")
    notes = world.directory("notes")
    for name in (".history", ".locks"):
        Path(notes, name).mkdir()
        Path(notes, name, "old.light.md").write_text(LIGHT)

    assert ingest(world, x, path=notes, adapter="light")["files_parsed"] == 0


def test_gr_047_a_file_with_an_unfinished_merge_adds_nothing_and_is_reported(world: World) -> None:
    x = world.brain("x")
    notes = world.directory("notes")
    Path(notes, "good.light.md").write_text(LIGHT)
    Path(notes, "bad.light.md").write_text(LIGHT + "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")

    answer = ingest(world, x, path=notes, adapter="light")

    assert answer["refused"] == [{"path": "bad.light.md", "reason": "conflict_marker"}]
    assert not [node for node in ids(world, x, "light::") if "::bad" in node]


def test_med_055_replace_keeps_memory(world: World) -> None:
    x = world.brain("x", a_py="x = 1\n")
    for number in range(3):
        world.at(x).memorize(f"Lesson {number}", "lesson")

    answer: dict[str, Any] = ingest(world, x, mode="replace")

    assert answer["agent_memory_restored"]["loaded_count"] == 3
    assert len(world.at(x).seek("lesson", scope="light::")["results"]) == 3
