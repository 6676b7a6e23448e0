"""What an agent may name: its own repository and the places that a person registered. Each attack of the report is a test."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.hosts import connected, mcp_is_up
from tests.support.owner import Starter
from tests.support.world import Actor, World, git, tree_hash

SENTINEL = "SENTINEL-b7e1"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Two:
    """Repository `a` with the agent, repository `b` that is not its own, and a user's home with keys."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world
        self.user = Path(world.directory("user"))
        monkeypatch.setenv("HOME", str(self.user))
        (self.user / ".ssh").mkdir()
        (self.user / ".ssh" / "id").write_text(f"PRIVATE KEY {SENTINEL}\n")
        self.a, self.b = world.brain("a", main_py="x = 1\n"), world.brain("b", secret_py=f"key = '{SENTINEL}'\n")
        world.at(self.b).memorize("Price", f"The price is {SENTINEL}.")
        self.agent = world.at(self.a)
        self.person = world.human(self.a)


@pytest.fixture
def two(world: World, monkeypatch: pytest.MonkeyPatch) -> Two:
    return Two(world, monkeypatch)


def code(answer: dict[str, Any]) -> str | None:
    error = answer.get("error")
    return error["code"] if isinstance(error, dict) else answer.get("refused")


# -- F2: no brain for a directory elsewhere ----------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["user", "user/.ssh", "home", "b", "/etc", "/", "b/../user/.ssh", "a/link"])
def test_f2_an_agent_gives_no_other_directory_a_brain(two: Two, where: str) -> None:
    os.symlink(two.user / ".ssh", Path(two.a, "link"))
    path = where if where.startswith("/") else str(two.world.place / where)
    before = sorted(os.listdir(two.world.home.brains_dir)), tree_hash(two.user), tree_hash(Path(two.b))

    answers = [two.agent.call("init", path=path), two.agent.call("ingest", path=path, project_root=path)]
    found = two.agent.call("search", query="PRIVATE KEY|SENTINEL", mode="regex")

    assert [code(one) for one in answers] == ["path_refused", "path_refused"]
    assert SENTINEL not in str(found)
    assert (sorted(os.listdir(two.world.home.brains_dir)), tree_hash(two.user), tree_hash(Path(two.b))) == before


def test_f2_a_person_gives_another_directory_a_brain(two: Two) -> None:
    other = two.world.repository("other")

    assert two.person.call("init", path=other)["project_root"] == other


# -- F3: outputs are new plain files of the repository or of the brain's exports -----------------------------------------

OUTPUTS = {
    "export": ("target", ".tar.gz", {}),
    "graph.export": ("target", ".json", {"format": "json"}),
    "experience.export": ("target", ".jsonl", {}),
    "experience.curve": ("out", ".svg", {"space": "tool:glob"}),
    "experience.propose": ("out", ".json", {}),
}


@pytest.mark.parametrize("operation", OUTPUTS)
@pytest.mark.parametrize(
    "name",
    [
        "user/.bash_profile",
        "user/notes{}",
        "a/.git/hooks/pre-commit",
        "a/.git/hooks/pre-commit{}",
        "a/.github/x{}",
        "a/.envrc",
        "a/sub/../.x{}",
        "a/out/x{}",
        "a/x\u200c{}",
        "a/GIT~1/x{}",
        "b/x{}",
        "home/config.toml",
        "home/brains/x{}",
        "a/../user/x{}",
    ],
)
def test_f3_an_agent_writes_no_file_elsewhere_and_no_hidden_one(two: Two, operation: str, name: str) -> None:
    argument, ending, more = OUTPUTS[operation]
    os.symlink(two.user, Path(two.a, "out"))
    Path(two.a, "GIT~1").mkdir()
    target = two.world.place / name.format(ending)
    before = tree_hash(two.user), tree_hash(Path(two.b)), sorted(os.listdir(two.a)), tree_hash(Path(two.a, ".git"))

    answer = two.agent.call(operation, **{argument: str(target), **more})

    assert code(answer) in ("path_refused", "invalid_params"), answer
    assert not target.exists()
    assert (tree_hash(two.user), tree_hash(Path(two.b)), sorted(os.listdir(two.a)), tree_hash(Path(two.a, ".git"))) == before


