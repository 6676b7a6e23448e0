"""A mother and three children: real processes, one owner, one repository with two worktrees, and a second project beside it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import born_in, fingerprint
from hindbrain.domain.claim import parse
from hindbrain.stores.home import Home
from tests.support.delegation import FILES, MOTHER, TASK
from tests.support.owner import RunningOwner
from tests.support.world import git

REPOSITORY = Path(__file__).resolve().parents[2]

CHILD = """
import json, sys
import hindbrain

given = json.loads(sys.stdin.read())
with hindbrain.open() as session:
    hands = session.call("session_handshake", expected_binding=given["binding"])
    kept = session.call("memorize", node_label=given["label"], text="a fix of the retry path: " + given["label"])
    beat = session.call("north", task=given["task"])
    everything = session.call("seek", query="retry path")
    inner = session.call("delegate", task=given["task"], scope={"paths": ["."]})
report = "[m1nd " + given["id"] + "]\\nDEVIATIONS: none\\nFINDINGS: " + given["finding"]
print(json.dumps({"hands": hands, "kept": kept, "beat": beat, "sought": everything, "inner": inner, "report": report}))
"""


def repository(place: Path) -> str:
    place.mkdir()
    git(str(place), "init", "-q", "-b", "main")
    for key, text in FILES.items():
        path = place / key.replace("__", "/")
        path = path.with_name(path.name[::-1].replace("_", ".", 1)[::-1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(str(place), "add", "-A")
    git(str(place), "commit", "-qm", "first")
    return os.path.realpath(place)


def started(home: Path, directory: str, env: dict[str, str], given: dict[str, Any]) -> "subprocess.Popen[str]":
    """A child as a host starts it: in its directory, with the variables of its packet."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=directory,
        env=clean | {"HINDBRAIN_HOME": str(home), "HINDBRAIN_MODE": "owner", "PYTHONPATH": str(REPOSITORY / "src")} | env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(given))
    process.stdin.close()
    process.stdin = None
    return process


def test_med_371_child_write_lands_home_from_the_repository_and_its_worktrees(owner: RunningOwner, tmp_path: Path) -> None:
    x, y = repository(tmp_path / "cherry"), repository(tmp_path / "second")
    trees = [str(tmp_path / name) for name in ("tree-a", "tree-b")]
    for tree in trees:
        git(x, "worktree", "add", "-q", tree)

    def mother(operation: str, root: str = x, **given: Any) -> dict[str, Any]:
        answer = owner.call(operation, root=root, session=f"mother-{fingerprint(root)}", agent_id=MOTHER, **given)
        assert answer["ok"], answer
        return answer

    for root in (x, y):
        mother("ingest", root, path=root, project_root=root)
    mother("memorize", y, node_label="Secret garden", text="a fix of the retry path of the second project")
    children = []
    scopes = ("src/worker/retry.py", "src/worker/main.py", "src/ship.py")
    for number, (place, scope) in enumerate(zip((x, *trees), scopes, strict=True)):
        packet = mother("delegate", task=TASK, scope={"paths": [scope]}, subagent_hint=f"codex:maker-{number}")
        env = dict(packet["mission"]["binding"]["env"])
        if place == x:
            env.pop("HINDBRAIN_WORKSPACE_ROOT")  # in the mother's own directory nothing has to be set up
        given = {
            "binding": packet["mission"]["binding"],
            "id": packet["delegation_id"],
            "label": f"Note {number}",
            "task": TASK,
            "finding": f"a fix of the retry path needs a bound, says child {number}",
        }
        children.append((packet, started(owner.home, place, env, given)))

    medulla = owner.home / "medulla" / "agent-memory"
    landed = []
    for number, (packet, process) in enumerate(children):
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        told = json.loads(said)
        child = f"codex:maker-{number}"
        assert (told["hands"]["binding_match"], told["hands"]["reception"]) == (True, None)
        assert told["kept"]["origin_brain"] == x
        claim = parse((owner.home / "brains" / fingerprint(x) / "agent-memory" / f"note-{number}.light.md").read_text())
        brain = Home(owner.home).project(x)
        assert brain is not None
        assert born_in(brain, claim.origin_brain)
        assert claim.source_agent == child
        assert {row["store_brain"] for row in told["beat"]["memory"]} == {x}
        assert "second project" not in said
        assert told["inner"]["scope"]["may_touch"] == packet["scope"]["may_touch"]
        assert told["inner"]["expires_ms"] == packet["expires_ms"]
        answer = mother(
            "debrief",
            delegation_id=packet["delegation_id"],
            subagent_id=child,
            outcome="success",
            report_text=told["report"],
            touched_paths=packet["scope"]["may_touch"],
        )
        assert answer["conformance"]["verdict"] == "conformant"
        (one,) = answer["learned"]["memorized"]
        assert parse(Path(one["path"]).read_text()).source_agent == child
        landed.append(one["slug"])
    assert not list(medulla.glob("*.light.md"))
    assert [row["claim"] for row in mother("north", y, task=TASK)["memory"]] == ["Secret garden"]

    mother("promote", claim=landed[1], reason="it holds in every project")

    rows = {row["slug"]: row for row in mother("north", y, task=TASK)["memory"]}
    assert set(rows) == {"secret-garden", landed[1]}
    assert (rows[landed[1]]["tier"], rows[landed[1]]["chain"]["learned_by"]) == ("medulla", "codex:maker-1")
    assert rows[landed[1]]["chain"]["promoted_by"] == MOTHER
