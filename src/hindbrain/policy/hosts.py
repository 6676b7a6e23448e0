"""Hosts: where each agent host keeps its list of MCP servers. Read only; nothing here is ever written by a report."""

from dataclasses import dataclass

__all__ = ["HOSTS", "SERVER", "Host", "HostFile"]

SERVER = "hindbrain"  # the name under which a host lists us; another name is found by its command


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """One configuration file: relative to the user's home, or to the project."""

    path: str
    of_project: bool
    form: str  # json or toml
    key: str  # the table of servers in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One agent host: its files in the order in which it reads them, and how its servers are started anew."""

    name: str
    title: str
    files: tuple[HostFile, ...]
    root_variable: str  # what the host puts in place of the open project in its configuration, if it can
    refresh: str
    pack: str  # the name of its doctrine pack


def _json(path: str, *, of_project: bool = False) -> HostFile:
    return HostFile(path=path, of_project=of_project, form="json", key="mcpServers")


HOSTS: tuple[Host, ...] = (
    Host(
        name="claude-code",
        title="Claude Code",
        files=(_json(".mcp.json", of_project=True), _json(".claude.json")),
        root_variable="",
        refresh="type /mcp and reconnect, or start a new session",
        pack="claude",
    ),
    Host(
        name="codex",
        title="Codex",
        files=(HostFile(path=".codex/config.toml", of_project=False, form="toml", key="mcp_servers"),),
        root_variable="",
        refresh="start a new session",
        pack="codex",
    ),
    Host(
        name="cursor",
        title="Cursor",
        files=(_json(".cursor/mcp.json", of_project=True), _json(".cursor/mcp.json")),
        root_variable="${workspaceFolder}",
        refresh="switch the server off and on in its MCP settings",
        pack="cursor",
    ),
    Host(
        name="gemini",
        title="Gemini CLI",
        files=(_json(".gemini/settings.json", of_project=True), _json(".gemini/settings.json")),
        root_variable="",
        refresh="type /mcp refresh, or start a new session",
        pack="gemini",
    ),
)
