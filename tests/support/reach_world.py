"""A user's machine in one directory, for attacks by an agent of repository A: what A must not reach carries sentinels.

`user` is the user's home with keys, notes and host logs; `user/work/a` is the repository of the attacker; `béta` is another
repository with a brain; `plain` has no brain; the directory of `usb` is absent, its brain is not. `home` is Hindbrain's home.
Every sentinel is a word that no argument of an attack contains, so an answer that contains one has read it."""

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import tarfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import fingerprint
from tests.support.hooking import claude_log
from tests.support.world import Actor, World, git

__all__ = ["Change", "ReachWorld", "Victim"]

# Files of the home that belong to no brain and that any call may change: the owner's own, and the records of all callers.
_SHARED = (
    *("owner.json", "owner.lock", "start.lock", "owner.port", "owner.log", "owner.stderr", "manifest.json", "refusals.jsonl"),
    *("field-reports.jsonl", "field-reports.links.json", "field-reports.boxes.json", "field-reports.lock"),
)
_SHARED_TREES = ("medulla", "exports", "recovery", "models")
_PAIR_FILES = ("intents.done", "intents.jsonl", "bus.lock")
_DATABASES = (".db", ".db-wal", ".db-shm", ".db-journal")
_PLAIN = 4  # facts that are compared of a plain file
_CUT = 12  # of a token: so many first and last characters count as the token


@dataclass(frozen=True, kw_only=True)
class Change:
    """One thing outside of A that is not as it was."""

    path: str
    what: str
    tables: str = ""  # of a database: whose rows changed

    def told(self) -> str:
        return f"{self.what} {self.path}{self.tables}"


def _changed_tables(before: tuple[Any, ...] | None, after: tuple[Any, ...] | None) -> str:
    if before is None or after is None or not isinstance(before[-1], tuple) or not isinstance(after[-1], tuple):
        return ""
    old, new = ({one[0]: one[1:] for one in side[-1]} for side in (before, after))
    changed = [name for name in sorted(old | new) if old.get(name) != new.get(name)]
    counts = [f"{name} {old.get(name, (0,))[0]} → {new.get(name, (0,))[0]}" for name in changed]
    return f" {', '.join(counts)}" + (f" {new['ledger'][2]}" if "ledger" in changed else "")


@dataclass(kw_only=True)
class Victim:
    """What an attacker may know of another repository: its names and ids, not its texts."""

    root: str
    label: str
    slug: str
    ids: dict[str, str] = field(default_factory=dict)


