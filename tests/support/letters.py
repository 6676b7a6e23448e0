"""A made spool: letters of every shape that was ever seen, and where each belongs. Who makes a line knows; no rule is asked."""

import hashlib
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hindbrain.stores.home import Home
from tests.support.world import git

__all__ = ["Post", "box", "identity", "letters_in"]

MEDULLA, PENDING, REFUSED = "medulla", "pending", "refused"
ALIASES = "gitrooms=room-0"
BASES = "room-1"


def identity(line: bytes) -> str:
    """The id of a line by its definition, not by our code."""
    return hashlib.sha256(line).hexdigest()[:12]


def box(root: str) -> Path:
    return Path(root, ".hindbrain", "inbox.jsonl")


def letters_in(path: Path) -> list[str]:
    """Ids of the lines of a box, in order."""
    return [identity(line) for line in path.read_bytes().split(b"\n") if line] if path.exists() else []


@dataclass
class Post:
    """A machine with repositories, and letters about them. `expected` says of each id where it belongs."""

    place: Path  # HOME of the user
    home: Home
    repositories: int = 12
    expected: dict[str, str] = field(default_factory=dict)
    lines: list[bytes] = field(default_factory=list)
    malformed: int = 0
    roots: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.place.mkdir(parents=True, exist_ok=True)
        self.home.ensure()
        for number in range(self.repositories):
            self.roots.append(self.repository(f"code/room-{number}"))
        for root in self.roots[: self.repositories * 3 // 4]:  # the others are known to nobody
            self.home.register(root, brain_id=None, now=0)
        self.loose = str(self.place / "papers")
        os.makedirs(self.loose)
        self.twins = [self.repository(f"{side}/twin") for side in ("left", "right")]
        for twin in self.twins:
            self.home.register(twin, brain_id=None, now=0)
        self.beside = self.repository("code/newcomer")
        self.link = str(self.place / "short")
        os.symlink(self.roots[2], self.link)
        inner = self.roots[3]
        os.makedirs(os.path.join(inner, "src", "deep"))
        first = self.roots[0]
        git(first, "commit", "-q", "--allow-empty", "-m", "one")
        self.worktree = str(self.place / "code" / "room-0-wt")
        git(first, "worktree", "add", "-q", self.worktree)

    def repository(self, name: str) -> str:
        root = self.place / name
        root.mkdir(parents=True)
        if name == "code/room-0":
            git(str(root), "init", "-q", "-b", "main")
        else:
            (root / ".git").mkdir()  # all that tells a repository apart; git itself takes 5 ms for each of 200
        return str(root)

    def written(self) -> Path:
        """The spool on disk. Its last line has no end, as some programs leave it."""
        self.home.field_reports_file.write_bytes(b"".join(self.lines).removesuffix(b"\n"))
        return self.home.field_reports_file

    def at(self, target: str) -> list[str]:
        """Ids that belong to a target, in the order in which they were written."""
        return [one for one, where in self.expected.items() if where == target]

    # -- letters -----------------------------------------------------------------------------------------------------

    def fill(self, count: int, seed: int) -> "Post":
        """So many distinct letters, and in between what is none."""
        chance = random.Random(seed)
        shapes = [*self._projects(), *self._projectless(), *self._pending(), *self._secret()]
        broken = [b"{broken", b"[1,2]", b"17", b'"text"', b"\xff\xfe{}", b"{} trailing", b'{"a":NaN}', b"\x00\x00", b"null"]
        while len(self.expected) < count:
            words, where = shapes[len(self.expected) % len(shapes)](chance)
            raw = self._dressed(words, chance)
            self._put(raw, where, chance.choice([b"\n", b"\n", b"\n", b"\r\n"]))
            if chance.random() < 0.03:
                self._put(raw, where, b"\n")  # the same once more
            if chance.random() < 0.03:
                self.lines.append(chance.choice(broken) + b"\n")
                self.malformed += 1
            if chance.random() < 0.02:
                self.lines.append(chance.choice([b"\n", b"  \t\r\n"]))
        return self

    def _put(self, raw: bytes, where: str, end: bytes) -> None:
        self.lines.append(raw + end)
        self.expected.setdefault(identity(raw), where)

    def _dressed(self, words: dict[str, object], chance: random.Random) -> bytes:
        number = len(self.expected)
        said: dict[str, object] = {"ts": f"2026-07-0{1 + number % 9}T09:12:00Z", "agent": "codex:maker", "class": "bug"}
        said |= {"what": f"case {number}", **words}
        if number % 7 == 0:
            said |= {"what": f"Größe {number} \u2028 日本語 ```\u202e", "foo": {"unknown": [1, None, {"deep": True}]}}
        if number % 11 == 0:
            said |= {"ts": number, "answers": {"no": "list"}, "external": "maybe", "class": ["odd"]}
        if number % 13 == 0:
            said |= {"answers": ["ffffffffffff", 5, ""], "class": "triage"}
        if number % 997 == 0:
            said["snippet"] = "a long line " * 8_000
        ascii_only = chance.random() < 0.3
        separators = chance.choice([(",", ":"), (", ", ": "), (" ,  ", "  :\t")])
        text = json.dumps(said, ensure_ascii=ascii_only, separators=separators)
        if number % 17 == 0:
            text = text[:-1] + f'{separators[0]}"half":"\\ud83d"' + "}"
        return (" " if number % 19 == 0 else "").encode() + text.encode("utf-8") + (b"  " if number % 23 == 0 else b"")

    def _projects(self) -> Iterator[Callable[[random.Random], tuple[dict[str, object], str]]]:
        known = self.roots[: self.repositories * 3 // 4]

        def one(make: Callable[[str], dict[str, object]], among: list[str]) -> Callable[..., tuple[dict[str, object], str]]:
            def shape(chance: random.Random) -> tuple[dict[str, object], str]:
                root = chance.choice(among)
                return make(root), root

            return shape

        def home(root: str) -> str:
            return f"~/{os.path.relpath(root, self.place)}"

        name = os.path.basename
        yield one(lambda root: {"repo": root}, self.roots)
        yield one(lambda root: {"repo": f"  {root}/ "}, self.roots)
        yield one(lambda root: {"repo": home(root)}, self.roots)
        yield one(lambda root: {"repo": f"{home(root)}/ (branch main)"}, self.roots)
        yield one(lambda root: {"repo": name(root)}, known)
        yield one(lambda root: {"repo": f"{name(root)} (worktree {name(root)}-hall)"}, known)
        yield one(lambda root: {"brain": f"project:{name(root)}", "repo": "room-0"}, known)
        yield one(lambda root: {"brain": name(root), "repo": root}, self.roots)
        yield one(lambda root: {"brain": "medulla", "repo": name(root)}, known)
        yield one(lambda root: {"brain": "all", "repo": root}, self.roots)
        yield one(lambda root: {"brain": " project: ", "repo": root}, self.roots)
        yield one(lambda root: {"brain": None, "repo": f"project:{name(root)}"}, known)
        yield one(lambda root: {"brain": "project:twin", "repo": root}, self.twins)  # the path tells which of the two
        yield one(lambda root: {"repo": "gitrooms"}, [self.roots[0]])
        yield one(lambda root: {"repo": "room-1-l00p"}, [self.roots[1]])
        yield one(lambda root: {"repo": str(self.place / "code" / "room-1-gone")}, [self.roots[1]])
        yield one(lambda root: {"repo": self.worktree}, [self.roots[0]])
        yield one(lambda root: {"repo": self.link}, [self.roots[2]])
        yield one(lambda root: {"repo": os.path.join(root, "src", "deep")}, [self.roots[3]])
        yield one(lambda root: {"repo": "newcomer"}, [self.beside])
        yield one(lambda root: {"repo": root}, [self.loose])

    def _projectless(self) -> Iterator[Callable[[random.Random], tuple[dict[str, object], str]]]:
        runtime = str(self.home.path)
        shapes: list[dict[str, object]] = [
            {},
            {"repo": ""},
            {"repo": None},
            {"repo": "   "},
            {"repo": "all"},
            {"repo": "(research task, no repo)"},
            {"repo": "research task on retrieval"},
            {"repo": runtime},
            {"repo": f"{runtime}/brains/abc/"},
            {"repo": "~/.m1nd/runtimes/owner"},
            {"brain": "medulla"},
            {"brain": "medulla", "repo": "all"},
            {"brain": "", "repo": "All (of them)"},
            {"repo": "~"},
            {"repo": "/"},
        ]
        for words in shapes:
            yield lambda _, words=words: (dict(words), MEDULLA)  # type: ignore[misc]

    def _pending(self) -> Iterator[Callable[[random.Random], tuple[dict[str, object], str]]]:
        shapes: list[dict[str, object]] = [
            {"repo": "repo-c"},
            {"repo": "/nowhere/at/all"},
            {"repo": "~/gone"},
            {"brain": "project:absent", "repo": "room-0"},
            {"brain": "medulla", "repo": "repo-c"},
            {"repo": "twin"},
            {"repo": "room-2-l00p"},
            {"repo": ".."},
            {"repo": "../room-0"},
            {"repo": "owner/room-0"},
            {"repo": 42},
            {"repo": ["room-0"]},
            {"repo": "a\u0000b"},
            {"repo": "x" * 5000},
            {"repo": "~root/code"},
        ]
        for words in shapes:
            yield lambda _, words=words: (dict(words), PENDING)  # type: ignore[misc]

    def _secret(self) -> Iterator[Callable[[random.Random], tuple[dict[str, object], str]]]:
        key = "AKIA" + "ABCDEFGHIJKLMNOP"
        header = "-----BEGIN " + "RSA PRIVATE KEY-----"
        yield lambda _: ({"repo": self.roots[0], "snippet": f"export {key}"}, REFUSED)
        yield lambda _: ({"snippet": f"see\n{header}\nMIIE"}, REFUSED)
        yield lambda _: ({"repo": "repo-c", "snippet": f"one\nDEPLOY_TOKEN={'hunter2' * 2}\n"}, REFUSED)
