"""The partner pair: Claude Code and Codex in one project leave each other messages, without a bus and without names.

A message is handed over at the partner's next prompt, never in the middle of a turn. Nothing of it is memory."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.agent_errors import InboxFull
from hindbrain.domain.brain import fingerprint
from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import CoworkMessage
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.deliveries import preview
from hindbrain.engines.fence import fenced
from hindbrain.engines.moments import stamped
from hindbrain.engines.partner import handed, other, recent, tool_of
from hindbrain.engines.transcripts import Format, Reading, Turn, from_lines
from hindbrain.policy.cowork import INBOX_BYTES, INBOX_MESSAGES, LISTED_PREVIEWS, MESSAGE_BYTES
from hindbrain.policy.partner import ACTIVE_WITHIN_MS, CLAUDE, CODEX, CODEX_DAYS, TAIL_BYTES, TEXT_CHARACTERS, TOOLS
from hindbrain.services.cowork.place import Buses
from hindbrain.services.gateway import Gateway
from hindbrain.stores.bus_files import BusFiles
from hindbrain.stores.bus_records import records_of
from hindbrain.stores.home import Home
from hindbrain.stores.host_sessions import HostSession, claude_session, codex_session, written_in
from hindbrain.stores.runtime_place import keep_runtime_place

__all__ = ["Partner"]


class Partner:
    """The pair of one project."""

    def __init__(
        self, home: Home, buses: Buses, gateway: Gateway, clock: Callable[[], int], *, user: Path, wait_s: float
    ) -> None:
        self._home = home
        self._buses = buses
        self._gateway = gateway
        self._clock = clock
        self._user = user
        self._wait_s = wait_s

    def push(self, caller: Caller, content: str, *, target_tool: str | None) -> dict[str, Any]:
        """Leave one message for the partner."""
        own, target = self._pair(caller, target_tool, what="target_tool")
        self._gateway.check_text(content)
        if not content.strip() or (size := len(content.encode("utf-8"))) > MESSAGE_BYTES:
            raise InvalidParams(f"a message has 1 to {MESSAGE_BYTES} bytes", fix="put what is longer into a file and name it")
        self._gateway.check_secrets((content,), site="partner.push")
        root, now = self._buses.of(caller).root, self._clock()
        files, name = self._files(), _inbox(target, root)
        keep_runtime_place(self._home, root)  # the inbox is for this very directory, not for its path
        with files.turn(make=True) as turn:
            before, _ = records_of(turn.read(name), CoworkMessage)
            held = sum(len(one.content.encode("utf-8")) for one in before)
            if len(before) >= INBOX_MESSAGES or held + size > INBOX_BYTES:
                raise InboxFull(
                    f"{target} has {len(before)} message(s) of {held} bytes; {INBOX_MESSAGES} and {INBOX_BYTES} are the most",
                    fix="wait until it has read them, at its next prompt",
                )
            message = CoworkMessage(
                message_id=f"msg-{secrets.token_hex(8)}", pushed_at=stamped(now), source=own or other(target), content=content
            )
            turn.append(name, msgspec.json.encode(message) + b"\n")
            size_after = turn.size(name)
        return {
            "ok": True,
            "schema": "hindbrain-partner-push-v0",
            "project": root,
            "target_tool": target,
            "inbox_path": str(files.directory / name),
            "pushed_at": message.pushed_at,
            "inbox_size_after": size_after,
            "rendered": f"{target} gets it at its next prompt",
        }

    def drain(self, caller: Caller, target: str) -> dict[str, Any]:
        """Hand over what lies there for a host, and empty its inbox."""
        root = self._buses.of(caller).root
        name = _inbox(target, root)
        with self._files().turn() as turn:
            messages, lines = records_of(turn.read(name), CoworkMessage)
            if lines.size:
                turn.remove(name)
        return {
            "ok": True,
            "schema": "hindbrain-partner-drain-v0",
            "project": root,
            "target_tool": target,
            "partner": other(target),
            "messages": [msgspec.to_builtins(one) for one in messages],
            "skipped_lines": lines.skipped,
            "rendered": handed(messages),
        }

    def status(self, caller: Caller) -> dict[str, Any]:
        """Both inboxes of the project. Changes nothing."""
        root = self._buses.of(caller).root
        rows: list[dict[str, Any]] = []
        told: list[str] = []
        with self._files().look() as look:
            for tool in TOOLS:
                messages, lines = records_of(look.read(_inbox(tool, root)), CoworkMessage)
                shown = [
                    {"pushed_at": one.pushed_at, "from": one.source, "preview": preview(one.content)}
                    for one in messages[:LISTED_PREVIEWS]
                ]
                rows.append({"target_tool": tool, "count": len(messages), "bytes": lines.size, "messages": shown})
                told.append(f"{tool}: {len(messages)} message(s), {lines.size} bytes")
                told += [fenced(f"{one['from']}: {one['preview']}") for one in shown]
        return {
            "ok": True,
            "schema": "hindbrain-partner-status-v0",
            "project": root,
            "inboxes": rows,
            "rendered": "\n".join(told),
        }

    def peek(self, caller: Caller, *, tool: str, limit: int, since: int | None) -> dict[str, Any]:
        """The last messages of the partner's own session in this project. A look: nothing is kept."""
        _, partner = self._pair(caller, None if tool == "auto" else tool, what="tool")
        root, now = self._buses.of(caller).root, self._clock()
        if partner == CLAUDE:
            session, place = claude_session(self._user, root)
        else:
            session, place = codex_session(self._user, root, now_ms=now, days=CODEX_DAYS)
        turns, cut = _turns(session, partner, root) if session is not None else ([], False)
        kept = [turn for turn, new in zip(turns, recent([one.said_at for one in turns], since), strict=True) if new]
        messages = [
            {
                "role": one.role,
                "at": None if one.said_at is None else stamped(one.said_at),
                "text": one.text if len(one.text) <= TEXT_CHARACTERS else one.text[:TEXT_CHARACTERS] + "…",
            }
            for one in kept[-limit:]
        ]
        told = [f"{one['role']} at {one['at'] or 'some time'}\n{fenced(str(one['text']))}" for one in messages]
        return {
            "ok": True,
            "schema": "hindbrain-partner-peek-v0",
            "project": root,
            "partner_tool": partner,
            "session_path": str(session.path) if session else None,
            "session_mtime": stamped(session.mtime_ms) if session else None,
            "partner_active": session is not None and now - session.mtime_ms < ACTIVE_WITHIN_MS,
            "messages": messages,
            "truncated": cut or len(kept) > limit,
            "rendered": "\n".join(told) or f"no session of {partner} for {root} below {place}",
        }

    def _pair(self, caller: Caller, named: str | None, *, what: str) -> tuple[str | None, str]:
        """Who calls, and the partner that is meant."""
        own = tool_of(caller.agent)
        if named is not None and named == own:
            raise InvalidParams(f"{named} is yourself", fix=f"leave {what} out, or name {other(named)}")
        if named is None and own is None:
            raise InvalidParams(
                f"{caller.agent} is neither claude nor codex, so nobody knows its partner",
                fix=f"name one: {what} claude or codex",
            )
        return own, named or other(own or CODEX)

    def _files(self) -> BusFiles:
        return BusFiles(self._home, "", wait_s=self._wait_s, directory=self._home.pair_dir)


def _inbox(tool: str, root: str) -> str:
    return f"{tool}/{fingerprint(root)}.jsonl"


def _turns(session: HostSession, tool: str, root: str) -> tuple[list[Turn], bool]:
    """What was said in a session, oldest first, and whether the log was longer than what was read."""
    lines, cut = session.tail(TAIL_BYTES)
    if tool == CODEX:
        lines = [line for line in lines if b'"response_item"' in line]
    else:
        lines = [line for line in lines if _of(line, root)]
    form = Format.CODEX if tool == CODEX else Format.CLAUDE
    return [one for one in from_lines(lines, form, Reading()) if one.role in ("user", "assistant")], cut


def _of(line: bytes, root: str) -> bool:
    try:
        return written_in(msgspec.json.decode(line), root)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
