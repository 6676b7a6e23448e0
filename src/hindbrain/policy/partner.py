"""The partner pair: two agent hosts in one project, what each is called, and how far back a look goes."""

from typing import Final

__all__ = [
    "ACTIVE_WITHIN_MS",
    "CLAUDE",
    "CLIENTS",
    "CODEX",
    "CODEX_DAYS",
    "PEEK_MESSAGES",
    "PEEK_MOST",
    "TAIL_BYTES",
    "TEXT_CHARACTERS",
    "TOOLS",
]

CLAUDE: Final = "claude"
CODEX: Final = "codex"
TOOLS = (CLAUDE, CODEX)

# What the hosts call themselves when they connect.
CLIENTS = {
    **dict.fromkeys(("claude", "claude-code", "claude_code"), CLAUDE),
    **dict.fromkeys(("codex", "codex-cli", "codex_cli", "codex-tui", "codex-mcp-client"), CODEX),
}

ACTIVE_WITHIN_MS = 30 * 60_000  # a session that was not written to for so long is taken as over
CODEX_DAYS = (7, 1)  # days before and after today (UTC) in which a session of Codex may have begun
PEEK_MESSAGES = 30
PEEK_MOST = 200
TAIL_BYTES = 8 * 1024 * 1024  # of a session's log; its end is what is asked for
TEXT_CHARACTERS = 4000  # of one message; a look is not a copy
