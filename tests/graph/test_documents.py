"""Documents, data files, notes, descriptors and L1GHT files as nodes and edges."""

import json
import math

import pytest

from hindbrain.engines.document_adapters import read_bibliography, read_descriptor, read_notes, read_universal
from hindbrain.engines.document_graph import DocumentGraph, joined
from hindbrain.engines.light_file import read_light
from tests.graph.trees import parsed, references, symbols

CLAIM = """---
Protocol: L1GHT/1.0
Node: Retry with jitter
State: verified
Created: 1783209431408
Source-Agent: codex:maker
Origin-Brain: /repos/cherry
Color: blue
Depends on:
- Lock table
Next: Measure, Write down
---

# Retry with jitter

## How retries behave

Retries without jitter made two workers hit the same lock at once.

[⍂ entity: Retry with jitter]
[𝔻 confidence: 0.9]
[𝔻 evidence: ./src/worker/retry.py:41]
[⟁ depends_on: Lock table]
[⟁ binds_to: Worker]
[⟁ tests: two workers]
[RED blocker: no lock]
[AMBER warning: slow]

## How retries behave

[⍐ state: fixed delay removed]
[𝔻 ambiguity: low]
[⍌ event: release]
[𝔻 evidence: /repos/cherry#src/x.py]
"""


def told(graph: DocumentGraph) -> list[str]:
    return [f"{_short(edge.source)} {edge.relation} {_short(edge.target)}" for edge in graph.edges]


def _short(node_id: str) -> str:
    return node_id.split("::", 2)[2] if not node_id.startswith("file::") else node_id


def read(path: str, text: str, *, namespace: str | None = None) -> DocumentGraph:
    found = read_light(path, text, namespace=namespace)
    assert found is not None
    return found


# -- prose and data -------------------------------------------------------------------------------------------------------


def test_gr_034_markdown_has_sections_in_sections_and_names_code() -> None:
    text = (
        "# Top *one*\n\nSee `src/auth.py:12`, [guide](docs/g.md#x) and `Auth.login()`.\n"
        "```\n# no heading\n```\n## Deep\n### Deeper\n## Deep\n"
    )

    one = parsed("README.md", text)

    assert symbols(one) == [
        "section::top-one module 1-9",
        "section::top-one::section::deep module 7-8",
        "section::top-one::section::deep::section::deeper module 8-8",
        "section::top-one::section::deep#2 module 9-9",
    ]
    assert references(one) == [
        "top-one references src/.auth.py",
        "top-one references docs/.g.md",
        "top-one mentions Auth.login",
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.rst", "Title\n=====\n\nSub\n---\n", ["section::title module 1-5", "section::title::section::sub module 4-5"]),
        ("a.md", "Title\n=====\n\nSub\n---\n", ["section::title module 1-5", "section::title::section::sub module 4-5"]),
        (
            "a.html",
            "<h1>Hi <b>you</b></h1>\n<script>\n'<h2>no</h2>'\n</script>\n<h2>Two</h2>\n",
            ["section::hi-you module 1-5", "section::hi-you::section::two module 5-5"],
        ),
        ("a.txt", "# no heading\n", []),
        (
            "a.json",
            '{"a": {"b": 1, "c": {"d": 2}}}\n',
            ["key::a concept 1-1", "key::a::key::b concept 1-1", "key::a::key::c concept 1-1"],
        ),
        (
            "a.toml",
            "x = 1\n[tool.y]\nz = 2\n",
            ["key::x concept 1-1", "key::tool.y concept 2-3", "key::tool.y::key::z concept 3-3"],
        ),
        ("a.yml", "on:\n  push:\n    deep: 1\n", ["key::on concept 1-3", "key::on::key::push concept 2-3"]),
    ],
)
def test_gr_034_documents_and_data_files_show_their_structure(path: str, text: str, expected: list[str]) -> None:
    assert symbols(parsed(path, text)) == expected


def test_gr_034_the_words_of_a_page_are_not_its_tags() -> None:
    assert parsed("a.html", "<div class='big'>hello</div><style>.red{}</style>").chunks[0].terms == "hello"


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("package.json", '{"dependencies": {"react": "1"}, "devDependencies": {"@x/y": "2"}}', ["react", "@x/y"]),
        ("pyproject.toml", '[project]\ndependencies = [\n  "numpy>=2",\n  "rich[all]",\n]\n', ["numpy", "rich"]),
        ("Cargo.toml", '[dependencies]\nserde = "1"\ntokio = { version = "1" }\n', ["serde", "tokio"]),
        ("requirements.txt", "flask==1  # web\n\nrich\n", ["flask", "rich"]),
        ("go.mod", "module x.y/z\n\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n", ["github.com/a/b"]),
        ("package.json", "[1, 2", []),
    ],
)
def test_gr_034_a_manifest_names_what_it_depends_on(path: str, text: str, names: list[str]) -> None:
    assert [ref.name for ref in parsed(path, text).references if ref.relation == "depends_on"] == names


# -- L1GHT ----------------------------------------------------------------------------------------------------------------


