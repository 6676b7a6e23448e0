"""Hosts: files are written only when told to, one host's process ends and no other, and only a new session proves a rebind."""

import json
import os
import signal
import stat
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.caller import AgentId
from hindbrain.operations import REGISTRY
from hindbrain.policy.recovery import CATALOG_NAMES, HANDSHAKES_KEPT
from hindbrain.stores.installation import installed
from tests.mcp.hosts import Bridge, mcp_is_up
from tests.support.installations import tree, wheel
from tests.support.owner import LIMIT_S, Starter
from tests.support.world import Actor, World, tree_hash

NO_REBIND = "no host rebind is proven without a new handshake"


@pytest.fixture
def place(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[World, str]:
    """A repository with a brain, on a machine of a user who has one program."""
    user = tmp_path / "user"
    (user / "bin").mkdir(parents=True)
    program = user / "bin" / "hindbrain"
    program.write_text("#!/bin/sh\nexec true\n")
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(user))
    others = [one for one in os.environ["PATH"].split(os.pathsep) if not Path(one, "hindbrain").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join([str(program.parent), *others]))
    return world, world.brain("shop")


def row(actor: Actor, host: str = "claude-code") -> dict[str, Any]:
    (found,) = actor.call("hosts.status", host=host)["hosts"]
    return dict(found)


def shaken(
    world: World, root: str | None, *, host: str = "claude-code", build: str | None = None, session: str = "s-new"
) -> None:
    """A session of a host begins, as the server records it. Another build: as a server of that build would have."""
    caller = replace(world.at(root, session=session).caller, agent=AgentId(f"{host}:agent"))
    handshakes = world.app.house.handshakes
    made = handshakes.record(caller, client_name=host, client_version="1", tools=["north"])
    if build is not None:
        file = world.home.path / "recovery" / "handshakes.jsonl"
        *before, last = file.read_text().splitlines()
        file.write_text("\n".join([*before, last.replace(made.build_id, build)]) + "\n")


# --- what is written ----------------------------------------------------------------------------------------------------


def test_aol_249_aol_253_a_host_is_configured_only_when_told_to(place: tuple[World, str]) -> None:
    world, root = place
    actor = world.at(root)
    before = tree_hash(world.home.path, Path(root))

    shown = actor.call("hosts.apply", host="claude-code")
    assert (shown["ok"], shown["writes"], tree_hash(world.home.path, Path(root))) == (True, False, before)
    assert any(step["mutating"] for step in shown["plan"])

    done = actor.call("hosts.apply", host="claude-code", yes=True)
    entry = json.loads(Path(root, ".mcp.json").read_text())["mcpServers"]["hindbrain"]
    assert (done["writes"], done["backup"], entry["args"]) == (True, None, ["mcp"])
    assert entry["command"] == str(Path(os.environ["HOME"], "bin", "hindbrain"))
    own = {"HINDBRAIN_HOST": "claude-code", "HINDBRAIN_WORKSPACE_ROOT": root}
    assert entry["env"] == {**own, "HINDBRAIN_HOME": str(world.home.path)}, "a home that nobody would find is named"
    assert (row(actor)["color"], row(actor)["workspace_hint"]) == ("green", root)
    again = actor.call("hosts.apply", host="claude-code", yes=True)
    assert (again["writes"], again["evidence"]["unchanged"]) == (False, True)


def test_aol_253_what_others_wrote_into_a_file_stays_and_is_copied_first(place: tuple[World, str]) -> None:
    world, root = place
    file = Path(root, ".mcp.json")
    text = json.dumps(
        {
            "mcpServers": {
                "weather": {"command": "weather", "env": {"KEY": "of-another-server"}},
                "memory": {"command": "/old/hindbrain", "args": ["mcp", "--profile", "full"], "env": {"HINDBRAIN_HOME": "/h"}},
            },
            "other": 1,
        }
    )
    file.write_text(text)
    file.chmod(0o640)

    done = world.at(root).call("hosts.apply", host="claude-code", yes=True)

    after = json.loads(file.read_text())
    assert (after["mcpServers"]["weather"], after["other"]) == (json.loads(text)["mcpServers"]["weather"], 1)
    assert sorted(after["mcpServers"]) == ["memory", "weather"], "our entry keeps its name"
    ours = after["mcpServers"]["memory"]
    assert (ours["args"], ours["env"]["HINDBRAIN_HOME"]) == (["mcp", "--profile", "full"], "/h")
    assert Path(done["backup"]).read_text() == text
    assert stat.S_IMODE(os.stat(done["backup"]).st_mode) == 0o600
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert "of-another-server" not in json.dumps(done)


