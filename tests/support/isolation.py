"""Random steps over repositories that are created, nested, linked, moved, swapped, replaced, copied and forged.

usage: python -m tests.support.isolation PLACE STEPS SECONDS SEED

Every repository has words of its own. After each step somebody reads in a random directory through a random surface, and no
word of another repository may appear. Which repository a directory belongs to is known from what this program did with it;
the product is never asked. Prints one line of JSON: steps, reads, writes and structural steps by kind, and every leak. On
standard error, one line for each world, with the seed and the steps and leaks so far, and one for each leak."""

import http.client
import json
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.policy.hooks import HOSTS
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.surfaces.mcp_texts import resource_at
from tests.support.reads import READS as EVERY
from tests.support.reads import WORDS as EVERY_WORDS
from tests.support.reads import arguments

__all__ = ["Isolation", "main"]

# A word: f is in source files, c in files of memory; both travel with a copy or clone. d lies in the home only, and so does b,
# which is of the bus of a checkout.
WORD = re.compile(rb"s([fcdb])(\d+)k(\d+)z")
Word = tuple[str, int, int]  # kind, number of its repository, count
WORLD_STEPS = 4000  # then a new world begins: stores stay small, and a step stays cheap
MOST = 12  # repositories at a time
STRUCTURE = 0.03  # of all steps
HTTP, OWNED = 0.05, 5  # so many of the reads in every fifth world go to a real owner on the same home
AGENTS = ("codex:maker", "claude:orchestrator", "gemini:agent")
KEPT = 40  # steps that are shown with a leak
IDENTITY = {
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"))
    },
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


@dataclass(eq=False, kw_only=True)
class Repo:
    """One repository (or plain directory) as this program knows it."""

    number: int
    path: str
    git: bool
    brain: bool = False
    count: int = 0  # of its words
    submodule: bool = False
    forged: bool = False  # its `.git` is a file that names the git directory of somebody else
    # A plain directory or a submodule that had a brain and was renamed: the one around it may serve it until it has one again.
    unsure: bool = False
    brought: set[Word] = field(default_factory=set)  # words of others that stood in its files when they arrived
    history: set[int] = field(default_factory=set)  # whose first commit its own git directory has
    joined: set["Repo"] = field(default_factory=set)  # whose files were committed into its git directory through a forged `.git`
    adrift: bool = False  # it left the place that its brain knows, and has not taken the brain back
    lends: set[int] = field(default_factory=set)  # repositories all of whose words may show here
    covered_by: "Repo | None" = None  # whose brain serves it, as long as it has none of its own
    held: set[int] = field(default_factory=set)  # repositories that lie or lay in its directory: their source files are its files
    # Directories that were a part of it until they got a brain of their own, with the count of their words then.
    parts: dict[int, int] = field(default_factory=dict)
    inner: set[int] = field(default_factory=set)  # directories that are a part of it now
    copy_of: set[int] = field(default_factory=set)
    remote: str = ""  # what it was cloned from
    homes: set[str] = field(default_factory=set)  # where it was when a brain was made for it
    worktrees: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    session: str = field(default_factory=lambda: secrets.token_hex(6))
    missions: list[str] = field(default_factory=list)

    @property
    def served_by(self) -> "Repo":
        return self.covered_by.served_by if self.covered_by is not None else self

    def word(self, kind: str) -> str:
        """A new word of what is written here: it belongs to the brain that has to take it, on the bus to the checkout."""
        served_by = self.served_by if self.served_by.brain else self
        owner = self if kind == "f" or (kind == "b" and self.git) else served_by
        owner.count += 1
        return f"s{kind}{owner.number}k{owner.count}z"

    def may_show(self, kind: str, number: int, count: int) -> bool:
        if number == self.number or number in self.lends or (kind, number, count) in self.brought:
            return True
        if (kind == "f" and number in self.held) or number in self.inner or count <= self.parts.get(number, 0):
            return True
        return self.covered_by is not None and self.covered_by.may_show(kind, number, count)


