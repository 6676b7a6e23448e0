"""A mission as a whole, by hand: at the command line and over MCP, from its start to a packet that another machine checks."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.brain import fingerprint
from hindbrain.engines.mission_packet import verify_packet
from hindbrain.surfaces.mcp_tools import Catalog
from tests.architecture.source import ROOT
from tests.cli.program import Ended, Program
from tests.mcp.hosts import connected, mcp_is_up
from tests.support.owner import RunningOwner
from tests.support.world import Actor, World, git

AGENT = "codex:maker"
TASK = "find why retry runs too often"
CLAIM = "retry runs once too often"
WORKER = '''def retry(job, times):
    """Try a job at most so many times."""
    for attempt in range(times + 1):
        if job():
            return attempt
    return None
'''
TEST = """from src.worker import retry


def test_it_stops_in_time():
    tries = []
    retry(lambda: tries.append(1), 3)
    assert len(tries) == 3
"""


def planted(root: Path) -> Path:
    """A repository in which a loop runs once too often, and a test that says so."""
    files = {"src/worker.py": WORKER, "src/queue.py": "def push(job):\n    return job\n", "tests/test_worker.py": TEST}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(str(root), "init", "-q", "-b", "main")
    git(str(root), "add", "-A")
    git(str(root), "commit", "-qm", "first")
    return root


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def owner(owner: RunningOwner) -> RunningOwner:
    return mcp_is_up(owner)


class Shell:
    """One agent at a terminal: every command is a process of its own."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def run(self, *words: str) -> Ended:
        return self.program.run(*words)

    def done(self, *words: str) -> dict[str, Any]:
        ended = self.run(*words)
        assert ended.code == 0, (words, ended.out, ended.err)
        found: dict[str, Any] = ended.json
        return found