@pytest.mark.parametrize("operation", ["export", "graph.export", "experience.export"])
def test_f3_an_agent_writes_a_plain_file_of_its_repository_or_its_exports(two: Two, operation: str) -> None:
    argument, ending, more = OUTPUTS[operation]
    brain = two.world.home.project(two.a)
    assert brain is not None
    exports = two.world.home.exports_dir(brain)

    for target in (Path(two.a, f"out{ending}"), exports / f"out{ending}", Path(two.a, f"run{ending}")):
        answer = two.agent.call(operation, **{argument: str(target), **more})
        assert answer["ok"], answer
        assert target.stat().st_mode & 0o777 == 0o600
    assert code(two.agent.call(operation, **{argument: str(Path(two.a, "tool.sh")), **more})) == "invalid_params"
    assert code(two.agent.call(operation, **{argument: str(Path(two.a, f"out{ending}")), **more})) == "invalid_params"


# -- F4: another brain's claim stays there --------------------------------------------------------------------------------


def test_f4_an_agent_promotes_no_claim_of_another_brain(two: Two) -> None:
    answer = two.agent.call("promote", brain=two.b, claim="Price", reason="holds everywhere")

    assert code(answer) == "path_refused"
    assert SENTINEL not in str(two.agent.north("price")) + str(two.agent.seek("price"))
    assert two.person.call("promote", brain=two.b, claim="Price", reason="holds everywhere")["promoted"]


# -- F5, F9: uninit and rebind are human acts ------------------------------------------------------------------------------


def test_f5_only_a_person_removes_what_init_added(two: Two) -> None:
    assert two.world.human(two.b).call("init", path=two.b)["ok"]
    before = tree_hash(Path(two.b))

    answers = [two.agent.call("uninit", path=two.b), two.world.at(two.b).call("uninit", path=two.b)]

    assert [code(one) for one in answers] == ["human_needed", "human_needed"]
    assert tree_hash(Path(two.b)) == before


def test_f9_an_agent_takes_no_brain_of_an_absent_directory(two: Two) -> None:
    os.rename(two.b, two.world.place / "away")
    Path(two.a, "sub").mkdir()

    answer = two.agent.call("rebind", old=two.b, new=str(Path(two.a, "sub")))

    assert code(answer) == "human_needed"
    assert SENTINEL not in str(two.world.at(str(Path(two.a, "sub"))).seek("price"))
    os.rename(two.world.place / "away", two.b)
    assert SENTINEL in str(two.world.at(two.b).seek("price"))


# -- F10: a host that starts in / has no repository ------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["/", "user", "."])
def test_f10_a_caller_above_all_projects_reaches_nothing(two: Two, root: str) -> None:
    directory = root if root == "/" else os.path.normpath(two.world.place / root)
    agent = two.world.at(directory)
    keys = str(two.user / ".ssh")
    if root == ".":  # above the user's home
        assert os.path.dirname(two.user) == directory

    answers = [
        agent.call("ingest", path=keys, project_root=keys),
        agent.call("ingest", path=keys),
        agent.call("memory.ingest", path=keys + "/id"),
        agent.call("init"),
    ]

    assert {code(one) for one in answers} <= {"path_refused", "brainless_root"}
    assert not (two.user / ".ssh" / ".hindbrain").exists()


# -- the siblings: every other argument that names a place -------------------------------------------------------------------


def test_search_ingests_no_directory_elsewhere(two: Two) -> None:
    other = two.world.repository("other", secret_py=f"key = '{SENTINEL}'\n")

    answers = [
        two.agent.call("search", query=SENTINEL, scope=scope, auto_ingest=True)
        for scope in (two.b, other, "other", str(two.user))
    ]

    assert all(SENTINEL not in str(one.get("results", "")) for one in answers)
    assert code(answers[0]) == code(answers[1]) == code(answers[3]) == "path_refused"
    brain = two.world.home.project(two.a)
    assert brain is not None
    assert brain.ingest_roots == ()