def test_aol_253_a_toml_file_keeps_everything_else(place: tuple[World, str]) -> None:
    world, root = place
    file = Path(os.environ["HOME"], ".codex", "config.toml")
    file.parent.mkdir()
    file.write_text(
        '# mine\nmodel = "m"\n\n[mcp_servers.hindbrain]\ncommand = "/old/hindbrain"\nargs = ["mcp"]\n\n'
        '[mcp_servers.hindbrain.env]\nHINDBRAIN_HOME = "/h"\n\n[mcp_servers.other]\ncommand = "o"\n'
    )

    done = world.at(root).call("hosts.apply", host="codex", yes=True)

    text = file.read_text()
    after = tomllib.loads(text)
    assert done["writes"], done
    assert text.startswith('# mine\nmodel = "m"\n')
    assert after["mcp_servers"]["other"] == {"command": "o"}
    assert after["mcp_servers"]["hindbrain"]["env"] == {"HINDBRAIN_HOME": "/h", "HINDBRAIN_HOST": "codex"}
    assert row(world.at(root), "codex")["color"] == "green"


@pytest.mark.parametrize("fault", ["broken", "a link", "no table", "inline"])
def test_aol_253_a_file_that_cannot_be_changed_safely_is_left_alone(place: tuple[World, str], tmp_path: Path, fault: str) -> None:
    world, root = place
    host, file = (
        ("codex", Path(os.environ["HOME"], ".codex", "config.toml")) if fault == "inline" else ("", Path(root, ".mcp.json"))
    )
    file.parent.mkdir(exist_ok=True)
    if fault == "a link":
        target = tmp_path / "elsewhere.json"
        target.write_text("{}")
        file.symlink_to(target)
    else:
        texts = {"broken": "{", "no table": '{"mcpServers": []}', "inline": 'mcp_servers = { hindbrain = { command = "h" } }\n'}
        file.write_text(texts[fault])
    before = file.read_text()

    answer = world.at(root).call("hosts.apply", host=host or "claude-code", yes=True)

    assert answer["error"]["code"] in ("invalid_state", "path_refused")
    assert answer["error"]["fix"]
    assert file.read_text() == before


# --- what is proven -----------------------------------------------------------------------------------------------------


def test_aol_015_aol_243_aol_254_aol_311_only_a_new_session_proves_a_rebind(place: tuple[World, str]) -> None:
    """The whole way: nothing, a plan, an edited file, an old session, another build, another workspace, and then the proof."""
    world, root = place
    actor = world.at(root)
    build = installed().build
    world.clock.catch_up()
    shaken(world, root, session="s-old")
    world.clock.forward(1)
    said = []

    def look(what: str) -> None:
        found = row(actor)
        rebound = actor.call("ask", topic="rebound", host="claude-code")["answer"]
        assert rebound["host_rebind_proven"] is found["host_rebind_proven"]
        assert (NO_REBIND in rebound["non_claims"]) is True
        said.append((what, found["host_rebind_proven"]))

    look("an old session and no file")
    actor.call("hosts.plan", host="claude-code")
    look("a plan")
    actor.call("hosts.apply", host="claude-code", yes=True)
    look("an edited file")
    world.clock.forward(1)
    shaken(world, root, session="s-old")
    look("the old session, told again to a new owner")
    shaken(world, root, session="s-stale", build="0" * 16)
    look("a new session with another build")
    shaken(world, world.repository("other"), session="s-other")
    look("a new session in another workspace")
    shaken(world, root, host="gemini", session="s-gemini")
    look("a new session of another host")
    shaken(world, root, session="s-new")
    look("a new session of this build, here")

    assert said == [(what, what == "a new session of this build, here") for what, _ in said]
    last = row(actor)["last_handshake"]
    assert (last["session_id"], last["build_id"], last["workspace_root"]) == ("s-new", build, root)
    world.clock.forward(1)
    Path(root, ".mcp.json").write_text('{"mcpServers": {"hindbrain": {"command": "hindbrain", "args": ["mcp"]}}}')
    os.utime(Path(root, ".mcp.json"), ns=(0, world.clock.now * 1_000_000))
    assert row(actor)["host_rebind_proven"] is False, "somebody edited the file after it"


