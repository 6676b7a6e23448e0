"""A probe: a program by itself that runs documented examples or a reproduction inside of a repository and prints what came of
it. Started by path, it imports nothing of ours."""

import ast
import contextlib
import doctest
import inspect
import io
import json
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

__all__ = ["main"]

_LOADED, _FAILED, _BROKEN = 0, 1, 3  # exit codes of a reproduction: passes, fails, cannot be run


def main(words: list[str]) -> int:
    """`examples DOC…` or `reproduce FILE`, in the repository's directory."""
    sys.dont_write_bytecode = True
    root = os.path.realpath(os.getcwd())
    sys.path[:0] = [os.path.join(root, "src"), root]
    if words[0] == "examples":
        found = [one for path in words[1:] for one in _examples(root, path)]
        print(json.dumps(found))
        return 1 if found else 0
    return _reproduce(words[1])


def _examples(root: str, path: str) -> Iterator[dict[str, Any]]:
    """Every example of a document that does not give what the document says."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    names: dict[str, Any] = {}
    checker = doctest.OutputChecker()
    before: list[str] = []
    for one in doctest.DocTestParser().get_examples(text):
        said, problem = _run(one.source, names)
        right = problem == one.exc_msg if one.exc_msg is not None else not problem and checker.check_output(one.want, said, 0)
        if not right:
            yield {
                "document": path,
                "line": one.lineno + 1,
                "source": one.source.strip(),
                "want": one.want.strip(),
                "got": (said or problem).strip()[:300],
                "exception": one.exc_msg,
                "before": list(before),
                **_place(one.source, names, root),
            }
        before.append(one.source)


def _run(source: str, names: dict[str, Any]) -> tuple[str, str]:
    """(what it printed, its error)."""
    out = io.StringIO()
    try:
        code = compile(source, "<example>", "single", dont_inherit=True)
        with contextlib.redirect_stdout(out):
            exec(code, names)  # noqa: S102 - running the example is the probe
    except Exception as error:  # noqa: BLE001 - whatever an example raises is its result
        return "", "".join(traceback.format_exception_only(type(error), error))
    return out.getvalue(), ""


def _place(source: str, names: dict[str, Any], root: str) -> dict[str, Any]:
    """Where the first called thing of this repository stands."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            continue
        called = _named(node.func, names)
        if called is None:
            continue
        found: Any = inspect.unwrap(getattr(called, "__func__", called))
        try:
            path = os.path.relpath(inspect.getsourcefile(found) or os.sep, root)
            line = 0 if path.startswith("..") else inspect.getsourcelines(found)[1]
        except (TypeError, OSError):
            continue  # a thing of Python itself
        if line:
            return {"path": path, "def_line": line, "symbol": found.__qualname__}
    return {"path": "", "def_line": 0, "symbol": ""}


def _named(node: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_named(node.value, names), node.attr, None)
    return None


def _reproduce(path: str) -> int:
    """0 when every test function of the file passes, 1 when one fails, 3 when the file is no test at all."""
    names: dict[str, Any] = {"__name__": "reproduction", "__file__": path}
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec", dont_inherit=True), names)  # noqa: S102 - running it is the probe
    except Exception:  # noqa: BLE001 - a file that cannot be loaded shows nothing
        traceback.print_exc(limit=3)
        return _BROKEN
    tests = [value for name, value in names.items() if name.startswith("test_") and callable(value)]
    if not tests:
        print("there is no function named test_…")
        return _BROKEN
    touched = _Touched(os.getcwd())
    for test in tests:
        sys.setprofile(touched)
        threading.setprofile(touched)
        try:
            test()
        except Exception:  # noqa: BLE001 - any error of a test is a failure of it
            sys.setprofile(None)
            traceback.print_exc(limit=4)
            if touched.seen:
                return _FAILED
            print("the test calls nothing of the repository")
            return _BROKEN
        finally:
            sys.setprofile(None)
    return _LOADED


class _Touched:
    """Whether anything of the repository was called."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root) + os.sep
        self.seen = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        self.seen = self.seen or (event == "call" and frame.f_code.co_filename.startswith(self._root))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a thread that never ends must not keep the probe
