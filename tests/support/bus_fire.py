"""Eight agents on one bus, killed -9 at random, with their owner; afterwards every message is accounted for.

usage: python -m tests.support.bus_fire HOME ROOT MESSAGES SEED

Forks from one process that has imported everything, so that a kill falls into the work itself. Six agents write the files of
the bus by themselves, two call the owner. Each sends to the others and drains its own inbox, and keeps its own notes: what it
tried to send, what it was told is sent, and each batch that it has read. An agent that was killed goes on from its notes, as a
real one would. Prints one line of JSON: what was done, and every fault that was found."""

import gc
import importlib
import json
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hindbrain.app import EmbeddedSession, Session, embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.surfaces.client import remote_session
from hindbrain.surfaces.owner import serve

AGENTS = tuple(f"agent-{number}" for number in range(8))
BY_OWNER = AGENTS[-2:]  # these call the owner, the others the files
NOT_SENT = ("inbox_full", "owner_unreachable", "not_ready")
PATIENCE_S = 60.0
AGENT_EVERY, OWNER_EVERY = 25, 350  # messages from one death to the next, on the average; fewer where there are few messages
AGENT_DEATHS, OWNER_DEATHS = 50, 4  # there are at least about so many
WARM = ("hindbrain.surfaces.mcp_server", "hindbrain.surfaces.mcp_tools", "hindbrain.stores.sqlite", "uvloop")


