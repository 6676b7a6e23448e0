"""Install and uninstall: our parts go into files of hosts by the smallest edit, and every file comes back as it was."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.misdelivery import Misdelivery
from hindbrain.engines import json_edit
from hindbrain.operations import REGISTRY
from tests.hosts.conftest import Desk
from tests.maintenance.test_maintenance import parsed
from tests.support.dying import DIED
from tests.support.host_homes import KEY, PROJECT_FILES, USER_FILES, put_down, snapshot

EVENTS = {
    "claude-code": {"SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop", "SubagentStop", "PostToolUse"},
    "codex": {"SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop", "SubagentStop", "PostToolUse"},
    "cursor": {"sessionStart", "beforeSubmitPrompt", "preCompact", "stop", "subagentStop", "postToolUse"},
    "gemini": {"SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "AfterTool"},
}
SERVERS = {
    "claude-code": (".claude.json", "mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
    "zed": (".config/zed/settings.json", "context_servers"),
}
HOOKS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
}


def read(path: Path) -> Any:
    text = path.read_bytes().decode()
    return tomllib.loads(text) if path.suffix == ".toml" else json_edit.read(text)


def commands(hooks: dict[str, Any], event: str) -> list[str]:
    return [one["command"] for element in hooks.get(event, []) for one in element.get("hooks", [element])]


def kept(old: Any, new: Any) -> bool:
    """Whether all that a document said is still said by another one."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and kept(value, new[key]) for key, value in old.items())
    if isinstance(old, list):
        return isinstance(new, list) and new[: len(old)] == old
    return bool(old == new)


def only_added(old: bytes, new: bytes) -> bool:
    """Whether every byte of a file is still there, in its order: nothing was rewritten, something was put between."""
    left = iter(new)
    return all(byte in left for byte in old)


@pytest.mark.parametrize("host", sorted(USER_FILES))
def test_mind_489_host_install_and_uninstall_leave_everything_else_byte_for_byte(desk: Desk, host: str) -> None:
    put_down(desk.user, USER_FILES[host])
    before = snapshot(desk.user)
    old = {name: read(desk.user / name) for name in USER_FILES[host] if not name.endswith(".md")}

    shown = desk.call("install", host=host)
    assert (shown["ok"], shown["writes"], shown["pending"], snapshot(desk.user)) == (True, False, True, before)
    done = desk.call("install", host=host, yes=True, plan_id=shown["plan_id"])
    assert done["writes"], done
    installed = snapshot(desk.user)

    # The server, the hooks and the block are there; what was there still is, comments and modes included.
    file, key = SERVERS[host]
    entry = read(desk.user / file)[key]["hindbrain"]
    assert (entry["command"], entry["args"]) == (desk.program, ["mcp"])
    assert entry["env"]["HINDBRAIN_HOST"] == host
    if host in HOOKS:
        hooks = read(desk.user / HOOKS[host])["hooks"]
        for event in EVENTS[host]:
            (ours,) = [one for one in commands(hooks, event) if "hindbrain" in one]
            assert ours.startswith(f"{desk.program} hook {host} {event}"), ours
    for name, (raw, mode) in before.items():
        assert installed[name][1] == mode, name
        assert only_added(raw, installed[name][0]), name
        if name in old:
            assert kept(old[name], read(desk.user / name)), name
        elif name.endswith(".md"):
            assert installed[name][0].count(b"<!-- hindbrain:begin -->") == 1, name

    # A second time changes nothing, and nothing of others was shown.
    again = desk.call("install", host=host, yes=True)
    assert (again["ok"], again["writes"], snapshot(desk.user)) == (True, False, installed)
    assert KEY not in json.dumps([shown, done, again])

    gone = desk.call("uninstall", host=host, yes=True)
    assert (gone["ok"], gone["writes"], snapshot(desk.user)) == (True, True, before)
    assert [path for path in desk.world.home.hosts_dir.iterdir() if path.is_dir()] == []
    assert desk.call("uninstall", host=host, yes=True)["writes"] is False


def test_host_files_and_directories_that_were_made_go_again(desk: Desk) -> None:
    for place in (".claude", ".codex", ".cursor", ".gemini", ".config/zed"):
        (desk.user / place).mkdir(parents=True)
    before = snapshot(desk.user)

    done = desk.call("install", yes=True)
    made = desk.actions(done)
    gone = desk.call("uninstall", yes=True)

    assert [row["host"] for row in done["hosts"]] == ["claude-code", "codex", "cursor", "gemini", "zed"]
    assert set(made.values()) == {"make"}
    assert set(made) >= {".claude.json", ".codex/hooks.json", ".cursor/mcp.json", ".gemini/GEMINI.md"}
    assert (gone["ok"], snapshot(desk.user)) == (True, before)