class Isolation:
    """One world after another, for so many steps."""

    def __init__(self, place: Path, seed: int) -> None:
        self.rng, self.seed = random.Random(seed), seed
        self.told: Callable[[str], None] = lambda line: None
        self.top = place
        self.counts: Counter[str] = Counter()
        self.surfaces: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.leaks: list[dict[str, Any]] = []
        self.defects: dict[str, Any] = {}
        self._worlds = 0
        self.calls = 0
        self._numbers = 0
        self._app: App | None = None
        self._owner: subprocess.Popen[bytes] | None = None
        self._new_world()

    # -- worlds ------------------------------------------------------------------------------------------------------

    def _new_world(self) -> None:
        self.close()
        if self._worlds:
            shutil.rmtree(self.place)
        self._worlds += 1
        self.place = self.top / f"w{self._worlds}"
        self.place.mkdir(parents=True)
        self.home = Home(self.place / "home")
        self.home.ensure()
        self.home.config_file.write_text("all_brains = false\nwarm_brain_cap = 4\n", encoding="utf-8")
        self.repos: list[Repo] = []
        self.gone: list[Repo] = []
        self.recent: deque[str] = deque(maxlen=KEPT)
        self.changes: list[str] = []  # what was done with directories in this world
        for _ in range(3):
            self.init(self.new_git())
        self.init(self.new_plain())
        self._look_around()

    @property
    def app(self) -> App:
        if self._app is None:
            self._app = App(self.home, Settings.read(self.home.config_file))
        return self._app

    def restart(self) -> None:
        if self._app is not None:
            self._app.close()
            self._app = None

    def close(self) -> None:
        self.restart()
        if self._owner is not None:
            self._owner.kill()
            self._owner.wait()
            assert self._owner.stdout is not None
            self._owner.stdout.close()
            self._owner = None

    def _start_owner(self) -> None:
        program = "import sys; from pathlib import Path; from hindbrain.surfaces.owner import serve; "
        program += "sys.exit(serve(Path(sys.argv[1]), port=0, housekeeping_s=3600))"
        with (self.place / "owner.stderr").open("ab") as errors:
            self._owner = subprocess.Popen(
                [sys.executable, "-P", "-c", program, str(self.home.path)],
                cwd=self.place,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self._owner.stdout is not None
        if not self._owner.stdout.readline():
            raise RuntimeError((self.place / "owner.stderr").read_text()[-2000:])
        facts = json.loads(self.home.owner_file.read_text(encoding="utf-8"))
        self._port, self._instance = int(facts["port"]), facts["instance"]

    # -- repositories ------------------------------------------------------------------------------------------------

    def _path(self, inside: Repo | None = None) -> str:
        self._numbers += 1
        name = self.rng.choice(("app", "Api", "lib", "caf\u00e9")) + str(self._numbers)
        return os.path.join(inside.path if inside else str(self.place / "work"), name)

    def _repo(self, path: str, *, git: bool) -> Repo:
        self._numbers += 1
        made = Repo(number=self._numbers, path=path, git=git)
        self.repos.append(made)
        return made

    def new_git(self, path: str | None = None, inside: Repo | None = None) -> Repo:
        made = self._repo(path or self._path(inside), git=True)
        made.history = {made.number}
        os.makedirs(os.path.join(made.path, "src"))
        git(made.path, "init", "-q", "-b", "main")
        Path(made.path, "src", "a.py").write_text(
            f'def of_{made.word("f")}():\n    return "{made.word("f")}"\n', encoding="utf-8"
        )
        git(made.path, "add", "-A")
        git(made.path, "commit", "-qm", made.word("f"))
        return made

    def new_plain(self, path: str | None = None, inside: Repo | None = None) -> Repo:
        made = self._repo(path or self._path(inside), git=False)
        os.makedirs(os.path.join(made.path, "src"))
        Path(made.path, "src", "notes.md").write_text(f"# Notes\n\n{made.word('f')}\n", encoding="utf-8")
        return made

    def init(self, repo: Repo) -> None:
        """The repository gets its brain, by a person or by its agent."""
        around = any(_is_within(repo, outer) for outer in self.repos)
        human, carried = self.rng.random() < 0.5, self.rng.random() < (0.3 if around and not repo.git else 0.7)
        given = {"path": repo.path} if carried else {"path": repo.path, "project_root": repo.path}
        answer = self._call(repo, repo.path, "init" if carried else "ingest", given, human=human, session=secrets.token_hex(6))
        # `init` in a plain directory of a git repository is about that repository.
        if answer.get("ok") and answer.get("project_root") == os.path.realpath(repo.path):
            repo.brain, repo.unsure, repo.adrift = True, False, False
            repo.homes.add(repo.path)
            repo.session = secrets.token_hex(6)  # MED-012: a session keeps its brain

    def within(self, repo: Repo) -> list[Repo]:
        return [one for one in self.repos if one is repo or _is_within(one, repo)]

    def _leaves(self, repo: Repo) -> None:
        """A repository leaves its place, and its brain waits for whoever proves to be it."""
        repo.adrift = repo.adrift or repo.brain
        for copy in self.repos:
            self._lend(repo, copy)

    def _lend(self, repo: Repo, copy: Repo) -> None:
        """A full copy with the history of a repository that left cannot be told from it: either may take the brain along.

        A copy of `.hindbrain` alone is told from it, and gets nothing."""
        family = {repo.number, *repo.copy_of}
        if copy is not repo and family & {copy.number, *copy.copy_of} and self._history(repo) & self._history(copy):
            copy.lends |= {repo.number, *repo.lends}

    def _git_of(self, repo: Repo) -> Repo | None:
        """Whose git directory a repository uses: its own, or the one that its forged `.git` names."""
        if not repo.forged:
            return repo
        target = Path(repo.path, ".git").read_text(encoding="utf-8").removeprefix("gitdir: ").strip()
        return next((one for one in self.repos if not one.forged and _under(target, os.path.join(one.path, ".git"))), None)

    def _history(self, repo: Repo) -> set[int]:
        try:
            used = self._git_of(repo)
        except OSError:  # it was removed a moment ago
            return set()
        return used.history if used is not None else set()

    def _arrived(self, made: Repo, place: str, source: Repo) -> None:
        """Files came into a repository from another one by git or `cp`. Their words are its own from now on.

        Source words count outside of `.hindbrain` only, and words of memory when the source may show them: what got into a
        file through the product alone stays a leak."""
        used = self._git_of(source) or source
        sources = {source, used, *used.joined}
        made.brought |= {word for one in sources for word in one.brought}
        made.brought |= {word for word in words_of_sources(place, git=not made.forged) if word[0] == "f"}
        made.brought |= {
            word
            for word in words_of_files(os.path.join(place, ".hindbrain"))
            if word[0] == "c" and any(one.may_show(*word) for one in sources)
        }

    def _moved(self, repo: Repo, path: str) -> None:
        old = repo.path
        for one in self.within(repo):
            self._leaves(one)
            one.path = path + one.path.removeprefix(old)
            one.unsure = one.unsure or (one.brain and (not one.git or one.submodule))
            one.worktrees = [path + tree.removeprefix(old) if _under(tree, old) else tree for tree in one.worktrees]
        for one in self.repos:
            one.links = [link for link in one.links if os.path.islink(link) and not _under(os.readlink(link), old)]

    def _dropped(self, repo: Repo) -> None:
        for one in self.within(repo):
            self._leaves(one)
            self.repos.remove(one)
            self.gone.append(one)
            for link in one.links:
                with suppress(OSError):
                    os.unlink(link)

    # -- structural steps --------------------------------------------------------------------------------------------

    def step_new(self) -> None:
        if len(self.repos) < MOST:
            made = self.new_git() if self.rng.random() < 0.6 else self.new_plain()
            if self.rng.random() < 0.6:
                self.init(made)

    def step_nested(self) -> None:
        if len(self.repos) < MOST:
            outer = self._any()
            made = self.new_git(inside=outer) if self.rng.random() < 0.5 else self.new_plain(inside=outer)
            if self.rng.random() < 0.5:
                self.init(made)

    def step_init(self) -> None:
        self.init(self._any())

    def step_uninit(self) -> None:
        repo = self._any()
        self._call(repo, repo.path, "uninit", {"path": repo.path}, human=True, session=secrets.token_hex(6))

    def step_worktree(self) -> None:
        repo = self._any(lambda one: one.git and os.path.isdir(os.path.join(one.path, ".git")))
        if repo.git and len(repo.worktrees) < 2:
            self._numbers += 1
            path = str(self.place / "trees" / f"t{self._numbers}")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if git(repo.path, "worktree", "add", "-q", path, "-b", f"b{self._numbers}", check=False):
                repo.worktrees.append(path)
                self._arrived(repo, path, repo)

    def step_link(self) -> None:
        repo = self._any()
        self._numbers += 1
        where = self.rng.choice((self.place / "links", Path(self._any().path)))
        where.mkdir(exist_ok=True)
        link = str(where / f"l{self._numbers}")
        os.symlink(os.path.join(repo.path, self.rng.choice(("", "src"))), link)
        repo.links.append(link)

    def step_submodule(self) -> None:
        outer, source = self._any(lambda one: one.git), self._any(lambda one: one.git)
        if len(self.repos) >= MOST or outer is source or not outer.git or not source.git:
            return
        self._numbers += 1
        name = f"sub{self._numbers}"
        if git(outer.path, "-c", "protocol.file.allow=always", "submodule", "add", "-q", source.path, name, check=False):
            made = self._repo(os.path.join(outer.path, name), git=True)
            made.submodule, made.remote = True, source.path
            made.history = set(self._history(source))
            self._arrived(made, made.path, source)

    def step_clone(self) -> None:
        source = self._any(lambda one: one.git)
        if source.git and len(self.repos) < MOST:
            if self.rng.random() < 0.6:
                git(source.path, "add", "-A", check=False)
                git(source.path, "commit", "-qm", "memory", check=False)
                used = self._git_of(source)
                if used is not None and used is not source:
                    used.joined.add(source)
            inside = self._any(lambda one: not one.git) if self.rng.random() < 0.5 else None
            path = self._path(inside)
            if git(str(self.place), "clone", "-q", source.path, path, check=False):
                made = self._repo(path, git=True)
                made.history, made.remote = set(self._history(source)), source.path
                self._arrived(made, path, source)

    def step_copy(self) -> None:
        source = self._any()
        if len(self.repos) + len(self.within(source)) <= MOST:
            path = self._path()
            subprocess.run(["cp", "-a", source.path, path], check=True)
            for one in self.within(source):
                made = self._repo(path + one.path.removeprefix(source.path), git=one.git)
                made.forged, made.submodule, made.history = one.forged, one.submodule, set(one.history)
                made.remote = one.remote
                made.copy_of = {one.number, *one.copy_of}
                made.lends, made.joined = set(one.lends), set(one.joined)
                self._arrived(made, made.path, one)
                if one.adrift:
                    self._lend(one, made)

    def step_move(self) -> None:
        repo = self._any()
        path = self._path()
        os.rename(repo.path, path)
        self._moved(repo, path)

    def step_case(self) -> None:
        repo = self._any()
        path = os.path.join(os.path.dirname(repo.path), os.path.basename(repo.path).swapcase())
        if not os.path.lexists(path):
            os.rename(repo.path, path)
            self._moved(repo, path)

    def step_swap(self) -> None:
        one, two = self._any(), self._any()
        if one is two or _is_within(one, two) or _is_within(two, one):
            return
        aside = str(self.place / "aside")
        first, second = one.path, two.path
        os.rename(first, aside)
        os.rename(second, first)
        os.rename(aside, second)
        self._moved(one, aside)  # in two moves, so that no prefix is taken for the other
        self._moved(two, first)
        self._moved(one, second)

    def step_replace(self) -> None:
        """Another repository comes to the place of one that was removed."""
        old = self._any()
        path = old.path
        shutil.rmtree(path)
        self._dropped(old)
        self.new_git(path) if self.rng.random() < 0.6 else self.new_plain(path)

    def step_remove(self) -> None:
        if len(self.repos) > 4:
            old = self._any()
            shutil.rmtree(old.path)
            self._dropped(old)

    def step_root_link(self) -> None:
        """A repository moves away, and its old place becomes a link to another one."""
        repo, other = self._any(), self._any()
        if repo is other or _is_within(other, repo) or _is_within(repo, other):
            return
        old, path = repo.path, self._path()
        os.rename(old, path)
        self._moved(repo, path)
        os.symlink(other.path, old)
        other.links.append(old)

    def step_forge_git(self) -> None:
        """A directory whose `.git` file names the repository of somebody else."""
        victim = self._any(lambda one: one.git)
        if victim.git and len(self.repos) < MOST:
            made = self.new_plain()
            made.git = made.forged = True
            names = os.path.join(victim.path, ".git", "worktrees")
            listed = [os.path.join(names, name) for name in os.listdir(names)] if os.path.isdir(names) else []
            target = self.rng.choice((os.path.join(victim.path, ".git"), *listed, os.path.join(names, "forged")))
            Path(made.path, ".git").write_text(f"gitdir: {target}\n", encoding="utf-8")

    def step_forge_id(self) -> None:
        """A repository brings the `brain.json` of somebody else, and links instead of its memory."""
        victim, made = self._any(), self._any(lambda one: not one.brain)
        known = Path(victim.path, ".hindbrain", "brain.json")
        if victim is made or made.brain or not known.is_file() or known.is_symlink():
            return
        place = Path(made.path, ".hindbrain")
        place.mkdir(exist_ok=True)
        hostile = self.rng.choice(("id", "garbage", "link", "dirlink", "witness"))
        if hostile == "link":
            with suppress(FileExistsError):
                os.symlink(known, place / "brain.json")
        elif hostile == "dirlink":
            with suppress(FileExistsError):
                os.symlink(Path(victim.path, ".hindbrain", "agent-memory"), place / "agent-memory")
        else:
            text = known.read_text(encoding="utf-8") if hostile != "garbage" else '{"id": "../../../etc", "project_root": "/"}'
            with suppress(OSError):
                (place / "brain.json").write_text(text, encoding="utf-8")
            if hostile == "witness":
                (place / ".witness").write_text(secrets.token_hex(16) + "\n", encoding="utf-8")

    def step_copy_memory(self) -> None:
        """The directory `.hindbrain` of one repository is copied into another, which brings its files along."""
        source, made = self._any(), self._any()
        if source is not made and os.path.isdir(os.path.join(source.path, ".hindbrain")) and not made.brain:
            target = os.path.join(made.path, ".hindbrain")
            if not os.path.lexists(target):
                subprocess.run(["cp", "-a", os.path.join(source.path, ".hindbrain"), target], check=True)
                made.copy_of |= {source.number, *source.copy_of}
                self._arrived(made, made.path, source)
                if source.adrift:
                    self._lend(source, made)

    def step_restart(self) -> None:
        self.restart()

    def _look_around(self) -> None:
        """Which repositories lie in which. A plain directory and a submodule belong to the outer one until they have a brain."""
        served = {one: one.served_by for one in self.repos}
        for one in self.repos:
            outer = one.covered_by
            while outer is not None:  # all of them had it as a part, also those further out
                outer.parts[one.number] = one.count
                outer = outer.covered_by
        for one in self.repos:
            around = [outer for outer in self.repos if _is_within(one, outer)]
            for outer in around:
                outer.held.add(one.number)
                outer.brought |= {word for word in one.brought if word[0] == "f"}
            open_to_outer = (not one.git or one.submodule) and (not one.brain or one.unsure)
            covered_by = max(around, key=lambda outer: len(outer.path)) if around and open_to_outer else None
            one.covered_by = covered_by
            one.inner = set()
            inside = any(outer.git for outer in around)
            for other in (*self.repos, *self.gone):
                if other is not one and one.path in other.homes and self._is_alike(one, other, inside=inside):
                    one.lends |= {other.number, *other.lends}
                    other.lends |= {one.number, *one.lends}

        for one in self.repos:
            # MED-012: a session keeps its brain. When the directory around this one takes a brain of its own, the older session
            # goes on with the brain further out, rightly; what is asked here comes from a new session, as after any such change.
            if one.served_by is not served[one]:
                one.session = secrets.token_hex(6)
            outer = one.covered_by
            while outer is not None:
                outer.inner.add(one.number)
                outer = outer.covered_by

    def _is_alike(self, one: Repo, other: Repo, *, inside: bool) -> bool:
        """Whether a repository in the place of another one cannot be told from it: a second clone of the same remote, or, inside
        a repository, a copy with the files that git has for the place."""
        if one.git and other.git:
            return bool(self._history(one) & self._history(other)) and one.remote == other.remote
        family = {other.number, *other.copy_of} & {one.number, *one.copy_of}
        return inside and not one.git and not other.git and bool(family)

    def _any(self, fits: Callable[[Repo], bool] | None = None) -> Repo:
        found = [one for one in self.repos if fits(one)] if fits is not None else self.repos
        return self.rng.choice(found or self.repos)

    # -- writes ------------------------------------------------------------------------------------------------------

    def write(self) -> None:
        repo = self._any(lambda one: not one.unsure)
        kind, make = self.rng.choices(WRITES, WRITE_WEIGHTS)[0]
        operation, given = make(self, repo)
        answer = self._call(repo, self._place(repo), operation, given, human=operation == "experience.remember")
        if answer.get("ok") and operation == "mission.start":
            repo.missions = [*repo.missions, answer["mission_id"]][-3:]
        self.counts[f"write {kind}" if answer.get("ok") else "write refused"] += 1

    def _place(self, repo: Repo) -> str:
        """A directory of a repository: its root, one below, a worktree of it, or a link that leads to it."""
        options = [repo.path, repo.path, os.path.join(repo.path, "src")]
        options += [there for there in (*repo.links, *repo.worktrees) if os.path.isdir(there)]
        return self.rng.choice(options)

    def _caller(self, place: str, *, human: bool, session: str, told: str | None = None) -> Caller:
        return Caller(
            agent=AgentId("human:founder" if human else self.rng.choice(AGENTS)),
            root=os.path.realpath(place),
            root_source=RootSource.HEADER,
            session=SessionId(session),
            channel=Channel.HUMAN if human else Channel.AGENT,
            reads_files=self.rng.random() < 0.5,
        )

    def _call(
        self, repo: Repo, place: str, operation: str, given: dict[str, Any], *, human: bool = False, session: str | None = None
    ) -> dict[str, Any]:
        self.calls += 1
        self.recent.append(
            f"{operation} {json.dumps(given)[:160]} at {place} ({'person' if human else 'agent'}; repo {repo.number})"
        )
        used = session or (repo.session if self.rng.random() < 0.5 else secrets.token_hex(6))
        caller = self._caller(place, human=human, session=used)
        try:
            answer = self.app.call(operation, given, caller=caller)
        except Exception as defect:  # noqa: BLE001 - a defect is a finding of its own, and the run goes on
            kind = f"{operation}: {type(defect).__name__}: {defect}"[:200]
            self.defects.setdefault(kind, list(self.recent)[-3:])
            return {"ok": False, "error": {"code": "defect"}}
        if not answer.get("ok"):
            error = answer.get("error")
            self.refused[error.get("code", "?") if isinstance(error, dict) else str(answer.get("refused") or error)] += 1
        return answer

    # -- reads -------------------------------------------------------------------------------------------------------

    def read(self) -> None:
        repo = self._any()
        place = self._place(repo)
        if self._worlds % OWNED == 1 and self.rng.random() < HTTP:
            if self._owner is None:
                self._start_owner()
            surface, data = self._over_http(repo, place)
        else:
            surface, operation, given, human = self._asked(repo)
            data = json.dumps(self._call(repo, place, operation, given, human=human), default=str).encode()
        self.surfaces[surface] += 1
        foreign = {word for word in words_in(data) if not repo.may_show(*word)}
        if foreign:
            self._leaked(repo, place, surface, foreign, data)

    def _asked(self, repo: Repo) -> tuple[str, str, dict[str, Any], bool]:
        rng = self.rng
        pick = rng.random()
        if pick < 0.08:
            event = rng.choice(("SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop"))
            payload = {
                "session_id": repo.session,
                "cwd": repo.path,
                "prompt": "what is known about the shared rule and the notes",
            }
            return "hook", "hosts.event", {"host": rng.choice(HOSTS), "event": event, "payload": payload}, False
        if pick < 0.12:
            other = self._any()
            mission = rng.choice((*repo.missions, *other.missions, "none"))
            uri = rng.choice(("brief", "status", "claim/shared-rule", f"mission/{mission}/state", f"mission/{mission}/handoff"))
            resource = resource_at(f"hindbrain://{uri}")
            assert resource is not None
            return "resource", resource[0].operation, dict(resource[1]), False
        if pick < 0.17:
            # It names another repository, whose words it must not get. What lies in its own directory it may name.
            other = self._any(lambda one: not _is_within(one, repo))
            name, argument = rng.choice(NAMING)
            given: dict[str, Any] = {argument: rng.choice((other.path, *other.missions, f"{other.path}/src"))}
            return "naming", name, {**given, **NAMING_MORE.get(name, {})}, False
        if pick < 0.1702:
            return "doctor", "doctor", {"scan": True}, False
        if pick < 0.2:
            name = rng.choice(EVERY_READ)
            return "any", name, _fitting(arguments(name)), False
        name, given = rng.choices(READS, READ_WEIGHTS)[0]
        surface = (
            "packet" if name in ("delegate", "wake", "brief", "context") else "hand-over" if "handoff" in name else "operation"
        )
        return surface, name, dict(given), rng.random() < 0.1

    def _over_http(self, repo: Repo, place: str) -> tuple[str, bytes]:
        """A read through the owner: as an agent, or as the Hall reads, with the human token and a brain by its name."""
        human = self.rng.random() < 0.6
        headers = self._headers(human=human)
        if self.rng.random() < 0.2:
            return "events", self._events(repo, place, headers, human=human)
        name, given = self.rng.choices(READS, READ_WEIGHTS)[0]
        path, body = f"/api/op/{name}", dict(given)
        root = os.path.realpath(repo.path)
        if human:
            route = self.rng.choice((f"/api/op/{name}", *HALL_ROUTES))
            path = f"{route}{'&' if '?' in route else '?'}brain={quote(root, safe='')}"
        else:
            headers["Hindbrain-Caller-Root"] = quote(os.path.realpath(place), safe="/")
            if self.rng.random() < 0.2:
                path = self.rng.choice((*HALL_ROUTES, "/api/instances", "/api/overview"))
        self.recent.append(f"HTTP {path} {body} ({'person' if human else 'agent'} in {place}; repo {repo.number})")
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            post = path.startswith("/api/op/")
            connection.request("POST" if post else "GET", path, body=json.dumps(body).encode() if post else None, headers=headers)
            return "Hall" if human else "http", connection.getresponse().read()
        finally:
            connection.close()

    def _headers(self, *, human: bool) -> dict[str, str]:
        token = (self.home.path / ("human-token" if human else "token")).read_text(encoding="ascii").strip()
        return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def _events(self, repo: Repo, place: str, headers: dict[str, str], *, human: bool) -> bytes:
        """All events so far, those of an act in a random repository, and the last one, which everybody hears."""
        root = os.path.realpath(place)
        path = f"/api/events?brain={quote(os.path.realpath(repo.path), safe='')}" if human else "/api/events"
        if not human:
            headers["Hindbrain-Caller-Root"] = quote(root, safe="/")
        self.recent.append(f"HTTP {path} ({'person' if human else 'agent'} in {place}; repo {repo.number})")
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("GET", path, headers={**headers, "Last-Event-ID": f"{self._instance}-0"})
            heard = connection.getresponse()
            if "event-stream" not in (heard.getheader("Content-Type") or ""):
                return heard.read()
            self._post_claim(self._any(lambda one: not one.unsure), {})
            # The medulla's events go to every agent. A person who looks at one brain hears of that one.
            last = self._post_claim(repo, {} if human else {"tier": "medulla"})
            lines = [heard.readline()]
            while last is not None and lines[-1] and last.encode() not in lines[-1]:
                lines.append(heard.readline())
            return b"".join(lines)
        finally:
            connection.close()

    def _post_claim(self, repo: Repo, more: dict[str, str]) -> str | None:
        """A claim of an agent through the owner; its slug, or None when it was refused."""
        self._numbers += 1
        label = f"tick {self._numbers}" if more else f"Rule {repo.word('c')} n{self._numbers}"
        given = {"node_label": label, "text": "a second went by" if more else f"the notes say {repo.word('c')}", **more}
        root = quote(os.path.realpath(repo.path), safe="/")
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            headers = {**self._headers(human=False), "Hindbrain-Caller-Root": root}
            connection.request("POST", "/api/op/memorize", body=json.dumps(given).encode(), headers=headers)
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return str(answer["slug"]) if answer.get("ok") else None

    def _leaked(self, repo: Repo, place: str, surface: str, foreign: set[Word], data: bytes) -> None:
        known = {one.number: one for one in (*self.repos, *self.gone)}
        whose = sorted({number for _, number, _ in foreign})
        self.counts["leaks"] += 1
        self.counts[f"leak by {surface}"] += 1
        if len(self.leaks) < 20:
            example = f"s{sorted(foreign)[0][0]}{sorted(foreign)[0][1]}k{sorted(foreign)[0][2]}z".encode()
            at = data.index(example)
            self.leaks.append(
                {
                    "surface": surface,
                    "read": self.recent[-1],
                    "in": f"repo {repo.number} ({'git' if repo.git else 'plain'}) at {place}",
                    "words_of": [f"repo {one} now at {known[one].path}" if one in known else f"repo {one}" for one in whose],
                    "excerpt": data[max(0, at - 150) : at + 60].decode("utf-8", "replace"),
                    "lineage": f"copy of {sorted(repo.copy_of)}, {len(repo.brought)} words brought, lent {sorted(repo.lends)}",
                    "before": self._changes_of({repo, *(known[one] for one in whose if one in known)}),
                }
            )
            self.told(f"seed {self.seed}, world {self._worlds}: {json.dumps(self.leaks[-1])}")

    def _changes_of(self, repos: set[Repo]) -> list[str]:
        """What was done with these repositories, or in these places."""
        names = [f"({one.number}, " for one in repos] + [os.path.basename(one.path) for one in repos]
        return [line[:300] for line in self.changes if any(name in line for name in names)][-20:]

    # -- the run -----------------------------------------------------------------------------------------------------

    def run(self, steps: int, seconds: float) -> dict[str, Any]:
        began, done = time.monotonic(), 0
        while done < steps and time.monotonic() - began < seconds:
            if (done and done % WORLD_STEPS == 0) or (self.counts["leaks"] and done % 500 == 0):
                self._new_world()
                self.told(f"seed {self.seed}: {done} steps, {self.counts['leaks']} leaks, {time.monotonic() - began:.0f} s")
            if self.rng.random() < STRUCTURE:
                name = self.rng.choices(STEPS, STEP_WEIGHTS)[0]
                before = [(one.number, one.path, one.brain) for one in self.repos]
                calls = self.calls
                getattr(self, f"step_{name}")()
                self._look_around()
                after = [(one.number, one.path, one.brain) for one in self.repos]
                told = [one for one in after if one not in before] or list(self.recent)[len(self.recent) - (self.calls - calls) :]
                self.changes.append(f"{name}: {told}")
                self.counts[f"step {name}"] += 1
            else:
                self.write()
            done += 1
            self.read()
        writes = sum(count for name, count in self.counts.items() if name.startswith("write ") and name != "write refused")
        return {
            "steps": done,
            "reads": sum(self.surfaces.values()),
            "writes": writes,
            "words": sum(one.count for one in (*self.repos, *self.gone)),
            "worlds": self._worlds,
            "seconds": round(time.monotonic() - began, 1),
            "surfaces": dict(self.surfaces),
            "counts": dict(self.counts),
            "refused": dict(self.refused.most_common(12)),
            "leaks": self.leaks,
            "defects": self.defects,
        }


def git(root: str, *words: str, check: bool = True) -> bool:
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, env={**os.environ, **IDENTITY}, check=check)
    return done.returncode == 0


