"""A full disk takes a part of a line: whoever adds lines to a file leaves no torn one, and the next line is whole."""

import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.domain.delegation import OutcomeRow
from hindbrain.domain.errors import BrainlessRoot
from hindbrain.providers.telemetry import FileSink
from hindbrain.stores.audit_log import AuditLog
from hindbrain.stores.delegations import DelegationFiles
from hindbrain.stores.letter_files import append as append_letter
from hindbrain.stores.letter_files import file_missing
from hindbrain.stores.line_file import append_lines
from hindbrain.stores.mission_files import MissionDirectory
from tests.architecture.source import modules
from tests.support.world import World

LONG = "x" * 400
Adds = Callable[[str], object]

# What may open a file to append, and why: everything else goes through stores/line_file.py.
APPENDERS = {
    "hindbrain.stores.line_file": "the one way",
    "hindbrain.stores.letter_files": "other programs append to the spool without a lock, and git changes the boxes",
    "hindbrain.providers.telemetry": "the operator's file may be a pipe",
    "hindbrain.stores.install_tree": "the record of an installation that is thrown away when it fails",
    "hindbrain.surfaces.owner_log": "a log of text",
    "hindbrain.surfaces.starting": "the same log, as the standard error of the owner",
}


@contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """Files take 50 bytes more than this one has."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def outcome(text: str) -> OutcomeRow:
    numbers = dict.fromkeys(
        (
            *("at", "memory_rows_project", "memory_rows_medulla", "memory_rows_stale", "touched", "outside_scope"),
            *("unpredicted", "findings_landed", "findings_refused"),
        ),
        0,
    )
    flags = dict.fromkeys(("outcome_unverified", "expired", "memory_slice"), False)
    named = {"delegation_id": "d", "subagent_id": "s", "agent_id": "a", "outcome": "success", "debrief": text}
    return OutcomeRow(**named, **numbers, **flags)  # type: ignore[arg-type]


def spool(place: Path) -> tuple[Path, Adds]:
    path = place / "field-reports.jsonl"
    return path, lambda text: append_letter(path, json.dumps({"what": text}).encode())


def box(place: Path) -> tuple[Path, Adds]:
    return place / "inbox.jsonl", lambda text: file_missing(place, [json.dumps({"what": text}).encode()], root=None, wait_s=5.0)


def outcomes(place: Path) -> tuple[Path, Adds]:
    store = DelegationFiles(place)
    return place / "outcomes.jsonl", lambda text: store.append(outcome(text))


def audit(place: Path) -> tuple[Path, Adds]:
    log = AuditLog(place)
    log.open()
    return log.path, lambda text: log.append([{"text": text, "x": {}}])


def mission(place: Path) -> tuple[Path, Adds]:
    directory = MissionDirectory(place)
    return place / "events.jsonl", lambda text: directory.append("events.jsonl", [json.dumps({"text": text}).encode()])


def spans(place: Path) -> tuple[Path, Adds]:
    sink = FileSink(place / "spans.jsonl", lambda told: {"spans": told})
    return place / "spans.jsonl", lambda text: sink.send([{"name": text}])


def lines(place: Path) -> tuple[Path, Adds]:
    path = place / "consolidation.jsonl"  # and whatever else uses it
    return path, lambda text: append_lines(path, json.dumps({"text": text}).encode() + b"\n")


def whole_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def check(path: Path, add: Adds) -> None:
    add("one")
    with full_disk(path), suppress(OSError):  # lost spans of the operator fail nothing
        add(LONG)
    assert len(whole_lines(path)) == 1, "nothing of the refused line is there"

    add("two")

    found = whole_lines(path)
    assert len(found) == 2
    assert LONG not in json.dumps(found)


@pytest.mark.parametrize("appender", [spool, box, outcomes, audit, mission, spans, lines])
def test_a_full_disk_leaves_no_torn_line(tmp_path: Path, appender: Callable[[Path], tuple[Path, Adds]]) -> None:
    check(*appender(tmp_path))


def test_a_full_disk_leaves_no_torn_refusal(world: World) -> None:
    def refuse(text: str) -> None:
        caller = Caller(
            agent=AgentId(f"codex:{text}"),
            root=None,
            root_source=RootSource.UNKNOWN,
            session=SessionId("s"),
            channel=Channel.AGENT,
            reads_files=False,
        )
        world.app.house.refusals.record(caller, "memorize", BrainlessRoot("nowhere", fix="none"))

    check(world.home.refusals_file, refuse)


def test_the_audit_log_holds_after_a_full_disk(tmp_path: Path) -> None:
    path, add = audit(tmp_path)
    check(path, add)

    assert AuditLog(tmp_path).check().broken is None


def test_a_line_that_a_dead_process_left_open_stays_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"torn": ')

    grown = append_lines(path, b'{"a": 1}\n')

    assert path.read_bytes().splitlines() == [b'{"torn": ', b'{"a": 1}']
    assert grown == len(b'\n{"a": 1}\n')


def test_nothing_else_opens_a_file_to_append() -> None:
    found = {one.name for one in modules() if "O_APPEND" in one.text or '"ab"' in one.text or 'open("a"' in one.text}

    assert found == set(APPENDERS)
