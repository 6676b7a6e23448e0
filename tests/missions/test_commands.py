"""Which commands are tests, compilers and linters, and what a finished one shows."""

import hashlib
import shlex

import pytest

from hindbrain.domain.mission import EventType, EvidenceClass, Outcome
from hindbrain.domain.mission_run import Ran
from hindbrain.engines.command_kind import kind_of, kind_of_line
from hindbrain.engines.host_hook import heard
from hindbrain.engines.mission_report import Report
from hindbrain.engines.ran_draft import Shown, shown_of

TEST, COMPILE, LINT, COMMAND = EventType.TEST_RUN, EventType.COMPILE, EventType.LINT, EventType.COMMAND


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("pytest -q tests/test_a.py", TEST),
        ("python -m pytest -q", TEST),
        ("python3.12 -W error -m unittest discover", TEST),
        (".venv/bin/python -m pytest", TEST),
        ("/opt/tools/bin/pytest", TEST),
        ("uv run pytest", TEST),
        ("PYTHONPATH=src pytest", TEST),
        ("env A=1 cargo test --all", TEST),
        ("npm run test", TEST),
        ("make test", TEST),
        ("go vet ./...", LINT),
        ("cargo check", COMPILE),
        ("mypy src", COMPILE),
        ("ruff check .", LINT),
        ("gcc -c a.c", COMPILE),
        ("pytest --version", COMMAND),
        ("pytest --collect-only", COMMAND),
        ("./pytest", COMMAND),  # a program of the project can have any name
        ("scripts/pytest", COMMAND),
        ("echo pytest", COMMAND),
        ("make clean test", COMMAND),
        ("python -c 'import pytest'", COMMAND),
        ("python run.py -m pytest", COMMAND),
        ("npm install", COMMAND),
    ],
)
def test_aol_064_a_command_is_what_its_words_say_exactly(line: str, kind: EventType) -> None:
    assert kind_of(shlex.split(line)) is kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("pytest -q", TEST),
        ("cd sub && pytest -q", TEST),
        ("pytest -q > out.txt 2>&1", TEST),
        ("bash -c 'pytest -q'", TEST),
        ("pytest -q | tail -5", COMMAND),
        ("pytest -q || true", COMMAND),
        ("pytest -q; true", COMMAND),
        ("true || pytest", COMMAND),
        ("bash -c 'pytest; exit 0'", COMMAND),
        ("pytest &", COMMAND),
        ("! pytest", COMMAND),
        ("$RUNNER -q", COMMAND),
        ("pytest 'unclosed", COMMAND),
        ("", COMMAND),
    ],
)
def test_aol_094_a_line_is_a_test_only_when_its_status_is_that_of_the_test(line: str, kind: EventType) -> None:
    assert kind_of_line(line) is kind


def shown(**changes: object) -> Shown:
    given: dict[str, object] = {"argv": ("pytest", "tests/test_a.py::test_one"), "exit_status": 0}
    return shown_of(Ran(**{**given, **changes}), named=lambda word: word if word == "tests/test_a.py" else None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "kind", "evidence", "outcome", "failure"),
    [
        ({}, TEST, "direct_test", "passed", None),
        ({"exit_status": 1}, TEST, "direct_test", "failed", "logical"),
        ({"exit_status": 139}, TEST, "direct_test", "failed", "environmental"),
        ({"exit_status": 127, "not_started": True}, TEST, "direct_unverified", "error", "environmental"),
        ({"exit_status": 130, "interrupted": True}, TEST, "direct_unverified", "inconclusive", None),
        ({"exit_status": None}, COMMAND, "direct_runtime", "inconclusive", None),
        ({"argv": ("mypy", "src"), "exit_status": 1}, COMPILE, "direct_compiler", "failed", "logical"),
        ({"argv": ("ruff", "check")}, LINT, "direct_compiler", "passed", None),
        ({"argv": ("curl", "localhost")}, COMMAND, "direct_runtime", "passed", None),
    ],
)
def test_aol_013_aol_091_a_finished_command_shows_its_class_outcome_and_failure(
    changes: dict[str, object], kind: EventType, evidence: str, outcome: str, failure: str | None
) -> None:
    found = shown(**changes)

    assert found.event_type is kind
    assert found.evidence is EvidenceClass(evidence)
    assert found.outcome is Outcome(outcome)
    assert found.failure_class == failure


