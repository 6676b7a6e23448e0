"""A session of an agent host in a project, told event by event, and logs as each host writes them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.world import Actor, World

__all__ = ["HookScene", "claude_log", "codex_log", "cursor_log", "gemini_lines_log", "gemini_log", "gemini_message"]

Said = tuple[str, str]  # role, text


@dataclass(kw_only=True)
class HookScene:
    """One session of one host."""

    world: World
    root: str
    host: str = "claude-code"
    session: str = "5b1c9f2e-0001"
    agent: str = "claude-code"

    @classmethod
    def of(cls, world: World, *, name: str = "app", **more: Any) -> "HookScene":
        return cls(world=world, root=world.brain(name), **more)

    @property
    def actor(self) -> Actor:
        return self.world.at(self.root, self.agent)

    def tell(self, event: str, **payload: Any) -> dict[str, Any]:
        """An event as its hook tells it; the answer of the house."""
        told = {"session_id": self.session, **payload}
        answer = self.actor.call("hosts.event", host=self.host, event=event, payload=told)
        assert answer["ok"], answer
        return answer

    def text(self, event: str, **payload: Any) -> str:
        return str(self.tell(event, **payload)["rendered"])

    def clean(self, event: str, **payload: Any) -> str:
        """The same, where nothing may have failed."""
        answer = self.tell(event, **payload)
        assert answer["gaps"] == [], answer["gaps"]
        return str(answer["rendered"])

    def files(self) -> list[Path]:
        return sorted(self.world.home.runtime.rglob("hooks/*.json"))


def _written(path: Path, lines: list[dict[str, Any]]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def claude_log(path: Path, cwd: str, session: str, *said: Said) -> str:
    """As Claude Code keeps it below ~/.claude/projects."""
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": "earlier", "leafUuid": "x"}]
    for number, (role, text) in enumerate(said):
        content = text if role == "user" else [{"type": "text", "text": text}]
        lines.append(
            {
                "type": role,
                "cwd": cwd,
                "sessionId": session,
                "uuid": f"u-{number}",
                "timestamp": f"2026-07-05T10:00:{number:02}.000Z",
                "isSidechain": False,
                "message": {"role": role, "content": content},
            }
        )
    return _written(path, lines)


def codex_log(path: Path, cwd: str, session: str, *said: Said) -> str:
    """As Codex keeps it below ~/.codex/sessions."""
    at = "2026-07-05T10:00:00.000Z"
    lines: list[dict[str, Any]] = [{"timestamp": at, "type": "session_meta", "payload": {"id": session, "cwd": cwd}}]
    for role, text in said:
        kind = "input_text" if role == "user" else "output_text"
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        lines.append({"timestamp": at, "type": "response_item", "payload": payload})
    return _written(path, lines)


def cursor_log(path: Path, *said: Said) -> str:
    """As Cursor keeps it below ~/.cursor/projects."""
    return _written(path, [{"role": role, "message": {"content": [{"type": "text", "text": text}]}} for role, text in said])


def gemini_log(path: Path, session: str, *said: Said) -> str:
    """As Gemini CLI keeps it below ~/.gemini/tmp: one document."""
    messages = [
        {
            "id": f"m{number}",
            "timestamp": "2026-07-05T10:00:00.000Z",
            "type": "user" if role == "user" else "gemini",
            "content": [{"text": text}] if role == "user" else text,
        }
        for number, (role, text) in enumerate(said)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"sessionId": session, "projectHash": "ab12", "messages": messages}, indent=2), encoding="utf-8")
    return str(path)


def gemini_lines_log(path: Path, session: str, *records: Said | dict[str, Any]) -> str:
    """As newer releases of Gemini CLI keep it: a line for each message, and lines that change the list of them."""
    lines: list[dict[str, Any]] = [{"sessionId": session, "projectHash": "ab12", "kind": "main"}]
    for number, one in enumerate(records):
        if isinstance(one, dict):
            lines.append(one)
        else:
            lines.append(gemini_message(f"m{number}", *one))
    return _written(path, lines)


def gemini_message(name: str, role: str, text: str) -> dict[str, Any]:
    """One message in such a log."""
    kind = "user" if role == "user" else "gemini"
    return {"id": name, "timestamp": "2026-07-05T10:00:00.000Z", "type": kind, "content": [{"text": text}]}
