"""The nine diagnoses, each provoked for real, and none where nothing is wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

import hindbrain
from hindbrain.engines.diagnosis import DIAGNOSES, Signals, diagnose
from hindbrain.engines.tool_surface import REQUIRED_TOOLS
from hindbrain.operations import REGISTRY
from hindbrain.policy.hosts import HOSTS
from hindbrain.stores.checked_file import checked_vfs
from hindbrain.stores.installation import build_of
from tests.support.owner import Starter
from tests.support.world import World, tree_hash


@pytest.fixture
def quiet(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[World, str]:
    """A brain with one claim, on a machine with one program and no host: nothing is wrong."""
    monkeypatch.setenv("HOME", str(tmp_path))
    others = [one for one in os.environ["PATH"].split(os.pathsep) if not Path(one, "hindbrain").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join([str(program(tmp_path / "bin").parent), *others]))
    x = world.brain("x")
    world.at(x).memorize("Kettle", "The kettle boils at ninety degrees up here.")
    return world, x


def program(directory: Path) -> Path:
    """An executable called hindbrain."""
    directory.mkdir(parents=True)
    path = directory / "hindbrain"
    path.write_text("#!/bin/sh\nexec true\n")
    path.chmod(0o755)
    return path


def seen(answer: dict[str, Any]) -> list[str]:
    return [one["diagnosis"] for one in answer["diagnoses"]]


def checked(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """The diagnosis is there, comes first, has evidence and a plan, and claims nothing it cannot know."""
    assert seen(answer)[0] == name
    one: dict[str, Any] = answer["diagnoses"][0]
    assert one.keys() == {"diagnosis", "evidence", "plan", "proof_required", "mutating", "non_claims"}
    assert one["evidence"]
    assert one["plan"]
    assert all(step["action"] for step in one["plan"])
    assert one["mutating"] is False
    assert len(one["non_claims"]) == 4
    assert any(warning["kind"] == name for warning in answer["warnings"])
    assert any(cause.startswith(f"{name}: ") for cause in answer["probable_causes"])
    assert next(part for part in answer["sections"] if part["section"] == "runtime")["status"] == "warn"
    return one


def test_a_healthy_machine_has_none(quiet: tuple[World, str]) -> None:
    world, x = quiet

    answer = world.at(x).call(
        "doctor", available_tools=[name for name, op in REGISTRY.items() if op.everyday] + list(REQUIRED_TOOLS)
    )

    assert (answer["status"], seen(answer)) == ("ok", [])
    assert {part["status"] for part in answer["sections"]} == {"ok"}


@pytest.mark.req("AOL-238", "AOL-258")
def test_aol_238_aol_258_a_dead_transport(starter: Starter, tmp_path: Path) -> None:
    """Given an owner that was killed, doctor still works without it and says so."""
    running = starter(tmp_path / "home")
    running.process.send_signal(signal.SIGKILL)
    running.process.wait()

    done = subprocess.run(
        [sys.executable, "-m", "hindbrain", "doctor", "--json"],
        env={**os.environ, "HINDBRAIN_HOME": str(running.home), "HINDBRAIN_MODE": "auto", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    one = checked(json.loads(done.stdout), "dead_mcp_transport")
    assert str(running.facts["pid"]) in one["evidence"]["problem"]


@pytest.mark.req("AOL-238")
@pytest.mark.parametrize("text", ["Transport closed", "MCP error -32000: Connection closed", "[Errno 32] Broken pipe"])
def test_aol_238_a_transport_that_the_caller_saw_die(quiet: tuple[World, str], text: str) -> None:
    world, x = quiet

    assert checked(world.at(x).call("doctor", error_text=text), "dead_mcp_transport")["evidence"] == {"error_text": text}


@pytest.mark.req("AOL-236")
def test_aol_236_a_host_that_lists_fewer_tools_than_are_offered(quiet: tuple[World, str]) -> None:
    world, x = quiet
    offered = {name for name, op in REGISTRY.items() if op.everyday}

    answer = world.at(x).call("doctor", available_tools=sorted((offered | set(REQUIRED_TOOLS)) - {"memorize"}))

    assert checked(answer, "stale_host_tool_surface")["evidence"] == {"offered_but_not_listed": ["memorize"]}


@pytest.mark.req("AOL-239", "AOL-259")
def test_aol_239_required_tools_are_missing_and_that_stands_first(quiet: tuple[World, str]) -> None:
    world, x = quiet

    answer = world.at(x).call("doctor", available_tools=["mcp__hindbrain__north", "mcp__hindbrain__seek"])

    assert "doctor" in checked(answer, "missing_recovery_tools")["evidence"]["missing"]
    assert seen(answer) == ["missing_recovery_tools", "stale_host_tool_surface"]


@pytest.mark.req("AOL-237")
def test_aol_237_a_scope_in_another_workspace(quiet: tuple[World, str]) -> None:
    world, x = quiet
    other = world.repository("other")

    one = checked(world.at(x).call("doctor", scope=other), "wrong_workspace")

    assert one["evidence"]["mismatch"]["requested_workspace_hint"] == other


@pytest.mark.req("AOL-240", "GR-167", "GR-169")
def test_aol_240_a_host_that_starts_another_program(quiet: tuple[World, str], tmp_path: Path) -> None:
    world, x = quiet
    stranger = program(tmp_path / "elsewhere")
    Path(x, ".mcp.json").write_text(json.dumps({"mcpServers": {"hindbrain": {"command": str(stranger), "args": ["mcp"]}}}))

    one = checked(world.at(x).call("doctor"), "mixed_path_config")
    row = world.at(x).call("hosts.status", host="claude-code")["hosts"][0]

    assert {str(stranger), str(tmp_path / "bin" / "hindbrain")} <= {found["file"] for found in one["evidence"]["programs"]}
    assert (row["color"], row["host_rebind_proven"]) == ("red", False)
    assert str(stranger) in row["reason"]


@pytest.mark.req("AOL-234", "AOL-251", "AOL-252", "GR-164")
def test_aol_234_a_package_older_than_the_expected_one(quiet: tuple[World, str]) -> None:
    world, x = quiet
    fresh = world.at(x).call("update.status")
    assert (fresh["state"], "nothing is wrong" in fresh["rendered"]) == ("unknown", True)
    (world.home.path / "release.json").write_text(json.dumps({"version": "999.1"}))

    one = checked(world.at(x).call("doctor"), "stale_package")
    plan = world.at(x).call("update.plan")

    assert (one["evidence"]["installed"], one["evidence"]["expected"]) == (hindbrain.__version__, "999.1")
    assert (plan["state"], plan["writes"], plan["graph_repaired"]) == ("stale", False, False)
    assert any("999.1" in step["command"] and step["mutating"] for step in plan["steps"])
    assert "  2. install 999.1: python -m pip install 'hindbrain==999.1'" in plan["rendered"].splitlines()


@pytest.mark.req("AOL-242")
def test_aol_242_a_build_that_is_not_the_expected_one(quiet: tuple[World, str]) -> None:
    world, x = quiet
    found = build_of(Path(hindbrain.__file__).parent)
    (world.home.path / "release.json").write_text(json.dumps({"build": "0123456789abcdef"}))

    assert checked(world.at(x).call("doctor"), "build_mismatch")["evidence"] == {"expected": "0123456789abcdef", "found": found}

    (world.home.path / "release.json").write_text(json.dumps({"build": found}))
    assert seen(world.at(x).call("doctor")) == []


@pytest.mark.req("AOL-235", "GR-164")
def test_aol_235_an_owner_that_runs_what_is_no_longer_installed(tmp_path: Path) -> None:
    """Given an owner and then another version of its files, the program on disk sees the difference."""
    package = tmp_path / "lib" / "hindbrain"
    shutil.copytree(Path(hindbrain.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "lib"), "HINDBRAIN_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    def ran(*words: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "hindbrain", *words]
        done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    try:
        assert ran("call", "health", "{}", "--json")["ok"]
        subprocess.run(
            [sys.executable, "-m", "hindbrain", "serve", "--on-demand", "--help"], env=environ, check=True, capture_output=True
        )
        environ["HINDBRAIN_MODE"] = "owner"
        assert ran("call", "health", "{}", "--json")["ok"]
        with (package / "domain" / "brain.py").open("a") as file:
            file.write("\n# another release\n")
        environ["HINDBRAIN_MODE"] = "embedded"

        one = checked(ran("doctor", "--json"), "stale_runtime")
        status = ran("update", "status", "--json")
    finally:
        subprocess.run([sys.executable, "-m", "hindbrain", "stop"], env=environ, check=False, capture_output=True)

    assert one["evidence"]["running"]["build"] != one["evidence"]["installed"]["build"]
    assert (status["owner_version_skew"], status["state"], status["host_rebind_proven"]) == (True, "mixed", False)


@pytest.mark.req("AOL-241")
def test_aol_241_a_claim_that_is_there_and_is_not_found(quiet: tuple[World, str]) -> None:
    """Given an index that lost its rows without noticing, doctor says so, and the repair brings the claim back."""
    world, x = quiet
    world.app.house.brains.close()
    index = apsw.Connection(str(world.store(x).parent / "index.db"), vfs=checked_vfs())
    index.execute("delete from words")
    index.close()
    assert world.at(x).seek("kettle")["results"] == []

    answer = world.at(x).call("doctor", observed_candidates=0, observed_query="kettle boils", observed_tool="seek")

    one = checked_index(answer)
    assert one["evidence"]["literal_hits"] == 1
    plan = world.at(x).call("doctor.fix")
    assert (plan["writes"], [row["kind"] for row in plan["repairs"]]) == (False, ["index"])
    assert world.at(x).seek("kettle")["results"] == []
    assert world.at(x).call("doctor.fix", yes=True)["repairs"][0]["done"]
    assert [row["slug"] for row in world.at(x).seek("kettle")["results"]] == ["kettle"]
    assert seen(world.at(x).call("doctor")) == []


def checked_index(answer: dict[str, Any]) -> dict[str, Any]:
    one = checked(answer, "graph_populated_retrieval_blocked")
    assert "own words" in one["evidence"]["index"]
    return one


@pytest.mark.req("AOL-259")
def test_aol_259_what_hides_other_faults_stands_before_them() -> None:
    signals = Signals(
        error_text="transport closed",
        offered_tools=("north",),
        listed_tools=("seek",),
        required_tools=("doctor",),
        mismatch={"code": "wrong_workspace_binding"},
        installed_version="1.0",
        expected_version="2.0",
        installed_build="a",
        running_version="0.9",
        running_build="b",
        expected_build="c",
        programs=(("PATH", "/a"), ("host", "/b")),
        nodes=3,
        index_problem="behind",
    )

    assert [one.diagnosis for one in diagnose(signals)] == list(DIAGNOSES)
    assert len(DIAGNOSES) == 9


@pytest.mark.req("AOL-248", "AOL-249", "GR-160", "GR-165", "GR-166", "GR-168")
def test_aol_248_no_report_changes_anything(quiet: tuple[World, str]) -> None:
    world, x = quiet
    world.at(x).call("doctor")
    before = tree_hash(world.home.path), tree_hash(Path(x))

    plan = world.at(x).call("hosts.plan")
    for name in ("doctor", "update.status", "update.plan", "hosts.status", "recovery_playbook", "trust_selftest", "doctor.fix"):
        assert "error" not in world.at(x).call(name), name

    assert (tree_hash(world.home.path), tree_hash(Path(x))) == before
    assert {one["host"] for one in plan["plans"]} == {host.name for host in HOSTS}
    for one in plan["plans"]:
        (servers,) = one["snippet"].values()
        assert servers["hindbrain"]["args"] == ["mcp"]
        assert "HINDBRAIN_HOST" in servers["hindbrain"]["env"]
        # Only where the file is the project's own, or the host knows the open project, is a root named.
        bound = servers["hindbrain"]["env"].get("HINDBRAIN_WORKSPACE_ROOT")
        assert bound == {"claude-code": x, "gemini": x, "vscode": x, "cursor": "${workspaceFolder}"}.get(one["host"])
    assert '"hindbrain"' in plan["rendered"]
    assert "[mcp_servers.hindbrain]" in plan["rendered"]
    assert "mcp" in REGISTRY["doctor.fix"].left_out


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("claude-code", ".claude.json", '{{"mcpServers": {{"hindbrain": {{"command": "hindbrain", "args": ["mcp"]}}}}}}'),
        ("codex", ".codex/config.toml", '[mcp_servers.hindbrain]\ncommand = "hindbrain"\nargs = ["mcp"]\n'),
        ("cursor", ".cursor/mcp.json", '{{"mcpServers": {{"memory": {{"command": "{bin}/hindbrain"}}}}}}'),
        ("gemini", ".gemini/settings.json", '{{"mcpServers": {{"hindbrain": {{"command": "hindbrain"}}}}}}'),
    ],
)
@pytest.mark.req("GR-167")
def test_gr_167_each_host_is_read_in_its_own_form(
    quiet: tuple[World, str], tmp_path: Path, host: str, file: str, text: str
) -> None:
    world, x = quiet
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.format(bin=tmp_path / "bin") if "{{" in text else text)

    answer = world.at(x).call("hosts.status")
    rows = {row["host"]: row for row in answer["hosts"]}

    told = {line.strip().split("  ")[0]: line for line in answer["rendered"].splitlines()[1:]}
    assert f"{path}: not proven: no handshake of this host is on record" in told[rows[host]["title"]]
    assert all("not connected" in told[row["title"]] for name, row in rows.items() if name != host)
    assert (rows[host]["color"], rows[host]["aligned"], rows[host]["config_file"]) == ("green", True, str(path))
    assert {row["color"] for name, row in rows.items() if name != host} == {"grey"}


def test_a_file_of_a_host_that_is_broken_is_named(quiet: tuple[World, str], tmp_path: Path) -> None:
    world, x = quiet
    (tmp_path / ".claude.json").write_text("{ not json")

    answer = world.at(x).call("hosts.status", host="claude-code")
    row = answer["hosts"][0]

    assert (row["color"], row["files"]) == ("grey", [str(tmp_path / ".claude.json")])
    assert f"Claude Code  not connected  {tmp_path / '.claude.json'} cannot be read" in answer["rendered"]
    assert world.at(x).call("hosts.status", host="emacs")["error"]["code"] == "invalid_params"