def test_aol_065_aol_066_a_run_keeps_its_files_by_name_and_the_end_of_its_output_masked() -> None:
    secret = "AKIA" + "IOSFODNN7QQWERTY"
    text = "line\n" * 3000 + f"aws_access_key_id = {secret}\nthe end"

    found = shown(output=text)

    kept = found.payload["output"]
    assert found.target == "tests/test_a.py"
    assert secret not in kept
    assert kept.endswith("the end")
    assert 1000 < len(kept) <= 2000


@pytest.mark.parametrize("argv", [("pytest", "-k", "a or b"), ("sh", "-c", "echo 'x' $HOME"), ("a", "")])
def test_aol_092_a_command_is_kept_as_a_shell_would_read_it_back(argv: tuple[str, ...]) -> None:
    assert shlex.split(shown(argv=argv).payload["command"]) == list(argv)


def test_aol_092_the_tool_of_a_line_is_the_program_that_gave_its_status() -> None:
    found = shown(argv=("cd sub && A=1 /opt/bin/pytest -q",), shell_line=True)

    assert (found.tool, found.event_type) == ("pytest", TEST)


def hook(**changes: object) -> dict[str, object]:
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "cd sub && pytest -q"},
        "tool_response": {"stdout": "1 failed", "stderr": "", "exit_code": 1, "interrupted": False},
        "cwd": "/repo",
        **changes,
    }


def test_aol_092_a_hosts_hook_tells_a_command_with_its_status_and_digests() -> None:
    found = heard(hook())

    assert isinstance(found, Ran)
    assert (found.argv, found.shell_line, found.exit_status, found.output, found.cwd) == (
        ("cd sub && pytest -q",),
        True,
        1,
        "1 failed",
        "/repo",
    )
    assert found.stdout_digest == "sha256:" + hashlib.sha256(b"1 failed").hexdigest()


@pytest.mark.parametrize(
    "answer",
    [{"stdout": "3 passed"}, "3 passed", {"stdout": "exit code 0"}, {"stdout": "x", "exit_code": True}, None],
)
def test_aol_092_a_host_that_gives_no_status_is_not_believed_to_have_seen_success(answer: object) -> None:
    found = heard(hook(tool_response=answer))

    assert isinstance(found, Ran)
    assert found.exit_status is None
    assert shown_of(found, named=lambda _: None).event_type is COMMAND


@pytest.mark.parametrize("name", ["Reader", "Rebash", "NotebookRead", "", 3])
def test_aol_064_tools_of_a_host_are_matched_by_their_whole_name(name: object) -> None:
    assert heard(hook(tool_name=name)) is None


def test_aol_092_reads_and_edits_of_a_host_are_reports_that_the_witness_still_checks() -> None:
    read = heard(hook(tool_name="Read", tool_input={"file_path": "/repo/a.py"}))
    edited = heard(hook(tool_name="Edit", tool_input={"file_path": "/repo/a.py"}))

    assert read == Report(event_type=EventType.FILE_READ, target="/repo/a.py", tool="Read")
    assert edited == Report(event_type=EventType.FILE_EDIT, target="/repo/a.py", tool="Edit")
    assert heard(hook(tool_input={"command": " "})) is None
    assert heard(hook(tool_name="Read", tool_input={"file_path": " "})) is None


@pytest.mark.parametrize(("status", "kind"), [(1, TEST), (2, TEST), (4, COMMAND), (5, COMMAND)])
def test_aol_092_a_runner_that_ran_no_test_shows_no_test(status: int, kind: EventType) -> None:
    found = shown(argv=("python", "-m", "pytest", "-q"), exit_status=status)

    assert (found.event_type, found.outcome) == (kind, Outcome.FAILED)
