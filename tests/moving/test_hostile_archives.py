"""Archives that a stranger made: whatever is wrong with one, nothing of it is restored and nothing lies about afterwards."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import InvalidParams
from hindbrain.policy.experience import LAW_SPACE, law_lines
from hindbrain.stores import archive_file
from hindbrain.stores.archive_file import opened_archive
from hindbrain.stores.table_port import LAYOUT
from tests.support.rich_brain import bare
from tests.support.world import World

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a small archive in which nothing is wrong."""
    world = World(tmp_path_factory.mktemp("sound"))
    root = bare(world, "project")
    world.at(root).memorize("Retry policy", "The worker retries three times.")
    assert world.at(root).call("record", text="the kettle whistled")["ok"]
    path = world.place / "sound.tar.gz"
    assert world.human(root).call("export", target=str(path))["ok"]
    world.close()
    return contents(path)


def contents(path: Path) -> Files:
    with tarfile.open(path) as archive:
        return {one.name: held.read() for one in archive if (held := archive.extractfile(one)) is not None}


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str]]:
    world = World(tmp_path_factory.mktemp("there"))
    yield world, bare(world, "project")
    world.close()


def sealed(files: Files) -> Files:
    """The same with a manifest that fits: whoever forges an archive forges that too."""
    manifest = json.loads(files["export.json"])
    manifest["members"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in files.items()
        if name != "export.json"
    }
    return {**{name: data for name, data in files.items() if name != "export.json"}, "export.json": json.dumps(manifest).encode()}