@pytest.mark.req("MED-391")
def test_med_391_instruction_files_say_who_promotes_and_how_to_report_a_misdelivery(desk: Desk) -> None:
    for place in (".claude", ".codex", ".cursor", ".gemini"):
        (desk.user / place).mkdir(parents=True)

    done = desk.call("install", yes=True)

    texts = [desk.user / name for name in desk.actions(done) if name.endswith((".md", ".mdc"))]
    assert len(texts) >= 3
    for path in texts:
        block = path.read_text(encoding="utf-8")
        assert "Makers propose" in block, path
        assert re.search(r"orchestrator or a person promotes .* with a reason", block), path
        assert all(kind.value in block for kind in Misdelivery), path
        (command,) = re.findall(r"`(hindbrain report [^`]+)`", block)
        name, given = parsed(command)
        assert (name, given["class"], given["kind"]) == ("report", "memory_misdelivery", "leak")


@pytest.mark.parametrize("host", sorted(PROJECT_FILES))
def test_host_a_project_has_files_of_its_own(desk: Desk, host: str) -> None:
    put_down(desk.root, PROJECT_FILES[host])
    before, users = snapshot(desk.root), snapshot(desk.user)
    below = desk.root / "src"
    below.mkdir()
    (below / "keep").write_text("")

    done = desk.world.at(str(below)).call("install", host=host, project=True, yes=True)
    files = [file["path"] for row in done["hosts"] for file in row["files"]]
    texts = "".join(Path(file).read_text() for file in files)
    gone = desk.call("uninstall", host=host, project=True, yes=True)

    assert all(Path(file).is_relative_to(desk.root) and not Path(file).is_relative_to(below) for file in files), files
    assert (desk.program in texts, f'"{host}"' in texts, snapshot(desk.user)) == (True, True, users)
    assert (gone["ok"], {k: v for k, v in snapshot(desk.root).items() if not k.startswith("src")}) == (True, before)


def test_host_what_was_changed_since_is_not_put_back_but_ours_goes(desk: Desk) -> None:
    put_down(desk.user, USER_FILES["claude-code"] | USER_FILES["codex"])
    desk.call("install", yes=True)
    settings, toml, notes = (desk.user / one for one in (".claude/settings.json", ".codex/config.toml", ".claude/CLAUDE.md"))
    for path, old, new in (
        (settings, '"opus"', '"sonnet"'),
        (toml, 'model = "o"', 'model = "p"'),
        (notes, "French", "Dutch"),
    ):
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))

    planned = desk.call("uninstall")
    gone = desk.call("uninstall", yes=True)
    actions = desk.actions(gone)

    assert "only what is ours would be taken out" in planned["rendered"]
    assert "would be as it was before" in planned["rendered"]
    assert "Values of yours are shown as …" in planned["rendered"]
    assert (actions[".claude/settings.json"], actions[".codex/config.toml"], actions[".claude/CLAUDE.md"]) == ("edit",) * 3
    assert (actions[".claude.json"], actions[".codex/hooks.json"]) == ("restore", "restore")
    files = USER_FILES["claude-code"] | USER_FILES["codex"]
    assert settings.read_bytes().decode() == files[".claude/settings.json"].replace("opus", "sonnet")
    assert toml.read_bytes().decode() == files[".codex/config.toml"].replace('"o"', '"p"') + "\n", "a last line end stays"
    assert notes.read_bytes().decode() == files[".claude/CLAUDE.md"].replace("French", "Dutch")
    assert "only what is ours" in gone["rendered"]


def test_host_without_a_record_only_what_is_ours_is_taken_out(desk: Desk) -> None:
    put_down(desk.user, USER_FILES["gemini"])
    desk.call("install", host="gemini", yes=True)
    for place in desk.world.home.hosts_dir.iterdir():
        if place.is_dir():
            (place / "record.json").unlink()

    desk.call("uninstall", host="gemini", yes=True)

    text = (desk.user / ".gemini/settings.json").read_bytes().decode()
    assert text == USER_FILES["gemini"][".gemini/settings.json"].replace('  "mcpServers": {},\n', ""), (
        "an empty table may be ours"
    )
    assert (desk.user / ".gemini/GEMINI.md").read_text() == "\n\n"