def words_of_files(place: str) -> set[Word]:
    """The words in the files under a directory, without those of git."""
    found: set[Word] = set()
    for directory, names, files in os.walk(place):
        names[:] = [name for name in names if name != ".git"]
        for name in files:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not os.path.islink(path):
                found |= words_in(Path(path).read_bytes())
    return found


def words_of_sources(root: str, *, git: bool) -> set[Word]:
    """The words in a working tree and, with `git`, in its history; both without `.hindbrain`."""
    found: set[Word] = set()
    for entry in os.scandir(root):
        if entry.name not in (".git", ".hindbrain"):
            found |= words_of_files(entry.path) if entry.is_dir(follow_symlinks=False) else words_of_file(entry)
    if git:
        command = ["git", "-C", root, "log", "--all", "-p", "--format=%B", "--", ".", ":!.hindbrain"]
        found |= words_in(subprocess.run(command, capture_output=True, env={**os.environ, **IDENTITY}, check=False).stdout)
    return found


def words_of_file(entry: os.DirEntry[str]) -> set[Word]:
    return words_in(Path(entry.path).read_bytes()) if entry.is_file(follow_symlinks=False) else set()


def words_in(data: bytes) -> set[Word]:
    return {(kind.decode(), int(number), int(count)) for kind, number, count in set(WORD.findall(data))}