def test_federation_reads_no_repository_that_nobody_registered(two: Two) -> None:
    other = two.world.repository("other", package_json='{"name": "SENTINEL-package"}', index_js="import 'SENTINEL-package'\n")
    Path(two.a, "use.js").write_text("import x from 'SENTINEL-package'\n")

    refused = two.agent.call("federate", repos=[{"name": "a", "path": two.a}, {"name": "o", "path": other}])
    proposed = two.agent.call("federate_auto")
    executed = two.agent.call("federate_auto", execute=True)

    assert code(refused) == "path_refused"
    assert proposed["proposed"] == executed["proposed"] == []
    made = two.person.call("federate", name="all", repos=[{"name": "a", "path": two.a}, {"name": "o", "path": other}])
    assert made["ok"], made
    outsider = two.world.at(two.b).call("impact", node_id="o::file::index.js", brain="analysis:all")
    assert code(outsider) == "unknown_brain", "an analysis belongs to the agents of its repositories"
    assert two.agent.call("panoramic", brain="analysis:all")["ok"]
    taken = two.world.at(two.b).call("federate", name="all", repos=[{"name": "b", "path": two.b}])
    assert code(taken) == "unknown_brain", "nobody else replaces it"


@pytest.mark.parametrize(
    ("operation", "argument", "more"),
    [
        ("memory.ingest", "path", {}),
        ("memory.import", "path", {}),
        ("mission.verify_packet", "file", {}),
        ("mission.import", "file", {}),
        ("research.validate", "path", {}),
        ("research.ingest", "path", {}),
        ("release.check", "path", {}),
        ("import", "source", {"as_candidates": True}),
        ("import", "source", {"dry_run": True}),
        ("model.install", "path", {}),
        ("hosts.status", "project", {}),
        ("context", "cwd", {"query": "x"}),
        ("record", "cwd", {"text": "x"}),
        ("cowork.agents", "project_root", {}),
        ("gym.report", "round", {}),
        ("pack", "out", {"yes": True}),
    ],
)
def test_no_argument_tells_whether_a_file_elsewhere_exists(two: Two, operation: str, argument: str, more: dict[str, Any]) -> None:
    os.symlink(two.user / ".ssh" / "id", Path(two.a, "link"))
    there, gone, behind = str(two.user / ".ssh" / "id"), str(two.user / ".ssh" / "gone"), str(Path(two.a, "link"))

    answers = [two.agent.call(operation, **{argument: path}, **more) for path in (there, gone, behind)]

    assert [code(one) for one in answers] == ["path_refused"] * 3, answers
    assert str(answers[0]).replace(there, "") == str(answers[1]).replace(gone, "")
    assert SENTINEL not in str(answers)


def test_the_guard_names_another_repository_and_tells_nothing_of_it(two: Two) -> None:
    git(two.b, "checkout", "-q", "-b", SENTINEL)

    answers = [
        two.agent.call("guard", repo=two.b),
        two.agent.call("guard", workspace_root=two.b),
        two.agent.call("ask", topic="where", repo=two.b),
        two.agent.call("mission.start", task="look", repo=two.b),
    ]

    assert SENTINEL not in str(answers)


def test_a_nested_brain_is_not_reached_from_the_repository_around_it(two: Two) -> None:
    inner = two.world.brain("a/vendor/inner", secret_py=f"key = '{SENTINEL}'\n")
    two.world.at(inner).memorize("Inner", f"inner {SENTINEL}")

    answers = [
        two.agent.call("memory.ingest", path=inner),
        two.agent.call("ingest", path=inner, project_root=inner),
        two.agent.call("promote", brain=inner, claim="Inner", reason="x"),
    ]

    assert [code(one) for one in answers] == ["path_refused"] * 3


def test_another_worktree_of_the_repository_is_reached(two: Two) -> None:
    git(two.a, "add", "-A")
    git(two.a, "commit", "-qm", "x")
    tree = str(two.world.place / "tree")
    git(two.a, "worktree", "add", "-q", "-b", "side", tree)
    Path(tree, "note.md").write_text("The ferry waits for the tide.\n")

    assert two.agent.call("memory.ingest", path=str(Path(tree, "note.md")))["ok"]
    assert two.agent.call("graph.export", target=str(Path(tree, "g.json")), format="json")["ok"]


