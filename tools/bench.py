"""List the benchmarks, or run some: `make bench`, `make bench NAME=startup`, `make bench NAME=all`."""

import ast
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


def found() -> dict[str, Path]:
    """Every benchmark by name. A file that begins with an underscore is shared by several and is none itself."""
    return {path.stem: path for path in sorted(BENCHMARKS.glob("*.py")) if not path.stem.startswith("_")}


def told(path: Path) -> str:
    """What a benchmark says of itself in its first line."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n", 1)[0]


def main(words: list[str]) -> int:
    """Run what is named; without a name say what there is."""
    known = found()
    if not words:
        for name, path in known.items():
            print(f"  make bench NAME={name:<14} {told(path)}")
        return 0
    name, *arguments = words
    if name != "all" and name not in known:
        print(f"there is no benchmark {name!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    worst = 0
    for one in known if name == "all" else [name]:
        print(f"== {one}: {told(known[one])}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, str(known[one]), *arguments], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
