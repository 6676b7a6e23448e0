"""Operations of the mailbox: letters are written into the spool and filed into boxes."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import Busy, ClaimTooLarge, ConfigInvalid, HygieneRefused, InvalidParams, RepositoryChanged
from hindbrain.domain.letter import TRIAGE
from hindbrain.domain.places import ReportSubject
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["distribute", "report", "triage"]

Word = Annotated[str, Meta(min_length=1, max_length=80)]
Id = Annotated[str, Meta(min_length=1, max_length=64)]
Place = Annotated[ReportSubject, Meta(min_length=1, max_length=4_096)]
Text = Annotated[str, Meta(min_length=1, max_length=16_000)]
_POST = "it files the letters of all projects of this machine, and belongs to the terminal of whoever keeps it"


@operation(
    "report",
    effect=Effect.WRITE,
    positional=("class", "what"),
    raises=(ClaimTooLarge, HygieneRefused, InvalidParams, RepositoryChanged),
)
def report(
    call: Call,
    class_: Annotated[Word, Meta(description="friction, bug, honesty, win, memory_misdelivery, receipt, or a word of yours")],
    what: Annotated[Text, Meta(description="what happened")],
    kind: Annotated[
        Word | None,
        Meta(description="of memory_misdelivery: leak, false_absence, wrong_store_write, misattribution or vanished"),
    ] = None,
    tool: Annotated[Word | None, Meta(description="the tool it is about")] = None,
    expected: Annotated[Text | None, Meta(description="what should have happened")] = None,
    snippet: Annotated[Text | None, Meta(description="the few lines that show it")] = None,
    answers: Annotated[Annotated[list[Id], Meta(max_length=100)] | None, Meta(description="ids of letters it answers")] = None,
    verdict: Annotated[Word | None, Meta(description="such as fixed or rejected")] = None,
    external: Annotated[bool, Meta(description="it is about a tool that is not of this machine's projects")] = False,
    brain: Annotated[
        Place | None, Meta(description="the project it is about, when not yours: its name, or medulla for none")
    ] = None,
    repo: Annotated[Place | None, Meta(description="the repository it is about, when not yours: path or name")] = None,
) -> dict[str, Any]:
    """Write a letter about something that went wrong or well. It is kept for good, and filed into the box of its project.

    A letter is no memory: it needs no brain, and what shall be remembered goes through memorize."""
    said = {
        "class": class_,
        "kind": kind,
        "what": what,
        "tool": tool,
        "expected": expected,
        "snippet": snippet,
        "answers": answers,
        "verdict": verdict,
        "external": external,
        "brain": brain,
        "repo": repo,
    }
    return call.house.mailbox.spool.report(call.caller, said)


@operation(
    "triage",
    effect=Effect.WRITE,
    positional=("answers",),
    raises=(ClaimTooLarge, ConfigInvalid, HygieneRefused, InvalidParams, RepositoryChanged),
)
def triage(
    call: Call,
    answers: Annotated[list[Id], Meta(min_length=1, max_length=100, description="ids of the letters that it closes")],
    what: Annotated[Text, Meta(description="what was done about them")],
    verdict: Annotated[Word | None, Meta(description="such as fixed or rejected; a rejected misdelivery does not count")] = None,
    case: Annotated[Word | None, Meta(description="the battery case that now guards against it")] = None,
) -> dict[str, Any]:
    """Answer letters and close them. Their bytes stay as they are; that they are closed is read from this letter."""
    said = {"class": TRIAGE, "tool": TRIAGE, "what": what, "answers": answers, "verdict": verdict, "case": case}
    here = call.house.letters.sweep.among(call.caller, answers)
    return call.house.mailbox.spool.report(call.caller, said, strange=[one for one in answers if one not in here])


@operation(
    "mailbox.distribute",
    effect=Effect.WRITE,
    idempotent=True,
    progress=True,
    raises=(Busy, ConfigInvalid),
    left_out={"mcp": _POST, "http": _POST},
)
def distribute(call: Call) -> dict[str, Any]:
    """File each letter of the spool into the one box it belongs to: its repository's, or the medulla's when it names none.

    A letter whose repository is not on this machine waits. One with a secret stays in the spool. A second run adds nothing."""
    return call.house.mailbox.distribution.run(call.caller, call.progress)