def test_mind_489_stale_hooks_are_healed_and_an_entry_that_was_there_comes_back(desk: Desk) -> None:
    """Somebody had put us in by hand, with an older program: it is brought up to date, and put back at the end."""
    mine = {"mcpServers": {"memory": {"command": "/old/hindbrain", "args": ["mcp", "--profile", "full"], "note": 1}}}
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "/old/hindbrain hook claude-code"}]}]}}
    put_down(desk.user, {".claude.json": json.dumps(mine, indent=1), ".claude/settings.json": json.dumps(hooks, indent=1)})
    before = snapshot(desk.user)

    desk.call("install", host="claude-code", yes=True)
    entry = read(desk.user / ".claude.json")["mcpServers"]
    now = read(desk.user / ".claude/settings.json")["hooks"]
    assert (list(entry), entry["memory"]["args"], entry["memory"]["note"]) == (["memory"], ["mcp", "--profile", "full"], 1)
    assert entry["memory"]["command"] == desk.program
    assert len(commands(now, "SessionStart")) == 1
    assert commands(now, "SessionStart")[0].startswith(desk.program)

    edited = desk.user / ".claude.json"
    edited.write_text(edited.read_text().replace("{", '{\n "new": 1,', 1))
    desk.call("uninstall", host="claude-code", yes=True)
    assert read(edited) == {"new": 1, **mine}
    assert snapshot(desk.user)[".claude/settings.json"] == before[".claude/settings.json"]