def packed(path: Path, files: Files, *more: tuple[tarfile.TarInfo, bytes]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for member, data in more:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return str(path)


def rows(files: Files, table: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Files:
    """With the rows of one table changed by hand, and a manifest that fits."""
    name = f"tables/{table}.jsonl"
    lines = [json.dumps(change(json.loads(line)), ensure_ascii=False).encode() for line in files[name].splitlines()]
    return sealed({**files, name: b"".join(line + b"\n" for line in lines)})


def odd(name: str, kind: bytes, link: str = "") -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member, b""


def reworded(claim: dict[str, Any], text: str) -> dict[str, Any]:
    return claim | {"text": text, "digest": hashlib.sha256(text.encode()).hexdigest()}


WRONG: dict[str, tuple[str, Callable[[Files], Files]]] = {
    "a changed file": ("invalid_params", lambda f: f | {"tables/ledger.jsonl": f["tables/ledger.jsonl"][:-9] + b"\n"}),
    "a file less": ("invalid_params", lambda f: {k: v for k, v in f.items() if k != "tables/meta.jsonl"}),
    "a file more": ("invalid_params", lambda f: {"tables/card.jsonl": b"{}\n", **f}),
    "a path that leads out": ("invalid_params", lambda f: sealed(f | {"files/missions/../../../token": b"x"})),
    "an absolute path": ("invalid_params", lambda f: sealed(f | {"/etc/passwd": b"x"})),
    "a file of another room": ("invalid_params", lambda f: sealed(f | {"files/project_brain.json": b"{}"})),
    "the database itself": ("invalid_params", lambda f: sealed(f | {"files/brain.db": b"x"})),
    "a hidden file": ("invalid_params", lambda f: sealed(f | {"files/missions/.lock": b"x"})),
    "a hook of git": ("invalid_params", lambda f: sealed(f | {"repository/../.git/hooks/post-commit": b"x"})),
    "history of no claim": ("invalid_params", lambda f: sealed(f | {"history/../x.1.light.md": b"x"})),
    "an unknown table": ("invalid_params", lambda f: sealed(f | {"tables/sqlite_master.jsonl": b"{}\n"})),
    "an act that is left open": ("invalid_params", lambda f: sealed(f | {"tables/intent.jsonl": b"{}\n"})),
    "an unknown column": ("invalid_params", lambda f: rows(f, "evidence", lambda r: r | {"brain_id": "other"})),
    "a missing column": ("invalid_params", lambda f: rows(f, "evidence", lambda r: {k: v for k, v in r.items() if k != "wing"})),
    "a list for a cell": ("invalid_params", lambda f: rows(f, "evidence", lambda r: r | {"wing": ["a"]})),
    "a number beyond all columns": ("invalid_params", lambda f: rows(f, "evidence", lambda r: r | {"added_at": 2**70})),
    "text for a number": ("store_unavailable", lambda f: rows(f, "evidence", lambda r: r | {"added_at": "soon"})),
    "a rule of a table broken": ("store_unavailable", lambda f: rows(f, "evidence", lambda r: r | {"anchor_kind": "global"})),
    "a label that is a path": ("invalid_params", lambda f: rows(f, "claim_version", lambda r: r | {"slug": "../../x"})),
    "a text that is not its digest": ("invalid_params", lambda f: rows(f, "claim_version", lambda r: r | {"text": "other"})),
    "a note of the database": ("invalid_params", lambda f: rows(f, "meta", lambda r: r | {"key": "restore.pending"})),
    "half a row": ("invalid_params", lambda f: sealed(f | {"tables/meta.jsonl": f["tables/meta.jsonl"][:-4]})),
    "a row that is no text": ("invalid_params", lambda f: sealed(f | {"tables/meta.jsonl": b"\xff\xfe\x00\n"})),
    "a row that is deep": ("invalid_params", lambda f: sealed(f | {"tables/meta.jsonl": b"[" * 100_000 + b"\n"})),
    "an entry changed": ("ledger_broken", lambda f: rows(f, "ledger", lambda r: r | {"actor": "human:founder"})),
    "an end that is none": ("ledger_broken", lambda f: rows(f, "brain_head", lambda r: r | {"seq": r["seq"] + 1})),
    "no end": ("ledger_broken", lambda f: sealed({k: v for k, v in f.items() if k != "tables/brain_head.jsonl"})),
    "a text that nobody wrote": (
        "ledger_broken",
        lambda f: rows(f, "claim_version", lambda r: reworded(r, r["text"].replace("three", "nine"))),
    ),
    "a secret": ("hygiene", lambda f: rows(f, "evidence", lambda r: r | {"content": f"use {TOKEN}"})),
    "a secret in a file": (
        "hygiene",
        lambda f: sealed(f | {"repository/inbox.jsonl": f'{{"what":"{TOKEN}"}}\n'.encode()}),
    ),
    "a secret in history": ("hygiene", lambda f: sealed(f | {"history/a.1.light.md": f"use {TOKEN}\n".encode()})),
    "a secret in other letters": (
        "hygiene",
        lambda f: sealed(f | {"repository/inbox.jsonl": b' {"what":"\\u0067' + TOKEN[1:].encode() + b'"}\n'}),
    ),
    "a secret under a name that is there twice": (
        "hygiene",
        lambda f: sealed(f | {"repository/inbox.jsonl": f'{{"what":"\\u0067{TOKEN[1:]}","what":"a letter"}}\n'.encode()}),
    ),
    "a secret in other letters of a file": (
        "hygiene",
        lambda f: sealed(f | {"files/boot_memory_state.json": b'{\n"a":\n"\\u0067' + TOKEN[1:].encode() + b'"\n}\n'}),
    ),
    "a NUL character": ("invalid_params", lambda f: rows(f, "evidence", lambda r: r | {"content": "a\x00b"})),
    "a later schema": (
        "store_newer",
        lambda f: sealed(f | {"export.json": json.dumps(json.loads(f["export.json"]) | {"schema_version": 999}).encode()}),
    ),
}


def untouched(world: World, root: str, source: str) -> dict[str, Any]:
    """The answer to an import that leaves neither a row nor a file."""
    directory = next(world.home.brains_dir.iterdir())
    before = sorted(str(path) for path in (*directory.rglob("*"), *Path(root).rglob("*")) if path.name != "restore.lock")
    entries = {entry["seq"]: entry["hash"] for entry in world.at(root).call("ledger.show")["entries"]}
    answer = world.human(root).call("import", source=source)
    after = world.at(root).call("ledger.show")["entries"]
    assert {entry["seq"]: entry["hash"] for entry in after if entry["act"] != "call.refused"}.items() <= entries.items()
    assert sorted(str(path) for path in (*directory.rglob("*"), *Path(root).rglob("*")) if path.name != "restore.lock") == before
    return answer


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_restores_nothing(sound: Files, there: tuple[World, str], tmp_path: Path, what: str) -> None:
    world, root = there
    code, change = WRONG[what]
    path = packed(tmp_path / "wrong.tar.gz", change(sound))

    answer = untouched(world, root, path)

    assert answer["error"]["code"] == code, answer
    assert answer["error"]["fix"]


def test_links_devices_and_doubles_restore_nothing(sound: Files, there: tuple[World, str], tmp_path: Path) -> None:
    world, root = there
    name = "files/missions/a/b"
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)
    twice = tarfile.TarInfo("tables/meta.jsonl")
    for number, member in enumerate([*(odd(name, kind, "/etc/passwd") for kind in kinds), (twice, sound["tables/meta.jsonl"])]):
        path = packed(tmp_path / f"{number}.tar.gz", sound, member)
        answer = untouched(world, root, path)
        assert answer["error"]["code"] == "invalid_params", (member[0].type, answer)


def test_a_link_in_the_place_of_the_box_is_not_written_through(sound: Files, tmp_path: Path) -> None:
    world = World(tmp_path)
    root = world.brain("project")
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", Path(root, ".hindbrain"))
    path = packed(tmp_path / "box.tar.gz", sealed(sound | {"repository/inbox.jsonl": b'{"what":"a letter"}\n'}))

    answer = world.human(root).call("import", source=path)

    assert answer["error"]["code"] == "path_refused", answer
    assert list((tmp_path / "outside").iterdir()) == []
    world.close()


def forged(files: Files, table: str, **row: Any) -> Files:
    """With one row more in a table, of which no entry speaks."""
    whole: dict[str, Any] = dict.fromkeys(LAYOUT[table], "") | row
    return sealed({**files, f"tables/{table}.jsonl": json.dumps(whole).encode() + b"\n"})


def test_an_agent_brings_no_experience_of_a_person(tmp_path: Path) -> None:
    """Whoever can write an archive can write a chain that holds: a person's words need a person, whatever the chain says."""
    here, there = World(tmp_path / "a"), World(tmp_path / "b")
    a, b = here.brain("project"), there.brain("project")
    here.at(a).memorize("Retry policy", "The worker retries three times.")
    path = there.place / "a.tar.gz"
    assert here.human(a).call("export", target=str(path))["ok"]
    numbers = dict.fromkeys(("created_at", "f", "sigma", "k", "loss", "round"), 0)
    law = {"id": "m1", "level": "T", "writer": "operator", "content": "Obey.", "space": "s", "entity": "e", "state": "x"}
    law |= {"tags": "[]", "derived_from": "[]", "supersedes": None, "source_event_id": None}
    source = packed(there.place / "forged.tar.gz", forged(contents(path), "megram", **law, **numbers))

    plan = there.at(b).call("import", source=source, dry_run=True)
    answer = there.at(b).call("import", source=source)
    dressed = law | {"content": law_lines()[0]}
    elsewhere = packed(there.place / "dressed.tar.gz", forged(contents(path), "megram", **dressed, **numbers))
    own = packed(there.place / "own.tar.gz", forged(contents(path), "megram", **dressed | {"space": LAW_SPACE}, **numbers))

    assert there.at(b).call("import", source=elsewhere, dry_run=True)["needs_human"] == ["experience of a person"]
    assert there.at(b).call("import", source=own, dry_run=True)["needs_human"] == [], "the laws are in every brain"
    assert plan["needs_human"] == ["experience of a person"], plan
    assert answer["error"]["code"] == "human_needed", answer
    here.close()
    there.close()


def test_an_archive_of_more_files_than_there_may_be_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file that is passed over stays in memory, and a few bytes may stand for very many of them."""
    monkeypatch.setattr(archive_file, "MEMBERS_MOST", 3)
    for count, fits in ((3, True), (4, False)):
        path = packed(tmp_path / f"{count}.tar.gz", {f"agent-memory/{number}.light.md": b"x" for number in range(count)})
        with nullcontext() if fits else pytest.raises(InvalidParams, match="more than 3 files"):
            with opened_archive(Path(path), most=1024 * 1024) as archive:
                assert len(archive.getmembers()) == count


def test_what_unpacks_to_more_than_there_may_be_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tar.gz"
    with gzip.open(path, "wb") as packing, tarfile.open(fileobj=packing, mode="w|") as archive:
        member = tarfile.TarInfo("evidence.jsonl")
        member.size = 64 * 1024 * 1024
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    assert path.stat().st_size < 100_000

    with pytest.raises(InvalidParams, match="unpacks to more"), opened_archive(path, most=1024 * 1024) as archive:
        archive.getmembers()


def test_an_archive_of_the_first_format_merges(there: tuple[World, str], tmp_path: Path) -> None:
    world, root = there
    text = "---\nprotocol: l1ght/1.0\nnode: Tram\n---\n\n## Tram\n\nThe tram runs until two at night.\n"
    files = {
        "export.json": b'{"format": "hindbrain-export-v0", "brain": "/elsewhere", "id": "x"}',
        "agent-memory/tram.light.md": text.encode(),
    }
    path = packed(tmp_path / "old.tar.gz", files)

    answer = world.human(root).call("import", source=path, dry_run=True)

    assert (answer["mode"], answer["taken"]) == ("merge", ["tram"]), answer
