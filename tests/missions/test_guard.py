"""The context guard: each situation made for real, with repositories, links, worktrees and clones on a disk."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from hindbrain.app import local_caller
from hindbrain.domain.caller import Channel, RootSource
from hindbrain.domain.mission import Classification, ContextGuard, RecoveryPayload, TrustVerdict
from hindbrain.engines.guarding import GuardFacts, cased, classified, drift, fingerprint
from hindbrain.engines.tool_surface import REQUIRED_TOOLS
from hindbrain.services.missions.graph import NullGraph
from hindbrain.services.missions.guard import Guard
from hindbrain.stores.identity import identity_of, remote_name
from tests.support.world import Actor, World, git, tree_hash


def committed(world: World, name: str, **files: str) -> str:
    """A repository with one commit and its brain."""
    root = world.repository(name, **files)
    git(root, "add", ".")
    git(root, "commit", "-qm", f"Begin {name}")
    return world.brain(name)


def guarded(actor: Actor, **asked: Any) -> dict[str, Any]:
    answer = actor.call("guard", **asked)
    assert answer["ok"], answer
    return answer


def called(actor: Actor, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Carry a payload out, just as it stands."""
    answers = [actor.call(step["call"], **step["arguments"]) for step in payload["steps"] if step["surface"] != "human"]
    assert all(answer["ok"] for answer in answers), answers
    return answers


# --- the three situations ----------------------------------------------------------------------------------------------