@pytest.mark.req("GR-039", "GR-050")
def test_gr_039_the_table_is_the_mapping() -> None:
    graph = read("retry.light.md", CLAIM)

    file, tag = "file::retry-light-md", "tag::retry-light-md"
    first, second = "section::retry-light-md::how-retries-behave-1", "section::retry-light-md::how-retries-behave-2"
    assert told(graph) == [
        f"{file} defines_protocol meta::retry-light-md::protocol",
        f"{file} has_state meta::retry-light-md::state",
        f"{file} has_metadata meta::retry-light-md::created",
        f"{file} has_metadata meta::retry-light-md::source_agent",
        f"{file} has_metadata meta::retry-light-md::origin_brain",
        f"{file} has_color meta::retry-light-md::color",
        f"{file} depends_on dep::retry-light-md::lock-table",
        f"{file} next_binding next::retry-light-md::measure",
        f"{file} next_binding next::retry-light-md::write-down",
        f"{file} contains_section {first}",
        f"{first} declares_entity {tag}::20::retry-with-jitter",
        f"{tag}::20::retry-with-jitter declares_metadata {tag}::21::0-9",
        f"{tag}::20::retry-with-jitter evidenced_by {tag}::22::src-worker-retry-py-41",
        f"{tag}::22::src-worker-retry-py-41 grounded_in file::src/worker/retry.py",
        f"{first} depends_on {tag}::23::lock-table",
        f"{first} binds_to {tag}::24::worker",
        f"{first} declares_test {tag}::25::two-workers",
        f"{first} declares_blocker {tag}::26::no-lock",
        f"{first} declares_warning {tag}::27::slow",
        f"{file} contains_section {second}",
        f"{second} declares_state {tag}::31::fixed-delay-removed",
        f"{tag}::31::fixed-delay-removed declares_metadata {tag}::32::low",
        f"{second} declares_event {tag}::33::release",
        f"{tag}::33::release evidenced_by {tag}::34::repos-cherry-src-x-py",
    ]
    assert [value for _, value in graph.evidence] == ["./src/worker/retry.py:41", "/repos/cherry#src/x.py"]


def test_gr_039_kinds_tags_and_strengths_are_those_of_the_table() -> None:
    graph = read("retry.light.md", CLAIM)
    nodes = {_short(node.id): node for node in graph.nodes}
    strengths = {(edge.relation, _short(edge.target).split("::")[0]): (edge.weight, edge.causal) for edge in graph.edges}

    assert nodes["file::retry-light-md"].tags[:2] == ("light", "namespace:light")
    kinds = {key: node.kind for key, node in nodes.items()}
    assert kinds["section::retry-light-md::how-retries-behave-1"] == "module"
    assert kinds["dep::retry-light-md::lock-table"] == "reference"
    assert kinds["tag::retry-light-md::25::two-workers"] == "process"
    assert kinds["tag::retry-light-md::26::no-lock"] == "concept"
    assert nodes["tag::retry-light-md::25::two-workers"].tags[:2] == ("light", "light:declares_test")
    assert strengths[("defines_protocol", "meta")] == (1.0, 0.85)
    assert strengths[("depends_on", "dep")] == (1.0, 0.9)
    assert strengths[("next_binding", "next")] == (0.95, 0.82)
    assert strengths[("contains_section", "section")] == (1.0, 0.8)
    assert strengths[("declares_entity", "tag")] == (0.9, 0.7)
    assert strengths[("grounded_in", "file")] == (0.8, 0.8)


def test_gr_040_a_plain_file_is_no_l1ght_file() -> None:
    assert read_light("README.md", "# Hello\n\n[RED blocker: one kind only]\n") is None


def test_gr_042_two_files_never_share_a_node() -> None:
    one, other = read("a.light.md", CLAIM), read("b.light.md", CLAIM)

    assert not {node.id for node in one.nodes} & {node.id for node in other.nodes}
    assert len(joined([one, other, one]).nodes) == 2 * len(one.nodes)


def test_gr_044_an_outdated_file_says_so_on_every_node() -> None:
    graph = read("a.light.md", CLAIM.replace("State: verified", "State: outdated"))

    assert all("light:outdated" in node.tags for node in graph.nodes)


def test_gr_045_who_wrote_it_when_and_where_is_on_its_nodes() -> None:
    for node in read("a.light.md", CLAIM).nodes:
        assert {"authored_ms:1783209431408", "source_agent:codex:maker", "origin_brain:/repos/cherry"} <= set(node.tags)


def test_gr_047_a_file_with_conflict_markers_adds_nothing() -> None:
    torn = CLAIM + "<<<<<<< mine\n[⍂ entity: a]\n=======\n[⍂ entity: b]\n>>>>>>> theirs\n"

    assert read("a.light.md", torn) == DocumentGraph(skipped=(("a.light.md", "merge_conflict"),))


