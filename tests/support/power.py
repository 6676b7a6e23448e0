"""A power cut: writes claims, then rebuilds the home from what was synced and nothing else.

usage: python -m tests.support.power HOME ROOT TARGET SEED

Every SQLite file goes through a VFS that keeps, for each file, its content as of the last xSync. Plain files are followed
through fsync, rename and unlink: content counts once it was synced, a new name once its directory was. At a random moment the
durable picture is written to TARGET; what the writer had been told by then is printed.
"""

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import apsw

DURABLE: dict[str, bytes] = {}  # path -> content that a power cut leaves
SYNCED: dict[str, bytes] = {}  # path -> content synced under that name, the name itself not yet durable
PENDING: dict[str, list[tuple[str, str | None]]] = {}  # directory -> (name, content path or None when removed)


class ForgetfulFile(apsw.VFSFile):
    """A database file whose bytes last only from sync to sync."""

    def __init__(self, base: str, name: Any, flags: list[int]) -> None:
        super().__init__(base, name, flags)
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else name

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        size = self.xFileSize()
        DURABLE[self.path] = self.xRead(size, 0) if size else b""


class ForgetfulVFS(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("forgetful", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return ForgetfulFile("unix", name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        DURABLE.pop(filename, None)


def follow_files(home: str) -> None:
    """Watch what the operating system is asked to make durable. The calls themselves go through unchanged."""
    fsync, replace, unlink = os.fsync, os.replace, os.unlink

    def synced(handle: int) -> None:
        fsync(handle)
        path = os.readlink(f"/proc/self/fd/{handle}")
        if os.path.isdir(path):
            for name, content in PENDING.pop(path, []):
                if content is None:
                    DURABLE.pop(name, None)
                else:
                    DURABLE[name] = SYNCED.get(content, b"")
        else:
            SYNCED[path] = Path(path).read_bytes()

    def whole(path: Any, directory: int | None) -> str:
        return os.fspath(path) if directory is None else os.path.join(os.readlink(f"/proc/self/fd/{directory}"), path)

    def renamed(source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        replace(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        old, new = whole(source, src_dir_fd), whole(target, dst_dir_fd)
        SYNCED[new] = SYNCED.pop(old, b"")  # content that was never synced may come back empty
        PENDING.setdefault(os.path.dirname(new), []).append((new, new))

    def removed(path: Any, *, dir_fd: int | None = None) -> None:
        unlink(path, dir_fd=dir_fd)
        gone = whole(path, dir_fd)
        PENDING.setdefault(os.path.dirname(gone), []).append((gone, None))

    os.fsync, os.replace, os.unlink = synced, renamed, removed  # type: ignore[assignment]


def main(home: str, root: str, target: str, seed: str) -> int:
    for path in Path(home).rglob("*"):
        if path.is_file():
            DURABLE[str(path)] = path.read_bytes()
    vfs = ForgetfulVFS()
    follow_files(home)
    from hindbrain.app import embedded, local_caller
    from hindbrain.domain.caller import Channel
    from hindbrain.settings import Settings
    from hindbrain.stores.home import Home

    rng = random.Random(int(seed))
    caller = local_caller(root=root, agent="power:orchestrator", channel=Channel.AGENT, environ={})
    session = embedded(Home(Path(home)), Settings({}), caller)
    told = []
    for number in range(rng.randrange(3, 25)):
        label = f"Claim {number % 7}"
        text = f"the power was on for number {number}"
        answer = session.call("memorize", node_label=label, text=text)
        assert answer["ok"], answer
        told.append({"slug": answer["slug"], "text": text})
        if number % 5 == 0:
            assert session.call("promote", brain=root, claim=label, reason="seen twice")["ok"]
            told.append({"slug": answer["slug"], "text": text, "promoted": True})
    for path, content in DURABLE.items():
        if path.endswith("-shm"):
            continue
        place = Path(target, os.path.relpath(path, home))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    print(json.dumps(told), flush=True)
    del vfs
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
