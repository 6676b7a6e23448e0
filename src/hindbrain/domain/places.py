"""Places that arguments name. Each kind of path or brain is a type of its own; `dispatch` checks every one against the caller."""

from dataclasses import dataclass
from typing import NewType

__all__ = [
    "BrainName",
    "CheckoutRoot",
    "Endings",
    "IngestPath",
    "OutputDirectory",
    "OutputFile",
    "PlaceArgument",
    "ProjectFile",
    "ProjectRoot",
    "ReportSubject",
    "RepositoryName",
    "RoundName",
    "SourcePath",
]

SourcePath = NewType("SourcePath", str)  # a file or directory that the operation reads
IngestPath = NewType("IngestPath", str)  # the same, for a repository or documents that go into a graph
OutputFile = NewType("OutputFile", str)  # a new file that the operation writes
OutputDirectory = NewType("OutputDirectory", str)  # a directory that the operation writes into
ProjectRoot = NewType("ProjectRoot", str)  # a directory whose brain, bus or settings are meant
CheckoutRoot = NewType("CheckoutRoot", str)  # the same, for a checkout: spelt whole, without `..`
RepositoryName = NewType("RepositoryName", str)  # a repository that is only named: nothing in it is read outside the caller's own
ProjectFile = NewType("ProjectFile", str)  # a name inside the project, such as src/app.py:3; the service reads it below the root
ReportSubject = NewType("ReportSubject", str)  # the project that a letter is about, by name or path; it is only recorded
BrainName = NewType("BrainName", str)  # a brain other than the caller's own
RoundName = NewType("RoundName", str)  # a round of the gym: its id, or the directory that holds it


@dataclass(frozen=True, slots=True)
class Endings:
    """The file endings that an agent may give an output file: no name that a shell, a test runner or git would execute."""

    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceArgument:
    """How an argument names a place: its kind, the endings an output may have, and where the name is inside a record."""

    kind: str  # name of a type above
    endings: tuple[str, ...] = ()
    within: str | None = None  # the field of each record, for a list of records