def test_aol_068_aol_070_aol_085_repository_a_is_active_and_a_is_meant(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")

    answer = guarded(world.at(a), repo=a)

    guard = answer["context_guard"]
    assert (guard["classification"], guard["workspace_match"], guard["recovery"]) == ("single_repo", True, None)
    assert (guard["repo"], guard["workspace_root"], guard["ingest_roots"]) == (a, a, [a])
    assert guard["runtime_root"] == str(world.store(a).parent)
    assert guard["graph_generation"] == 1
    assert guard["binary_version"]
    assert len(guard["build_id"]) == 16
    assert guard["branch_head"] == "main@" + git(a, "rev-parse", "HEAD").strip()
    assert (answer["trust"]["verdict"], answer["trust"]["graph_freshness"], answer["do_not"]) == ("full_trust", "fresh", [])


def test_aol_070_a_directory_inside_and_a_workspace_inside_are_the_same_repository(world: World) -> None:
    a = committed(world, "a", src__main_py="x = 1\n")

    inside = guarded(world.at(a), repo="src")["context_guard"]
    around = guarded(world.at(os.path.join(a, "src")), repo=a)["context_guard"]

    assert (inside["classification"], inside["repo"]) == ("single_repo", os.path.join(a, "src"))
    assert (around["classification"], around["workspace_root"]) == ("single_repo", os.path.join(a, "src"))


def test_aol_071_aol_080_aol_083_aol_085_repository_a_is_active_and_b_is_meant(world: World) -> None:
    a, b = committed(world, "a", main_py="x = 1\n"), committed(world, "b", main_py="y = 1\n")

    answer = guarded(world.at(a), repo=b)

    guard = answer["context_guard"]
    assert (guard["classification"], guard["workspace_match"]) == ("wrong_workspace_binding", False)
    assert a in guard["reason"]
    assert b in guard["reason"]
    way = guard["recovery"]
    assert (way["kind"], way["arguments"]["setting"], way["arguments"]["value"]) == ("host_rebind", "HINDBRAIN_WORKSPACE_ROOT", b)
    assert "host_handshake" in way["proof_required"]
    assert way["arguments"]["restart"] in [step["call"] for step in way["steps"]]
    assert way["expected_after"]["workspace_root"] == b
    # Not a stale graph, and nothing to be asked again before the rebind.
    assert answer["trust"]["verdict"] == "wrong_workspace_binding"
    assert answer["trust"]["graph_freshness"] != "stale"
    assert [(one["item"], one["kind"], one["source"]) for one in answer["do_not"]] == [("graph", "tool_family", "guard")]
    assert "bound anew" in answer["do_not"][0]["until"]


def test_aol_080_the_payload_is_followed_and_the_binding_is_right(world: World) -> None:
    """What the host would do: start anew with the setting that the payload names."""
    a, b = committed(world, "a", main_py="x = 1\n"), committed(world, "b", main_py="y = 1\n")
    way = guarded(world.at(a), repo=b)["context_guard"]["recovery"]
    environ = {way["arguments"]["setting"]: way["arguments"]["value"]}

    caller = local_caller(root=None, agent="codex:maker", channel=Channel.AGENT, environ=environ)
    guard = guarded(Actor(world, caller), repo=b)["context_guard"]

    assert (guard["classification"], guard["workspace_root_source"]) == ("single_repo", "env")
    assert {name: guard[name] for name in way["expected_after"]} == way["expected_after"]


def test_aol_071_without_any_workspace_nothing_is_bound(world: World) -> None:
    a = world.repository("a")

    guard = guarded(world.at(None), repo=a)["context_guard"]

    assert (guard["classification"], guard["workspace_root"], guard["workspace_root_source"]) == (
        "wrong_workspace_binding",
        None,
        "none",
    )
    assert guard["recovery"]["kind"] == "host_rebind"


def test_aol_072_aol_082_aol_085_two_repositories_on_purpose(world: World) -> None:
    world.register_place()
    a, b = committed(world, "a", main_py="x = 1\n"), world.repository("b", other_py="y = 1\n")
    before = guarded(world.at(a), repo=b, federation_intent=True)["context_guard"]
    way = before["recovery"]
    assert (before["classification"], way["kind"]) == ("wrong_workspace_binding", "federation")
    assert way["arguments"] == {"roots": [a, b], "federation_intent": True}

    after = called(world.at(a), way)[-1]["context_guard"]

    assert (after["classification"], after["federation_intent"]) == ("federated", True)
    assert set(after["ingest_roots"]) == {a, b}
    assert guarded(world.at(a), repo=a, federation_intent=True)["context_guard"]["classification"] == "federated"


def test_aol_071_aol_082_a_graph_of_two_repositories_without_intent_is_wrong(world: World) -> None:
    world.register_place()
    a, b = committed(world, "a", main_py="x = 1\n"), world.repository("b", other_py="y = 1\n")
    assert world.at(a).call("ingest", path=b, federation_intent=True)["ok"]

    asked = [guarded(world.at(a), repo=repo)["context_guard"] for repo in (a, b)]

    assert [one["classification"] for one in asked] == ["wrong_workspace_binding"] * 2
    for one in asked:
        assert b in one["reason"]
        assert one["recovery"]["kind"] == "federation"
        assert called(world.at(a), one["recovery"])[-1]["context_guard"]["classification"] == "federated"


def test_aol_072_intent_alone_makes_no_federation(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")

    assert guarded(world.at(a), repo=a, federation_intent=True)["context_guard"]["classification"] == "single_repo"


def test_aol_073_a_second_repository_is_refused_with_the_way_to_say_so(world: World) -> None:
    world.register_place()
    a, b = committed(world, "a", main_py="x = 1\n"), world.repository("b", other_py="y = 1\n")

    refused = world.at(a).call("ingest", path=b)

    error = refused["error"]
    assert (refused["ok"], error["code"], error["federation"]["kind"]) == (False, "federation_needed", "federation")
    assert error["federation"]["arguments"]["roots"] == [a, b]
    guard = guarded(world.at(a), repo=a)["context_guard"]
    assert (guard["ingest_roots"], guard["graph_generation"]) == ([a], 1)
    assert called(world.at(a), error["federation"])[-1]["context_guard"]["classification"] == "federated"


def test_aol_073_an_agent_is_refused_elsewhere_with_the_same_payload(world: World) -> None:
    a, b = committed(world, "a", main_py="x = 1\n"), world.repository("b", other_py="y = 1\n")

    for intent in (False, True):
        error = world.at(a).call("ingest", path=b, federation_intent=intent)["error"]
        assert (error["code"], error["federation"]["kind"]) == ("path_refused", "federation")
    # The step says that it is for a terminal; there, a person runs it as it is.
    assert error["federation"]["steps"][0]["surface"] == "cli"
    assert called(world.human(a), error["federation"])[-1]["context_guard"]["classification"] == "federated"


def test_aol_073_notes_beside_the_repository_are_no_second_one(world: World) -> None:
    world.register_place()
    a, notes = committed(world, "a", main_py="x = 1\n"), world.directory("notes")
    Path(notes, "plan.md").write_text("# Plan\n\nThe worker retries.\n", encoding="utf-8")

    assert world.at(a).call("ingest", path=notes, adapter="universal")["ok"]

    assert guarded(world.at(a), repo=a)["context_guard"]["classification"] == "single_repo"


def test_aol_069_there_are_three_situations_and_seven_verdicts() -> None:
    assert set(get_args(Classification)) == {"single_repo", "federated", "wrong_workspace_binding"}
    assert len(get_args(TrustVerdict)) == 7


# --- paths -------------------------------------------------------------------------------------------------------------


def test_aol_074_a_name_that_begins_alike_is_another_repository(world: World) -> None:
    repo, second = committed(world, "repo", main_py="x = 1\n"), committed(world, "repo2", main_py="y = 1\n")

    there, back = guarded(world.at(repo), repo=second), guarded(world.at(second), repo=repo)

    for answer in (there, back):
        assert answer["context_guard"]["classification"] == "wrong_workspace_binding"
        assert answer["context_guard"]["workspace_match"] is False


def test_aol_075_a_link_is_the_directory_it_leads_to(world: World) -> None:
    world.register_place()
    a, b = committed(world, "a", main_py="x = 1\n"), committed(world, "b", main_py="y = 1\n")
    os.symlink(a, world.place / "to-a")
    os.symlink(b, os.path.join(a, "vendored"))

    same = guarded(world.at(a), repo=str(world.place / "to-a"))["context_guard"]
    other = guarded(world.at(a), repo=os.path.join(a, "vendored"))["context_guard"]

    assert (same["classification"], same["repo"]) == ("single_repo", a)
    assert (other["classification"], other["repo"]) == ("wrong_workspace_binding", b)


def test_aol_075_names_are_spelt_as_a_disk_that_ignores_case_spells_them() -> None:
    """A disk that ignores case, as its answers: what it lists, and that two spellings are one file."""
    disk = {"/": ["Users"], "/Users": ["Ada"], "/Users/Ada": ["Repo", "repo-2"]}

    def same(one: str, other: str) -> bool:
        return one.casefold() == other.casefold()

    assert cased("/users/ADA/repo", disk.__getitem__, same) == "/Users/Ada/Repo"
    assert cased("/Users/Ada/Repo", disk.__getitem__, same) == "/Users/Ada/Repo"
    # On a disk that tells them apart, two names that differ in case are two directories.
    assert cased("/users/Ada", lambda _: ["Users"], lambda one, other: one == other) == "/users/Ada"


def test_aol_075_a_worktree_is_another_workspace_of_the_same_repository(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")
    tree = str(world.place / "tree")
    git(a, "worktree", "add", "-q", "-b", "side", tree)

    own = guarded(world.at(tree), repo=tree)
    crossed = guarded(world.at(a), repo=tree)
    Path(tree, "main.py").write_text("x = 2\n", encoding="utf-8")
    changed = guarded(world.at(tree), repo=tree)

    guard = own["context_guard"]
    assert (guard["classification"], guard["workspace_root"], guard["ingest_roots"]) == ("single_repo", tree, [a])
    assert guard["branch_head"].startswith("side@")
    assert own["repository_identity"] == guarded(world.at(a), repo=a)["repository_identity"]
    assert own["trust"]["binding_fingerprint"] != guarded(world.at(a), repo=a)["trust"]["binding_fingerprint"]
    assert crossed["context_guard"]["classification"] == "wrong_workspace_binding"
    assert "same repository" in crossed["context_guard"]["reason"]
    # The graph was made from the other worktree: what differs here is counted here.
    assert (own["trust"]["verdict"], changed["trust"]["verdict"]) == ("full_trust", "orientation_only")
    assert changed["trust"]["changed_files_since_ingest"] == 1
    assert guarded(world.at(a), repo=a)["trust"]["changed_files_since_ingest"] == 0


def test_aol_079_a_folder_of_our_own_is_no_workspace(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")
    inside = str(world.store(a).parent)

    asked = world.at(a).call("guard", repo=inside)
    named = world.at(a).call("guard", workspace_root=inside)
    taken = world.at(a).call("ingest", path=inside)
    born = world.at(a).call("ingest", path=inside, project_root=inside)
    standing = guarded(world.at(inside), repo=a)["context_guard"]

    assert [one["error"]["code"] for one in (asked, named, taken, born)] == ["path_refused"] * 4
    assert (standing["workspace_root"], standing["workspace_root_source"]) == (None, "none")


# --- where the workspace is known from ------------------------------------------------------------------------------------


def from_directory(world: World, place: str, monkeypatch: pytest.MonkeyPatch, **environ: str) -> Actor:
    monkeypatch.chdir(place)
    return Actor(world, local_caller(root=None, agent="codex:maker", channel=Channel.AGENT, environ=environ))


def source(actor: Actor, **asked: Any) -> tuple[str, str]:
    guard = guarded(actor, **asked)["context_guard"]
    return guard["workspace_root_source"], guard["workspace_root"]


def test_aol_076_each_source_alone_and_in_its_order(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = committed(world, "a", src__main_py="x = 1\n"), committed(world, "b", main_py="y = 1\n")
    plain = world.directory("plain")
    inner = os.path.join(a, "src")

    def offering(actor: Actor, *roots: str) -> Actor:
        return Actor(world, replace(actor.caller, offered_roots=roots))

    assert source(from_directory(world, plain, monkeypatch)) == ("cwd", plain)
    assert source(from_directory(world, inner, monkeypatch)) == ("git", a)
    set_ = from_directory(world, inner, monkeypatch, HINDBRAIN_WORKSPACE_ROOT=b)
    assert source(set_) == ("env", b)
    assert source(offering(set_, a)) == ("mcp_roots", a)
    assert source(offering(set_, a), workspace_root=plain) == ("explicit", plain)
    said = local_caller(root=b, agent="codex:maker", channel=Channel.AGENT, environ={})
    assert source(offering(Actor(world, said), a)) == ("explicit", b)
    # Of several offered roots the one that the request is about counts.
    assert source(offering(set_, plain, b), repo=b) == ("mcp_roots", b)


def test_aol_077_aol_321_roots_of_a_client_are_checked(world: World) -> None:
    a, b = committed(world, "a", main_py="x = 1\n"), committed(world, "b", main_py="y = 1\n")
    known = replace(world.at(a).caller, root_source=RootSource.ENVIRONMENT)

    def offered(*roots: str) -> dict[str, Any]:
        found: dict[str, Any] = guarded(Actor(world, replace(known, offered_roots=roots)), repo=a)["context_guard"]
        return found

    right, elsewhere, gone, file = offered(a), offered(b), offered(str(world.place / "gone")), offered(f"{a}/main.py")

    assert (right["classification"], right["workspace_root_source"]) == ("single_repo", "mcp_roots")
    for wrong in (elsewhere, gone, file):
        assert (wrong["classification"], wrong["workspace_root_source"]) == ("wrong_workspace_binding", "mcp_roots")
        assert wrong["recovery"]["kind"] == "host_rebind"
    assert all("does not exist or cannot be read" in wrong["reason"] for wrong in (gone, file))


def test_an_agent_without_a_shell_learns_nothing_of_other_directories(world: World) -> None:
    a, b = committed(world, "a", main_py="x = 1\n"), committed(world, "b", main_py="y = 1\n")
    blind = Actor(world, replace(world.at(a).caller, reads_files=False))

    there, nowhere = guarded(blind, repo=b), guarded(blind, repo=str(world.place / "nowhere"))

    for answer, place in ((there, b), (nowhere, str(world.place / "nowhere"))):
        guard = answer["context_guard"]
        assert (guard["classification"], guard["branch_head"]) == ("wrong_workspace_binding", None)
        assert answer["repository_identity"] == f"path:{place}"
    assert there["context_guard"]["reason"].replace(b, "X") == nowhere["context_guard"]["reason"].replace(
        str(world.place / "nowhere"), "X"
    )


# --- ways out ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["no brain", "no graph", "another session"])
def test_aol_081_the_call_that_takes_the_workspace_in(world: World, case: str) -> None:
    a = world.repository("a", main_py="x = 1\n")
    actor = world.at(a)
    if case == "no graph":
        world.brain("a")
        world.close()
        for path in world.store(a).parent.glob("graph.db*"):
            path.unlink()
    elif case == "another session":
        b = world.brain("b", main_py="y = 1\n")
        elsewhere = Actor(world, replace(actor.caller, root=b))
        assert elsewhere.call("ingest", path=b, project_root=b)["ok"]  # binds this session to b
    before = guarded(actor, repo=a)
    guard = before["context_guard"]
    assert guard["recovery"]["kind"] == "same_binding_ingest"
    assert guard["recovery"]["steps"][0]["call"] == "ingest"
    assert before["trust"]["verdict"] == ("needs_ingest" if case == "no graph" else "wrong_workspace_binding")

    called(actor, guard["recovery"])

    after = guarded(actor, repo=a)
    assert after["context_guard"]["classification"] == "single_repo"
    assert after["trust"]["verdict"] == "full_trust"


def test_aol_080_aol_081_aol_082_every_payload_has_the_form_of_its_record(world: World) -> None:
    a, b = committed(world, "a", main_py="x = 1\n"), world.repository("b", other_py="y = 1\n")
    answers = [
        guarded(world.at(a), repo=b),
        guarded(world.at(a), repo=b, federation_intent=True),
        guarded(world.at(b), repo=b),
    ]

    kinds = []
    for answer in answers:
        way = msgspec.convert(answer["context_guard"]["recovery"], RecoveryPayload)
        kinds.append(way.kind)
        assert [step.order for step in way.steps] == list(range(1, len(way.steps) + 1))
        assert way.proof_required
        assert msgspec.convert(answer["context_guard"], ContextGuard).classification == "wrong_workspace_binding"
    assert kinds == ["host_rebind", "federation", "same_binding_ingest"]


def test_aol_086_the_guard_changes_nothing_and_says_so(world: World) -> None:
    a, b = committed(world, "a", main_py="x = 1\n"), committed(world, "b", main_py="y = 1\n")
    guarded(world.at(a), repo=b)
    before = tree_hash(world.home.path), tree_hash(Path(a)), git(a, "status", "--porcelain")

    guard = guarded(world.at(a), repo=b)["context_guard"]

    assert (tree_hash(world.home.path), tree_hash(Path(a)), git(a, "status", "--porcelain")) == before
    said = " ".join(guard["non_claims"])
    for word in ("rebind the host", "ingest or change the graph", "right target of the task"):
        assert word in said


# --- trust -------------------------------------------------------------------------------------------------------------


def test_aol_087_one_condition_for_each_verdict(world: World) -> None:
    a, b = committed(world, "a", main_py="x = 1\n"), world.repository("b", other_py="y = 1\n")
    actor, look = world.at(a), world.app.house.guard.look
    fresh = guarded(actor, repo=a)["trust"]

    found = {
        "full_trust": guarded(actor, repo=a, expected_fingerprint=fresh["binding_fingerprint"])["trust"]["verdict"],
        "wrong_workspace_binding": guarded(actor, repo=b)["trust"]["verdict"],
        "degraded_host_tool_surface": guarded(actor, repo=a, available_tools=["mcp__hindbrain__seek"])["trust"]["verdict"],
        "stale_binding_suspected": guarded(actor, repo=a, expected_fingerprint="sha256:other")["trust"]["verdict"],
        "retrieval_needs_recovery": look(actor.caller, repo=a, retrieval="blocked").trust.verdict,
    }
    Path(a, "main.py").write_text("x = 2\n", encoding="utf-8")
    Path(a, "new.py").write_text("z = 1\n", encoding="utf-8")
    stale = guarded(actor, repo=a)["trust"]
    found["orientation_only"] = stale["verdict"]
    found["needs_ingest"] = (
        Guard(world.home, world.app.house.router, NullGraph(), world.app.house.authority, world.clock)
        .look(actor.caller, repo=a)
        .trust.verdict
    )

    assert found == {name: name for name in get_args(TrustVerdict)}
    assert (stale["graph_freshness"], stale["changed_files_since_ingest"]) == ("stale", 2)


def test_aol_087_missing_tools_are_named_and_the_full_list_is_enough(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")

    lacking = guarded(world.at(a), missing_tools=["doctor", "my_own_tool"])
    whole = guarded(world.at(a), available_tools=[f"mcp__hindbrain__{name}" for name in REQUIRED_TOOLS])

    assert lacking["trust"]["verdict"] == "degraded_host_tool_surface"
    assert [one for one in lacking["warnings"] if "doctor" in one and "my_own_tool" not in one]
    assert whole["trust"]["verdict"] == "full_trust"


def test_aol_088_any_part_that_changes_gives_another_fingerprint() -> None:
    parts: dict[str, Any] = {
        "identity": "git:1",
        "workspace_root": "/a",
        "runtime_root": "/home",
        "build_id": "b",
        "generation": 1,
        "ingest_roots": ("/a",),
    }
    changes: dict[str, Any] = {
        "identity": "git:2",
        "workspace_root": None,
        "runtime_root": "/other",
        "build_id": "c",
        "generation": 2,
        "ingest_roots": ("/a", "/b"),
    }

    names = {fingerprint(**parts)} | {fingerprint(**{**parts, name: value}) for name, value in changes.items()}

    assert len(names) == 7
    assert fingerprint(**parts) == fingerprint(**parts)
    assert all(len(name) == len("sha256:") + 64 for name in names)


def test_aol_089_a_clone_elsewhere_is_the_same_repository(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")
    clone, bare = str(world.place / "elsewhere" / "clone"), world.repository("bare-beginning")
    git(a, "clone", "-q", a, clone)
    Path(clone, "more.py").write_text("y = 1\n", encoding="utf-8")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "More")

    assert identity_of(clone) == identity_of(a) == "git:" + git(a, "rev-list", "--max-parents=0", "HEAD").strip()
    git(a, "remote", "add", "origin", "git@github.com:Ada/engine.git")
    git(clone, "remote", "set-url", "origin", "https://user:secret@GitHub.com/Ada/engine")
    assert identity_of(clone) == identity_of(a) != "git:" + git(a, "rev-list", "--max-parents=0", "HEAD").strip()
    git(clone, "remote", "set-url", "origin", "https://github.com/Bea/engine")
    assert identity_of(clone) != identity_of(a)
    assert identity_of(bare) == f"path:{bare}"  # no commit yet


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:ada/engine.git", "github.com/ada/engine"),
        ("ssh://git@GitHub.com:22/ada/engine.git/", "github.com/ada/engine"),
        ("https://token@github.com/ada/engine", "github.com/ada/engine"),
        ("/srv/git/engine.git", ""),
        ("../engine", ""),
        ("file:///srv/git/engine.git", ""),
        ("", ""),
    ],
)
def test_aol_089_a_remote_has_one_name_however_it_is_written(url: str, name: str) -> None:
    assert remote_name(url) == name


# --- drift, generations, the null graph ---------------------------------------------------------------------------------


def test_aol_084_a_switch_of_branch_and_a_new_generation_are_drift(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")
    actor, look = world.at(a), world.app.house.guard.look
    first = look(actor.caller, repo=a).guard
    assert drift(first, look(actor.caller, repo=a).guard) == ()
    assert drift(None, first) == ()

    git(a, "commit", "-q", "--allow-empty", "-m", "Work on the same branch")
    assert drift(first, look(actor.caller, repo=a).guard) == ()
    git(a, "switch", "-q", "-c", "other")
    switched = drift(first, look(actor.caller, repo=a).guard)
    assert actor.call("ingest", path=a)["ok"]
    both = drift(first, look(actor.caller, repo=a).guard)
    away = drift(first, look(actor.caller, repo=world.repository("b")).guard)

    assert switched == ("context_drift: branch was main, is other",)
    assert both == ("context_drift: graph_generation was 1, is 2", *switched)
    assert "context_drift: classification was single_repo, is wrong_workspace_binding" in away


def test_aol_331_the_generation_grows_by_one_with_each_ingest(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")
    actor = world.at(a)

    def generation() -> int:
        return int(guarded(actor, repo=a)["context_guard"]["graph_generation"])

    seen = [generation()]
    for number in range(3):
        actor.memorize(f"Note {number}", "Memory is no graph of code.")
        assert actor.call("ingest", path=a)["ok"]
        seen.append(generation())

    assert seen == [1, 2, 3, 4]
    assert actor.call("ingest", path=str(world.place / "nowhere"))["ok"] is False
    assert generation() == 4


def test_aol_330_the_graph_behind_one_interface(world: World) -> None:
    code = "def grind():\n    return 1\n\n\ndef brew():\n    return grind()\n"
    a = committed(world, "a", coffee_py=code)
    caller, graph = world.at(a).caller, world.app.house.guard.graph

    status = graph.status(caller)
    assert (status.roots, status.generation, status.finalized, status.problem) == ((a,), 1, True, None)
    assert status.nodes
    assert status.edges
    assert "file::coffee.py::fn::brew" in graph.search(caller, "brew", kind="function")
    assert "file::coffee.py::fn::brew" in graph.neighbors(caller, "file::coffee.py::fn::grind")
    assert graph.neighbors(caller, "file::nothing.py") == []
    assert "file::coffee.py::fn::brew" in graph.impact(caller, ["file::coffee.py::fn::grind"])
    assert graph.behind(caller, a) == 0
    Path(a, "coffee.py").unlink()
    assert graph.behind(caller, a) == 1
    assert graph.ingest(caller, a).generation == 2


def test_aol_330_the_guard_works_without_a_graph(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")
    caller, null = world.at(a).caller, NullGraph()

    looked = Guard(world.home, world.app.house.router, null, world.app.house.authority, world.clock).look(caller, repo=a)

    assert (looked.guard.classification, looked.guard.graph_generation, looked.guard.ingest_roots) == ("single_repo", 0, ())
    assert (looked.trust.verdict, looked.trust.graph_freshness) == ("needs_ingest", "empty")
    assert (null.search(caller, "x"), null.neighbors(caller, "x"), null.impact(caller, ["x"])) == ([], [], [])
    assert null.ingest(caller, a) == null.status(caller)


def test_a_repository_that_is_gone_is_named(world: World) -> None:
    a = committed(world, "a", main_py="x = 1\n")

    guard = guarded(world.at(a), repo=os.path.join(a, "gone"))["context_guard"]

    assert (guard["classification"], guard["recovery"]) == ("wrong_workspace_binding", None)
    assert "gone" in guard["reason"]


def test_only_facts_decide() -> None:
    """The same facts give the same guard; a repository inside of another counts as part of it."""
    facts = GuardFacts(
        repo="/w/app/vendor/lib",
        workspace_root="/w/app",
        origin="git",
        bound_root="/w/app",
        ingest_roots=("/w/app",),
        projects=frozenset({"/w/app"}),
        repositories={"/w/app": "/w/app", "/w/app/vendor/lib": "/w/app/vendor/lib"},
        runtime_root="/home",
        binary_version="1",
        build_id="b",
        nodes=3,
    )

    assert classified(facts) == classified(facts)
    assert classified(facts).classification == "single_repo"
