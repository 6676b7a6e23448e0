"""What the runtime believes of what it is told: only what it can see for itself, in a real repository."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.errors import HumanNeeded, InvalidParams
from hindbrain.domain.mission import EventType, EvidenceClass, MissionClaim, MissionEvent, MissionMode
from hindbrain.domain.mission_run import Ran
from hindbrain.engines.mission_evidence import Resolved, judged
from hindbrain.engines.mission_report import reported
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import EVENTS, GRADES
from hindbrain.services.missions.log import Draft
from hindbrain.services.missions.witness import Witness
from hindbrain.stores.source_file import SeenFile, seen_file
from tests.support.missions import MissionDesk, claimed, guard
from tests.support.world import START_MS

ID = "msn_01TEST"
SOURCE = "def close(row):\n    rows.remove(row)\n    return None\n"


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@t")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


class Court(MissionDesk):
    """A desk over a real repository, with a witness."""

    def __init__(self, place: Path) -> None:
        self.repo = place / "repo"
        (self.repo / "src").mkdir(parents=True)
        (self.repo / "src" / "a.py").write_text(SOURCE)
        (place / "secret.txt").write_text("not of this repository\n")
        self.documents: dict[str, EvidenceClass] = {}
        self.handshakes: dict[str, int] = {}
        super().__init__(place, root=str(self.repo))
        self.witness = Witness(self.log, document=lambda _, __, path: self.documents.get(path), handshake=self.handshakes.get)
        self.begin(ID)

    def told(self, event: Any = None, payload: Any = None, *, human: bool = False, **split: Any) -> MissionEvent:
        """What becomes of a report."""
        self.clock.forward(10)
        with self.log.turn(self.opened, self.caller(human=human), ID) as turn:
            return turn.add(self.witness.draft(turn, reported(event, payload, split)))

    def looked_up(self, *refs: str, **more: Any) -> tuple[Resolved, ...]:
        with self.log.turn(self.opened, self.caller(), ID) as turn:
            return self.witness.references(turn, refs, **more)

    def ran(self, **fields: Any) -> MissionEvent:
        with self.log.turn(self.opened, self.caller(), ID) as turn:
            given = {"argv": ("pytest", "src/a.py"), "exit_status": 0, "cwd": str(self.repo), **fields}
            return turn.add(self.witness.ran(turn, Ran(**given), origin="mission_run"))

    def direct(self) -> int:
        with self.log.reading(self.opened, ID) as course:
            return course.direct_count


@pytest.fixture
def court(tmp_path: Path) -> Iterator[Court]:
    made = Court(tmp_path)
    yield made
    made.close()


def sha(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


# -- shapes ----------------------------------------------------------------------------------------------------------


def test_aol_022_aol_023_three_shapes_give_the_same_event_and_an_object_overrules_single_fields(court: Court) -> None:
    by_name = court.told("file_read", {"target": "src/a.py", "outcome": "found", "duration_ms": 12, "why": "first look"})
    by_object = court.told(
        {"event_type": "file_read", "target": "src/a.py", "outcome": "found", "duration_ms": 12, "payload": {"why": "first look"}}
    )
    mixed = court.told(
        {"event_type": "file_read", "target": "src/a.py", "duration_ms": 12},
        {"why": "first look"},
        event_type="note",
        target="src/z.py",
        outcome="found",
    )

    def content(one: MissionEvent) -> dict[str, Any]:
        told = msgspec.to_builtins(one)
        return {key: told[key] for key in told if key not in ("event_id", "seq", "timestamp", "phase", "hash", "prev_hash")}

    assert content(by_name) == content(by_object) == content(mixed)
    assert (by_name.target, by_name.duration_ms, by_name.payload) == ("src/a.py", 12, {"why": "first look"})
    assert (by_name.schema, by_name.source, by_name.actor) == ("hindbrain-mission-event-v1", "agent", "agent:a1")
    assert by_name.event_id.startswith("evt_")
    assert [by_name.seq, by_object.seq, mixed.seq] == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"event_type": "review_note"}, "note"),
        ({"event_type": "read"}, "file_read"),
        ({"event_type": "FILE_READ"}, "file_read"),
        ({"event_type": "note", "evidence_class": "direct"}, "direct_source"),
        ({"event_type": "note", "outcome": "good"}, "passed"),
        ({"event_type": "note", "failure_class": "bad"}, "environmental"),
        ({"event_type": "note", "surprise": 1}, "target"),
        ({"event_type": "semantic_search", "tool_family": "direct_read"}, "graph"),
        ({"event_type": "note", "schema": "x"}, "hindbrain-mission-event-v1"),
        ({}, "file_read"),
    ],
)
def test_aol_064_aol_091_words_are_matched_exactly_and_the_allowed_ones_are_named(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        reported(given)

    assert named in refused.value.fix


@pytest.mark.parametrize("kind", sorted(one.value for one, rule in EVENTS.items() if rule.runtime_only))
def test_aol_064_events_of_the_runtime_are_not_told_by_agents(kind: str) -> None:
    with pytest.raises(InvalidParams, match="runtime"):
        reported(kind, {"claim": {"verdict": "verified_for_mission"}})


@pytest.mark.parametrize(
    "given",
    [
        {"event_type": "file_read"},
        {"event_type": "dead_path", "payload": {"why": "nothing there"}},
        {"event_type": "dead_path", "target": "src/a.py"},
        {"event_type": "dissent", "payload": {"chosen_tool": "seek", "evidence_required": "direct_source"}},
        {"event_type": "note", "agent_confidence": 1.2},
        {"event_type": "note", "duration_ms": -1},
        {"event_type": "note", "timestamp": "yesterday"},
        {"event_type": "note", "event_id": "../evt"},
        {"event_type": "note", "payload": [1]},
        {"event_type": "note", "target": 3},
    ],
)
def test_aol_027_aol_090_what_an_event_needs_is_asked_for(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams):
        reported(given)


def test_aol_090_an_event_without_a_target_is_about_what_its_payload_names(court: Court) -> None:
    searched = court.told("literal_search", {"query": "rows.remove"})
    noted = court.told("note")

    assert searched.target == "rows.remove"
    for one in (searched, noted):
        assert all((one.event_id, one.timestamp, one.actor, one.event_type, one.target, one.evidence_class))


def test_aol_064_an_agent_cannot_speak_in_the_names_of_the_runtime(court: Court) -> None:
    noted = court.told("note", {"checked": ["impact"], "origin": "mission_run", "warnings": ["x"], "text": "seen"})

    assert noted.payload == {"text": "seen"}
    with court.log.reading(court.opened, ID) as course:
        assert not course.checked
        assert not course.warnings


def test_aol_111_a_late_event_keeps_its_time_and_takes_the_next_place(court: Court) -> None:
    first = court.told("note", {"text": "now"})
    late = court.told("note", {"text": "before"}, timestamp=stamped(START_MS - 60_000))

    assert (first.seq, late.seq) == (1, 2)
    assert late.timestamp == stamped(START_MS - 60_000)
    assert late.timestamp < first.timestamp
    with pytest.raises(InvalidParams, match="future"):
        court.told("note", timestamp=stamped(court.clock.now + 60_000))


def test_aol_066_secrets_are_masked_and_outputs_cut(court: Court) -> None:
    secret = "AKIA" + "IOSFODNN7QQWERTY"

    made = court.told(
        "command",
        {
            "command": f"deploy --key {secret}",
            "output": "x" * 9000,
            "nested": {"deep": [f"aws_access_key_id = {secret}"], "password": "hunter2hunter2"},
        },
        target=f"deploy {secret}",
        tool="sh",
    )

    stored = msgspec.json.encode(made).decode()
    assert secret not in stored
    assert "hunter2" not in stored
    assert "redacted" in stored
    assert len(made.payload["output"]) == 2000


# -- files -----------------------------------------------------------------------------------------------------------


def test_aol_065_aol_090_a_file_that_was_read_is_read_again_and_digested_by_the_runtime(court: Court) -> None:
    by_name = court.told("file_read", target="src/a.py")
    by_path = court.told("file_read", target=str(court.repo / "src" / "a.py"))
    by_line = court.told("file_read", target="./src/a.py:2")

    for one in (by_name, by_path, by_line):
        assert (one.target, one.target_digest, one.evidence_class) == ("src/a.py", sha(SOURCE), "direct_source")
    assert by_line.payload["range"] == [2, 2]
    assert court.direct() == 3


def _link(court: Court, name: str, to: Path) -> str:
    (court.repo / name).symlink_to(to)
    return name


@pytest.mark.parametrize(
    "target",
    [
        lambda court: "src/none.py",
        lambda court: "../secret.txt",
        lambda court: str(court.place / "secret.txt"),
        lambda court: _link(court, "out.txt", court.place / "secret.txt"),
        lambda court: _link(court, "out", court.place) + "/secret.txt",
        lambda court: "src",
        lambda court: "src/../../repo2/a.py",
    ],
)
def test_aol_094_aol_096_what_cannot_be_read_below_the_repository_is_not_seen(
    court: Court, target: Callable[[Court], str]
) -> None:
    (court.place / "repo2").mkdir()
    (court.place / "repo2" / "a.py").write_text(SOURCE)
    place = target(court)

    made = court.told("file_read", target=place, evidence_class="direct_source")
    found = court.looked_up(f"direct_source:{place}")

    assert made.evidence_class == "direct_unverified"
    assert made.target_digest is None
    assert made.payload["not_seen"]
    assert found[0].event is None
    assert court.direct() == 0


def test_aol_065_a_link_that_stays_inside_is_followed_and_odd_bytes_are_fine(court: Court) -> None:
    (court.repo / "b.py").symlink_to("src/a.py")
    (court.repo / "odd.bin").write_bytes(b"\xff\xfe\x00\n\x80")

    assert court.told("file_read", target="b.py").target_digest == sha(SOURCE)
    assert court.told("file_read", target="odd.bin").evidence_class == "direct_source"
    seen = seen_file((str(court.repo),), "odd.bin")
    assert isinstance(seen, SeenFile)
    assert len(seen.lines) == 2


def test_aol_096_a_pipe_is_not_waited_for(court: Court) -> None:
    os.mkfifo(court.repo / "pipe")

    assert court.told("file_read", target="pipe").evidence_class == "direct_unverified"


def test_aol_096_another_digest_than_the_one_of_the_file_is_not_believed(court: Court) -> None:
    same = court.told({"event_type": "file_read", "target": "src/a.py", "target_digest": sha(SOURCE)})
    other = court.told({"event_type": "file_read", "target": "src/a.py", "target_digest": sha("older")})

    assert same.evidence_class == "direct_source"
    assert other.evidence_class == "direct_unverified"


@pytest.mark.parametrize(
    ("kind", "label", "established"),
    [
        ("file_read", "direct_test", "direct_unverified"),
        ("file_read", "inferred", "inferred"),
        ("file_read", "graph_structural", "graph_structural"),
        ("note", "direct_source", "direct_unverified"),
        ("note", "graph_orientation", "agent_testimony"),
        ("graph_query", "direct_source", "direct_unverified"),
        ("file_edit", "direct_source", "direct_unverified"),
        ("hypothesis", None, "agent_testimony"),
    ],
)
def test_aol_091_a_label_may_be_weaker_than_what_was_seen_and_never_stronger(
    court: Court, kind: str, label: str | None, established: str
) -> None:
    assert court.told(kind, target="src/a.py", evidence_class=label).evidence_class == established


def test_aol_093_a_graph_event_never_raises_the_direct_count_and_keeps_its_generation(court: Court) -> None:
    with court.log.turn(court.opened, court.caller(), ID) as turn:
        turn.add(
            Draft(event_type=EventType.CONTEXT_GUARD, target=".", payload={"guard": msgspec.to_builtins(guard(repo=court.root))})
        )

    asked = court.told("graph_query", {"query": "close", "graph_generation": 99})

    assert asked.payload["graph_generation"] == 3
    with court.log.reading(court.opened, ID) as course:
        assert (course.direct_count, course.graph_calls, dict(course.graph_only)) == (0, 1, {"graph_orientation": 1})


# -- searches, commits, copies, people, hosts ------------------------------------------------------------------------


def test_aol_091_a_search_is_direct_by_the_hits_that_stand_at_their_lines(court: Court) -> None:
    right = court.told(
        "literal_search", {"query": "rows.remove", "hits": ["src/a.py:2:    rows.remove(row)", "src/a.py:1:def x"]}
    )
    by_query = court.told("literal_search", {"query": "rows.remove", "hits": [{"path": "src/a.py", "line": 2}]})
    moved = court.told("literal_search", {"query": "rows.remove", "hits": ["src/a.py:3:rows.remove"]})
    bare = court.told("literal_search", {"query": "rows.remove"})

    assert (right.evidence_class, right.payload["hits"], right.payload["hits_not_found"]) == ("direct_search", ["src/a.py:2"], 1)
    assert right.payload["targets"] == ["src/a.py"]
    assert by_query.evidence_class == "direct_search"
    assert moved.evidence_class == "direct_unverified"
    assert bare.evidence_class == "direct_unverified"


def test_aol_091_a_diff_is_direct_when_its_commits_exist(court: Court) -> None:
    git(court.repo, "init", "-q")
    git(court.repo, "add", ".")
    git(court.repo, "commit", "-qm", "one")
    (court.repo / "src" / "a.py").write_text(SOURCE + "\n")
    git(court.repo, "commit", "-qam", "two")
    head, before = git(court.repo, "rev-parse", "HEAD"), git(court.repo, "rev-parse", "HEAD~1")

    both = court.told("diff_read", target="HEAD~1..HEAD")
    one = court.told("diff_read", {"commits": [head[:10]]})
    gone = court.told("diff_read", {"commits": ["0123456789abcdef0123456789abcdef01234567"]})
    option = court.told("diff_read", target="--output=/tmp/x")

    assert (both.evidence_class, both.payload["commits"]) == ("direct_diff", [before, head])
    assert (one.evidence_class, one.payload["commits"], one.payload["targets"]) == ("direct_diff", [head], ["src/a.py"])
    assert gone.evidence_class == option.evidence_class == "direct_unverified"


@pytest.mark.parametrize("kind", ["test_run", "compile", "lint", "command", "runtime_probe"])
def test_aol_031_what_an_agent_says_it_ran_is_a_statement(court: Court, kind: str) -> None:
    made = court.told(kind, {"command": "pytest", "exit_status": 0}, outcome="passed", evidence_class="direct_test")

    assert made.evidence_class == "direct_unverified"
    assert GRADES[EvidenceClass(made.evidence_class)] != "direct"
    assert court.direct() == 0


def test_aol_091_a_fetched_page_needs_a_copy_that_can_be_digested(court: Court) -> None:
    (court.repo / "rfc.txt").write_text("MUST\n")

    kept = court.told("web_fetch", {"copy": "rfc.txt"}, target="https://example.org/rfc")
    lost = court.told("web_fetch", target="https://example.org/rfc")

    assert (kept.evidence_class, kept.payload["copy_digest"]) == ("direct_external", sha("MUST\n"))
    assert lost.evidence_class == "direct_unverified"


def test_aol_091_only_a_person_makes_a_statement_of_a_person(court: Court) -> None:
    with pytest.raises(HumanNeeded):
        court.told("human_statement", {"text": "ship it"})

    said = court.told("human_statement", {"text": "ship it"}, human=True)

    assert (said.evidence_class, said.actor) == ("direct_human", "operator")


def test_aol_091_a_handshake_counts_when_it_was_recorded_since_the_mission_began(court: Court) -> None:
    court.handshakes |= {"s-old": START_MS - 1, "s-new": START_MS + 5}

    told = [court.told("host_handshake", {"session_id": name}).evidence_class for name in ("s-none", "s-old", "s-new")]

    assert told == ["host_described", "host_described", "host_handshake"]


def test_aol_091_a_repair_that_is_only_told_has_not_happened(court: Court) -> None:
    court.handshakes["s-new"] = START_MS + 5

    told = court.told("recovery", {"text": "restarted it"}, outcome="recovered")
    shown = court.told("recovery", {"session_id": "s-new"}, outcome="recovered")

    assert (told.evidence_class, told.outcome, told.payload["told_outcome"]) == ("host_described", "not_recovered", "recovered")
    assert (shown.evidence_class, shown.outcome) == ("host_handshake", "recovered")


def test_aol_099_aol_100_a_sweep_counts_by_direct_events_after_what_was_verified_last(court: Court) -> None:
    early = court.told("file_read", target="src/a.py")
    with court.log.turn(court.opened, court.caller(), ID) as turn:
        said = claimed("a.py leaks", evidence_refs=(early.event_id,))
        turn.add(Draft(event_type=said.event_type, target=said.target, payload=said.payload))
        assert turn.course.sweep_due

    bare = court.told("coverage_sweep", {"text": "looked around"})
    old = court.told("boundary_sweep", {"linked_events": [early.event_id]})
    note = court.told("note", {"text": "seen"})
    weak = court.told("edge_case_sweep", {"linked_seqs": [note.seq, 999, -1]})
    with court.log.reading(court.opened, ID) as course:
        assert course.sweep_due
    again = court.told("file_read", target="src/a.py")
    good = court.told("public_contract_sweep", {"linked_events": [again.event_id, note.event_id]})

    assert {one.evidence_class for one in (bare, old, weak)} == {"direct_unverified"}
    assert (good.evidence_class, good.payload["linked_seqs"]) == ("direct_coverage_sweep", [again.seq])
    with court.log.reading(court.opened, ID) as course:
        assert not course.sweep_due


# -- references ------------------------------------------------------------------------------------------------------


def test_aol_092_a_path_that_a_claim_names_is_read_now_and_that_is_an_event(court: Court) -> None:
    (found,) = court.looked_up("direct_source:src/a.py:2")

    made = court.log.events(court.opened, ID)[-1]
    assert found.event == made
    assert (made.source, made.actor, made.evidence_class) == ("runtime", "runtime", "direct_source")
    assert (made.target, made.target_digest, made.payload["line"]) == ("src/a.py", sha(SOURCE), 2)


def test_aol_092_the_same_bytes_are_no_new_evidence_and_others_are(court: Court) -> None:
    (first,) = court.looked_up("direct_source:src/a.py:2")
    (again,) = court.looked_up("direct_source:src/a.py:2")
    (court.repo / "src" / "a.py").write_text(SOURCE + "# changed\n")
    (changed,) = court.looked_up("direct_source:src/a.py:2")

    assert first.event is not None
    assert again.event == first.event
    assert changed.event is not None
    assert changed.event.event_id != first.event.event_id
    assert changed.event.target_digest == sha(SOURCE + "# changed\n")


@pytest.mark.parametrize(
    ("ref", "label", "why"),
    [
        ("direct_source:src/a.py:4", None, "only 3 lines"),
        ("evt_unknown", None, "no such event"),
        ("direct_test:src/a.py", None, "event in which it was recorded"),
        ("src/a.py", EvidenceClass.DIRECT_TEST, "event in which it was recorded"),
        ("graph_query:src/a.py", None, "where to look"),
        ("I read all of it", EvidenceClass.DIRECT_SOURCE, "no event and no file"),
    ],
)
def test_aol_094_a_reference_that_backs_nothing_says_why(court: Court, ref: str, label: EvidenceClass | None, why: str) -> None:
    (found,) = court.looked_up(ref, label=label)

    assert found.event is None
    assert why in found.why
    assert court.direct() == 0


def test_aol_094_files_below_an_ingest_root_count_and_are_named_from_the_repository(court: Court) -> None:
    other = court.place / "other"
    other.mkdir()
    (other / "lib.py").write_text("x = 1\n")
    (before,) = court.looked_up(f"direct_source:{other}/lib.py")
    with court.log.turn(court.opened, court.caller(), ID) as turn:
        roots = msgspec.to_builtins(guard(repo=court.root, ingest_roots=(court.root, str(other))))
        turn.add(Draft(event_type=EventType.CONTEXT_GUARD, target=".", payload={"guard": roots}))

    (found,) = court.looked_up(f"direct_source:{other}/lib.py")

    assert before.event is None
    assert found.event is not None
    assert found.event.target == "../other/lib.py"


def test_aol_178_a_stale_document_supports_nothing_unless_it_is_what_the_claim_is_about(court: Court) -> None:
    (court.repo / "plan.light.md").write_text("# plan\n")
    court.documents["plan.light.md"] = EvidenceClass.DOC_STALE

    read = court.told("file_read", target="plan.light.md")
    (found,) = court.looked_up("direct_source:plan.light.md")
    (itself,) = court.looked_up("direct_source:plan.light.md:1", targets=("plan.light.md",))
    (unbound,) = court.looked_up("doc_bound:src/a.py")

    assert read.evidence_class == "doc_stale"
    assert (found.event, found.established) == (None, EvidenceClass.DOC_STALE)
    assert itself.event is not None
    assert unbound.established is EvidenceClass.INFERRED


def test_aol_092_a_verified_claim_names_events_even_when_it_was_given_paths(court: Court) -> None:
    told = msgspec.convert(
        claimed("a.py removes a row", targets=("src/a.py",), verdict="candidate").payload["claim"], MissionClaim
    )
    hoped = msgspec.structs.replace(told, evidence_refs=("direct_source:src/a.py:2",))
    resolved = court.looked_up(*hoped.evidence_refs)

    judgement = judged(hoped, resolved, label=EvidenceClass.DIRECT_SOURCE, mode=MissionMode.REVIEW)
    after = judgement.applied(hoped, stamp=stamped(START_MS))

    assert after.verdict == "verified_for_mission"
    assert after.evidence_refs
    events = {one.event_id for one in court.log.events(court.opened, ID)}
    assert set(after.evidence_refs) <= events


def test_aol_065_targets_of_a_claim_are_named_as_events_name_them(court: Court) -> None:
    with court.log.reading(court.opened, ID) as course:
        assert Witness.targets(course, (f"{court.repo}/src/a.py:7", "src/a.py", "/elsewhere/x.py")) == (
            "src/a.py:7",
            "src/a.py",
            "/elsewhere/x.py",
        )


# -- runs ------------------------------------------------------------------------------------------------------------


def test_aol_092_a_run_is_direct_and_about_the_files_it_names(court: Court) -> None:
    made = court.ran(exit_status=1, output="1 failed", stdout_digest=sha("1 failed"), duration_ms=7)

    assert (made.event_type, made.evidence_class, made.outcome, made.failure_class) == (
        "test_run",
        "direct_test",
        "failed",
        "logical",
    )
    assert (made.source, made.target, made.target_digest, made.duration_ms) == ("runtime", "src/a.py", sha("1 failed"), 7)
    assert made.payload["command"] == "pytest src/a.py"
    assert (made.payload["exit_status"], made.payload["cwd"], made.payload["origin"]) == (1, ".", "mission_run")
    with court.log.reading(court.opened, ID) as course:
        assert [(one.command, one.exit_status) for one in course.tests] == [("pytest src/a.py", 1)]


def test_aol_092_a_run_in_a_directory_below_names_files_from_the_repository(court: Court) -> None:
    made = court.ran(argv=("pytest", "a.py::test_one"), cwd=str(court.repo / "src"))
    outside = court.ran(argv=("pytest", "secret.txt"), cwd=str(court.place))

    assert (made.target, made.payload["cwd"]) == ("src/a.py", "src")
    assert (outside.target, outside.payload["cwd"]) == ("pytest secret.txt", "outside")
