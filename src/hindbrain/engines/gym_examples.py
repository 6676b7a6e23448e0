"""Documented examples: whether a document has some, and the small test that one of them makes when it does not hold. Pure."""

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["failures", "has_examples", "reproduction_of"]

_FAILURE = re.compile(r'File "[^"]*?(tests/[^"]+)", line (\d+), in (test_\w+)')

_TEST = '''"""Made from an example of {document}, line {line}."""

import contextlib
import doctest
import io
import traceback

BEFORE = {before!r}
SOURCE = {source!r}
WANT = {want!r}
EXCEPTION = {exception!r}


def run(source, names):
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(source, "<example>", "single", dont_inherit=True), names)
    except Exception as error:
        return "", "".join(traceback.format_exception_only(type(error), error))
    return said.getvalue(), ""


def test_documented_example():
    names = {{}}
    for source in BEFORE:
        run(source, names)
    said, problem = run(SOURCE, names)
    if EXCEPTION is not None:
        assert problem == EXCEPTION, (problem, EXCEPTION)
    else:
        assert not problem and doctest.OutputChecker().check_output(WANT, said, 0), (said, problem, WANT)
'''


def has_examples(path: str, text: str) -> bool:
    """Whether a document shows what calls give."""
    return path.endswith(".md") and any(line.startswith(">>> ") for line in text.splitlines())


def failures(output: str) -> tuple[tuple[str, str, str], ...]:
    """(file, line, test) of the tests that failed, as the runner printed them."""
    return tuple(dict.fromkeys(_FAILURE.findall(output)))


def reproduction_of(failed: Mapping[str, Any]) -> str:
    """A test that fails as long as the example does not give what its document says."""
    return _TEST.format(
        document=failed["document"],
        line=failed["line"],
        before=failed["before"],
        source=failed["source"] + "\n",
        want=failed["want"] + "\n" if failed["want"] else "",
        exception=failed["exception"],
    )
