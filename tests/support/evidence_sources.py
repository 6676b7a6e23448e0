"""Sources for tests of evidence: one of each format that is read, and a child process that takes one in."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["CHATGPT", "CLAUDE", "CODEX", "GENERIC", "SLACK", "child", "conversation", "jsonl", "take"]


def jsonl(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


CLAUDE = jsonl(
    {"type": "summary", "summary": "Fixing the ferry", "leafUuid": "u2"},
    {"type": "user", "isMeta": True, "sessionId": "s1", "message": {"role": "user", "content": "Caveat: ignore this"}},
    {
        "type": "user",
        "sessionId": "s1",
        "uuid": "u1",
        "timestamp": "2026-01-02T03:04:05.000Z",
        "message": {"role": "user", "content": "Why does the ferry parser fail?"},
    },
    {
        "type": "assistant",
        "sessionId": "s1",
        "uuid": "u2",
        "timestamp": "2026-01-02T03:04:09.000Z",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hidden reasoning"},
                {"type": "text", "text": "It reads the timetable as UTC."},
                {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": "ls"}},
            ],
        },
    },
    {
        "type": "user",
        "sessionId": "s1",
        "uuid": "u3",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "parser.py timetable.csv"}]},
    },
    {"type": "file-history-snapshot", "messageId": "m"},
    {"type": "some-later-invention", "payload": {"deep": [1, 2]}},
)

CODEX = jsonl(
    {"timestamp": "2026-01-02T03:04:05Z", "type": "session_meta", "payload": {"id": "c1", "cwd": "/x"}},
    {"type": "turn_context", "payload": {"model": "some"}},
    {"type": "response_item", "payload": {"type": "message", "role": "developer", "content": [{"text": "rules"}]}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "Why does the ferry parser fail?"}},
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Why does the ferry parser fail?"}],
        },
    },
    {"type": "event_msg", "payload": {"type": "token_count", "info": {}}},
    {"type": "event_msg", "payload": {"type": "agent_message", "message": "It reads the timetable as UTC."}},
    {"type": "response_item", "payload": {"type": "function_call_output", "output": "parser.py timetable.csv"}},
)

SLACK = json.dumps(
    [
        {"type": "message", "user": "u1", "text": "Why does the ferry parser fail?", "ts": "1767323045.000100"},
        {"type": "message", "user": "u2", "text": "It reads the timetable as UTC.", "ts": "1767323049.000200"},
        {"type": "message", "user": "u1", "text": "Then we fix the time zone.", "ts": "1767323059.000300"},
    ]
)

CHATGPT = json.dumps(
    [
        {
            "title": "Ferry",
            "conversation_id": "g1",
            "mapping": {
                "root": {"id": "root", "parent": None, "children": ["a"], "message": None},
                "b": {
                    "parent": "a",
                    "children": ["a"],  # a loop, which no export should have
                    "message": {
                        "id": "m2",
                        "author": {"role": "assistant"},
                        "content": {"parts": ["It reads the timetable as UTC."]},
                    },
                },
                "a": {
                    "parent": "root",
                    "children": ["b"],
                    "message": {
                        "id": "m1",
                        "author": {"role": "user"},
                        "create_time": 1767323045.5,
                        "content": {"content_type": "text", "parts": ["Why does the ferry parser fail?"]},
                    },
                },
            },
        }
    ]
)

GENERIC = jsonl(
    {"session": "k1", "id": "1", "speaker": "Ada", "role": "user", "text": "Why does the ferry parser fail?", "time": 1767323045},
    {"conversation_id": "k1", "message_id": "2", "author": "Bo", "content": "It reads the timetable as UTC."},
)


def conversation(turns: int, *, session: int = 100, words: str = "the ferry left pier and nobody saw it leave") -> str:
    """A long conversation of short turns, no two alike."""
    return jsonl(
        *({"session": f"s{i // session}", "id": f"m{i}", "speaker": "Ada", "text": f"{words} {i}"} for i in range(turns))
    )


_CHILD = """
import json, os, resource, signal, sys
from pathlib import Path
from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

home, root, path, stop, room = sys.argv[1:6]
if int(room):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that may not grow is a disk without room
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), int(room)))
caller = local_caller(root=root, agent="child:maker", channel=Channel.AGENT, environ={})
session = embedded(Home(Path(home)), Settings({}), caller)
brains = session.app.house.brains
told, seen = brains.committed, [0]

def committed(brain, entries, slugs):
    told(brain, entries, slugs)
    seen[0] += sum(json.loads(entry.payload).get("rows", 0) for entry in entries)
    if int(stop) and seen[0] >= int(stop):
        os.kill(os.getpid(), 9)

brains.committed = committed
print("ready", flush=True)
sys.stdin.readline()
answer = session.call("memory.ingest", path=path)
answer.pop("created", None)
print(json.dumps(answer), flush=True)
session.close()
"""


def child(home: Path, root: str, path: str, *, killed_after: int = 0, room: int = 0) -> "subprocess.Popen[str]":
    """A process that takes a file in once it is told to go; it kills itself -9 after so many rows, or has little room."""
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(home), root, path, str(killed_after), str(room)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HINDBRAIN_MODE": "embedded"},
    )


def take(process: "subprocess.Popen[str]") -> dict[str, Any] | None:
    """Let a child go; its answer, or None when it was killed."""
    out, _ = process.communicate("go\n", timeout=120)
    if process.returncode == -signal.SIGKILL:
        return None
    return dict(json.loads(out.splitlines()[-1]))
