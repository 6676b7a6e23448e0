"""Sixteen writers of every kind on three brains, disturbed at random; afterwards every acknowledged write is there once.

usage: python -m tests.support.durability PLACE LOGS PHASE SECONDS DISTURBANCES SEED

A phase is `kill` (kill -9 of the owner, of writers, and of the bridges and commands that writers started), `stop` (SIGSTOP, then
SIGCONT or kill), `full` (the file system of home and repositories has no space left for a while), `readonly` (their modes forbid
writing for a while) or `clock` (the wall clock jumps by minutes to a year, with kills). Each writer notes every try and every
acknowledgement in a file of its own, synced, outside of PLACE. Prints one line of JSON: counts, and every fault."""

import ctypes
import gc
import importlib
import json
import mmap
import os
import random
import secrets
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hindbrain
from hindbrain.app import EmbeddedSession, Session, embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from tests.mcp.hosts import INITIALIZE

__all__ = ["KINDS", "Durability", "main"]

# The writers: name -> kind. A writer works on the brain of its number modulo three.
KINDS = (
    *("embedded", "embedded", "auto", "owner", "owner", "owner", "command", "command", "mcp", "mcp", "mcp"),
    *("sender", "sender", "drainer", "letters", "cards"),
)
BRAINS = 3
# One part of four of the kills meets the owner, one of eight a bridge or a command.
OWNER_SHARE, CHILD_SHARE = 0.25, 0.125
ANSWER_S = 60.0
WARM = ("hindbrain.surfaces.mcp_server", "hindbrain.surfaces.mcp_tools", "hindbrain.stores.sqlite", "hindbrain.surfaces.client")
MISSION_EVENTS = 40  # then a mission is abandoned and the next one begins
SHARED = "Everybody writes this"
JUMPS_S = (60, -60, 3600, -3600, 86_400, -86_400, 2_592_000, -31_536_000, 0, 0)
_FAULTS_SHOWN = 40


