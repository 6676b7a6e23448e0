"""The owner process of a test: the real one, with two operations more that no product needs."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import HindbrainError
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
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


def main() -> int:
    arguments = json.loads(sys.argv[1])
    home = Path(arguments.pop("home"))
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
