"""L1GHT strategy documents: how they are read, what the graph makes of them, and that reading twice changes nothing."""

import re
from pathlib import Path

import pytest

from hindbrain.engines.document_graph import DocumentGraph
from hindbrain.engines.light_file import headings_of, markers, read_light
from tests.graph.test_ingest import graph, ingest
from tests.support.world import World

HEADER = """---
Protocol: L1GHT/1.0
Node: Layer
State: building
Color: amber
Glyph: ⍂
Completeness: partial
Proof: none yet
Depends on:
- Ground
Next:
- measure it
---
"""
DOCUMENT = (
    HEADER
    + """
# Layer

## Evidence ledger

[⍂ entity: EvidenceLedger]
[⍐ state: building]
[⍌ event: first release]
[𝔻 confidence: 0.8]
[𝔻 ambiguity: low]
[𝔻 evidence: src/a.py]
[⟁ depends_on: MissionKernelV1]
[⟁ binds_to: src/a.py]
[⟁ tests: tests/test_a.py]
[RED blocker: no store yet]
[AMBER warning: slow]

#### Deeper

[AMBER warning: under no entity]
"""
)


def read(text: str, path: str = "layer.light.md") -> DocumentGraph:
    found = read_light(path, text)
    assert found is not None
    return found


def told(found: DocumentGraph) -> set[str]:
    """`kind relation kind` of every edge, entities by name."""

    def short(node: str) -> str:
        part = node.removeprefix("light::light::").split("::")
        return part[1] if part[0] == "entity" else part[0]

    return {f"{short(edge.source)} {edge.relation} {short(edge.target)}" for edge in found.edges}


def test_aol_164_the_header_between_fences_becomes_what_the_file_is() -> None:
    found = told(read(DOCUMENT))

    assert {"file defines_protocol meta", "file has_state meta", "file has_color meta", "file has_glyph meta"} <= found
    assert {"file has_metadata meta", "file depends_on ground", "file next_binding next"} <= found
    labels = {node.label for node in read(DOCUMENT).nodes if "::meta::" in node.id}
    assert {"L1GHT/1.0", "building", "amber", "⍂", "partial", "none yet"} == labels


@pytest.mark.parametrize(
    ("marker", "relation"),
    [
        ("⍂ entity: X", "section declares_entity x"),
        ("⍐ state: X", "thing declares_state tag"),
        ("⍌ event: X", "thing declares_event tag"),
        ("𝔻 confidence: 0.5", "thing declares_metadata tag"),
        ("𝔻 ambiguity: low", "thing declares_metadata tag"),
        ("𝔻 evidence: a.py", "thing evidenced_by tag"),
        ("⟁ depends_on: X", "thing depends_on x"),
        ("⟁ binds_to: a.py", "thing binds_to tag"),
        ("⟁ tests: a.py", "thing declares_test tag"),
        ("RED blocker: X", "thing declares_blocker tag"),
        ("AMBER warning: X", "thing declares_warning tag"),
    ],
)
def test_aol_165_each_marker_is_read(marker: str, relation: str) -> None:
    text = f"{HEADER}\n## Part\n\n[⍂ entity: Thing]\n[{marker}]\n"

    assert relation in told(read(text))
    assert relation not in told(read(text.replace(f"[{marker}]", f"({marker})")))
    assert relation not in told(read(text.replace(f"[{marker}]", f"```\n[{marker}]\n```")))


def test_aol_166_one_kind_of_marker_is_no_l1ght_and_two_are() -> None:
    one, two = "# A\n\n[RED blocker: x]\n[RED blocker: y]\n", "# A\n\n[RED blocker: x]\n[AMBER warning: y]\n"

    assert read_light("a.md", one) is None
    assert read_light("a.md", two) is not None
    assert read_light("a.md", "# A\n\nProtocol: L1GHT/2.0\n") is not None


