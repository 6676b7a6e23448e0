"""Stack traces: the frames in a text as Python, JavaScript, Go, Rust and Java print them, the innermost first. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Frame", "frames", "located", "third_party"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of a trace: where, and in which function. `depth` 0 is where it happened."""

    path: str
    line: int
    function: str
    depth: int
    language: str


_PYTHON = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.+))?')
_JAVA = re.compile(r"^\s*at (?P<name>[\w$.<>/]+)\((?P<path>[\w$-]+\.(?:java|kt|scala|groovy)):(?P<line>\d+)\)")
_NODE = re.compile(r"^\s*at (?:async )?(?:(?P<name>[^\s(][^(]*?) \()?(?:file://)?(?P<path>[^()\s]+?):(?P<line>\d+):\d+\)?\s*$")
_BROWSER = re.compile(r"^\s*(?P<name>[\w$.<>/]*)@(?P<path>\S+?):(?P<line>\d+):\d+\s*$")
_RUST_NAME = re.compile(r"^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<name>[\w:<>{}# ,&$\[\].]+?)\s*$")
_RUST_AT = re.compile(r"^\s+at (?P<path>\S+?\.rs):(?P<line>\d+)(?::\d+)?\s*$")
_RUST_PANIC = re.compile(r"panicked at (?:'.*', )?(?P<path>\S+?\.rs):(?P<line>\d+)")
_GO_NAME = re.compile(r"^(?:created by )?(?P<name>[\w./*()\-]+?\.[\w.*()\-]+?)(?:\(.*\))?(?: in goroutine \d+)?$")
_GO_AT = re.compile(r"^\s+(?P<path>\S+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?\s*$")
_FOREIGN = ("site-packages/", "dist-packages/", "node_modules/", "/lib/python", "node:", "/.cargo/registry/", "/rustc/")
_GO_ROOTS = ("/usr/local/go/", "/pkg/mod/", "/usr/lib/go")


def frames(text: str) -> list[Frame]:
    """Every frame of a trace, the innermost first; of chained Python errors the last one printed comes first."""
    python: list[list[tuple[str, int, str]]] = []
    others: list[tuple[str, int, str, str]] = []
    name, gap = "", True
    for line in text.splitlines():
        if found := _PYTHON.match(line):
            if gap:
                python.append([])
            gap = False
            python[-1].append((found["path"], int(found["line"]), (found["name"] or "").strip()))
            continue
        gap = gap or "Traceback (most recent call last)" in line
        if found := _JAVA.match(line):
            others.append(
                (_java_path(found["name"], found["path"]), int(found["line"]), found["name"].rsplit(".", 1)[-1], "java")
            )
        elif found := (_RUST_AT.match(line) or _RUST_PANIC.search(line)):
            others.append((found["path"], int(found["line"]), name.rsplit("::", 1)[-1], "rust"))
        elif found := _GO_AT.match(line):
            others.append((found["path"], int(found["line"]), _go_name(name), "go"))
        elif found := (_NODE.match(line) or _BROWSER.match(line)):
            others.append((found["path"], int(found["line"]), _js_name(found["name"] or ""), "javascript"))
        elif found := (_RUST_NAME.match(line) or _GO_NAME.match(line)):
            name = found["name"]
    inner = [(*frame, "python") for block in reversed(python) for frame in reversed(block)]
    unique = dict.fromkeys([*inner, *others])
    return [
        Frame(path=path.replace("\\", "/"), line=line, function=function, depth=depth, language=language)
        for depth, (path, line, function, language) in enumerate(unique)
    ]


def _java_path(name: str, file: str) -> str:
    package = name.rsplit("/", 1)[-1].rsplit(".", 2)[0]  # what stands before a slash is the module
    return f"{package.replace('.', '/')}/{file}" if package else file


def _go_name(name: str) -> str:
    return name.rsplit(".", 1)[-1].strip("()*")


def _js_name(name: str) -> str:
    return name.removeprefix("new ").split(" [as ", 1)[0].rsplit(".", 1)[-1].strip()


def third_party(frame: Frame) -> bool:
    """True for code that is plainly not of the project."""
    path = frame.path
    return path.startswith("<") or any(mark in path for mark in (*_FOREIGN, *(_GO_ROOTS if frame.language == "go" else ())))


def located(frame: Frame, by_name: Mapping[str, Iterable[str]]) -> str | None:
    """The file of a project that a frame speaks of: the one that shares most of its path from the end, if only one does."""
    wanted = frame.path.split("/")
    best: list[str] = []
    most = 0
    for path in by_name.get(wanted[-1], ()):
        own = path.split("/")
        shared = 0
        while shared < min(len(own), len(wanted)) and own[-1 - shared] == wanted[-1 - shared]:
            shared += 1
        if shared > most:
            best, most = [path], shared
        elif shared == most:
            best.append(path)
    return best[0] if len(best) == 1 else None
