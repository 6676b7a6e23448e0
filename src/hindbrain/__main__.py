"""The program `hindbrain`: looks at the first word and loads only what that word needs."""

import os
import sys

__all__ = ["main"]


def main() -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:]
    helpful = "--help" in words or "-h" in words
    if words[:1] == ["mcp"] and not helpful:
        from hindbrain.surfaces.bridge import main as bridge

        return bridge(words[1:])
    if (words[:1] == ["hook"] or (words[:1] == ["north"] and "--hook" in words)) and not helpful:
        from hindbrain.surfaces.hook import main as hook

        return hook(words)
    from hindbrain.surfaces.cli import main as cli

    code = cli(words)
    if "hindbrain.app" not in sys.modules:
        # A thin call holds nothing that needs closing; taking the interpreter down in order costs a tenth of its time.
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