def test_directories_that_the_host_offers_are_reached(two: Two) -> None:
    notes = two.world.directory("notes")
    Path(notes, "plan.md").write_text("The worker retries.\n")
    told = Actor(two.world, replace(two.agent.caller, offered_roots=(notes,)))

    assert code(two.agent.call("memory.ingest", path=notes)) == "path_refused"
    assert told.call("memory.ingest", path=notes)["ok"]


def test_a_registered_place_is_reached_and_a_brain_in_it_is_not(two: Two) -> None:
    notes = two.world.directory("work/notes")
    Path(notes, "plan.md").write_text("The worker retries.\n")
    other = two.world.brain("work/other", secret_py=f"key = '{SENTINEL}'\n")
    assert two.person.call("places.add", path=str(two.world.place / "work"))["ok"]

    assert two.agent.call("memory.ingest", path=notes)["ok"]
    assert code(two.agent.call("memory.ingest", path=other)) == "path_refused"


def test_a_caller_root_that_a_model_names_is_no_authority(two: Two) -> None:
    nobody = two.world.at(None)

    answers = [
        nobody.call("init", caller_root=two.b, path=two.b),
        nobody.call(
            "ingest", caller_root=str(two.user / ".ssh"), path=str(two.user / ".ssh"), project_root=str(two.user / ".ssh")
        ),
        nobody.call("memory.ingest", caller_root=str(two.user), path=str(two.user / ".ssh" / "id")),
    ]

    assert {code(one) for one in answers} <= {"path_refused", "caller_root_unknown", "brainless_root"}


# -- the same over the real surfaces -------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_over_mcp_an_agent_stays_in_its_repository(two: Two, starter: Starter, transport: str) -> None:
    two.world.close()
    owner = mcp_is_up(starter(two.world.home.path))
    home = str(two.world.home.path)
    before = tree_hash(two.user), tree_hash(Path(two.b))
    calls = [
        ("init", {"path": home}),
        ("init", {"path": two.b}),
        ("ingest", {"path": str(two.user / ".ssh"), "project_root": str(two.user / ".ssh")}),
        ("graph_export", {"target": str(two.user / ".bash_profile"), "format": "json"}),
        ("export", {"target": str(two.user / "x.tar.gz")}),
        ("promote", {"brain": two.b, "claim": "Price", "reason": "x"}),
        ("uninit", {"path": two.b}),
        ("rebind", {"old": two.b, "new": two.a}),
        ("search", {"query": "^[A-Za-z0-9_-]{43}$", "mode": "regex", "scope": home, "auto_ingest": True}),
    ]
    async with connected(owner, transport, "2026", root=Path(two.a), agent="codex:maker", profile="full") as client:
        answers = [(await client.call_tool(name, given)).structured_content for name, given in calls]
        north = (await client.call_tool("north", {"task": "price"})).structured_content

    assert [code(one or {}) in ("path_refused", "human_needed") for one in answers] == [True] * len(calls), answers
    assert SENTINEL not in str(answers) + str(north)
    assert (tree_hash(two.user), tree_hash(Path(two.b))) == before
    owner.kill()


def test_over_http_an_agent_stays_in_its_repository(two: Two, starter: Starter) -> None:
    two.world.close()
    owner = starter(two.world.home.path)
    before = tree_hash(two.user), tree_hash(Path(two.b))

    answers = [
        owner.call("init", root=two.a, path=str(two.user / ".ssh")),
        owner.call("export", root=two.a, target=str(two.user / "x.tar.gz")),
        owner.call("promote", root=two.a, brain=two.b, claim="Price", reason="x"),
        owner.call("memory.ingest", root=two.a, path=str(two.user / ".ssh" / "id")),
    ]

    assert [code(one) for one in answers] == ["path_refused"] * 4, answers
    assert (tree_hash(two.user), tree_hash(Path(two.b))) == before
    owner.kill()