class ReachWorld:
    """Builds the machine, and compares it with what it was."""

    def __init__(self, place: Path) -> None:
        self.place = Path(os.path.realpath(place))
        self.world = World(self.place)
        self.world.clock.catch_up()  # the owner goes by the time of day: what aged meanwhile it would tidy up
        self.home = self.world.home.path
        self.user = self.place / "user"
        self.sentinels: dict[bytes, str] = {}  # word -> where it lies
        self.own: dict[str, list[str]] = {}  # ids of A, by the name of the argument that takes them
        self._counter = 0
        self._fake_user()
        self.a = self._repository_a()
        self.b = self._victim("user/work/b\u00e9ta")
        self.usb = self._victim("user/media/usb")
        named = self.world.human(self.b.root).call("federate", repos=[{"name": "harbour", "path": self.b.root}], name="harbour")
        assert named["ok"], named
        self.b.ids["analysis"] = named["brain"]
        self.plain = self._plain()
        self.stray = self.world.repository("user/work/stray")  # of the agent that has no brain: it may write there
        self._backup()
        os.rename(self.usb.root, self.place / "unplugged")
        self.elsewhere = self.place / "elsewhere"  # the working directory of the owner
        self.elsewhere.mkdir()
        self.world.home.config_file.write_text("all_brains = false\n", encoding="utf-8")
        self.environment = self.sentinel("environment of the owner")
        self.world.close()
        for host in ("claude", "codex"):
            (self.home / "cowork-inbox" / host).mkdir(parents=True, exist_ok=True)
        self._before: dict[str, tuple[Any, ...]] = {}
        self.settle()
        self._contents = {path: Path(path).read_bytes() for path, facts in self._before.items() if len(facts) == _PLAIN}

    # -- sentinels ---------------------------------------------------------------------------------------------------

    def sentinel(self, where: str) -> str:
        """A new word that lies only there."""
        self._counter += 1
        word = f"zq{hashlib.sha256(f'{self._counter}{where}'.encode()).hexdigest()[:8].translate(_LETTERS)}"
        self.sentinels[word.encode()] = where
        return word

    def guard_tokens(self) -> str:
        """Count the tokens of the home as sentinels, once an owner has made them. Returns the agents' token."""
        for name in ("token", "human-token", "hook-token"):
            token = (self.home / name).read_text(encoding="ascii").strip()
            for part in (token[:_CUT], token[-_CUT:]):
                self.sentinels[part.encode()] = f"the file {name}"
        return (self.home / "token").read_text(encoding="ascii").strip()

    def leaked(self, data: bytes) -> list[str]:
        """Where the sentinels in an answer lie."""
        return sorted({where for word, where in self.sentinels.items() if word in data})

    # -- places ------------------------------------------------------------------------------------------------------

    def _fake_user(self) -> None:
        secret = self.sentinel
        files = {
            ".ssh/id_ed25519": f"the harbour key of the user is {secret('~/.ssh/id_ed25519')}\n",
            ".ssh/config": f"Host harbour\n  User {secret('~/.ssh/config')}\n",
            ".bashrc": f"# harbour {secret('~/.bashrc')}\n",
            ".netrc": f"machine harbour login {secret('~/.netrc')}\n",
            f".config/{secret('the name of a file in ~/.config')}.toml": "harbour = 1\n",
            "notes/diary.md": f"# Harbour\n\nThe harbour word of the diary is {secret('~/notes/diary.md')}.\n",
            "notes/data.jsonl": json.dumps({"role": "user", "content": f"harbour {secret('~/notes/data.jsonl')}"}) + "\n",
        }
        for name, text in files.items():
            path = self.user / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def _repository_a(self) -> str:
        root = self.world.repository(
            "user/work/a",
            src__app_py='def start():\n    """Start it."""\n    return helper()\n\n\ndef helper():\n    return 1\n',
            README_md="# A\n\nA small program.\n",
        )
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        links = {
            "link-b": self.place / "user/work/b\u00e9ta",
            "link-home": self.user,
            "link-key": self.user / ".ssh/id_ed25519",
            "link-new": self.user / ".bash_profile",
            "link-store": self.home,
            "link-up": Path(".."),
            "link-root": Path("/"),
            "src/link-b.py": self.place / "user/work/b\u00e9ta/src/harbour.py",
        }
        for name, target in links.items():
            os.symlink(target, os.path.join(root, name))
        agent, person = self.world.at(root, "claude:maker"), self.world.human(root)
        assert person.call("init", path=root)["ok"]
        self._fill(agent, person, "a", root, secret=False)
        return root

    def _victim(self, name: str) -> Victim:
        """A repository with a brain that has something in every store."""
        short = Path(name).name
        word = self.sentinel(f"source code of {short}")
        root = self.world.repository(
            name,
            src__harbour_py=f'def harbour():\n    """The harbour word is {word}."""\n    return "{word}"\n',
            README_md=f"# Harbour\n\nThe harbour word is {self.sentinel(f'README of {short}')}.\n",
        )
        Path(root, f"{self.sentinel(f'the name of a file in {short}')}.md").write_text("# Harbour\n", encoding="utf-8")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        agent, person = self.world.at(root, "claude:bee", session=self.sentinel(f"session of {short}")), self.world.human(root)
        assert person.call("init", path=root)["ok"]
        victim = Victim(root=root, label="Harbour rule", slug="harbour-rule")
        victim.ids = self._fill(agent, person, short, root, secret=True)
        log = self.user / ".claude/projects" / root.replace("/", "-") / "5b1c9f2e-0002.jsonl"
        claude_log(log, root, "5b1c9f2e-0002", ("user", f"the harbour word is {self.sentinel(f'a host log of {short}')}"))
        victim.ids["transcript"] = str(log)
        victim.ids["fingerprint"] = fingerprint(root)
        victim.ids["brain"] = json.loads(Path(root, ".hindbrain/brain.json").read_text(encoding="utf-8"))["id"]
        return victim

    def _fill(self, agent: Actor, person: Actor, name: str, root: str, *, secret: bool) -> dict[str, str]:
        """Something in every store of a brain; the ids of it by argument name."""
        ids: dict[str, str] = {}

        def text(where: str) -> str:
            return f"the harbour word is {self.sentinel(f'{where} of {name}')}" if secret else f"A knows this about its {where}"

        def take(operation: str, who: Actor = agent, /, **given: Any) -> dict[str, Any]:
            answer = who.call(operation, **given)
            assert answer["ok"], (operation, answer)
            return answer

        take("memorize", node_label="Harbour rule", text=text("claim"), evidence=["README.md"])
        take("memorize", node_label=text("claim label"), text="A rule with a name of its own.")
        for one in ("seen", "checked"):
            kept = take("record", text=f"{one}: {text('evidence')}", source=text("evidence source"), thread="t")
            ids[f"evidence_{one}"] = kept["evidence_id"]
        card = take(
            "knowledge.distill",
            statement=f"Always know it: {text('card')}",
            content=f"Because {text('card content')} and it holds wherever somebody looks for it.",
            tier="qi",
            supporting_refs=[ids["evidence_seen"]],
        )
        ids["card_id"] = card["card_id"]
        promoted = {"status": "promoted", "verification_refs": [ids["evidence_checked"]], "reason": "seen twice"}
        take("knowledge.promote", card_id=ids["card_id"], **promoted)
        ids["mission_id"] = take("mission.start", task=text("mission"), mode="review")["mission_id"]
        take("mission.event", event_type="hypothesis", target=text("mission event"), payload={"why": text("mission payload")})
        take("boot_memory", action="set", key="harbour", value=text("boot memory"))
        ids["letter"] = take("report", **{"class": "bug"}, what=text("letter"))["id"]
        for who in ("one", "two"):
            take("cowork.register", agent_id=f"{name[0]}-{who}", tool="claude")
        ids["message_id"] = take("cowork.send", **{"from": f"{name[0]}-one"}, to=f"{name[0]}-two", message=text("message"))[
            "message_id"
        ]
        take("cowork.reserve", agent_id=f"{name[0]}-one", paths=["src"], minutes=480, reason=text("reservation"))
        take("partner.push", content=text("partner letter"), target_tool="codex")
        packet = take("delegate", task=text("delegation"), scope={"paths": ["src"]})
        ids["delegation_id"] = packet["delegation_id"]
        told = take("experience.remember", person, text=text("experience"), level="K", space="tool:shell", entity="path:src")
        ids["megram"] = told["megram_id"]
        take("mission.handoff", summary=text("hand-over"), leave=False)
        if not secret:
            self.own = {key.split("_")[0] if key.startswith("evidence") else key: [value] for key, value in ids.items()}
        return ids

    def _plain(self) -> str:
        root = self.world.repository("user/work/plain", README_md=f"The harbour word is {self.sentinel('README of plain')}.\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        return root

    def _backup(self) -> None:
        """An archive as `export` writes it, in the user's home, with a claim of B."""
        archive = self.user / "backup/harbour.tar.gz"
        archive.parent.mkdir()
        claim = f"The harbour word is {self.sentinel('an archive in the home')}."
        light = (
            f"---\nProtocol: L1GHT/1.0\nNode: Harbour\n---\n\n# Harbour\n\n## Harbour\n\n{claim}\n\n[\u2342 entity: Harbour]\n"
        )
        with tarfile.open(archive, "w:gz") as tar:
            member = tarfile.TarInfo("agent-memory/harbour.light.md")
            member.size = len(data := light.encode())
            tar.addfile(member, BytesIO(data))

    # -- what is outside of A ----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Take what is there now as what must stay."""
        self._before = self.inventory()

    def changes(self) -> list[Change]:
        """What is not as it was, outside of what A may change."""
        now, found = self.inventory(), []
        for path in sorted(now.keys() | self._before.keys()):
            before, after = self._before.get(path), now.get(path)
            if before != after:
                what = "created" if before is None else "removed" if after is None else "changed"
                found.append(Change(path=path, what=what, tables=_changed_tables(before, after)))
        return found

    def take_back(self, changes: list[Change]) -> None:
        """Restore plain files and remove what was created; no owner runs. Changed rows stay and count as given from now on."""
        for one in reversed(changes):
            path = Path(one.path)
            if one.what == "created" and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif one.what == "created":
                path.unlink(missing_ok=True)
            elif one.path in self._contents:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self._contents[one.path])
            elif one.what == "removed" and not path.suffix:
                path.mkdir(parents=True, exist_ok=True)
        self.settle()

    def inventory(self) -> dict[str, tuple[Any, ...]]:
        """Every file outside of A, its brain and the shared files of the home: type, mode and content."""
        found: dict[str, tuple[Any, ...]] = {}
        free = self._free()
        places = [str(self.place)]
        while places:
            place = places.pop()
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.path in free:
                        continue
                    facts = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(facts.st_mode):
                        places.append(entry.path)
                        found[entry.path] = (facts.st_mode,)
                    elif stat.S_ISLNK(facts.st_mode):
                        found[entry.path] = (facts.st_mode, os.readlink(entry.path))
                    elif not entry.name.endswith(_DATABASES):
                        found[entry.path] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ino)
                    elif entry.name.endswith(".db") and entry.name != "files.db":  # that one caches what files look like
                        found[entry.path] = (facts.st_mode, self._rows(entry.path, facts))
        return found

    def _free(self) -> set[str]:
        """What A may change: its repository, its brains (those of directories in A), and what all callers share."""
        own = (self.a, self.stray)
        free = {*own, *(str(self.home / name) for name in (*_SHARED, *_SHARED_TREES))}
        for manifest in (self.home / "brains").glob("*/project_brain.json"):
            root = json.loads(manifest.read_text(encoding="utf-8")).get("project_root")
            analysis = isinstance(root, str) and root.startswith("analysis:") and root != self.b.ids["analysis"]
            if analysis or (isinstance(root, str) and any(root == place or root.startswith(place + "/") for place in own)):
                free |= {str(manifest.parent), str(self.home / "runtime" / manifest.parent.name)}
        prints, pairs = [fingerprint(place) for place in own], self.home / "cowork-inbox"
        free |= {str(self.home / "runtime" / name) for name in prints}
        boxes = [f"{host}/{name}.jsonl" for name in prints for host in ("claude", "codex")]
        free |= {str(pairs / name) for name in (*_PAIR_FILES, *boxes)}
        return free

    _known_rows: dict[str, tuple[tuple[Any, ...], tuple[tuple[str, int, str, str], ...]]] = {}

    def _rows(self, path: str, facts: os.stat_result) -> tuple[tuple[str, int, str, str], ...]:
        """Name, number of rows, digest and last row of each table of a database. To open one changes its files, and no row."""
        log = Path(f"{path}-wal")
        size = log.stat().st_size if log.exists() else 0
        state = (facts.st_ino, facts.st_size, facts.st_mtime_ns, size, log.stat().st_mtime_ns if size else 0)
        known = self._known_rows.get(path)
        if known is None or known[0] != state:
            tables = []
            reading = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            try:
                listed = reading.execute("SELECT name, sql FROM sqlite_master WHERE type='table' ORDER BY 1").fetchall()
                virtual = tuple(name for name, sql in listed if sql.upper().startswith("CREATE VIRTUAL"))
                for table, _ in listed:
                    if table.startswith(("sqlite_", *virtual)):
                        continue  # the words of a full-text index follow from the rows
                    rows = list(map(repr, reading.execute(f'SELECT * FROM "{table}"')))
                    digest = hashlib.sha256("\n".join(sorted(rows)).encode("utf-8", "replace")).hexdigest()
                    tables.append((table, len(rows), digest, rows[-1][:300] if rows else ""))
            finally:
                reading.close()
            known = self._known_rows[path] = (state, tuple(tables))
        return known[1]

    def at_rest(self) -> list[str]:
        """Sentinels in files that A or everybody may read: the repository and brain of A, the medulla, exports, logs."""
        found = []
        for free in sorted(self._free()):
            place = Path(free)
            for path in [place] if place.is_file() else [one for one in place.rglob("*") if not one.is_symlink()]:
                # The spool of letters and the intents of the pair hold texts of everybody by design; only a person reads them.
                if path.is_file() and not path.name.startswith(("field-reports", "intents")):
                    found += [f"{path} holds the sentinel of {where}" for where in self.leaked(path.read_bytes())]
        return found


_LETTERS = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")
