"""The auditor and the watch as a person and an agent meet them: operations on a real house."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import TYPES, Role
from hindbrain.domain.task import Record, Verdict, VerdictMore
from hindbrain.operations import REGISTRY, Effect
from hindbrain.policy import auditing
from hindbrain.policy.control import DEFAULTS, PATHS
from hindbrain.services.control.auditor import Auditor
from hindbrain.services.control.lines import Line
from hindbrain.services.control.tap import Tap
from hindbrain.stores.audit_log import AuditLog
from hindbrain.surfaces.mcp_tools import Catalog
from tests.support.stream import call, correction, directive, final, manifest, outcome, replan, result, spec, subtask
from tests.support.world import World


class Recorded:
    """A project whose brain holds what was said in a task."""

    def __init__(self, world: World, **files: str) -> None:
        self.world = world
        self.root = world.brain("x", **files)
        house = world.app.house
        self.brain = house.router.write_route(world.human(self.root).caller)
        with house.brains.use(self.brain) as opened:
            self.line: Line = house.lines.of(opened)
            self.directory: Path = opened.directory

    def say(self, *records: Record, sender: Role | None = None, to: Role | None = None) -> None:
        for record in records:
            path = PATHS[TYPES[type(record)]]
            task: Any = getattr(record, "task_id", None) or getattr(record, "parent_task_id", None) or "tsk_a"
            self.line.bus.publish(sender or path[0], to or path[1], record, task_id=task)
            self.world.clock.forward(1_000)
        assert self.line.journal.drain(20)

    def person(self, operation: str, **given: Any) -> dict[str, Any]:
        return self.world.human(self.root).call(operation, **given)

    def agent(self, operation: str, **given: Any) -> dict[str, Any]:
        return self.world.at(self.root).call(operation, **given)


@pytest.fixture
def recorded(world: World) -> Recorded:
    return Recorded(world)


TOLD = """\
23:57:11  R1→R2      TaskSpec                count files
23:57:12  R2→R4b     DispatchManifest        plan 1: 2 subtasks, 1 criterion
23:57:13  R2→R3      SubTask                 1/2 write out.txt; first: out.txt exists
23:57:14  R2→R3      SubTask                 2/2 write out.txt; first: out.txt exists
23:57:15  R3→R4a     ExecutionResult         1/2 attempt 1 completed, 1 call
23:57:16  R4a→R4b    SubTaskOutcome          1/2 matched, score 1.00
23:57:17  R3→R4a     ExecutionResult         2/2 attempt 1 failed, 0 calls
23:57:18  R4a→R3     CorrectionSignal        2/2 attempt 1: no such file (logical)
23:57:19  R3→R4a     ExecutionResult         2/2 attempt 2 completed, 0 calls
23:57:20  R4a→R4b    SubTaskOutcome          2/2 failed, score 0.00; not met: out.txt exists
23:57:21  R4b→R7     ReplanRequest           1/2 failed: no such file
23:57:22  R7→R2      PlanDirective           init→change_path D=0.50 P=0.00 grad=+0.00 Omega=24% →
23:57:23  R2→R4b     DispatchManifest        plan 2: 1 subtask, 1 criterion
23:57:24  R2→R3      SubTask                 1/1 write out.txt; first: out.txt exists
23:57:25  R3→R4a     ExecutionResult         1/1 attempt 1 completed, 0 calls
23:57:26  R4a→R4b    SubTaskOutcome          1/1 matched, score 1.00
23:57:27  R7→User    FinalResult             change_path→success D=0.25 P=0.00 grad=-0.20 Omega=2% ↑ done: 3 files"""


def _said(recorded: Recorded) -> None:
    """A task in two rounds."""
    failed = outcome("tsk_a", "s2", "failed", attempts=2)
    recorded.say(spec("tsk_a"), manifest("tsk_a", "s1", "s2"), subtask("tsk_a", "s1"), subtask("tsk_a", "s2"))
    recorded.say(result("s1", "completed", call("write")), outcome("tsk_a", "s1"), result("s2", "failed"), correction("s2"))
    recorded.say(result("s2", attempt=2), failed, replan("tsk_a", outcome("tsk_a", "s1"), failed, corrections=1))
    recorded.say(directive("tsk_a", "change_path"), manifest("tsk_a", "s3"), subtask("tsk_a", "s3"), result("s3"))
    recorded.say(outcome("tsk_a", "s3"), final("tsk_a", "success", d=0.25, grad=-0.204, before="change_path"))


def test_ctl_260_ctl_261_ctl_262_a_recorded_task_reads_line_by_line(recorded: Recorded) -> None:
    _said(recorded)
    answer = recorded.agent("control.watch", task_id="tsk_a")

    assert answer["rendered"] == TOLD
    assert len(answer["lines"]) == 17


def test_ctl_260_who_reads_on_by_cursor_gets_the_same_lines(recorded: Recorded) -> None:
    _said(recorded)
    read: list[str] = []
    cursor = 0
    for _ in range(4):
        answer = recorded.agent("control.watch", task_id="tsk", after=cursor, limit=5)
        read += [answer["rendered"]]
        cursor = answer["cursor"]

    assert "\n".join(read) == TOLD
    assert recorded.agent("control.watch", task_id="tsk_a", after=cursor)["rendered"] == "nothing new."


def test_ctl_260_a_task_that_nobody_knows_is_named_so(recorded: Recorded) -> None:
    recorded.say(spec("tsk_a"), spec("tsk_b"))

    for given in ("other", "tsk", ""):
        assert recorded.agent("control.watch", task_id=given)["error"]["code"] == "unknown_task"


def test_ctl_271_a_person_who_asks_is_told_and_the_report_stands_on_the_bus(recorded: Recorded) -> None:
    _said(recorded)
    recorded.say(replan("tsk_a", corrections=5))
    with pytest.raises(BoundaryViolation):
        recorded.say(result("s1"), to=Role.MEMORY)
    answer = recorded.person("control.audit")

    assert answer["ok"], answer
    assert answer["report"]["trigger"] == "on-demand"
    assert (answer["report"]["tasks_observed"], answer["report"]["total_corrections"]) == (1, 1)
    assert [line.split(":")[0] for line in answer["report"]["anomalies"]] == ["drift", "boundary_violation"]
    assert "drift: 5 corrections in one round of task tsk_a" in answer["rendered"]
    assert [one["outcome"] for one in answer["decisions"]] == ["success", "success"]
    again = recorded.person("control.audit")
    assert again["report"]["anomalies"] == []
    whole = recorded.person("control.audit", since="2026-01-01")
    assert whole["report"]["anomalies"] == answer["report"]["anomalies"]
    assert recorded.person("control.audit", since="soon")["error"]["code"] == "invalid_params"


class Holder(AuditLog):
    """The log of a process that holds it already."""

    @contextmanager
    def hold(self) -> Iterator[bool]:
        yield True


def test_ctl_285_a_question_that_the_auditor_of_another_process_answers_is_answered(recorded: Recorded) -> None:
    _said(recorded)
    with recorded.world.app.house.brains.use(recorded.brain) as opened, ThreadPoolExecutor(1) as pool:
        other = Auditor(
            recorded.line.bus.voice(Role.AUDITOR),
            Tap(opened.store.messages),
            Holder(recorded.directory / "audit"),
            numbers=lambda _, __: DEFAULTS,
            counters=dict,
        )
        with AuditLog(recorded.directory / "audit").hold() as mine:
            waiting = pool.submit(recorded.person, "control.audit")
            while not any(row.type == "AuditQuery" for row in opened.store.messages(limit=100)):
                recorded.line.bus.wait(recorded.line.bus.turn, 0.02)
            other.look()
            answer = waiting.result(60)

    assert mine
    assert answer["report"]["tasks_observed"] == 1


def test_ctl_269_a_changed_line_is_found_by_who_checks(recorded: Recorded) -> None:
    _said(recorded)
    assert recorded.person("control.audit")["ok"]
    whole = recorded.person("control.audit_verify")
    path = recorded.directory / "audit" / "log.jsonl"
    path.write_text(path.read_text().replace('"anomaly":"none"', '"anomaly":"drift"', 1))
    broken = recorded.person("control.audit_verify")

    assert (whole["intact"], whole["lines"], whole["broken"], whole["unseen"]) == (True, 19, None, [])
    assert broken["error"]["code"] == "ledger_broken"
    assert "line 1 was changed after it was written" in broken["error"]["message"]


def test_ctl_269_a_message_that_the_log_never_had_is_found_by_who_checks(recorded: Recorded) -> None:
    """Every line is chained anew without one message: only the ledger knows."""
    _said(recorded)
    assert recorded.person("control.audit")["ok"]
    log = AuditLog(recorded.directory / "audit")
    lines = list(log.lines())
    log.path.unlink()
    log.append([line for line in lines if line["message_type"] != "CorrectionSignal"])
    answer = recorded.person("control.audit_verify")

    assert (answer["broken"], len(answer["unseen"])) == (None, 1)
    assert "1 of the recorded messages have no line" in answer["error"]["message"]


def test_ctl_315_an_id_that_nothing_gave_is_found_by_who_checks(recorded: Recorded) -> None:
    """Verdicts, tool calls, ends and megrams lean on calls and messages that stand in the record."""
    shown = call("write")
    done = msgspec.structs.replace(
        outcome("tsk_a", "s1"),
        tool_calls=(shown,),
        criteria_verdicts=(Verdict(criterion="c", verdict="pass", x=VerdictMore(event_ids=(shown.event_id,))),),
    )
    ended = final("tsk_a")
    whole = msgspec.structs.replace(ended, x=msgspec.structs.replace(ended.x, evidence_event_ids=(shown.event_id,)))
    recorded.say(spec("tsk_a"), manifest("tsk_a", "s1"), result("s1", "completed", shown), done, whole)
    assert recorded.person("control.audit_verify")["dangling"] == []
    forged = msgspec.structs.replace(ended, x=msgspec.structs.replace(ended.x, evidence_event_ids=("evt_nobody",)))
    recorded.say(forged, msgspec.structs.replace(done, tool_calls=(msgspec.structs.replace(shown, event_id="evt_none"),)))
    answer = recorded.person("control.audit_verify")

    assert [one["id"] for one in answer["dangling"]] == ["evt_nobody", "evt_none"]
    assert answer["error"]["message"].endswith("2 ids that messages lean on are unknown")


def test_ctl_266_the_owner_looks_beside_its_calls(recorded: Recorded) -> None:
    _said(recorded)
    recorded.world.app.house.tick()
    log = AuditLog(recorded.directory / "audit")

    assert len(list(log.lines())) == 17
    recorded.world.clock.forward(300_000)
    recorded.world.app.house.tick()
    assert recorded.line.journal.drain(20)
    recorded.world.app.house.tick()
    assert [line["x"]["of"] for line in log.lines()][17:] == ["window", "message"]


def test_ctl_266_a_disk_that_is_full_stops_neither_the_brain_nor_the_next_look(
    recorded: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    _said(recorded)
    (recorded.directory / "audit").write_text("in the way")
    recorded.world.app.house.tick()
    assert "cannot be written" in caplog.text
    (recorded.directory / "audit").unlink()
    recorded.world.app.house.tick()

    assert len(list(AuditLog(recorded.directory / "audit").lines())) == 17


# -- what agents get -----------------------------------------------------------------------------------------------------------


def test_ctl_267_an_agent_can_not_ask_the_auditor_and_who_checks_its_log_learns_nothing_of_what_it_found(
    recorded: Recorded,
) -> None:
    _said(recorded)

    assert recorded.agent("control.audit")["error"]["code"] == "human_needed"
    assert not (recorded.directory / "audit").exists()
    recorded.person("control.audit")
    checked = recorded.agent("control.audit_verify")
    assert set(checked) == {"ok", "schema", "brain", "lines", "head", "intact", "broken", "unseen", "dangling", "rendered"}


def test_ctl_269_ctl_289_no_mcp_tool_gives_audit_lines_or_what_the_auditor_looks_for(recorded: Recorded) -> None:
    """Every tool of the real manifest that only reads, asked for everything it would take."""
    _said(recorded)
    with pytest.raises(BoundaryViolation):
        recorded.say(result("s1"), to=Role.MEMORY)
    assert "ExecutionResult from R3 to R5" in recorded.person("control.audit")["rendered"]  # what a person gets
    log = AuditLog(recorded.directory / "audit")
    marks = {line["x"]["hash"] for line in log.lines()} | {"ExecutionResult from R3 to R5"}
    numbers = {name.lower() for name in auditing.__all__ if "_" in name}
    words: dict[str, Any] = {
        "query": "what the auditor found",
        "path": str(log.path),
        "claim": "audit",
        "task": "what did the auditor find",
        "task_id": "tsk_a",
        "limit": 50,
        "pattern": "**/*.jsonl",
        "node": "audit",
        "source": str(log.path),
        "text": "audit",
    }
    tools = Catalog(recorded.world.app.manifest())
    asked = 0
    for name, op in REGISTRY.items():
        if tools.operation(name) is None or op.effect is not Effect.READ:
            continue
        given = {key: value for key, value in words.items() if key in op.arguments.__struct_fields__}
        answer = recorded.agent(name, **given)
        asked += answer["ok"]
        text = json.dumps(answer, ensure_ascii=False)
        assert not {mark for mark in marks if mark in text}, name
        assert not {number for number in numbers if f'"{number}"' in text.lower()}, name

    assert tools.operation("control.watch") == "control.watch"
    for left_out in ("control.audit", "control_audit", "control.audit_verify", "control_audit_verify"):
        assert tools.operation(left_out) is None
    assert asked > 20


# -- a task of its own -------------------------------------------------------------------------------------------------------


def _run(world: World, *, looking: bool, blind: bool = False) -> tuple[Recorded, dict[str, Any]]:
    """A goal reached without a model, with an auditor that looks all the time, or with one that comes after the end."""
    recorded = Recorded(world, a_py="print(1)\n", b_py="print(2)\n")
    if blind:
        (recorded.directory / "audit").write_text("no directory, so that no log can be")
    answer = recorded.person("run", goal="count the python files", wait_s=0 if looking else 60)
    while looking and answer["state"] not in ("done", "lost"):
        with world.app.house.brains.use(recorded.brain) as opened:
            world.app.house.audits.look(opened)
        answer = recorded.person("task.show", task_id=answer["task_id"], wait_s=0.01)
    return recorded, answer


def test_ctl_015_ctl_266_ctl_315_of_a_whole_task_everything_that_anybody_heard_is_in_the_log(world: World) -> None:
    recorded = Recorded(world, a_py="print(1)\n", b_py="print(2)\n")
    listening = recorded.line.bus.subscribe("anybody")
    answer = recorded.person("run", goal="count the python files", wait_s=60)
    assert recorded.person("control.audit")["report"]["anomalies"] == []
    log = [line for line in AuditLog(recorded.directory / "audit").lines() if line["x"]["of"] == "message"]
    heard = []
    while (one := listening.next(0.0)) is not None:
        heard.append(one.message)

    # Up to the last message that the auditor saw: a role may still speak while its report is made.
    last = log[-1]["x"]["seq"]
    assert [line["event_id"] for line in log] == [f"aud_{one.id}" for one in heard if one.seq <= last]
    assert answer["task_id"] in {one.task_id for one in heard if one.type == "FinalResult" and one.seq <= last}
    assert {line["message_type"] for line in log} >= {"TaskSpec", "SubTask", "ExecutionResult", "SubTaskOutcome", "FinalResult"}
    assert recorded.person("control.audit_verify")["intact"]


def test_ctl_268_a_task_ends_the_same_with_and_without_an_auditor(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    recorded, alone = _run(world, looking=False, blind=True)
    watched, looked_at = _run(other, looking=True)
    told = []
    for one, answer in ((recorded, alone), (watched, looked_at)):
        with one.world.app.house.brains.use(one.brain) as opened:
            rows = opened.store.messages(task_id=answer["task_id"])
        final_body = json.loads(next(row.body for row in rows if row.type == "FinalResult"))["payload"]
        told.append([final_body[name] for name in ("directive", "output", "replans", "loss", "grad_l")])
    seen = [line for line in AuditLog(watched.directory / "audit").lines() if line["x"]["of"] == "message"]
    other.close()

    assert told[0] == told[1]
    assert told[0][:2] == ["accept", "2"]
    assert seen
    assert (recorded.directory / "audit").is_file()


def test_ctl_277_ctl_280_a_task_that_was_given_more_time_is_late_by_that_time(world: World) -> None:
    """What whoever started the run gave it, never what a role says of it."""
    recorded = Recorded(world, notes_txt="a\n")
    ran = recorded.person("run", goal="count the text files", budget_s=3_600, wait_s=60)
    house = world.app.house
    with house.brains.use(recorded.brain) as opened:
        numbers = house._numbers(opened)

    assert numbers("", ran["task_id"]).time_budget_ms == 3_600_000
    assert numbers("", "tsk_of_another").time_budget_ms == 300_000
