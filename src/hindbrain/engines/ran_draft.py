"""What a finished command shows: the kind of event, its class and outcome, and what is kept of it. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.mission import EventType, EvidenceClass, Outcome
from hindbrain.domain.mission_run import Ran
from hindbrain.domain.task import Class
from hindbrain.engines.command_kind import kind_of, kind_of_line
from hindbrain.engines.mission_evidence import about
from hindbrain.engines.mission_payload import tail, told
from hindbrain.engines.shell_words import taken_apart
from hindbrain.policy.missions import EVENTS

__all__ = ["Shown", "shown_of"]

_COMMAND = 500  # characters of a command that are kept
_TARGETS = 20
_PLAIN = re.compile(r"\A[A-Za-z0-9_@%+=:,./-]+\Z")
_RAN_NOTHING = (3, 4, 5)  # of pytest: it broke, was called wrongly, or found no test
_UNSTARTED = (126, 127)  # by the custom of shells: not allowed, not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An event in the making."""

    event_type: EventType
    evidence: EvidenceClass
    outcome: Outcome
    tool: str
    target: str
    failure_class: Class | None
    payload: dict[str, Any] = field(default_factory=dict)


def _named_pytest(word: str) -> bool:
    return word.rpartition("/")[2] in ("pytest", "py.test")


def shown_of(ran: Ran, *, named: Callable[[str], str | None]) -> Shown:
    """What a command shows. `named` gives the name in the repository of a file that a word of it names."""
    line = ran.argv[0] if ran.shell_line else " ".join(map(_quoted, ran.argv))
    words = _words(ran)
    targets = list(dict.fromkeys(path for word in words if (path := _path(word, named)) is not None))[:_TARGETS]
    kind = kind_of_line(line) if ran.shell_line else kind_of(ran.argv)
    if kind is EventType.TEST_RUN and ran.exit_status in _RAN_NOTHING and any(_named_pytest(word) for word in words):
        kind = EventType.COMMAND  # no test said anything
    told_whole = ran.exit_status is not None and not ran.interrupted and not ran.not_started and ran.exit_status not in _UNSTARTED
    if ran.exit_status is None and not ran.interrupted and not ran.not_started:
        # A host that does not say how it ended has still shown what was printed.
        kind, evidence, outcome = EventType.COMMAND, EvidenceClass.DIRECT_RUNTIME, Outcome.INCONCLUSIVE
    elif not told_whole:
        evidence = EvidenceClass.DIRECT_UNVERIFIED
        outcome = Outcome.INCONCLUSIVE if ran.interrupted else Outcome.ERROR
    else:
        evidence = EVENTS[kind].evidence
        outcome = Outcome.PASSED if ran.exit_status == 0 else Outcome.FAILED
    command = told(line, _COMMAND)
    return Shown(
        event_type=kind,
        evidence=evidence,
        outcome=outcome,
        tool=told(words[0].rpartition("/")[2] if words else "command", 80),
        target=targets[0] if targets else command,
        failure_class=_failure(outcome, ran),
        payload={
            "command": command,
            "exit_status": ran.exit_status,
            "output": tail(ran.output),
            "stdout_digest": ran.stdout_digest,
            "stderr_digest": ran.stderr_digest,
            "output_bytes": ran.output_bytes,
            "interrupted": ran.interrupted,
            "targets": targets,
        },
    )


def _failure(outcome: Outcome, ran: Ran) -> Class | None:
    """A program that says no has its reasons; one that could not run, or was ended by a signal, shows nothing about the work."""
    if outcome is Outcome.ERROR or (outcome is Outcome.FAILED and (ran.exit_status or 0) > 128):
        return "environmental"
    return "logical" if outcome is Outcome.FAILED else None


def _words(ran: Ran) -> list[str]:
    """The words of a command, those of the program first that gave the exit status."""
    if not ran.shell_line:
        return list(ran.argv)
    parts = taken_apart(ran.argv[0]).fragments
    return [word.text for part in reversed(parts) for word in part.words if not word.assigns]


def _quoted(word: str) -> str:
    """A word as a shell would have to be told it."""
    return word if _PLAIN.match(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def _path(word: str, named: Callable[[str], str | None]) -> str | None:
    """A word of a command as a file of the repository, without the name of a test in it."""
    if not word or word.startswith("-") or len(word) > _COMMAND:
        return None
    return named(about(word))