def test_gr_048_a_header_key_in_the_body_is_prose() -> None:
    fenced = read("a.light.md", CLAIM + "\nState: body\n")
    bare = read("b.light.md", "Protocol: L1GHT/1.0\nState: authored\n" + "word\n" * 60 + "Color: late\n")

    assert [node.label for node in fenced.nodes if "::meta::" in node.id and node.id.endswith("::state")] == ["verified"]
    assert [_short(node.id) for node in bare.nodes if "::meta::" in node.id] == [
        "meta::b-light-md::protocol",
        "meta::b-light-md::state",
    ]


@pytest.mark.parametrize(("given", "expected"), [(" Docs ", "docs"), (None, "light"), ("  ", "light")])
def test_gr_049_the_namespace_is_trimmed_and_lower_case(given: str | None, expected: str) -> None:
    assert all(node.id.startswith(f"light::{expected}::") for node in read("a.light.md", CLAIM, namespace=given).nodes)


def test_gr_045_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    assert read("a.light.md", "\ufeff" + CLAIM.replace("\n", "\r\n")) == read("a.light.md", CLAIM)


# -- notes, documents, descriptors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("Decision: use sqlite", "memory:decision"),
        ("- [ ] write the tests", "memory:task"),
        ("TODO: write the tests", "memory:task"),
        ("Status: half done", "memory:state"),
        ("2026-01-02 first release", "memory:event"),
        ("- just a thought", "memory:note"),
    ],
)
def test_gr_032_an_entry_is_known_by_what_it_is(line: str, tag: str) -> None:
    entries = [node for node in read_notes("log.md", f"# Day\n{line}\n").nodes if "::entry::" in node.id]

    assert [tag in node.tags for node in entries] == [True]


def test_gr_032_notes_are_file_section_entry_and_reference() -> None:
    graph = read_notes("log.md", "# Day\n- see `src/a.py`\n", namespace=" Team ")

    assert [node.id for node in graph.nodes] == [
        "memory::team::file::log-md",
        "memory::team::section::log-md::day-1",
        "memory::team::entry::log-md::2::see-src-a-py",
        "memory::team::reference::log-md::src-a-py",
    ]
    assert "entry::log-md::2::see-src-a-py references file::src/a.py" in told(graph)


@pytest.mark.parametrize(("path", "format_"), [("a.pdf", "pdf"), ("b.docx", "office")])
def test_gr_033_a_missing_reader_is_reported_and_not_an_empty_document(path: str, format_: str) -> None:
    graph = read_universal(path, b"%PDF-1.7")

    assert graph.provider_status == {format_: "missing"}
    assert [what for what, _ in graph.skipped] == [path]
    assert graph.nodes == ()


def test_gr_034_a_document_has_sections_blocks_tables_links_and_claims() -> None:
    text = b"# A\n\nSee src/auth.py and [site](https://a.b/c).\n\n| a | b |\n|---|---|\n\nUsers MUST log in.\n"

    graph = read_universal("guide.md", text)

    kinds = {node.tags[0] for node in graph.nodes}
    assert kinds == {f"universal:{kind}" for kind in ("document", "section", "block", "table", "link", "claim")}
    assert "section::guide-md::1::a references file::src/auth.py" in told(graph)
    assert graph.provider_status == {"markdown": "builtin"}


@pytest.mark.req("GR-004", "GR-006", "GR-008", "GR-031")
def test_gr_031_a_descriptor_gives_its_nodes_and_edges_and_says_what_it_left_out() -> None:
    given = {
        "nodes": [
            {"id": "a", "label": "A", "type": "custom:3", "tags": ["x y"]},
            {"id": "b", "type": "widget"},
            {"id": "c", "type": "supplier"},
            {"id": ""},
            {"id": "file::"},
            {"id": "file::."},
            7,
        ],
        "edges": [
            {"source": "a", "target": "b", "relation": "feeds", "weight": math.nan},
            {"source": "a", "target": "c", "weight": 0.25},
            {"source": "a", "target": "gone"},
        ],
    }

    graph = read_descriptor(json.dumps(given))

    assert [(node.id, node.kind, node.tags) for node in graph.nodes] == [
        ("a", "custom:3", ("x_y",)),
        ("b", "custom:0", ("type:widget",)),
        ("c", "supplier", ()),
    ]
    assert [(edge.target, edge.relation, edge.weight) for edge in graph.edges] == [("b", "feeds", 0.0), ("c", "references", 0.25)]
    assert len(graph.skipped) == 6
    assert ("edge a -> gone", "an end of it is no node") in graph.skipped


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"nodes": 3, "edges": "x"}', "[" * 100_000])
def test_gr_031_what_is_no_descriptor_adds_nothing(text: str) -> None:
    graph = read_descriptor(text)

    assert (graph.nodes, graph.edges) == ((), ())


def test_gr_036_a_bibliography_cites_its_entries() -> None:
    graph = read_bibliography("r.bib", "@article{x1,\n  title = {One thing},\n}\n@comment{no}\n@book{y2,\n}\n")

    assert [(node.label, node.kind) for node in graph.nodes[1:]] == [("One thing", "reference"), ("y2", "reference")]
    assert [edge.relation for edge in graph.edges] == ["cites", "cites"]
