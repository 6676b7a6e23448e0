"""A local command as a model: the prompt goes in, the answer comes out. It runs in an empty directory, and ends together with all
that it started."""

import os
import selectors
import signal
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from hindbrain.launcher import PIPE, Child, TimeoutExpired, find_program, start
from hindbrain.providers.port import LIMITS, Limits, ProviderFailed, Reply, estimated

__all__ = ["Command"]

_POLL_S = 0.05
_DRAIN_S = 0.5  # for what is still in the pipe when the command has ended
_SAID_SHOWN = 200


class Command:
    """One command, given as its words: no shell reads them."""

    name = "command"

    def __init__(
        self, *, words: Sequence[str], environ: Mapping[str, str], tier: int, model: str = "", limits: Limits = LIMITS
    ) -> None:
        self.tier = tier
        self.model = model or os.path.basename(words[0])
        self._words = tuple(words)
        self._environ = dict(environ)
        self._limits = limits

    def complete(
        self,
        role: str,
        system: str,
        user: str,
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        temperature: float = 0.0,
        timeout_s: float,
    ) -> Reply:
        began = time.monotonic()
        prompt = f"{system}\n\n{user}\n".encode("utf-8", "replace")
        with tempfile.TemporaryDirectory(prefix="hindbrain-model-") as empty:
            out = self._run(prompt, empty, began + min(timeout_s, self._limits.total_s))
        try:
            text = out.decode("utf-8")
        except UnicodeDecodeError:
            raise ProviderFailed("broken", "the answer of the command is not UTF-8") from None
        if not text.strip():
            raise ProviderFailed("empty", "the command answered nothing")
        return Reply(
            text=text,
            usage=estimated(system, user, text),
            elapsed_ms=round((time.monotonic() - began) * 1000),
            provider=self.name,
            model=self.model,
            tier=self.tier,
        )

    def reachable(self) -> str | None:
        return None if self._program() else f"there is no command {self._words[0]!r}"

    def _program(self) -> str | None:
        """Return the absolute path of the command. A relative path would mean another program in each directory."""
        named = self._words[0]
        return find_program(named, self._environ.get("PATH", "")) if "/" not in named or os.path.isabs(named) else None

    def _run(self, prompt: bytes, directory: str, deadline: float) -> bytes:
        program = self._program()
        if program is None:
            raise ProviderFailed("unreachable", f"the command cannot be started: there is no program {self._words[0]!r}")
        try:
            child = start([program, *self._words[1:]], cwd=directory, env=self._environ, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        except (OSError, ValueError) as missing:
            raise ProviderFailed("unreachable", f"the command cannot be started: {missing}") from None
        fed, out_pipe, err_pipe = _pipes(child)
        threading.Thread(target=_feed, args=(fed, prompt), daemon=True).start()
        try:
            out, said = self._read(child, out_pipe, err_pipe, deadline)
            code = child.wait(max(deadline - time.monotonic(), _DRAIN_S))
        except TimeoutExpired:
            raise ProviderFailed("timeout", "the command did not end within its time") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            out_pipe.close()
            err_pipe.close()
        if code:
            last = said.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
            raise ProviderFailed("refused", f"the command ended with {code}: {last[0][:_SAID_SHOWN]}")
        return out

    def _read(self, child: Child[bytes], out: IO[bytes], err: IO[bytes], deadline: float) -> tuple[bytes, bytes]:
        ended_at: float | None = None
        got: dict[int, bytearray] = {out.fileno(): bytearray(), err.fileno(): bytearray()}
        with selectors.DefaultSelector() as selector:
            for pipe in (out, err):
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                if time.monotonic() >= deadline:
                    raise ProviderFailed("timeout", "the command did not end within its time")
                ready = selector.select(_POLL_S)
                if not ready and ended_at is not None and time.monotonic() >= ended_at + _DRAIN_S:
                    break  # something that it left behind holds the pipe
                for key, _ in ready:
                    chunk = os.read(key.fd, 65_536)
                    if not chunk:
                        selector.unregister(key.fileobj)
                    got[key.fd] += chunk
                    if len(got[key.fd]) > self._limits.max_bytes:
                        raise ProviderFailed("too_large", f"the command wrote more than {self._limits.max_bytes} bytes")
                if ended_at is None and child.poll() is not None:
                    ended_at = time.monotonic()
        return bytes(got[out.fileno()]), bytes(got[err.fileno()])


def _pipes(child: Child[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    if child.stdin is None or child.stdout is None or child.stderr is None:
        raise ProviderFailed("unreachable", "the command has no pipes")
    return child.stdin, child.stdout, child.stderr


def _feed(pipe: IO[bytes], prompt: bytes) -> None:
    """Give the prompt beside the reading, so that neither side waits for the other."""
    with suppress(BrokenPipeError, OSError), pipe:
        pipe.write(prompt)