class Notes:
    """What an agent writes down for the one that comes after it. One line is one write; a torn one is dropped."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, **line: Any) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, json.dumps(line).encode() + b"\n")
        os.close(handle)

    def lines(self) -> Iterator[dict[str, Any]]:
        if self._path.exists():
            for line in self._path.read_bytes().split(b"\n")[:-1]:
                yield json.loads(line)


class Fire:
    """One bus, its agents and who kills them."""

    def __init__(self, home: str, root: str, *, seed: int) -> None:
        self.home, self.root = home, root
        self.rng = random.Random(seed)
        self.notes = Path(home).with_name("notes")
        self.notes.mkdir(exist_ok=True)
        self.pids: dict[str, int] = {}
        self.kills: Counter[str] = Counter()
        self.reading, self.writing = os.pipe()

    def sent(self, agent: str) -> Notes:
        return Notes(self.notes / f"{agent}.sent")

    def got(self, agent: str) -> Notes:
        return Notes(self.notes / f"{agent}.got")

    def embedded(self, agent: str = "fire:keeper") -> EmbeddedSession:
        caller = local_caller(root=self.root, agent=agent, channel=Channel.AGENT, environ={})
        return embedded(Home(Path(self.home)), Settings({}), caller)

    # -- processes ---------------------------------------------------------------------------------------------------

    def start(self, name: str) -> None:
        seed = self.rng.random()
        pid = os.fork()
        if pid:
            self.pids[name] = pid
            return
        try:
            self._owner() if name == "owner" else Life(self, name, random.Random(seed)).live()
        finally:
            os._exit(3)

    def _owner(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        serve(Path(self.home), port=0, foreground=False, housekeeping_s=3600)

    def kill(self, name: str) -> None:
        pid = self.pids.pop(name)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            raise RuntimeError(f"{name} ended by itself with {os.waitstatus_to_exitcode(status)}")
        self.kills["owner" if name == "owner" else "agent"] += 1

    def burn(self, messages: int) -> float:
        """Let them work and kill them until so many messages were acknowledged. Returns the seconds it took."""
        with self.embedded() as session:
            for agent in AGENTS:
                assert session.call("cowork.register", agent_id=agent, tool="fire")["ok"]
        gc.freeze()  # a child that collects does not copy what it never touches
        agent_every, owner_every = min(AGENT_EVERY, messages // AGENT_DEATHS), min(OWNER_EVERY, messages // OWNER_DEATHS)
        began, done, owner_at = time.monotonic(), 0, owner_every // 2
        for name in ("owner", *AGENTS):
            self.start(name)
        while done < messages:
            done += self._heard(self.rng.randint(1, 2 * agent_every - 1))
            time.sleep(self.rng.uniform(0.0, 0.01))
            name = self.rng.choice(AGENTS)
            if done > owner_at:
                name, owner_at = "owner", done + owner_every
            self.kill(name)
            self.start(name)
        for name in list(self.pids):
            self.kill(name)
        return time.monotonic() - began

    def _heard(self, wanted: int) -> int:
        """Wait until so many more messages were acknowledged."""
        done = 0
        while done < wanted:
            if not select.select([self.reading], [], [], PATIENCE_S)[0]:
                raise RuntimeError(f"nobody was told of a message for {PATIENCE_S:g} s")
            done += len(os.read(self.reading, wanted - done))
        return done

    # -- what is left ------------------------------------------------------------------------------------------------

    def account(self) -> dict[str, Any]:
        """Hold what the agents noted against what the bus says."""
        faults: list[str] = []
        acked: dict[str, tuple[str, str]] = {}  # message id -> target and words
        tried: set[str] = set()
        for agent in AGENTS:
            for line in self.sent(agent).lines():
                if "id" in line:
                    acked[line["id"]] = (line["to"], f"{agent} {line['n']}")
                tried.add(f"{agent} {line['n']}")
        received: dict[str, list[dict[str, Any]]] = {}
        waiting: dict[str, list[dict[str, Any]]] = {}
        again = 0
        with self.embedded() as session:
            status = self._status(session)
            for agent in AGENTS:
                batches = list(self.got(agent).lines())
                read = [one for line in batches for one in line["messages"]]
                again += sum(line["again"] for line in batches)
                # Half of them come back once more, as after any death; what lies in the inboxes of the others stays pending.
                if agent in AGENTS[::2]:
                    answer = session.call("cowork.drain", agent_id=agent, batch=f"b{len(batches) + 1}")
                    again += answer["again"]
                    if answer["again"]:
                        read += answer["messages"]
                        answer = session.call("cowork.drain", agent_id=agent, batch=f"b{len(batches) + 2}")
                    waiting[agent] = answer["messages"]
                else:
                    bus = session.app.house.cowork.buses.of(session.caller)
                    with bus.look() as look:
                        handed = look.handed(agent)
                        inbox = look.inbox(agent)[0]
                    if handed is not None and handed.batch == f"b{len(batches) + 1}":
                        read += [{"message_id": one.message_id, "content": one.content} for one in handed.messages]
                    waiting[agent] = [{"message_id": one.message_id, "content": one.content} for one in inbox]
                received[agent] = read
            after = self._status(session)
        found: Counter[str] = Counter()
        for agent in AGENTS:
            for state, rows in (("drained", received[agent]), ("pending", waiting[agent])):
                for row in rows:
                    name = row["message_id"]
                    found[name] += 1
                    if status.get(name) != (agent, state):
                        faults.append(f"{name} is {state} at {agent}, and the log says {status.get(name)}")
                    if name in acked and acked[name] != (agent, row["content"]):
                        faults.append(f"{name} is not what was sent")
                    if row["content"] not in tried:
                        faults.append(f"nobody sent {row['content']!r}")
            rows = (*received[agent], *waiting[agent])
            # A request that its sender died over may be with the owner still, and arrive after what a next life sent.
            late = {row["content"] for row in rows if row["message_id"] not in acked and row["content"].startswith(BY_OWNER)}
            faults += _out_of_order(agent, [row["content"] for row in rows if row["content"] not in late])
        faults += [f"{name} came {count} times" for name, count in found.items() if count != 1]
        faults += [f"{name} was acknowledged and is gone" for name in acked if name not in found]
        faults += [f"{name} is in the log and nowhere else" for name in status if name not in found]
        for agent in AGENTS:
            state = "drained" if agent in AGENTS[::2] else "pending"
            faults += [f"{row['message_id']} should be {state}" for row in waiting[agent] if after[row["message_id"]][1] != state]
        counts = Counter(state for _, state in status.values())
        return {"faults": faults, "acknowledged": len(acked), "received": len(found), "again": again, **counts}

    def _status(self, session: Session) -> dict[str, tuple[str, str]]:
        told: dict[str, tuple[str, str]] = {}
        for agent in AGENTS:
            answer = session.call("cowork.deliveries", agent_id=agent, limit=10_000)
            assert answer["skipped_lines"] == 0, answer["skipped_lines"]
            assert answer["total"] == len(answer["deliveries"])
            told |= {one["message_id"]: (agent, one["status"]) for one in answer["deliveries"]}
        return told


def _out_of_order(agent: str, words: list[str]) -> list[str]:
    """Messages of one sender arrive in the order in which it sent them."""
    last: dict[str, int] = {}
    faults = []
    for text in words:
        sender, number = text.split()
        if int(number) <= last.get(sender, -1):
            faults.append(f"{agent} got {text!r} after {last[sender]}")
        last[sender] = int(number)
    return faults


class Life:
    """One life of an agent, from its notes to its death."""

    def __init__(self, fire: Fire, agent: str, rng: random.Random) -> None:
        self._fire, self._agent, self._rng = fire, agent, rng
        self._others = [one for one in AGENTS if one != agent]
        self._sent, self._got = fire.sent(agent), fire.got(agent)
        self._session: Session | None = None

    def live(self) -> None:
        number = max((line["n"] for line in self._sent.lines()), default=-1) + 1
        batch = sum(1 for _ in self._got.lines()) + 1
        while True:
            for _ in range(self._rng.randint(1, 4)):
                to = self._rng.choice(self._others)
                self._sent.add(n=number, to=to)
                told = self._call("cowork.send", **{"from": self._agent}, to=to, message=f"{self._agent} {number}")
                if told["ok"]:
                    self._sent.add(n=number, to=to, id=told["message_id"])
                    os.write(self._fire.writing, b".")
                elif told["error"]["code"] not in NOT_SENT:
                    raise RuntimeError(told)
                number += 1
            told = self._call("cowork.drain", agent_id=self._agent, batch=f"b{batch}")
            if told["ok"] and told["messages"]:
                read = [{key: one[key] for key in ("message_id", "content")} for one in told["messages"]]
                self._got.add(messages=read, again=told["again"])
                batch += 1

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        while self._session is None:
            if self._agent not in BY_OWNER:
                self._session = self._fire.embedded(self._agent)
                break
            caller = local_caller(root=self._fire.root, agent=self._agent, channel=Channel.AGENT, environ={})
            self._session = remote_session(Path(self._fire.home), caller, start=False)
            if self._session is None:
                time.sleep(0.02)  # the owner was killed and is on its way
        answer = self._session.call(operation, **arguments)
        if not answer["ok"] and answer["error"]["code"] == "owner_unreachable":
            self._session = None
        return answer


def main(home: str, root: str, messages: str, seed: str) -> int:
    for name in WARM:
        importlib.import_module(name)  # what an owner loads while it starts: it shall start often
    fire = Fire(home, root, seed=int(seed))
    seconds = fire.burn(int(messages))
    print(json.dumps({"seconds": round(seconds, 2), "kills": dict(fire.kills), **fire.account()}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