class Notes:
    """What a writer tried and what was acknowledged: one line is one write and one sync."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, **line: Any) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, json.dumps(line).encode() + b"\n")
        os.fsync(handle)
        os.close(handle)

    def lines(self) -> Iterator[dict[str, Any]]:
        if self._path.exists():
            for line in self._path.read_bytes().split(b"\n")[:-1]:
                with suppress(ValueError):  # a writer that was killed leaves half a line
                    yield json.loads(line)


class Writer:
    """One life of one writer, from its notes to its death."""

    def __init__(self, run: "Durability", number: int, life: int) -> None:
        self._run, self._number, self._life = run, number, life
        self._kind = KINDS[number]
        self._root = run.roots[number % BRAINS]
        self._agent = f"w{number}:maker"
        self._notes = Notes(run.logs / f"writer-{number}")
        self._rng = random.Random(f"{run.seed} {number} {life}")
        self._session: Session | None = None
        self._bridge: subprocess.Popen[bytes] | None = None
        self._asked = 0
        self._turn = 0
        self._mission: tuple[str, int] | None = None

    def live(self) -> None:
        acts = {"sender": self._send, "drainer": self._drain, "letters": self._letter, "cards": self._card}
        while True:
            self._turn += 1
            try:
                acts.get(self._kind, self._anything)()
            except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as failed:
                # The owner or the bridge died, or the disk refused. Nothing was acknowledged; the next try is a new one.
                self._notes.add(failed=f"{type(failed).__name__}: {failed}"[:200])
                self._drop()
                time.sleep(0.05)

    def _word(self) -> str:
        return f"w{self._number}l{self._life}t{self._turn}"

    def _anything(self) -> None:
        pick = self._rng.random()
        if self._kind == "command" or pick < 0.35:
            self._claim(f"Claim {self._word()}")
        elif pick < 0.5:
            self._claim(SHARED)
        elif pick < 0.8:
            text = f"evidence {self._word()} was seen"
            self._try("evidence", text, "record", {"text": text})
        else:
            self._mission_event()

    def _claim(self, label: str) -> None:
        text = f"the text of {self._word()} is this"
        self._try("shared" if label == SHARED else "claim", text, "memorize", {"node_label": label, "text": text})

    def _mission_event(self) -> None:
        if self._mission is None or self._mission[1] >= MISSION_EVENTS:
            if self._mission is not None:
                self._call("mission.abandon", {"mission_id": self._mission[0], "reason": "the next one begins"})
            begun = self._call("mission.start", {"task": f"mission {self._word()}", "mode": "review"})
            if not begun.get("ok"):
                raise RuntimeError(json.dumps(begun)[:200])
            self._mission = (begun["mission_id"], 0)
            self._notes.add(mission=begun["mission_id"])
        name, count = self._mission
        self._mission = (name, count + 1)
        given = {"event_type": "hypothesis", "target": f"event {self._word()}", "mission_id": name}
        self._try("event", f"event {self._word()}", "mission.event", given)

    def _send(self) -> None:
        given = {"from": f"bus{self._number}", "to": "drain", "message": f"message {self._word()}"}
        answer = self._try("message", given["message"], "cowork.send", given)
        if not answer.get("ok"):
            if _code(answer) == "unknown_agent":
                for name in (given["from"], "drain"):
                    self._call("cowork.register", {"agent_id": name, "tool": "fire"})
            time.sleep(0.2)  # a full inbox waits for the drainer

    def _drain(self) -> None:
        batch = sum(1 for line in self._notes.lines() if "got" in line) + 1
        for number, root in enumerate(self._run.roots):
            answer = self._embedded(root).call("cowork.drain", agent_id="drain", batch=f"b{batch}-{number}")
            if answer.get("ok") and answer["messages"]:
                self._notes.add(
                    got=[(one["message_id"], one["content"]) for one in answer["messages"]], brain=number, batch=batch
                )
                batch += 1
        time.sleep(0.2)

    def _letter(self) -> None:
        text = f"letter {self._word()} says this"
        self._try("letter", text, "report", {"class": "bug", "what": text})
        time.sleep(0.05)

    def _card(self) -> None:
        word, refs = self._word(), []
        for one in ("seen", "checked"):
            text = f"evidence {word} was {one}"
            refs.append(self._try("evidence", text, "record", {"text": text}).get("evidence_id"))
        if None in refs:
            return
        given = {
            "statement": f"The statement of {word} holds",
            "content": f"Because {word} was seen and checked, and this is what follows from it.",
            "tier": "qi",
            "supporting_refs": [refs[0]],
        }
        made = self._try("card", given["statement"], "knowledge.distill", given)
        if made.get("ok"):
            given = {"card_id": made["card_id"], "status": "promoted", "verification_refs": [refs[1]], "reason": "seen twice"}
            self._try("promotion", made["card_id"], "knowledge.promote", given)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _try(self, kind: str, text: str, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        self._notes.add(trying=kind, text=text, brain=self._number % BRAINS)
        answer = self._call(operation, given)
        if answer.get("ok"):
            ids = {
                key: answer[key] for key in ("slug", "evidence_id", "card_id", "message_id", "event_id", "id") if key in answer
            }
            self._notes.add(done=kind, text=text, brain=self._number % BRAINS, mission=given.get("mission_id"), **ids)
            os.write(self._run.told, b".")
        else:
            self._notes.add(refused=kind, code=_code(answer), answer=json.dumps(answer)[:300])
        return answer

    def _call(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        if self._kind == "command":
            return self._command(operation, given)
        if self._kind == "mcp":
            return self._over_mcp(operation, given)
        if self._kind in ("embedded", "sender", "drainer", "letters", "cards"):
            return self._embedded(self._root).call(operation, **given)
        if self._session is None:
            os.environ["HINDBRAIN_MODE"] = "owner" if self._kind == "owner" else "auto"
            self._session = hindbrain.open(home=self._run.home, root=self._root, agent=self._agent)
        answer = self._session.call(operation, **given)
        if not answer["ok"] and _code(answer) == "owner_unreachable":
            self._drop()
        return answer

    def _embedded(self, root: str) -> EmbeddedSession:
        if self._session is None:
            caller = local_caller(root=root, agent=self._agent, channel=Channel.AGENT, environ={})
            self._session = embedded(Home(self._run.home), Settings({}), caller)
        assert isinstance(self._session, EmbeddedSession)
        caller = local_caller(root=root, agent=self._agent, channel=Channel.AGENT, environ={})
        return EmbeddedSession(self._session.app, caller)

    def _command(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        mode = self._rng.choice(("embedded", "owner", "auto"))
        words = [sys.executable, "-P", "-m", "hindbrain", operation, given["node_label"], given["text"], "--json"]
        environ = {**self._run.environ, "HINDBRAIN_MODE": mode, "HINDBRAIN_AGENT_ID": self._agent}
        done = subprocess.run(words, cwd=self._root, env=environ, capture_output=True, timeout=ANSWER_S, check=False)
        return _object(done.stdout) or {"ok": False, "error": {"code": f"exit {done.returncode}"}}

    def _over_mcp(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        if self._bridge is None:
            self._bridge = subprocess.Popen(
                [sys.executable, "-P", "-m", "hindbrain", "mcp", "--profile", "full"],
                cwd=self._root,
                env={**self._run.environ, "HINDBRAIN_AGENT_ID": self._agent},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._ask("initialize", INITIALIZE)
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        told = self._ask("tools/call", {"name": operation.replace(".", "_"), "arguments": given})
        found = told.get("result", {}).get("structuredContent")
        return found if isinstance(found, dict) else {"ok": False, "error": {"code": "protocol"}}

    def _write(self, message: dict[str, Any]) -> None:
        assert self._bridge is not None
        assert self._bridge.stdin is not None
        self._bridge.stdin.write(json.dumps(message).encode() + b"\n")
        self._bridge.stdin.flush()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._bridge is not None
        assert self._bridge.stdout is not None
        self._asked += 1
        self._write({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        while line := self._bridge.stdout.readline():
            told: dict[str, Any] = json.loads(line)
            if told.get("id") == self._asked:
                return told
        raise RuntimeError("the bridge ended")

    def _drop(self) -> None:
        if self._bridge is not None:
            self._bridge.kill()
            self._bridge.wait()
            self._bridge = None
        if self._session is not None:
            with suppress(Exception):
                self._session.close()
            self._session = None


class Durability:
    """The writers of one phase, who disturbs them, and the account afterwards."""

    def __init__(self, place: Path, logs: Path, *, phase: str, seed: int) -> None:
        self.place, self.logs, self.phase, self.seed = place, logs, phase, seed
        self.home = place / "home"
        self.roots = [str(place / f"repo{number}") for number in range(BRAINS)]
        self.rng = random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.disturbed: Counter[str] = Counter()
        self.pids: dict[int, int] = {}
        self.lives: Counter[int] = Counter()
        self.reading, self.told = os.pipe()
        os.set_blocking(self.reading, False)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HINDBRAIN_", "CLAUDE_"))}
        self.environ = {**kept, "HINDBRAIN_HOME": str(self.home)}
        self.acknowledged = 0

    def lay(self) -> None:
        logs_before = list(self.logs.glob("writer-*"))
        assert not logs_before, "the directory of the notes is not empty"
        for number, root in enumerate(self.roots):
            git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", root]
            os.makedirs(root)
            subprocess.run([*git, "init", "-q"], check=True)
            Path(root, "README.md").write_text(f"# Repository {number}\n", encoding="utf-8")
            subprocess.run([*git, "add", "-A"], check=True)
            subprocess.run([*git, "commit", "-qm", "start"], check=True)
            with self.session(root) as session:
                # Two brains carry their memory in the repository, one has it in the home.
                answer = session.call("init", path=root) if number < 2 else session.call("ingest", path=root, project_root=root)
                assert answer["ok"], answer
                for name in ("drain", *(f"bus{one}" for one, kind in enumerate(KINDS) if kind == "sender")):
                    assert session.call("cowork.register", agent_id=name, tool="fire")["ok"]

    def session(self, root: str, channel: Channel = Channel.AGENT) -> EmbeddedSession:
        caller = local_caller(root=root, agent="check:keeper", channel=channel, environ={})
        return embedded(Home(self.home), Settings({}), caller)

    # -- processes ---------------------------------------------------------------------------------------------------

    def start(self, number: int) -> None:
        self.lives[number] += 1
        pid = os.fork()
        if pid:
            self.pids[number] = pid
            return
        try:
            os.environ.clear()
            os.environ.update(self.environ)
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), 2)
            Writer(self, number, self.lives[number]).live()
        except BaseException:  # noqa: BLE001 - a writer has only this way to say what it did not expect
            self._reason(number).write_text(traceback.format_exc(), encoding="utf-8")
        finally:
            os._exit(3)

    def _reason(self, number: int) -> Path:
        return self.logs / f"reason-{number}"

    def _owner(self) -> int | None:
        """The owner of this home, if it is one: a number in a file may belong to another process by now."""
        with suppress(OSError, ValueError, KeyError):
            pid = int(json.loads((self.home / "owner.json").read_text(encoding="utf-8"))["pid"])
            if str(self.home).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        return None

    def _children(self) -> list[int]:
        """Bridges and commands of the writers."""
        writers, found = set(self.pids.values()), []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with suppress(OSError, ValueError, IndexError):
                    parent = int(
                        Path(entry.path, "stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()[1]
                    )
                    command = Path(entry.path, "cmdline").read_bytes()
                    if parent in writers and b"hindbrain" in command and b"serve" not in command:
                        found.append(int(entry.name))
        return found

    def kill(self) -> None:
        pick = self.rng.random()
        owner, children = self._owner(), self._children() if pick < OWNER_SHARE + CHILD_SHARE else []
        if pick < OWNER_SHARE and owner is not None:
            with suppress(ProcessLookupError):
                os.kill(owner, signal.SIGKILL)
                self.kills["owner"] += 1
        elif pick < OWNER_SHARE + CHILD_SHARE and children:
            with suppress(ProcessLookupError):
                os.kill(self.rng.choice(children), signal.SIGKILL)
                self.kills["bridge or command"] += 1
        else:
            self._kill_writer(self.rng.choice(sorted(self.pids)))

    def _kill_writer(self, number: int) -> None:
        pid = self.pids.pop(number)
        children = self._children_of(pid)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        if not os.WIFSIGNALED(status):
            why = self._reason(number).read_text(encoding="utf-8") if self._reason(number).exists() else ""
            ended = f"ended by itself: {os.waitstatus_to_exitcode(status)} {why[-2000:]}"
            raise RuntimeError(f"writer {number} ({KINDS[number]}) {ended}")
        self.kills["writer"] += 1
        self.start(number)

    def _children_of(self, pid: int) -> list[int]:
        with suppress(OSError):
            words = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
            return [one for one in map(int, words) if one != self._owner()]
        return []

    # -- disturbances ------------------------------------------------------------------------------------------------

    def disturb(self, seconds: float, wanted: int) -> None:
        """Let them write, and disturb them so many times in so many seconds."""
        act: Callable[[], None] = getattr(self, f"_{self.phase}")
        gc.freeze()
        began = time.monotonic()
        for number in range(len(KINDS)):
            self.start(number)
        self._heard(began + min(30.0, seconds))  # begin when work is done
        for done in range(wanted):
            due = began + seconds * (done + self.rng.random()) / wanted
            time.sleep(max(0.0, min(due - time.monotonic(), seconds)))
            if time.monotonic() > began + 2 * seconds + 60:
                break
            act()
            self.disturbed[self.phase] += 1
            self._heard(0)
        time.sleep(1.0)
        self._heard(0)

    def _heard(self, deadline: float) -> None:
        while True:
            try:
                self.acknowledged += len(os.read(self.reading, 1 << 16))
            except BlockingIOError:
                if self.acknowledged or time.monotonic() > deadline:
                    return
                time.sleep(0.05)

    def _kill(self) -> None:
        self.kill()

    def _stop(self) -> None:
        number = self.rng.choice(sorted(self.pids))
        owner = self._owner()
        pid = owner if owner is not None and self.rng.random() < OWNER_SHARE else self.pids[number]
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(self.rng.uniform(0.05, 0.8))
            if pid != owner and self.rng.random() < 0.1:
                self._kill_writer(number)
            else:
                os.kill(pid, signal.SIGCONT)

    def _full(self) -> None:
        """The file system of PLACE is filled for a while; the notes lie elsewhere."""
        filling = self.place / "filling"
        with suppress(OSError), filling.open("wb", buffering=0) as file:
            while file.write(bytes(1 << 16)):
                pass
        time.sleep(self.rng.uniform(0.3, 1.5))
        if self.rng.random() < 0.3:
            self.kill()
        filling.unlink()

    def _readonly(self) -> None:
        places = [self.home, *(Path(root, ".hindbrain") for root in self.roots if Path(root, ".hindbrain").is_dir())]
        changed: list[tuple[Path, int]] = []
        for place in places:
            for path in [place, *place.rglob("*")]:
                with suppress(OSError):
                    mode = path.lstat().st_mode & 0o777
                    if not path.is_symlink():
                        path.chmod(0o500 if path.is_dir() else 0o400)
                        changed.append((path, mode))
        time.sleep(self.rng.uniform(0.3, 1.5))
        if self.rng.random() < 0.3:
            self.kill()
        for path, mode in reversed(changed):
            with suppress(OSError):
                path.chmod(mode)

    def _clock(self) -> None:
        shift_clock(Path(os.environ["SHIFTED_CLOCK"]), self.rng.choice(JUMPS_S))
        if self.rng.random() < 0.4:
            self.kill()

    def end(self) -> None:
        """No process of the phase is left."""
        for number, pid in self.pids.items():
            children = self._children_of(pid)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            self.lives[number] += 0
        self.pids.clear()
        self._heard(0)
        deadline = time.monotonic() + 30
        while (owner := self._owner()) is not None and time.monotonic() < deadline:
            with suppress(ProcessLookupError):
                os.kill(owner, signal.SIGKILL)
            time.sleep(0.1)
        if self.phase == "clock":
            shift_clock(Path(os.environ["SHIFTED_CLOCK"]), 0)

    # -- the account -------------------------------------------------------------------------------------------------

    def account(self) -> dict[str, Any]:
        """Compare the notes of the writers with what is there. Runs in a process that wrote nothing."""
        tried: Counter[tuple[str, str, int]] = Counter()
        acked: dict[tuple[str, str, int], dict[str, Any]] = {}
        got: dict[int, list[str]] = {number: [] for number in range(BRAINS)}
        refused: Counter[str] = Counter()
        batches = 0
        for number in range(len(KINDS)):
            for line in Notes(self.logs / f"writer-{number}").lines():
                if "trying" in line:
                    tried[(line["trying"], line["text"], line["brain"])] += 1
                elif "done" in line:
                    acked[(line["done"], line["text"], line["brain"])] = line
                elif "got" in line:
                    got[line["brain"]] += [content for _, content in line["got"]]
                    batches += 1
                elif "refused" in line or "failed" in line:
                    refused[line.get("code") or line["failed"].split(":")[0]] += 1
        faults: list[str] = []
        ledgers = []
        for number, root in enumerate(self.roots):
            with self.session(root) as session:
                faults += self._account_of(session, number, tried, acked, got[number], batches)
        faults += self._owner_restarts()  # before doctor, which rightly tells of an owner that was killed
        for number, root in enumerate(self.roots):
            with self.session(root) as session:
                verdict = session.call("ledger.verify")
                ledgers.append(verdict.get("entries") or verdict.get("count"))
                faults += [] if verdict["intact"] else [f"the ledger of brain {number} is not intact: {verdict}"]
                doctor = session.call("doctor", scan=True)
                if any(one["kind"] == "mirror_damaged" for one in doctor["warnings"]):
                    # A kill came between a commit and the files of a mission. They follow from the database, and a repair
                    # writes them.
                    repaired = session.call("doctor.fix", yes=True)["repairs"]
                    faults += [f"a repair of brain {number} failed: {one}" for one in repaired if not one["done"]]
                    faults += [f"brain {number} needed the repair {one['kind']}" for one in repaired if one["kind"] != "file"]
                    doctor = session.call("doctor", scan=True)
                allowed = {"future_created"} if self.phase == "clock" else set()
                wrong = [one for one in doctor.get("warnings", ()) if one.get("kind", one.get("code")) not in allowed]
                faults += [f"doctor of brain {number}: {json.dumps(one)[:300]}" for one in wrong]
                if doctor["status"] == "blocked":
                    faults.append(f"doctor of brain {number} is blocked")
        faults += self._letters(tried, acked)
        kinds = Counter(kind for kind, _, _ in acked)
        return {
            "phase": self.phase,
            "acknowledged": len(acked),
            "by_kind": dict(kinds),
            "tried": sum(tried.values()),
            "refused": dict(refused.most_common(12)),
            "disturbed": sum(self.disturbed.values()),
            "kills": dict(self.kills),
            "lives": sum(self.lives.values()),
            "ledger": ledgers,
            "faults": len(faults),
            "first_faults": faults[:_FAULTS_SHOWN],
        }

    def _account_of(
        self,
        session: EmbeddedSession,
        number: int,
        tried: Counter[tuple[str, str, int]],
        acked: dict[tuple[str, str, int], dict[str, Any]],
        got: list[str],
        batches: int,
    ) -> list[str]:
        session.call("north", task="settle what the dead left")
        mine = {key: line for key, line in acked.items() if key[2] == number}
        texts: dict[str, Counter[str]] = {"claim": self._claims(session, number), "evidence": self._evidence(session)}
        texts["shared"] = texts["claim"]
        texts["event"], faults = self._events(session, {line["mission"] for line in mine.values() if line.get("mission")})
        texts["message"] = self._messages(session, got, batches, number)
        for kind, text, brain in tried:
            if brain == number and kind in texts:
                count, sure = texts[kind][text], (kind, text, brain) in mine
                if sure and count != 1:
                    faults.append(f"{kind} {text!r} of brain {number} was acknowledged and is there {count} times")
                elif count > 1:
                    faults.append(f"{kind} {text!r} of brain {number} was tried once and is there {count} times")
        slugs = self._slugs(session)
        faults += [
            f"the claim {line['slug']} of brain {number} has {slugs[line['slug']]} rows"
            for (kind, _, _), line in mine.items()
            if kind in ("claim", "shared") and slugs[line["slug"]] != 1
        ]
        for (kind, text, _), line in mine.items():
            if kind in ("card", "promotion"):
                card = session.call("knowledge.get", card_id=line.get("card_id") or text)
                status = (card.get("card") or card).get("status")
                if not card["ok"] or (kind == "promotion" and status != "promoted"):
                    faults.append(f"the card {line.get('card_id') or text} ({text}) is {status}: {json.dumps(card)[:200]}")
        return faults

    def _claims(self, session: EmbeddedSession, number: int) -> Counter[str]:
        """How often each text is in a claim file, live or in the history."""
        found: Counter[str] = Counter()
        home, brain = Home(self.home), session.app.home.project(self.roots[number])
        assert brain is not None
        places = [home.brain_dir(brain) / "agent-memory", Path(self.roots[number], ".hindbrain", "agent-memory")]
        for place in places:
            for path in place.rglob("*.light.md") if place.is_dir() else ():
                text = path.read_text(encoding="utf-8")
                start = text.find("the text of w")
                if start >= 0:
                    found[text[start : text.index(" is this", start) + len(" is this")]] += 1
        return found

    @staticmethod
    def _pages(session: EmbeddedSession, operation: str, rows: str, limit: int) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            answer = session.call(operation, limit=limit, **({"cursor": cursor} if cursor else {}))
            if not answer["ok"]:
                raise RuntimeError(f"{operation}: {answer}")
            yield from answer[rows]
            cursor = answer["next_cursor"]
            if cursor is None:
                return

    def _evidence(self, session: EmbeddedSession) -> Counter[str]:
        return Counter(str(row.get("content") or row.get("text")) for row in self._pages(session, "memory.list", "rows", 1000))

    def _slugs(self, session: EmbeddedSession) -> Counter[str]:
        return Counter(str(row["slug"]) for row in self._pages(session, "claims", "claims", 200))

    @staticmethod
    def _events(session: EmbeddedSession, missions: set[str]) -> tuple[Counter[str], list[str]]:
        found: Counter[str] = Counter()
        faults = []
        for mission in sorted(missions):
            chain = session.call("mission.verify_chain", mission_id=mission)
            if not chain.get("valid"):
                faults.append(f"the chain of {mission} does not verify: {json.dumps(chain)[:300]}")
            status = session.call("mission.status", mission_id=mission, events=1000)
            found.update(str(event["target"]) for event in status.get("events", ()))
        return found, faults

    @staticmethod
    def _messages(session: EmbeddedSession, got: list[str], batches: int, number: int) -> Counter[str]:
        """How often each message was read: by the drainer, and now. A batch that the drainer did not note is handed out again."""
        read = Counter(got)
        for name in (f"b{batches + 1}-{number}", *(f"end-{number}-{more}" for more in range(200))):
            answer = session.call("cowork.drain", agent_id="drain", batch=name)
            if not answer["ok"]:
                raise RuntimeError(f"cowork.drain: {answer}")
            read.update(str(one["content"]) for one in answer["messages"])
            if not answer["messages"] and name.startswith("end"):
                break
        return read

    def _letters(self, tried: Counter[tuple[str, str, int]], acked: dict[tuple[str, str, int], dict[str, Any]]) -> list[str]:
        spool = self.home / "field-reports.jsonl"
        lines = spool.read_text(encoding="utf-8").splitlines() if spool.exists() else []
        found = Counter(_object(line.encode()).get("what") for line in lines)  # a line that was cut off is nobody's letter
        faults = []
        for kind, text, brain in tried:
            if kind == "letter":
                sure = (kind, text, brain) in acked
                if (sure and found[text] != 1) or found[text] > 1:
                    faults.append(f"letter {text!r} {'was acknowledged and' if sure else ''} is there {found[text]} times")
        return faults

    def _owner_restarts(self) -> list[str]:
        words = [sys.executable, "-P", "-m", "hindbrain", "health", "--json"]
        environ = {**self.environ, "HINDBRAIN_MODE": "owner"}
        done = subprocess.run(words, cwd=self.roots[0], env=environ, capture_output=True, timeout=120, check=False)
        answer = _object(done.stdout)
        owner = self._owner()
        if owner is not None:
            os.kill(owner, signal.SIGTERM)
            deadline = time.monotonic() + 30
            while self._owner() is not None and time.monotonic() < deadline:
                time.sleep(0.05)
        return (
            []
            if answer.get("ok") and owner is not None
            else [f"the owner does not start: {done.stdout[-300:]!r} {done.stderr[-300:]!r}"]
        )


def _code(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("code") if isinstance(error, dict) else answer.get("refused") or error)


def _object(data: bytes) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(data)
        if isinstance(found, dict):
            return found
    return {}


def shift_clock(file: Path, seconds: int) -> None:
    """Move the wall clock of every process that has the preload."""
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 8) as shared:
        shared[:] = struct.pack("q", seconds * 1_000_000_000)


def drop_override() -> bool:
    """Let modes of files count for root, too. False where they count already or cannot be made to."""
    if os.getuid() != 0 or sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    dropped = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    for number in (1, 2):
        libc.prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP: for the programs that are started from here
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, data) != 0:
        return False
    for index in (0, 1, 2):
        data[index] &= ~dropped
    return bool(libc.capset(header, data) == 0)


def small_disk(place: Path, size: str = "1g") -> bool:
    """Mount a small file system on a directory, for this process and its children. False where the user may not do that."""
    if os.getuid() != 0 or sys.platform != "linux" or ctypes.CDLL(None, use_errno=True).unshare(0x00020000) != 0:
        return False
    private = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, check=False)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)], capture_output=True, check=False)
    return private.returncode == mounted.returncode == 0


def _missing(phase: str, place: Path) -> str:
    """Why a phase cannot be run here; empty if it can."""
    if phase == "readonly":
        drop_override()
        probe = place / "probe"
        probe.mkdir(mode=0o500)
        if os.access(probe, os.W_OK):
            return "modes of files do not count for this user"
    if phase == "full" and not small_disk(place):
        return "a small file system takes root and mount"
    if phase == "clock" and "SHIFTED_CLOCK" not in os.environ:
        return "the clock is shifted by a preload, which takes gcc"
    return ""


def main(place: str, logs: str, phase: str, seconds: str, disturbances: str, seed: str) -> int:
    Path(place).mkdir(parents=True, exist_ok=True)
    if why := _missing(phase, Path(place)):
        print(json.dumps({"phase": phase, "skipped": why}))
        return 0
    for name in WARM:
        importlib.import_module(name)
    Path(logs).mkdir(parents=True, exist_ok=True)
    running = Durability(Path(os.path.realpath(place)), Path(logs), phase=phase, seed=int(seed))
    # What opens a database is a child: writers are forked from a process that never did.
    _in_child(lambda: running.lay())
    began = time.monotonic()
    try:
        running.disturb(float(seconds), int(disturbances))
    finally:
        running.end()
    took = time.monotonic() - began
    told = running.account()
    print(json.dumps({**told, "seconds": round(took, 1), "run": secrets.token_hex(4)}))
    return 1 if told["faults"] or not told["acknowledged"] else 0


def _in_child(work: Callable[[], None]) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as failed:  # noqa: BLE001 - told to the parent by the exit code
            sys.stderr.write(f"{type(failed).__name__}: {failed}\n")
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError("the brains could not be made")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