def shell(owner: RunningOwner, root: Path, **environ: str) -> Shell:
    return Shell(Program(home=owner.home, directory=root, environ={"HINDBRAIN_AGENT_ID": AGENT, **environ}))


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_aol_261_a_mission_by_hand_from_its_start_to_a_packet_that_another_machine_checks(
    owner: RunningOwner, tmp_path: Path
) -> None:
    root = planted(tmp_path / "shop")
    at = shell(owner, root)
    at.done("ingest", str(root), "--project-root", str(root))
    clean = git(str(root), "status", "--porcelain")

    begun = at.done("mission", "start", TASK, "--mode", "bug_hunt", "--budget", "short")
    mission = begun["mission_id"]
    weak = at.done("mission", "verify", CLAIM, "--evidence-class", "graph_orientation", "--targets", "src/worker.py")
    assert (weak["verdict"], weak["ok"]) == ("insufficient_evidence", True)
    early = at.run("mission", "close")
    assert early.code == 1
    assert early.json["error"]["code"] == "mission_open"
    assert weak["claim_id"] in early.json["error"]["message"]

    ran = at.run("mission", "run", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert ran.code == 1, "the shell gets the exit code of the command"
    assert "assert 4 == 3" in ran.out
    test = json.loads(ran.err)
    assert (test["evidence_class"], test["exit_status"], test["event"]["source"]) == ("direct_test", 1, "runtime")
    shown = at.done(
        "mission", "verify", weak["claim_id"], "--evidence-class", "direct_source",
        "--evidence-refs", "direct_source:src/worker.py:3", "--evidence-refs", test["event_id"],
    )  # fmt: skip
    assert (shown["verdict"], shown["evidence_grade"]) == ("verified_for_mission", "direct")
    swept = at.run("mission", "close")
    assert "coverage_sweep" in swept.json["error"]["message"], "one finding is rarely the only one"
    at.done("mission", "event", "file_read", "src/queue.py")
    move = at.done("mission", "next")["move"]
    assert move["type"] == "direct_sweep"
    at.done("call", "mission.event", json.dumps({key: value for key, value in move["arguments"].items() if key != "mission_id"}))
    closed = at.done("mission", "close", "--summary", "range(times + 1)")

    assert [one["claim"] for one in closed["proof"]["verified_claims"]] == [CLAIM]
    assert git(str(root), "status", "--porcelain") == clean
    there = tmp_path / "elsewhere"
    there.mkdir()
    at.done("mission", "export", mission, "--format", "proof", "--out", str(there / "proof.json"))
    at.done("mission", "export", "--format", "events", "--out", str(there / "events.jsonl"))
    assert at.run("mission", "export", mission, "--format", "proof", "--out", str(there / "proof.json")).code == 1
    assert (there / "proof.json").read_bytes() == Path(closed["proof_file"]).read_bytes()
    _checked_elsewhere(there, closed["proof"]["event_count"])


def _checked_elsewhere(there: Path, events: int) -> None:
    """On a machine that knows nothing of the mission: the packet holds, and each changed part of it is found."""
    subprocess.run(["git", "init", "--quiet", str(there)], check=True)
    other = Shell(Program(home=there.with_name("another-machine"), directory=there, environ={"HINDBRAIN_MODE": "embedded"}))
    found = other.done("mission", "verify-packet", "proof.json")
    assert (found["valid"], found["events_checked"], found["ledger_checked"]) == (True, events, False)

    lines = (there / "events.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (there / "events.jsonl").write_text("".join([*lines[:3], *lines[4:]]), encoding="utf-8")
    ended = other.run("mission", "verify-packet", "proof.json")
    assert (ended.code, ended.json["valid"]) == (1, False)
    assert ended.json["findings"] == ["event 4: event 4 is missing: 5 stands in its place"]

    raw = (there / "proof.json").read_bytes()
    for place in range(0, len(raw), 5):  # each byte of a smaller one: test_packet.py
        changed = bytearray(raw)
        changed[place] = ord("0") if changed[place] != ord("0") else ord("1")
        assert verify_packet(bytes(changed)), f"byte {place} of {len(raw)} can be changed unseen"
    assert verify_packet(raw) == ()
    assert verify_packet(raw + b"\n")
    assert verify_packet(raw[:-1])


@pytest.mark.anyio
async def test_aol_001_aol_260_a_mission_over_mcp_from_its_start_to_its_packet(owner: RunningOwner, tmp_path: Path) -> None:
    """Each decision of the loop is taken once: graph, proof, repair, not yet, enough."""
    root = planted(tmp_path / "depot")
    decisions = []
    async with connected(owner, "stdio", "2025", root=root, profile="full", agent=AGENT) as client:

        async def call(tool: str, **given: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, given)
            told: dict[str, Any] = result.structured_content or {}
            return told

        async def next_move() -> dict[str, Any]:
            told = await call("mission_next")
            decisions.append(told["move"]["type"])
            return told

        assert (await call("ingest", path=str(root), project_root=str(root)))["ok"]
        mission = (await call("mission_start", task=TASK, mode="bug_hunt", budget="short"))["mission_id"]
        first = await next_move()
        assert (first["move"]["tool"], first["policy"]["evidence_required"]) == ("seek", "graph_orientation")
        lost = await call("seek", query="quarrelsome zeppelin")
        assert lost["results"] == []
        assert (await next_move())["move"]["tool"] in ("trust_selftest", "recovery_playbook"), "what finds nothing is looked into"
        assert (await call("recovery_playbook"))["ok"]
        await call("mission_event", event_type="literal_search", target="range(", payload={
            "query": "range(", "hits": [{"path": "src/worker.py", "line": 3, "text": "    for attempt in range(times + 1):"}]
        })  # fmt: skip
        read = await next_move()
        assert "graph" in [one["item"] for one in read["policy"]["do_not"]] or read["move"]["type"] != "graph_query"
        claimed = await call("mission_claim", claim=CLAIM, targets=["src/worker.py"], confidence=0.6)
        weak = await call("mission_verify", claim=claimed["claim_id"], evidence_class="graph_orientation")
        assert weak["verdict"] == "insufficient_evidence"
        refused = await call("mission_close")
        assert (refused["ok"], refused["error"]["code"]) == (False, "mission_open")
        shown = await call(
            "mission_verify",
            claim=claimed["claim_id"],
            evidence_class="direct_source",
            evidence_refs=["direct_source:src/worker.py:3"],
        )
        assert shown["verdict"] == "verified_for_mission"
        await call("mission_event", event_type="file_read", target="src/queue.py")
        sweep = await next_move()
        assert sweep["move"]["type"] == "direct_sweep"
        assert (await call("mission_event", **sweep["move"]["arguments"]))["evidence_class"] == "direct_coverage_sweep"
        enough = await next_move()
        assert (enough["move"]["type"], enough["move"]["tool"]) == ("close", "mission.close")
        assert (await call("route_explain"))["move"]["type"] == "close"
        handed = await call("mission_handoff", summary="found", leave=False)
        assert handed["verified_claims"][0]["claim"] == CLAIM
        assert (await call("mission_resume", mission_id=mission))["resumed"] is True
        closed = await call("mission_close", summary="range(times + 1)")

    assert closed["status"] == "closed"
    assert closed["proof"]["handoff_count"] == 1
    assert decisions.count("graph_query") == 1
    assert decisions.count("recover") == 1
    assert decisions[-2:] == ["direct_sweep", "close"]
    packet = Path(closed["proof_file"])
    events = [json.loads(line) for line in packet.with_name("events.jsonl").read_text(encoding="utf-8").splitlines()]
    assert verify_packet(packet.read_bytes(), events) == ()


# -- one machine behind both surfaces --------------------------------------------------------------------------------------

SCRIPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("mission.start", {"task": TASK, "mode": "bug_hunt", "budget": "deep"}),
    ("mission.next", {}),
    ("mission.event", {"event_type": "file_read", "target": "src/worker.py", "payload": {"range": [1, 6]}}),
    ("mission.event", {"event_type": "dissent", "payload": {"why": "no"}}),
    ("mission.verify", {"claim": CLAIM, "evidence_class": "graph_orientation", "targets": ["src/worker.py"]}),
    ("mission.next", {}),
    ("mission.close", {}),
    ("mission.verify", {"claim": CLAIM, "evidence_class": "direct_source", "evidence_refs": ["direct_source:src/worker.py:3"]}),
    ("mission.event", {"event_type": "file_read", "target": "src/queue.py"}),
    ("route_explain", {}),
    ("mission.event", {"event_type": "boundary_sweep", "payload": {"linked_seqs": [8]}}),
    ("mission.handoff", {"summary": "half of it", "leave": False}),
    ("mission.status", {"events": 50}),
    ("flight", {}),
    ("mission.close", {"gaps": ["the queue was only read"], "force": True, "reason": "enough is shown"}),
    ("mission.next", {}),
)
# What a clock, a random number or a place on the disk decides.
_IDS = re.compile(r"\b(msn|evt|clm|hnd|task|msg|meg)_[0-9A-Za-z-]+\b")
_VARYING = (
    (re.compile(r"\b[0-9a-f]{16,64}\b"), "HEX"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\d+% of the budget"), "N% of the budget"),
)
_MEASURED = ("duration_ms", "budget_consumed", "ms", "first_good_finding_ms", "grad_l")


def plain(value: Any, root: Path, names: dict[str, str], key: str = "") -> Any:
    """An answer without what differs between two runs of the same work."""
    if isinstance(value, dict):
        kept = {name: inner for name, inner in value.items() if name not in ("rendered", "ledger")}
        return {plain(name, root, names): plain(inner, root, names, name) for name, inner in kept.items()}
    if isinstance(value, list):
        return [plain(inner, root, names, key) for inner in value]
    if key in _MEASURED and isinstance(value, int | float):
        return 0
    if not isinstance(value, str):
        return value
    text = value.replace(str(root), "ROOT").replace(fingerprint(str(root)), "BRAIN")
    text = _IDS.sub(lambda found: names.setdefault(found[0], f"{found[1]}_{len(names)}"), text)
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text


@pytest.mark.anyio
async def test_ctl_322_the_same_calls_give_the_same_answers_at_the_command_line_and_over_mcp(
    owner: RunningOwner, tmp_path: Path
) -> None:
    one = planted(tmp_path / "one" / "shop")
    two = tmp_path / "two" / "shop"
    shutil.copytree(one, two)
    at = shell(owner, tmp_path).program
    assert at.answer("ingest", str(one), "--project-root", str(one), "--root", str(one))["ok"]
    names: dict[str, str] = {}
    typed = [plain(at.answer("call", name, json.dumps(given), "--root", str(one)), one, names) for name, given in SCRIPT]

    names = {}
    called = []
    async with connected(owner, "http", "2026", root=two, profile="full", agent=AGENT) as client:
        await client.call_tool("ingest", {"path": str(two), "project_root": str(two)})
        for name, given in SCRIPT:
            result = await client.call_tool(name.replace(".", "_"), given)
            called.append(plain(result.structured_content, two, names))

    for (name, given), left, right in zip(SCRIPT, typed, called, strict=True):
        assert left == right, (name, given)
    assert [one.get("error", {}).get("code") for one in typed].count(None) == len(SCRIPT) - 3
    assert typed[-2]["proof"]["forced"] is True


# -- held together -------------------------------------------------------------------------------------------------------


_WORKER = """
import sys
from pathlib import Path
from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
home, root, mission, number = sys.argv[1:]
caller = local_caller(root=root, agent="codex:maker", channel=Channel.AGENT, environ={})
with embedded(Home(Path(home)), Settings({}), caller) as session:
    sys.stdin.readline()
    for step in range(5):
        told = session.call("mission.event", mission_id=mission, event_type="note", target=f"{number}.{step}")
        assert told["ok"], told
"""


def begun(actor: Actor, **more: Any) -> str:
    answer = actor.call("mission.start", **{"task": TASK, "mode": "bug_hunt", "budget": "deep", **more})
    assert answer["ok"], answer
    return str(answer["mission_id"])


@pytest.fixture
def shop(world: World) -> str:
    root = planted(world.place / "shop")
    assert world.at(str(root)).call("ingest", path=str(root), project_root=str(root))["ok"]
    return str(root)


def test_aol_041_twenty_events_from_four_processes_at_once_are_twenty_events_in_one_chain(world: World, shop: str) -> None:
    actor = world.at(shop, AGENT)
    mission = begun(actor)
    before = actor.call("mission.status", mission_id=mission)["event_count"]
    words = [sys.executable, "-c", _WORKER, str(world.home.path), shop, mission]
    crew = [subprocess.Popen([*words, str(number)], stdin=subprocess.PIPE) for number in range(4)]
    for one in crew:
        assert one.stdin is not None
        one.stdin.write(b"go\n")
        one.stdin.close()
    assert [one.wait(60) for one in crew] == [0, 0, 0, 0]

    told = actor.call("mission.export", mission_id=mission, format="events")["data"][before:]

    notes = [one["target"] for one in told if one["event_type"] == "note"]
    assert sorted(notes) == [f"{number}.{step}" for number in range(4) for step in range(5)]
    assert [one for number in range(4) for one in notes if one.startswith(f"{number}.")] == sorted(notes), "each in its order"
    assert actor.call("mission.verify_chain", mission_id=mission)["valid"] is True


def test_aol_108_a_row_that_somebody_changed_in_the_database_is_named(world: World, shop: str) -> None:
    actor = world.at(shop, AGENT)
    mission = begun(actor)
    for number in range(8):
        assert actor.call("mission.event", event_type="note", target=f"step {number}")["ok"]
    assert actor.call("mission.verify_chain", mission_id=mission)["first_bad_seq"] is None
    world.close()
    database = world.home.brains_dir / fingerprint(shop) / "brain.db"
    with sqlite3.connect(database) as raw:  # whoever has the file also has its triggers
        for (name,) in raw.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            raw.execute(f"drop trigger {name}")
        (body,) = raw.execute("select body from mission_event where mission_id = ? and seq = 7", (mission,)).fetchone()
        raw.execute("update mission_event set body = ? where mission_id = ? and seq = 7", (body.replace("step", "stop"), mission))
    raw.close()

    found = world.at(shop, AGENT).call("mission.verify_chain", mission_id=mission)

    assert (found["valid"], found["first_bad_seq"]) == (False, 7)
    assert "event 7" in found["rendered"]


_OFFLINE = """
import sys
seen = []
def refuse(event, given):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        seen.append((event, repr(given)))
        raise OSError("there is no network here")
sys.addaudithook(refuse)
from pathlib import Path
from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
home, root = sys.argv[1:]
caller = local_caller(root=root, agent="codex:maker", channel=Channel.AGENT, environ={})
with embedded(Home(Path(home)), Settings({}), caller) as session:
    def done(name, **given):
        answer = session.call(name, **given)
        assert answer["ok"], (name, answer)
        return answer
    done("ingest", path=root, project_root=root)
    done("mission.start", task="find why retry runs too often", mode="bug_hunt", budget="short")
    done("mission.next")
    done("seek", query="retry")
    done("mission.run", command=[sys.executable, "-c", "print(1)"])
    done("mission.verify", claim="one too many", evidence_class="direct_source", evidence_refs=["direct_source:src/worker.py:3"])
    read = done("mission.event", event_type="file_read", target="src/queue.py")
    done("mission.event", event_type="coverage_sweep", payload={"linked_events": [read["event_id"]]})
    done("mission.handoff", summary="done", leave=False)
    closed = done("mission.close")
    assert done("mission.verify_packet", file=closed["proof_file"])["valid"]
    done("update.status"); done("hosts.status"); done("guard"); done("doctor")
assert seen == [], seen
print("whole")
"""


def test_aol_002_a_whole_mission_needs_no_network_and_asks_for_none(tmp_path: Path) -> None:
    """The control is in the hook itself: whatever reaches for a socket is refused and written down."""
    root = planted(tmp_path / "shop")
    words = [sys.executable, "-c", _OFFLINE, str(tmp_path / "home"), str(root)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}

    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, env=kept)

    assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (0, ["whole"]), ended.stderr[-3000:]


def test_aol_004_an_index_that_cannot_answer_says_so_and_gives_the_way_out(world: World, shop: str) -> None:
    actor = world.at(shop, AGENT)
    assert actor.call("seek", query="retry")["results"]
    world.close()
    place = world.home.brains_dir / fingerprint(shop)
    for path in place.glob("graph.db*"):
        path.unlink()
    (place / "graph.db").mkdir()

    answer = world.at(shop, AGENT).call("seek", query="retry")

    assert (answer["results"], answer["status"], answer["proof_state"]) == ([], "blocked", "blocked")
    assert answer["diagnosis"]["kind"] == "snapshot_corrupt_recovered"
    assert answer["agent_runtime_contract"]["recovery"]["suggested_tool"] == "recovery_playbook"
    way = answer["diagnosis"]["fix"]
    assert world.at(shop, AGENT).call(way["tool"], **way["arguments"])["ok"], "the way out can be called as it stands"
    healed = world.at(shop, AGENT).call("seek", query="retry")
    assert healed["results"]
    assert "status" not in healed
    assert "status" not in world.at(shop, AGENT).call("seek", query="quarrelsome zeppelin"), "an absence is no failure"


def test_aol_264_a_command_works_on_the_repository_it_is_asked_for_whatever_a_host_is_bound_to(
    owner: RunningOwner, tmp_path: Path
) -> None:
    bound, meant = planted(tmp_path / "bound"), planted(tmp_path / "meant")
    at = shell(owner, bound, HINDBRAIN_WORKSPACE_ROOT=str(bound))
    for root in (bound, meant):
        at.done("ingest", str(root), "--project-root", str(root), "--root", str(root))

    here = at.done("guard")
    there = at.done("guard", "--root", str(meant))
    begun = at.done("mission", "start", TASK, "--mode", "review", "--root", str(meant))

    assert here["context_guard"]["workspace_root"] == str(bound)
    assert (there["context_guard"]["workspace_root"], there["context_guard"]["workspace_root_source"]) == (str(meant), "explicit")
    assert begun["context_guard"]["repo"] == str(meant)
    assert begun["context_guard"]["classification"] == "single_repo"
    assert str(meant) in begun["rendered"]
    assert at.done("mission", "list", "--root", str(meant))["missions"][0]["mission_id"] == begun["mission_id"]
    assert at.done("mission", "list")["missions"] == []


def test_aol_322_few_tools_short_answers_windows_and_one_move(world: World, shop: str) -> None:
    actor = world.at(shop, AGENT)
    mission = begun(actor)
    for number in range(40):
        assert actor.call("mission.event", event_type="note", target=f"step {number}", payload={"text": "word " * 200})["ok"]

    listed = Catalog(world.app.manifest()).listed("default")
    told = actor.call("mission.next", mission_id=mission)
    last = actor.call("mission.status", mission_id=mission, events=2)
    flown = actor.call("flight", mission_id=mission, records=3)

    assert len(listed) <= 8
    assert isinstance(told["move"], dict)
    assert len(told["rendered"]) < 2_000
    assert [one["target"] for one in last["events"]] == ["step 38", "step 39"]
    assert len(flown["records"]) == 3
    assert len(last["rendered"]) < 2_000, "forty events are not told again"


def test_aol_325_moves_and_events_take_turns_until_they_end(world: World, shop: str) -> None:
    """An agent that does what it is told, and nothing else, is led from the first look to the close within its budget."""
    actor = world.at(shop, AGENT)
    mission = begun(actor, budget="short")
    moves = []
    while len(moves) < 40:
        told = actor.call("mission.next", mission_id=mission)
        move, given = told["move"], told["move"]["arguments"]
        moves.append(move["type"])
        assert told["step_id"] == len(moves)
        if move["type"] == "close":
            break
        if move["tool"] == "mission.claim":
            answer = actor.call("mission.claim", **given, claim=CLAIM)
        elif move["tool"] in ("seek", "search", "mission.verify"):
            answer = actor.call(move["tool"], **given)
        elif move["type"] == "direct_sweep" and not given["payload"]["linked_seqs"]:
            answer = actor.call("mission.event", event_type="file_read", target="src/queue.py")
        elif move["type"] == "direct_sweep":
            answer = actor.call("mission.event", **given)
        else:
            assert move["type"] == "read_file", move
            answer = actor.call("mission.event", event_type="file_read", target=move["target"])
        assert answer["ok"], answer

    assert moves == ["graph_query", "read_file", "claim", "claim", "direct_sweep", "direct_sweep", "close"]
    closed = actor.call("mission.close", mission_id=mission)
    assert closed["proof"]["counters"]["tool_calls"] <= 12
    assert closed["proof"]["counters"]["dissents"] == 0


def test_aol_325_an_agent_that_only_repeats_itself_is_told_to_stop(world: World, shop: str) -> None:
    actor = world.at(shop, AGENT)
    begun(actor, budget="short")
    for _ in range(20):
        assert actor.call("mission.event", event_type="literal_search", target="nothing", payload={"query": "nothing"})["ok"]

    told = actor.call("mission.next")

    assert {"LW1", "LW2"} & {one["rule"] for one in told["loop_warnings"]}
    assert told["move"]["tool"] in ("mission.handoff", "mission.close", "mission.verify"), "all of its calls are used"


@pytest.mark.anyio
async def test_aol_260_the_server_offers_the_eight_calls_the_recovery_tools_and_route_explain(
    owner: RunningOwner, tmp_path: Path
) -> None:
    async with connected(owner, "http", "2025", root=tmp_path, profile="full") as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}

    calls = ("start", "event", "next", "claim", "verify", "handoff", "resume", "close")
    wanted = {f"mission_{one}" for one in calls} | {"mission_status", "mission_list", "route_explain", "doctor"}
    wanted |= {"recovery_playbook", "trust_selftest", "session_handshake", "update_check", "hosts_status", "guard", "flight"}
    assert wanted <= set(tools)
    long = {name: len(one.description or "") for name, one in tools.items() if len(one.description or "") >= 400}
    assert long == {}
    assert not {"mission_run", "gate", "gym_run", "update_apply", "hosts_apply", "restart"} & set(tools), "these are a terminal's"


