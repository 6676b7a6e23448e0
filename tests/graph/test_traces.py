"""Stack traces as five languages print them, read into frames, the innermost first."""

import pytest

from hindbrain.engines.traces import Frame, frames, located, third_party

JAVASCRIPT = """TypeError: Cannot read properties of undefined (reading 'id')
    at Shop.total (/srv/app/src/cart.js:41:17)
    at async handle (file:///srv/app/src/server.mjs:12:3)
    at /srv/app/src/anonymous.js:3:9
    at Module._compile (node:internal/modules/cjs/loader:1105:14)
    at run (/srv/app/node_modules/express/lib/router.js:9:1)
"""
GO = """panic: runtime error: index out of range [5]

goroutine 1 [running]:
main.(*Queue).pop(0xc000010, 0x5)
\t/srv/app/queue/queue.go:27 +0x1d
main.main()
\t/srv/app/main.go:9 +0x85
runtime.main()
\t/usr/local/go/src/runtime/proc.go:250 +0x207
"""
RUST = """thread 'main' panicked at src/parse.rs:12:5:
called `Option::unwrap()` on a `None` value
stack backtrace:
   0: rust_begin_unwind
             at /rustc/abc/library/std/src/panicking.rs:593:5
   1: app::parse::token
             at ./src/parse.rs:12:5
   2: app::main
             at ./src/main.rs:4:5
"""
JAVA = """Exception in thread "main" java.lang.NullPointerException: x
\tat com.shop.cart.Cart.total(Cart.java:88)
\tat com.shop.Main.main(Main.java:12)
\tat java.base/java.lang.Thread.run(Thread.java:833)
"""
PYTHON = """Traceback (most recent call last):
  File "/srv/app/db.py", line 5, in connect
KeyError: 'dsn'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/main.py", line 20, in <module>
    start()
  File "/srv/app/main.py", line 11, in start
    raise Failed from None
Failed
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            PYTHON,
            [("/srv/app/main.py", 11, "start"), ("/srv/app/main.py", 20, "<module>"), ("/srv/app/db.py", 5, "connect")],
        ),
        (
            JAVASCRIPT,
            [
                ("/srv/app/src/cart.js", 41, "total"),
                ("/srv/app/src/server.mjs", 12, "handle"),
                ("/srv/app/src/anonymous.js", 3, ""),
                ("node:internal/modules/cjs/loader", 1105, "_compile"),
                ("/srv/app/node_modules/express/lib/router.js", 9, "run"),
            ],
        ),
        (
            GO,
            [
                ("/srv/app/queue/queue.go", 27, "pop"),
                ("/srv/app/main.go", 9, "main"),
                ("/usr/local/go/src/runtime/proc.go", 250, "main"),
            ],
        ),
        (
            RUST,
            [
                ("src/parse.rs", 12, ""),
                ("/rustc/abc/library/std/src/panicking.rs", 593, "rust_begin_unwind"),
                ("./src/parse.rs", 12, "token"),
                ("./src/main.rs", 4, "main"),
            ],
        ),
        (
            JAVA,
            [
                ("com/shop/cart/Cart.java", 88, "total"),
                ("com/shop/Main.java", 12, "main"),
                ("java/lang/Thread.java", 833, "run"),
            ],
        ),
        ("All is well.\nNothing at all here.", []),
    ],
    ids=["python", "javascript", "go", "rust", "java", "none"],
)
def test_gr_trace_frames_are_read_as_each_language_prints_them(text: str, expected: list[tuple[str, int, str]]) -> None:
    found = frames(text)

    assert [(frame.path, frame.line, frame.function) for frame in found] == expected
    assert [frame.depth for frame in found] == list(range(len(expected)))


def frame(path: str, language: str = "python") -> Frame:
    return Frame(path=path, line=1, function="f", depth=0, language=language)


@pytest.mark.parametrize(
    ("path", "language", "foreign"),
    [
        ("/v/lib/python3.11/site-packages/x.py", "python", True),
        ("/srv/app/node_modules/x/y.js", "javascript", True),
        ("node:internal/z", "javascript", True),
        ("/usr/local/go/src/runtime/proc.go", "go", True),
        ("<frozen importlib>", "python", True),
        ("/srv/app/src/x.py", "python", False),
    ],
)
def test_gr_trace_foreign_code_is_told_apart(path: str, language: str, foreign: bool) -> None:
    assert third_party(frame(path, language)) is foreign


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/srv/deploy/app/src/cart.py", "src/cart.py"),
        ("src/cart.py", "src/cart.py"),
        ("/other/tests/cart.py", "tests/cart.py"),
        ("/nowhere/cart.py", None),  # two files are equally like it
        ("/srv/none.py", None),
    ],
)
def test_gr_trace_a_frame_belongs_to_the_file_with_the_longest_common_end(path: str, found: str | None) -> None:
    known = {"cart.py": ["src/cart.py", "tests/cart.py"]}

    assert located(frame(path), known) == found