def _under(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


def _is_within(one: Repo, outer: Repo) -> bool:
    return one is not outer and _under(one.path, outer.path)


STEP_TABLE = {
    "new": 3,
    "nested": 4,
    "init": 10,
    "uninit": 2,
    "worktree": 4,
    "link": 3,
    "submodule": 1,
    "clone": 3,
    "copy": 3,
    "move": 5,
    "case": 2,
    "swap": 5,
    "replace": 4,
    "remove": 3,
    "root_link": 2,
    "forge_git": 2,
    "forge_id": 4,
    "copy_memory": 3,
    "restart": 4,
}
STEPS, STEP_WEIGHTS = list(STEP_TABLE), list(STEP_TABLE.values())

Make = Callable[[Isolation, Repo], tuple[str, dict[str, Any]]]


def _file(world: Isolation, repo: Repo) -> tuple[str, dict[str, Any]]:
    place = Path(repo.path, "src")
    place.mkdir(exist_ok=True)
    (place / f"f{world.rng.randrange(4)}.py").write_text(f'def f():\n    return "{repo.word("f")}"\n', encoding="utf-8")
    return "ingest", {"path": repo.path, "incremental": True}


_WRITE_TABLE: list[tuple[str, float, Make]] = [
    ("claim", 4, lambda w, r: ("memorize", {"node_label": f"Rule {r.word('c')}", "text": f"the notes say {r.word('c')}"})),
    ("shared claim", 4, lambda w, r: ("memorize", {"node_label": "Shared rule", "text": f"the notes say {r.word('c')}"})),
    ("evidence", 4, lambda w, r: ("record", {"text": f"the notes say {r.word('d')}", "source": r.word("d"), "thread": "t"})),
    ("boot", 6, lambda w, r: ("boot_memory", {"action": "set", "key": f"k{w.rng.randrange(5)}", "value": r.word("d")})),
    ("letter", 3, lambda w, r: ("report", {"class": "bug", "what": f"the notes say {r.word('c')}"})),
    ("mission", 0.3, lambda w, r: ("mission.start", {"task": f"the notes say {r.word('d')}", "mode": "review"})),
    (
        "mission event",
        3,
        lambda w, r: ("mission.event", {"event_type": "hypothesis", "target": r.word("d"), **_mission(w, r)}),
    ),
    ("hand-over", 1, lambda w, r: ("mission.handoff", {"summary": r.word("d"), "leave": False, **_mission(w, r)})),
    ("abandon", 0.2, lambda w, r: ("mission.abandon", {"reason": "enough", **_mission(w, r)})),
    ("bus agent", 2, lambda w, r: ("cowork.register", {"agent_id": w.rng.choice(("one", "two")), "tool": "claude"})),
    ("message", 5, lambda w, r: ("cowork.send", {"from": "one", "to": "two", "message": f"the notes say {r.word('b')}"})),
    ("drain", 1, lambda w, r: ("cowork.drain", {"agent_id": "two"})),
    (
        "reservation",
        2,
        lambda w, r: ("cowork.reserve", {"agent_id": "one", "paths": ["src"], "minutes": 5, "reason": r.word("b")}),
    ),
    ("partner", 2, lambda w, r: ("partner.push", {"content": r.word("b")})),
    ("partner drain", 1, lambda w, r: ("partner.drain", {"target": w.rng.choice(("claude", "codex"))})),
    ("delegation", 0.3, lambda w, r: ("delegate", {"task": f"the notes say {r.word('d')}", "scope": {"paths": ["src"]}})),
    (
        "experience",
        1,
        lambda w, r: ("experience.remember", {"text": r.word("d"), "level": "K", "space": "tool:shell", "entity": "path:a"}),
    ),
    (
        "outcome",
        2,
        lambda w, r: (
            "adoption.capture",
            {"surface": "runtime-context", "outcome": "used", "note": r.word("d"), "execute": True},
        ),
    ),
    ("code", 1, _file),
]


def _mission(world: Isolation, repo: Repo) -> dict[str, Any]:
    return {"mission_id": world.rng.choice(repo.missions)} if repo.missions else {}


WRITES = [(name, make) for name, _, make in _WRITE_TABLE]
WRITE_WEIGHTS = [weight for _, weight, _ in _WRITE_TABLE]

ASKED = "what do the notes say about the shared rule"
_READ_TABLE: list[tuple[str, dict[str, Any], float]] = [
    *(("north", {}, 2), ("north", {"task": ASKED}, 3), ("seek", {"query": ASKED}, 3), ("claims", {}, 2), ("wake", {}, 3)),
    *(("memory.search", {"query": "the notes say", "floor": False}, 4), ("memory.list", {"limit": 50}, 5), ("recall", {}, 2)),
    *(
        ("history", {"claim": "shared-rule"}, 3),
        ("boot_memory", {"action": "list"}, 4),
        ("boot_memory", {"action": "get", "key": "k1"}, 2),
    ),
    *(
        ("mission.list", {}, 4),
        ("mission.status", {}, 2),
        ("flight", {}, 1),
        ("cowork.events", {"limit": 50}, 4),
        ("mailbox.show", {}, 4),
    ),
    *(("cowork.deliveries", {"agent_id": "two"}, 2), ("cowork.agents", {}, 2), ("cowork.handoff", {"all_sessions": True}, 3)),
    *(("cowork.reservations", {}, 2), ("cowork.session.list", {}, 1), ("cowork.wait", {"agent_id": "two", "timeout_s": 0}, 2)),
    *(("context", {"query": ASKED, "include_evidence": True, "include_cards": True}, 2), ("brief", {"query": ASKED}, 2)),
    *(("delegate", {"task": ASKED}, 0.2), ("ledger.show", {}, 2), ("story", {}, 1), ("knowledge.list", {}, 2), ("review", {}, 1)),
    *(
        ("search", {"query": "the notes", "top_k": 20}, 1),
        ("search", {"query": "return", "context_lines": 2}, 1),
        ("drift", {}, 0.5),
    ),
    *(("glob", {"pattern": "**/*"}, 1), ("graph.show", {}, 1), ("graph.export", {"format": "json"}, 0.5), ("panoramic", {}, 0.5)),
    *(("overview", {}, 0.5), ("instances", {}, 0.1), ("health", {}, 0.5), ("session_handshake", {}, 0.3), ("task.list", {}, 1)),
    *(
        ("experience.summary", {"verbose": True}, 1),
        ("experience.query", {"space": "tool:shell"}, 1),
        ("adoption.list", {"limit": 50}, 1),
    ),
    *(
        ("partner.status", {}, 1),
        ("audit_promotions", {}, 0.5),
        ("activate", {"query": ASKED}, 0.5),
        ("coverage_session", {}, 0.5),
    ),
    *(("memory.list", {"deleted": True}, 1), ("am_i_stale", {}, 0.5), ("skill.list", {}, 0.5), ("adoption.review", {}, 0.5)),
]
READS = [(name, given) for name, given, _ in _READ_TABLE]
READ_WEIGHTS = [weight for *_, weight in _READ_TABLE]

# Every operation that reads, those above included, with what it asks for. Left out: those that read no memory or are asked
# elsewhere, and the two that show the spool of letters, where a letter waits under the path of its project (docs/plan.md).
NOT_READ = ("doctor", "control.watch", "mission.verify_packet", "inbox_sweep", "triage_session")
EVERY_READ = [name for name in EVERY if name not in NOT_READ]
HALL_ROUTES = (
    *("/api/mailbox", "/api/graph/snapshot", "/api/graph/stats", "/api/status"),
    "/api/graph/subgraph?node=file%3A%3Asrc%2Fa.py&depth=2",
)


def _fitting(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments that reach something here."""
    told = (
        json.dumps(given).replace(EVERY_WORDS, ASKED).replace("src/worker.py", "src/a.py").replace("retry-policy", "shared-rule")
    )
    fitting: dict[str, Any] = json.loads(told)
    return fitting


# Reads that take the name of a place, a brain or a mission.
NAMING = [
    *(("north", "caller_root"), ("memory.list", "caller_root"), ("claims", "caller_root"), ("context", "cwd"), ("brief", "cwd")),
    *(("cowork.events", "project_root"), ("cowork.agents", "project_root"), ("cowork.handoff", "project_root")),
    *(("graph.show", "brain"), ("activate", "brain"), ("mission.export", "mission_id"), ("mission.status", "mission_id")),
    *(("search", "scope"), ("glob", "scope"), ("knowledge.retrieve", "cwd"), ("mission.list", "caller_root")),
]
NAMING_MORE: dict[str, dict[str, Any]] = {
    "context": {"query": ASKED, "include_evidence": True},
    "brief": {"query": ASKED},
    "activate": {"query": ASKED},
    "search": {"query": "notes"},
    "glob": {"pattern": "**/*"},
    "knowledge.retrieve": {"query": ASKED},
    "mission.export": {"format": "state"},
}


def main(place: str, steps: str, seconds: str, seed: str) -> int:
    running = Isolation(Path(os.path.realpath(place)), int(seed))
    running.told = lambda line: print(line, file=sys.stderr, flush=True)
    try:
        told = running.run(int(steps), float(seconds))
    finally:
        running.close()
    print(json.dumps(told))
    return 1 if told["leaks"] or told["defects"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