def test_aol_243_an_update_takes_every_proof_back(place: tuple[World, str], tmp_path: Path) -> None:
    world, root = place
    world.clock.catch_up()
    world.at(root).call("hosts.apply", host="claude-code", yes=True)
    world.clock.forward(1)
    shaken(world, root)
    assert row(world.at(root))["host_rebind_proven"] is True
    world.clock.forward(1)
    world.restart(update_source=str(wheel(tmp_path / "wheels", "2.0")))
    world.app.house.program = tree(tmp_path / "lib").base

    world.at(root).call("update.apply", yes=True)

    assert row(world.at(root))["host_rebind_proven"] is False


def test_aol_253_a_report_has_every_field_of_a_host(place: tuple[World, str]) -> None:
    world, root = place
    world.at(root).call("pack", host="claude", out=root, yes=True)
    world.at(root).call("hosts.apply", host="claude-code", yes=True)

    found = row(world.at(root))
    bare = row(world.at(root), "gemini")

    assert (found["pack_present"], found["config_file"], found["workspace_hint"]) == (True, str(Path(root, ".mcp.json")), root)
    assert found["command"] == str(Path(os.environ["HOME"], "bin", "hindbrain"))
    assert (found["last_handshake"], found["host_rebind_proven"]) == (None, False)
    assert (bare["pack_present"], bare["config_file"], bare["host_rebind_proven"]) == (False, None, False)


def test_aol_246_only_the_hosts_that_were_looked_at_are_named(place: tuple[World, str]) -> None:
    world, root = place

    for name in ("hosts.status", "hosts.plan", "hosts.apply"):
        answer = world.at(root).call(name, host="gemini")
        text = json.dumps(answer)
        assert "all_hosts_updated" not in text
        assert "only the hosts listed here were looked at" in answer["non_claims"]
        assert all(other not in text for other in ("Cursor", "Codex")), name


