"""Many children, each killed -9 at a random moment of its writes; prints what they were told was written.

usage: python -m tests.support.killed HOME ROOT ROUNDS SEED

Forks from one process that has imported everything, so that a round costs milliseconds and the kill falls into the work
itself. An acknowledgement goes through a pipe after the call returned; what was written but not yet told does not count.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home


def child(home: str, root: str, turn: int, told: int) -> None:
    caller = local_caller(root=root, agent="killed:orchestrator", channel=Channel.AGENT, environ={})
    session = embedded(Home(Path(home)), Settings({}), caller)
    os.write(told, b"\n")
    number = 0
    while True:
        number += 1
        label = "Everybody writes this" if number % 3 == 0 else f"Round {turn} claim {number}"
        text = f"round {turn} wrote number {number}"
        answer = session.call("memorize", node_label=label, text=text)
        assert answer["ok"], answer
        os.write(told, (json.dumps({"slug": answer["slug"], "text": text}) + "\n").encode())
        if number % 4 == 0:
            answer = session.call("promote", brain=root, claim=label, reason="seen twice")
            assert answer["ok"], answer
            os.write(told, (json.dumps({"slug": answer["medulla_slug"], "promoted": True, "text": text}) + "\n").encode())


def main(home: str, root: str, rounds: str, seed: str) -> int:
    rng = random.Random(int(seed))
    for turn in range(int(rounds)):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                child(home, root, turn, writing)
            finally:
                os._exit(9)
        os.close(writing)
        if rng.random() < 0.9:
            os.read(reading, 1)  # most are killed at their work, some while they start
        time.sleep(rng.uniform(0.0, 0.12))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reading, "rb") as pipe:
            lines = pipe.read().split(b"\n")[:-1]  # a line that was cut was not told
        sys.stdout.write("".join(line.decode() + "\n" for line in lines if line))
        if not os.WIFSIGNALED(status):
            print(json.dumps({"failed": status}), flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
