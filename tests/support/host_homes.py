"""Homes of agent hosts for tests: configuration files of each host's documented format, with what people keep in them."""

import os
import stat
from pathlib import Path

__all__ = ["KEY", "PROJECT_FILES", "USER_FILES", "put_down", "snapshot"]

KEY = "of-another-server-0123456789"  # what no answer may show

# Path below the home -> what a person has there before us. Comments, tabs, other line ends, trailing commas, no last line end.
USER_FILES: dict[str, dict[str, str]] = {
    "claude-code": {
        ".claude.json": '{\n  "numStartups": 7,\n  "mcpServers": {\n    "weather": {\n      "type": "stdio",\n'
        f'      "command": "weather",\n      "env": {{"KEY": "{KEY}"}}\n    }}\n  }},\n'
        '  "projects": {"/src/app": {"history": ["naïve \\u00e9"]}}\n}',
        ".claude/settings.json": '{\n\t"model": "opus",\n\t"permissions": { "allow": ["Bash(ls:*)"] },\n'
        '\t"hooks": {\n\t\t"PostToolUse": [\n'
        '\t\t\t{ "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "fmt" }] }\n\t\t]\n\t}\n}\n',
        ".claude/CLAUDE.md": "# Mine\r\n\r\nAlways answer in French.\r\n",
    },
    "codex": {
        ".codex/config.toml": '# my Codex\nmodel = "o"  # the good one\nnotify = [\n  ["x"]\n]\n\n[features]\nweb = true\n\n'
        f'[mcp_servers.other]\ncommand = "other"\nenv = {{ KEY = "{KEY}" }}\n\n'
        '# the last word\n[profiles."a b"]\ntext = """\n[mcp_servers.hindbrain]\n"""',
        ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\n',
        ".codex/AGENTS.md": "No emojis.",
    },
    "cursor": {
        ".cursor/mcp.json": '{\r\n    // servers\r\n    "mcpServers": {\r\n'
        f'        "w": {{ "command": "w", "args": ["{KEY}"] }}, // the weather\r\n    }},\r\n}}\r\n',
        ".cursor/hooks.json": '{\n  "version": 1,\n  "hooks": {\n    "afterFileEdit": [{ "command": "./fmt.sh" }],\n'
        '    "stop": []\n  }\n}\n',
    },
    "gemini": {
        ".gemini/settings.json": '\ufeff{\n  "theme": "Atom One", /* dark */\n  "mcpServers": {},\n'
        f'  "security": {{ "auth": {{ "token": "{KEY}" }} }}\n  // the end\n}}\n',
        ".gemini/GEMINI.md": "\n\n",
    },
    "vscode": {
        ".config/Code/User/mcp.json": '{\n\t"inputs": [],\n\t"servers": { "a": { "type": "stdio", "command": "a" } }\n}\n'
    },
    "windsurf": {".codeium/windsurf/mcp_config.json": "{}"},
    "zed": {
        ".config/zed/settings.json": '// Zed settings\n{\n  "ui_font_size": 16,\n  "context_servers": {\n'
        '    "b": { "command": "b", "args": [] },\n  },\n}\n',
    },
}

PROJECT_FILES: dict[str, dict[str, str]] = {
    "claude-code": {".mcp.json": '{"mcpServers": {}}\n', "CLAUDE.md": "# Rules\n\nBe kind.\n"},
    "codex": {".codex/config.toml": 'model = "m"\r\n', "AGENTS.md": "# Agents\n"},
    "cursor": {".cursor/rules/mine.mdc": "---\nalwaysApply: false\n---\nmine\n"},
    "gemini": {".gemini/settings.json": '{\n    "hooks": {\n        "AfterTool": []\n    }\n}\n'},
    "vscode": {".vscode/mcp.json": '{ "servers": {} }'},
}


def put_down(base: Path, files: dict[str, str]) -> None:
    """Write files as they are, each with a mode of its own."""
    for number, (name, text) in enumerate(files.items()):
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod((0o600, 0o664, 0o640)[number % 3])


def snapshot(base: Path) -> dict[str, tuple[bytes, int]]:
    """Every file, link and directory below a place, with bytes and mode."""
    found: dict[str, tuple[bytes, int]] = {}
    for path in sorted(base.rglob("*")):
        facts = path.lstat()
        raw = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(base))] = (raw, stat.S_IMODE(facts.st_mode))
    return found
