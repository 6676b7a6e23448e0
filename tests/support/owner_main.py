"""The owner process of a test: the real one, with a few operations more that no product needs."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import HindbrainError
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.surfaces.hall import visits
from hindbrain.surfaces.owner import serve


@operation("test.wait", effect=Effect.READ, progress=True)
def wait(call: Call, steps: int = 1, step_s: float = 0.05) -> dict[str, Any]:
    """Take a while, and tell how far it is."""
    for step in range(steps):
        call.progress(step, steps, f"step {step}")
        time.sleep(step_s)
    return {"steps": steps}


@operation("test.defect", effect=Effect.READ)
def defect(call: Call, text: str) -> dict[str, Any]:
    """Fail in a way nobody foresaw, with the caller's text in the message."""
    raise ZeroDivisionError(text)


class _Clock:
    """The clock of visits to the Hall, which a test moves."""

    later_s = 0.0

    def time_ns(self) -> int:
        return time.time_ns() + int(self.later_s * 1e9)

    def monotonic(self) -> float:
        return time.monotonic() + self.later_s


_CLOCK = _Clock()


@operation("test.later", effect=Effect.READ)
def later(call: Call, hours: float) -> dict[str, Any]:
    """Let visits be so much older."""
    _CLOCK.later_s += hours * 3600
    return {"hours": hours}


_TOUCHED: list[str] = []


def _note(event: str, details: tuple[object, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "apsw.open") and isinstance(
        details[0], str | bytes
    ):
        _TOUCHED.append(details[0] if isinstance(details[0], str) else details[0].decode(errors="replace"))


@operation("test.touched", effect=Effect.READ)
def touched(call: Call, under: str) -> dict[str, Any]:
    """Which paths under a directory this process ever opened, listed or made, as the interpreter's audit says."""
    return {"paths": sorted({path for path in _TOUCHED if path.startswith(under)})}


def main() -> int:
    sys.addaudithook(_note)
    arguments = json.loads(sys.argv[1])
    home = Path(arguments.pop("home"))
    visits.time = _CLOCK  # type: ignore[attr-defined]
    for name in ("tls_cert", "tls_key"):
        if arguments.get(name):
            arguments[name] = Path(arguments[name])
    try:
        return serve(home, **arguments)
    except HindbrainError as refused:
        print(json.dumps(refused.answer()), file=sys.stderr)
        return refused.exit_code


if __name__ == "__main__":
    sys.exit(main())