def test_mind_489_broken_read_only_and_foreign_files_are_refused_and_stay(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    faults = {
        "broken": lambda path: path.write_text('{"hooks": '),
        "not text": lambda path: path.write_bytes(b"\xff\xfe{\x00}\x00"),
        "no table": lambda path: path.write_text('{"hooks": []}'),
        "no list": lambda path: path.write_text('{"hooks": {"Stop": 1}}'),
        "no object": lambda path: path.write_text("[]"),
        "deep": lambda path: path.write_text("[" * 100_000),
        "read-only": lambda path: (path.write_text("{}"), path.chmod(0o444)),
        "link out": lambda path: path.symlink_to(outside),
        "pipe": lambda path: os.mkfifo(path),
        "directory": lambda path: path.mkdir(),
    }
    settings = desk.user / ".claude" / "settings.json"
    settings.parent.mkdir()
    for fault, made in faults.items():
        made(settings)
        facts = (settings.lstat().st_mode, settings.read_bytes() if settings.is_file() else b"")

        answer = desk.call("install", host="claude-code", yes=True)

        assert answer["error"]["code"] in ("invalid_state", "path_refused"), (fault, answer)
        assert (settings.lstat().st_mode, settings.read_bytes() if settings.is_file() else b"") == facts, fault
        if fault != "read-only":
            assert not (desk.user / ".claude.json").exists(), "one file that cannot be changed keeps the whole host as it is"
        else:
            desk.call("uninstall", host="claude-code", yes=True)
        settings.rmdir() if settings.is_dir() else settings.unlink()
    assert outside.read_text() == "{}"

    # Beside a host whose files are good it is named, and the other one is served.
    settings.write_text("{")
    (desk.user / ".codex").mkdir()
    both = desk.call("install", yes=True)
    assert ([row["host"] for row in both["hosts"]], [one["host"] for one in both["refused"]]) == (["codex"], ["claude-code"])


def test_host_a_link_inside_the_home_is_followed_and_stays_a_link(desk: Desk) -> None:
    put_down(desk.user, {"dotfiles/settings.json": USER_FILES["claude-code"][".claude/settings.json"]})
    (desk.user / ".claude").mkdir()
    (desk.user / ".claude" / "settings.json").symlink_to(desk.user / "dotfiles" / "settings.json")
    before = snapshot(desk.user)

    desk.call("install", host="claude-code", yes=True)
    assert (desk.user / ".claude" / "settings.json").is_symlink()
    assert "hindbrain hook" in (desk.user / "dotfiles" / "settings.json").read_text()
    desk.call("uninstall", host="claude-code", yes=True)

    assert snapshot(desk.user) == before


def test_host_a_repository_cannot_lead_us_out_of_itself(desk: Desk) -> None:
    """A link that a repository brings along is not followed into the user's home."""
    (desk.user / ".bashrc").write_text("mine\n")
    (desk.root / "CLAUDE.md").symlink_to(desk.user / ".bashrc")

    answer = desk.call("install", host="claude-code", project=True, yes=True)

    assert (answer["error"]["code"], (desk.user / ".bashrc").read_text()) == ("path_refused", "mine\n")


@pytest.mark.parametrize("suffix", ["settings.json", "CLAUDE.md"])
def test_host_a_death_between_two_files_is_repaired_by_uninstall(desk: Desk, suffix: str) -> None:
    files = USER_FILES["claude-code"] if suffix != "CLAUDE.md" else {".claude/keep": ""}
    put_down(desk.user, files)
    before = snapshot(desk.user)
    desk.world.close()
    given = json.dumps({"host": "claude-code", "yes": True})
    words = [str(desk.world.home.path), str(desk.root), suffix, "install", given]

    died = subprocess.run([sys.executable, "-m", "tests.support.dying", *words], cwd=Path(__file__).parents[2], check=False)
    assert died.returncode == DIED
    gone = desk.call("uninstall", yes=True)

    left = {name: one for name, one in snapshot(desk.user).items() if not name.endswith(".tmp")}
    assert (gone["ok"], left) == (True, before)
    assert [path for path in desk.world.home.hosts_dir.iterdir() if path.is_dir()] == []


def test_host_what_was_shown_is_what_is_written(desk: Desk) -> None:
    put_down(desk.user, USER_FILES["zed"])
    shown = desk.call("install", host="zed")
    path = desk.user / ".config/zed/settings.json"
    path.write_text(path.read_text().replace("16", "18"))

    late = desk.call("install", host="zed", yes=True, plan_id=shown["plan_id"])
    dry = desk.call("install", host="zed", yes=True, dry_run=True)

    assert (late["error"]["code"], "hindbrain" in path.read_text(), dry["writes"]) == ("invalid_state", False, False)
    assert '+    "hindbrain": {' in dry["hosts"][0]["files"][0]["diff"]


def test_host_one_that_is_not_here_says_what_was_looked_for(desk: Desk) -> None:
    none = desk.call("install", yes=True)
    one = desk.call("install", host="cursor")
    wrong = desk.call("install", host="emacs")

    assert (none["error"]["code"], one["error"]["code"], wrong["error"]["code"]) == (
        "host_absent",
        "host_absent",
        "invalid_params",
    )
    assert all(word in one["error"]["message"] for word in ("cursor-agent", "~/.cursor"))
    assert snapshot(desk.user).keys() == {"bin", "bin/hindbrain"}

    (desk.user / "bin" / "cursor").write_text("#!/bin/sh\n")
    (desk.user / "bin" / "cursor").chmod(0o755)
    assert desk.call("install", host="cursor")["pending"] is True


def test_host_printing_looks_at_nothing(desk: Desk) -> None:
    (desk.user / ".codex").mkdir()
    (desk.user / ".codex" / "config.toml").write_text("= broken")

    told = desk.call("install", host="codex", print=True, yes=True)

    texts = {Path(file["path"]).name: file["text"] for file in told["hosts"][0]["files"]}
    assert tomllib.loads(texts["config.toml"])["mcp_servers"]["hindbrain"]["args"] == ["mcp"]
    assert set(json.loads(texts["hooks.json"])["hooks"]) >= EVENTS["codex"]
    assert (told["writes"], snapshot(desk.user)[".codex/config.toml"][0]) == (False, b"= broken")


def test_host_a_variable_moves_the_files_of_a_host(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    monkeypatch.setenv("CODEX_HOME", str(moved))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    desk.world.restart()

    done = desk.call("install", yes=True)
    assert [row["host"] for row in done["hosts"]] == ["claude-code", "codex"]
    assert {path.name for path in moved.iterdir()} >= {"config.toml", "hooks.json", ".claude.json", "settings.json"}
    assert desk.call("hosts.status", host="codex")["hosts"][0]["config_file"] == str(moved / "config.toml")
    desk.call("uninstall", yes=True)

    assert (list(moved.iterdir()), (desk.user / ".codex").exists()) == ([], False)


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
        ("codex", ".codex/config.toml", "[features]\ncodex_hooks = false\n"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}'),
    ],
)
def test_mind_489_a_host_that_runs_no_hooks_is_a_warning(desk: Desk, host: str, file: str, text: str) -> None:
    put_down(desk.user, {file: text})

    shown = desk.call("install", host=host)
    (desk.user / file).write_text(text.replace("false", "true") if host != "claude-code" else text.replace("true", "false"))
    fine = desk.call("install", host=host)

    assert [file in one for one in shown["hosts"][0]["warnings"]] == [True]
    assert "Warning" in shown["rendered"]
    assert fine["hosts"][0]["warnings"] == []


def test_host_only_a_person_at_a_terminal_installs() -> None:
    for name in ("install", "uninstall"):
        assert {"mcp", "http"} <= set(REGISTRY[name].left_out)
        assert all("person" in why for why in REGISTRY[name].left_out.values())


def test_host_apply_and_install_are_one_mechanism(desk: Desk) -> None:
    put_down(desk.user, USER_FILES["codex"])
    before = snapshot(desk.user)

    applied = desk.call("hosts.apply", host="codex", yes=True)
    installed = desk.call("install", host="codex", yes=True)
    status = desk.call("hosts.status", host="codex")["hosts"][0]
    desk.call("uninstall", host="codex", yes=True)

    assert Path(applied["evidence"]["file"]) == desk.user / ".codex/config.toml"
    assert desk.actions(installed)[".codex/config.toml"] == "keep"
    assert (status["color"], status["command"]) == ("green", desk.program)
    assert snapshot(desk.user) == before