def test_aol_254_the_record_is_bounded_and_survives_a_broken_line(world: World) -> None:
    root = world.repository("shop")
    for number in range(3):
        shaken(world, root, session=f"s-{number}")
    file = world.home.path / "recovery" / "handshakes.jsonl"
    file.write_text("not json\n" + file.read_text() * (HANDSHAKES_KEPT // 2))

    shaken(world, root, session="s-last")

    kept = world.app.house.handshakes.all()
    assert (len(kept), kept[-1].session_id) == (HANDSHAKES_KEPT, "s-last")
    assert world.app.house.handshakes.seen_at("never") is None


# --- one shape ----------------------------------------------------------------------------------------------------------

SHAPE = {
    "diagnosis": (str, type(None)),
    "evidence": (dict,),
    "plan": (list,),
    "mutating": (bool,),
    "proof_required": (list,),
    "non_claims": (list,),
}


def test_aol_247_update_hosts_and_restart_answer_in_one_shape(place: tuple[World, str], tmp_path: Path) -> None:
    world, root = place
    world.restart(update_source=str(wheel(tmp_path / "wheels", "2.0")))
    world.app.house.program = tree(tmp_path / "lib").base
    calls: dict[str, dict[str, Any]] = {
        "update.check": {},
        "update.status": {},
        "update.plan": {},
        "update.apply": {"yes": True},
        "update.rollback": {"yes": True},
        "hosts.status": {},
        "hosts.plan": {},
        "hosts.apply": {"host": "cursor", "yes": True},
        "restart": {"host": "cursor", "yes": True},
    }
    family = {name for name in REGISTRY if name.split(".")[0] in ("update", "hosts", "restart")}
    family.remove("hosts.event")  # what a host tells us of a session, no change of a host
    assert set(calls) == family

    for name, given in calls.items():
        answer = world.at(root).call(name, **given)
        assert answer["ok"], (name, answer)
        for field, kinds in SHAPE.items():
            assert isinstance(answer[field], kinds), (name, field)
        assert answer["mutating"] is (REGISTRY[name].effect.value == "write"), name
        assert all({"action", "command", "mutating"} <= step.keys() for step in answer["plan"]), name
        assert len(answer["non_claims"]) == 4
        assert (answer["host_rebind_proven"], answer["graph_repaired"]) == (False, False)
    one = world.at(root).call("doctor", error_text="transport closed")["diagnoses"][0]
    assert SHAPE.keys() <= one.keys()


def test_aol_248_aol_249_mcp_offers_only_what_changes_nothing(place: tuple[World, str]) -> None:
    world, root = place
    actor = world.at(root)
    actor.call("mission.start", task="look around", mode="review")
    actor.call("doctor")
    actor.call("session_handshake")
    for name in CATALOG_NAMES.values():
        actor.call(name)
    before = tree_hash(world.home.path, Path(root))

    for name in CATALOG_NAMES.values():
        assert REGISTRY[name].effect.value == "read"
        assert "mcp" not in REGISTRY[name].left_out
        assert "error" not in actor.call(name), name

    assert tree_hash(world.home.path, Path(root)) == before
    for name in ("update.apply", "update.rollback", "hosts.apply", "restart", "doctor.fix"):
        assert "mcp" in REGISTRY[name].left_out


# --- one process --------------------------------------------------------------------------------------------------------


def test_aol_250_only_the_process_of_the_named_host_ends(world: World, starter: Starter) -> None:
    """Two hosts with a server each in one workspace, and one of the same host in another: one of three ends."""
    root, other = Path(world.repository("shop")), Path(world.repository("other"))
    mcp_is_up(starter(world.home.path))
    with (
        Bridge(world.home.path, root, HINDBRAIN_AGENT_ID="codex:agent") as codex,
        Bridge(world.home.path, root, HINDBRAIN_AGENT_ID="gemini:agent") as gemini,
        Bridge(world.home.path, other, HINDBRAIN_AGENT_ID="codex:agent") as elsewhere,
    ):
        for bridge in (codex, gemini, elsewhere):
            bridge.initialize()
            bridge.tool("session_handshake")
        actor = world.at(str(root))

        shown = actor.call("restart", host="codex")
        assert (shown["writes"], codex.process.poll()) == (False, None)
        assert [one["pid"] for one in shown["evidence"]["processes"]] == [codex.process.pid]

        done = actor.call("restart", host="codex", yes=True)
        assert codex.process.wait(LIMIT_S) == -signal.SIGTERM
        assert (gemini.process.poll(), elsewhere.process.poll()) == (None, None)
        assert "content" in gemini.tool("health")

    assert (done["ended"], done["host_rebind_proven"], done["proof_required"]) == ([codex.process.pid], False, ["host_handshake"])
    assert done["evidence"]["in_other_workspaces"] == 1
    after = actor.call("restart", host="codex", yes=True)
    assert (after["ended"], after["evidence"]["processes"][0]["why_not"]) == ([], "it is gone")


@pytest.mark.parametrize(("field", "why"), [("process_started", "another process"), ("executable", "not what shook hands")])
def test_aol_250_what_cannot_be_proven_to_be_ours_is_not_ended(world: World, field: str, why: str) -> None:
    """The record names this very process, with one fact that does not fit: it lives on to tell."""
    root = world.repository("shop")
    caller = replace(world.at(root).caller, agent=AgentId("codex:agent"))
    world.app.house.handshakes.record(caller, client_name="codex", client_version="1", tools=[], pid=os.getpid())
    file = world.home.path / "recovery" / "handshakes.jsonl"
    file.write_text(json.dumps({**json.loads(file.read_text()), field: "/another"}) + "\n")

    done = world.at(root).call("restart", host="codex", yes=True)

    assert done["ended"] == []
    assert why in done["evidence"]["processes"][0]["why_not"]


def test_aol_250_a_process_that_is_no_server_is_not_ended(world: World) -> None:
    root = world.repository("shop")
    caller = replace(world.at(root).caller, agent=AgentId("codex:agent"))
    world.app.house.handshakes.record(caller, client_name="codex", client_version="1", tools=[], pid=os.getpid())

    done = world.at(root).call("restart", host="codex", yes=True)

    assert (done["ended"], done["evidence"]["processes"][0]["why_not"]) == ([], "it is no server of ours")
    assert world.at(root).call("restart", host="emacs")["error"]["code"] == "invalid_params"