def test_aol_261_every_command_explains_itself_and_speaks_json_in_a_pipe(owner: RunningOwner, tmp_path: Path) -> None:
    root = planted(tmp_path / "shop")
    at = shell(owner, root)
    verbs = (
        "start",
        "event",
        "next",
        "claim",
        "verify",
        "handoff",
        "close",
        "resume",
        "status",
        "list",
        "export",
        "verify-chain",
    )
    shown = re.findall(r"^  ([a-z-]+) ", at.run("mission", "--help").out, flags=re.MULTILINE)
    assert set(verbs) <= set(shown)
    groups = ("flight", "guard", "doctor", "update", "hosts", "restart", "light", "gym", "ask")
    assert [one for one in groups if at.run(one, "--help").code != 0] == []
    assert at.run("mission", "list").json["error"]["code"] == "brainless_root"
    at.done("ingest", str(root), "--project-root", str(root))
    assert at.done("mission", "list")["missions"] == []
    assert at.run("mission", "list", "--no-json").out.startswith("no mission yet")


@pytest.fixture(autouse=True)
def _no_traces() -> Iterator[None]:
    """Tests of a planted repository leave no byte code in it: `git status` is looked at."""
    before = os.environ.get("PYTHONDONTWRITEBYTECODE")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    yield
    if before is None:
        del os.environ["PYTHONDONTWRITEBYTECODE"]
    else:
        os.environ["PYTHONDONTWRITEBYTECODE"] = before
