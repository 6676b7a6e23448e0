"""Ingest of code: which files, what of them, how much, and what the answer says."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.graph import Edge, Node
from hindbrain.services.graphs import Wish
from hindbrain.services.ingests import Request
from hindbrain.stores.graph import LocalGraph
from tests.support.world import World, git

AUTH = '"""Logging in."""\n\n\nclass Session:\n    def open(self):\n        check()\n\n\ndef check():\n    return True\n'


def write(root: str, **files: str) -> None:
    """Files by keyword: `src__a_py` stands for src/a.py; a leading `dot_` for a hidden name."""
    for key, text in files.items():
        name, _, ending = key.replace("__", "/").rpartition("_")
        path = Path(root, f"{name}.{ending}".replace("dot_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def ingest(world: World, root: str, **more: Any) -> dict[str, Any]:
    answer = world.at(root).call("ingest", path=more.pop("path", root), **more)
    assert answer["ok"], answer
    return dict(answer["ingest"])


def graph(world: World, root: str) -> LocalGraph:
    brain = world.home.project(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        found = opened.graph
    assert found is not None
    return found


def files(world: World, root: str) -> set[str]:
    return set(graph(world, root).files())


def test_gr_001_a_function_is_a_node_with_its_place(world: World) -> None:
    x = world.brain("x", src__auth_py=AUTH)

    found = graph(world, x).nodes(
        ["file::src/auth.py", "file::src/auth.py::fn::check", "file::src/auth.py::class::Session::fn::open"]
    )

    check = found["file::src/auth.py::fn::check"]
    assert (check.label, check.kind, check.line_start, check.path) == ("check", "function", 9, "src/auth.py")
    assert "def check" in check.excerpt
    assert found["file::src/auth.py"].last_modified > 0
    assert len(found) == 3


@pytest.mark.req("GR-010", "GR-011")
def test_gr_010_by_products_hidden_files_locks_links_and_our_own_store_are_not_read(world: World) -> None:
    x = world.directory("x")
    skipped = (
        ".git",
        "node_modules",
        "__pycache__",
        ".venv",
        "target",
        "dist",
        "build",
        ".next",
        "vendor",
        ".hidden",
        ".hindbrain",
    )
    for name in skipped:
        write(x, **{f"{name}__deep__a_py": "x = 1\n"})
    write(x, src__a_py="x = 1\n", package_lock_json="{}")
    for name in ("package-lock.json", "yarn.lock", "Cargo.lock", "poetry.lock", ".env"):
        Path(x, name).write_text("x\n")
    os.symlink(Path(x, "src"), Path(x, "linked"))
    os.symlink(Path(x, "src", "a.py"), Path(x, "link.py"))

    world.at(x).call("ingest", path=x, project_root=x)

    assert files(world, x) == {"src/a.py", "package_lock.json"}


def test_gr_011_memory_in_the_repository_is_no_code(world: World) -> None:
    x = world.repository("x", src__a_py="x = 1\n")
    world.at(x).call("init", path=x)
    world.at(x).memorize("Lesson")

    ingest(world, x)

    assert not [node for node in graph(world, x).arrays().ids if "hindbrain" in node or "light" in node]


def test_gr_012_exactly_the_hidden_files_that_a_pattern_names_are_read(world: World) -> None:
    x = world.brain("x")
    write(x, dot_github__x_yml="a: 1\n", dot_secret__y_txt="s\n")

    ingest(world, x, include_dotfiles=True, dotfile_patterns=[".github/**"])

    assert files(world, x) == {"package.json", ".github/x.yml"}


@pytest.mark.parametrize("git_there", [True, False], ids=["git", "no-git"])
def test_gr_010_what_gitignore_names_is_not_read(world: World, git_there: bool) -> None:
    x = world.repository("x") if git_there else world.directory("x")
    write(x, a_py="x = 1\n", out__gen_py="x = 1\n", sub__b_py="x = 1\n", sub__c_tmp="x\n")
    Path(x, ".gitignore").write_text("out/\n")
    Path(x, "sub/.gitignore").write_text("*.tmp\n")

    world.at(x).call("ingest", path=x, project_root=x)

    assert files(world, x) - {"package.json"} == {"a.py", "sub/b.py"}


def test_gr_013_a_binary_file_is_skipped_and_said_to_be(world: World) -> None:
    x = world.brain("x")
    Path(x, "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")

    answer = ingest(world, x)

    assert {"path": "logo.png", "reason": "binary"} in answer["skipped"]
    assert "logo.png" not in files(world, x)


def test_gr_014_an_ingest_without_time_stops_with_a_graph_that_can_be_used(world: World) -> None:
    x = world.brain("x", a_py="def f(): ...\n")
    with world.app.house.brains.use(world.home.project(x)) as opened:  # type: ignore[arg-type]
        done = world.app.house.graphs.ingest(opened, Wish(root=x, anew=True, only_changed=False, seconds=0.0), lambda *_: None)

    assert done.timed_out is True
    assert graph(world, x).arrays().ids is not None
    assert ingest(world, x)["timed_out"] is False
    assert "a.py" in files(world, x)


def test_gr_015_commits_and_what_changes_together_are_read_from_the_log(world: World) -> None:
    x = world.repository("x")
    for number in range(3):
        write(x, a_py=f"x = {number}\n", b_py=f"y = {number}\n")
        git(x, "add", "a.py", "b.py")
        git(x, "commit", "-q", "-m", f"{number}")

    world.at(x).call("ingest", path=x, project_root=x)

    found = graph(world, x)
    assert [found.files()[name].commits for name in ("a.py", "b.py", "package.json")] == [3, 3, 0]
    assert found.files()["a.py"].last_commit > 0
    assert found.changes(["a.py"]) == {"a.py": (("b.py", 3),)}
    assert [edge.bidirectional for edge in found.edges_of("file::a.py", limit=9) if edge.relation == "co_changes"] == [True]


def test_gr_015_without_git_there_are_zeros_and_no_error(world: World) -> None:
    x = world.directory("plain")
    write(x, a_py="x = 1\n")

    world.at(x).call("ingest", path=x, project_root=x)

    assert graph(world, x).files()["a.py"].commits == 0


@pytest.mark.req("GR-020", "GR-021", "GR-022")
def test_gr_020_names_are_bound_between_files_and_strangers_make_no_node(world: World) -> None:
    x = world.brain(
        "x",
        auth_py=AUTH,
        main_py="import os\nfrom auth import Session, check\n\n\ndef run():\n    check()\n    os.getcwd()\n",
        tests__test_auth_py="from auth import check\n\n\ndef test_check():\n    assert check()\n",
    )

    answer = ingest(world, x)

    a = graph(world, x).arrays()
    bound = {
        (a.ids[s], a.relations[r], a.ids[t])
        for s, r, t in zip(a.source.tolist(), a.relation.tolist(), a.target.tolist(), strict=True)
    }
    assert ("file::main.py::fn::run", "calls", "file::auth.py::fn::check") in bound
    assert ("file::main.py", "imports", "file::auth.py") in bound
    assert ("file::tests/test_auth.py", "tests", "file::auth.py") in bound
    assert not [node for node in a.ids if node.endswith("::os")]
    assert answer["references_unresolved"] >= 1


@pytest.mark.req("GR-003", "GR-023", "GR-037")
def test_gr_023_replace_gives_the_same_ids_one_root_and_a_new_generation(world: World) -> None:
    x = world.brain("x", auth_py=AUTH)
    before = graph(world, x).arrays().ids
    generation = ingest(world, x, mode="merge")["graph_generation"]

    answer = ingest(world, x, mode="replace")

    assert graph(world, x).arrays().ids == before
    assert (answer["ingest_roots"], answer["mode"]) == ([x], "replace")
    assert answer["graph_generation"] == generation + 1


def test_gr_024_another_directory_is_merged_beside_the_code(world: World) -> None:
    x = world.brain("x", auth_py=AUTH)
    y = world.repository("lib", util_py="def help_me(): ...\n")
    before = set(graph(world, x).arrays().ids)

    answer = ingest(world, x, path=y, federation_intent=True)

    assert answer["mode"] == "merge"
    assert before < set(graph(world, x).arrays().ids)
    assert "@lib/util.py" in files(world, x)


@pytest.mark.req("GR-025", "GR-026")
def test_gr_026_only_the_changed_file_is_parsed_and_a_deleted_one_goes(world: World) -> None:
    x = world.brain("x", **{f"m{number}_py": f"def f{number}(): ...\n" for number in range(20)})
    write(x, m3_py="def f3(): ...\n\n\ndef more(): ...\n")
    os.unlink(Path(x, "m4.py"))

    answer = ingest(world, x, incremental=True)

    assert answer["files_parsed"] == 1
    ids = graph(world, x).arrays().ids
    assert "file::m3.py::fn::more" in ids
    assert not [node for node in ids if "m4" in node]


def test_gr_026_a_file_with_a_new_time_and_the_same_content_is_not_parsed(world: World) -> None:
    x = world.brain("x", a_py="x = 1\n")
    os.utime(Path(x, "a.py"), (1, 1))

    assert ingest(world, x, incremental=True)["files_parsed"] == 0
    assert ingest(world, x, incremental=True)["memory_freshness"]["stale_evidence_count"] == 0


def test_gr_026_a_change_within_the_same_moment_is_seen(world: World) -> None:
    x = world.brain("x", a_py="x = 1\n")
    facts = os.stat(Path(x, "a.py"))
    Path(x, "a.py").write_text("y = 1\n")
    os.utime(Path(x, "a.py"), ns=(facts.st_atime_ns, facts.st_mtime_ns))

    assert ingest(world, x, incremental=True)["files_parsed"] == 1


def test_gr_026_incremental_and_whole_give_the_same_graph(world: World) -> None:
    x = world.brain("x", auth_py=AUTH, main_py="from auth import check\n\n\ndef run():\n    check()\n    later()\n")
    write(x, other_py="from main import run\n\n\ndef later():\n    run()\n", auth_py="def check(): ...\n")
    os.unlink(Path(x, "package.json"))
    ingest(world, x, incremental=True)
    found = graph(world, x).arrays()
    stepwise = (list(found.ids), sorted(zip(found.source.tolist(), found.target.tolist(), found.relation.tolist(), strict=True)))

    ingest(world, x, mode="replace")

    found = graph(world, x).arrays()
    whole = (list(found.ids), sorted(zip(found.source.tolist(), found.target.tolist(), found.relation.tolist(), strict=True)))
    assert stepwise == whole


@pytest.mark.parametrize("adapter", ["light", "json", "memory", "universal", "auto"])
def test_gr_026_incremental_is_for_code(world: World, adapter: str) -> None:
    x = world.brain("x")

    answer = world.at(x).call("ingest", path=x, adapter=adapter, incremental=True)

    assert answer["error"]["code"] == "invalid_params"


def test_gr_027_the_inventory_has_the_real_digest(world: World) -> None:
    x = world.brain("x", a_py="x = 1\n")

    facts = graph(world, x).files()["a.py"]

    assert facts.sha256 == hashlib.sha256(b"x = 1\n").hexdigest()
    assert (facts.size, facts.language, facts.lines) == (6, "python", 1)


def test_gr_028_roots_are_in_order_and_survive_a_restart(world: World) -> None:
    x = world.brain("a")
    b = world.repository("b", u_py="x = 1\n")
    ingest(world, x, path=b, federation_intent=True)

    assert ingest(world, x, mode="merge")["ingest_roots"] == [b, x]

    world.restart()
    with world.app.house.brains.use(world.home.project(x)) as opened:  # type: ignore[arg-type]
        assert [place.root for place in world.app.house.graphs.places(opened)] == [b, x]


def test_gr_029_a_path_that_is_not_there_is_named_and_changes_nothing(world: World) -> None:
    x = world.brain("x", a_py="x = 1\n")
    before = graph(world, x).counts()

    answer = world.at(x).call("ingest", path="/nope/nowhere")

    assert "/nope/nowhere" in answer["error"]["message"]
    assert graph(world, x).counts() == before


def test_gr_030_an_unknown_adapter_is_told_the_known_ones(world: World) -> None:
    x = world.brain("x")

    answer = world.at(x).call("ingest", path=x, adapter="xyz")

    said = answer["error"]["fix"]
    assert all(name in said for name in ("code", "json", "memory", "light", "universal", "auto"))


def test_gr_037_two_ingests_raise_the_generation_by_two(world: World) -> None:
    x = world.brain("x")

    first, second = (ingest(world, x)["graph_generation"] for _ in range(2))

    assert second == first + 1
    assert world.at(x).call("session_handshake")["binding_fingerprint"]["graph_generation"] == second


def test_gr_132_a_lost_graph_goes_on_behind_the_number_it_had(world: World) -> None:
    x = world.brain("x")
    before = [ingest(world, x)["graph_generation"] for _ in range(4)][-1]
    lost = graph(world, x).path
    world.restart()
    for path in lost.parent.glob("graph.db*"):
        path.unlink()

    assert ingest(world, x)["graph_generation"] > before


def test_gr_038_a_second_ingest_of_a_brain_is_told_to_wait_and_others_are_not(world: World) -> None:
    x, y = world.brain("x", a_py="x = 1\n"), world.brain("y")
    began, go_on = threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        began.set()
        go_on.wait(60)

    with world.app.house.brains.use(world.home.project(x)) as opened:  # type: ignore[arg-type]
        busy = threading.Thread(
            target=world.app.house.graphs.ingest, args=(opened, Wish(root=x, anew=True, only_changed=False), slow)
        )
        busy.start()
        assert began.wait(60)
        try:
            with graph(world, x).turn(0.01) as mine:
                assert mine is False
            assert world.at(y).north()["ok"]
            assert ingest(world, y)["files_scanned"] == 1
        finally:
            go_on.set()
            busy.join(60)


def test_gr_131_the_counts_of_the_envelope_are_those_of_code_and_claims(world: World) -> None:
    x = world.brain("x", auth_py=AUTH)
    own = graph(world, x).counts()
    world.at(x).memorize("Lesson")

    health = world.at(x).call("health")

    assert health["node_count"] > own[0]
    assert health["edge_count"] > own[1]


def test_gr_136_a_graph_that_was_lost_is_empty_until_the_next_ingest(world: World) -> None:
    x = world.brain("x", a_py="x = 1\n")
    path = graph(world, x).path
    world.restart()
    path.write_bytes(b"\x00" * 4096)
    path.with_name("graph.db-wal").unlink(missing_ok=True)

    assert world.at(x).call("am_i_stale")["needs_ingest"] is True
    assert ingest(world, x)["files_parsed"] == 2
    assert world.at(x).call("am_i_stale")["needs_ingest"] is False


def test_med_003_the_medulla_has_no_graph_of_code(world: World) -> None:
    x = world.brain("x")
    world.human(x).memorize("Doctrine", tier="medulla")

    with world.app.house.brains.use(world.home.medulla()) as opened:
        assert opened.graph is None

    assert not (world.home.medulla_dir / "graph.db").exists()


def test_gr_009_what_does_not_fit_is_said(world: World) -> None:
    x = world.brain("x")
    write(x, a_py="\n".join(f"def f{number}(): ..." for number in range(30)))
    with world.app.house.brains.use(world.home.project(x)) as opened:  # type: ignore[arg-type]
        small = LocalGraph(Path(world.directory("small")), most_nodes=10)
        opened._graph, kept = small, opened._graph
        try:
            answer = world.app.house.ingests.run(world.at(x).caller, opened, Request(path=x), lambda *_: None)
        finally:
            opened._graph = kept
            small.close()

    assert answer["truncated"] is True


def test_gr_052_claims_and_merged_nodes_are_one_edge_however_often(world: World) -> None:
    x = world.brain("x", a_py="def f(): ...\n")
    edge = Edge(source="note", target="file::a.py", relation="mentions")

    for _ in range(3):
        graph(world, x).merge("notes", [Node(id="note", label="note", kind="concept")], [edge])

    assert [one.relation for one in graph(world, x).edges_of("note", limit=9)] == ["mentions"]