def test_aol_167_the_relations_are_those_of_the_form() -> None:
    found = {edge.relation for edge in read(DOCUMENT).edges}

    assert found >= {
        "declares_entity",
        "declares_state",
        "declares_event",
        "depends_on",
        "binds_to",
        "declares_test",
        "declares_blocker",
        "declares_warning",
        "declares_metadata",
        "contains_section",
        "has_state",
        "has_color",
        "has_glyph",
        "has_metadata",
        "defines_protocol",
        "next_binding",
    }


def test_aol_168_ids_are_namespace_kind_and_slug() -> None:
    found = read(DOCUMENT)

    assert all(re.fullmatch(r"light::light::[a-z]+::[a-z0-9:_-]+", node.id) for node in (*found.nodes, *found.shared))
    other = read_light("layer.light.md", DOCUMENT, namespace=" Plans ")
    assert other is not None
    assert "light::plans::entity::evidenceledger" in {node.id for node in other.shared}


def test_aol_169_a_marker_belongs_to_the_nearest_heading_and_the_entity_above_it() -> None:
    found = told(read(DOCUMENT))

    assert "evidenceledger depends_on missionkernelv1" in found
    assert {"evidenceledger declares_state tag", "evidenceledger evidenced_by tag", "evidenceledger binds_to tag"} <= found
    assert {"evidenceledger declares_test tag", "evidenceledger declares_metadata tag"} <= found
    # Below the deeper heading there is no entity: the warning is the section's.
    assert "section declares_warning tag" in found
    assert [(one.heading, one.entity) for one in markers(DOCUMENT)][-1] == ("Deeper", "")
    assert [level for level, _ in headings_of(DOCUMENT)] == [1, 2, 4]


def entity(name: str) -> str:
    return f"light::light::entity::{name}"


def test_aol_168_an_entity_of_two_files_is_one_node_with_two_places(world: World) -> None:
    x = world.brain("x", src__a_py="def run(): ...\n")
    notes = f"{x}/notes"
    Path(notes).mkdir()
    Path(notes, "one.light.md").write_text(DOCUMENT)
    Path(notes, "two.light.md").write_text(DOCUMENT.replace("## Evidence ledger", "## Again"))
    ingest(world, x, path=notes, adapter="light", mode="merge")

    store = graph(world, x)
    edges = store.edges_of(entity("evidenceledger"), limit=100)
    rows = store.nodes([edge.target for edge in edges if edge.relation == "has_metadata"])
    assert {(row.path, row.line_start > 0) for row in rows.values()} == {("one.light.md", True), ("two.light.md", True)}

    # One of the two lets go of it, alone: the other's edges stay.
    Path(notes, "one.light.md").write_text(HEADER + "\n## Empty\n\n[⍂ entity: Other]\n")
    ingest(world, x, path=str(Path(notes, "one.light.md")), adapter="light", mode="merge")
    left = graph(world, x).edges_of(entity("evidenceledger"), limit=100)
    assert any(edge.relation == "depends_on" and edge.target == entity("missionkernelv1") for edge in left)

    Path(notes, "two.light.md").unlink()
    ingest(world, x, path=notes, adapter="light", mode="merge")
    assert not graph(world, x).nodes([entity("evidenceledger")])
    assert graph(world, x).nodes([entity("other")])


def test_aol_170_merging_twice_changes_nothing_and_leaves_the_rest(world: World) -> None:
    x = world.brain("x", src__a_py="def run(): ...\n")
    notes = f"{x}/notes"
    Path(notes).mkdir()
    Path(notes, "one.light.md").write_text(DOCUMENT)
    before = set(graph(world, x).arrays().ids)

    first = ingest(world, x, path=notes, adapter="light", mode="merge")
    edges = {(e.source, e.target, e.relation) for e in graph(world, x).edges_of(entity("evidenceledger"), limit=100)}
    second = ingest(world, x, path=notes, adapter="light", mode="merge")

    assert (first["node_count"], first["edge_count"]) == (second["node_count"], second["edge_count"])
    assert edges == {(e.source, e.target, e.relation) for e in graph(world, x).edges_of(entity("evidenceledger"), limit=100)}
    assert before < set(graph(world, x).arrays().ids)
