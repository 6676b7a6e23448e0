"""Detectors: what every scripted agent sees in a text that it reads. Known shapes of defects, the same for all lanes. Pure."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["DETECTORS", "Suspicion", "suspicions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Something in a file that is wrong, or nearly always is."""

    path: str
    line: int
    symbol: str
    kind: str
    statement: str
    reproduction: str | None = None


_Found = Iterator[tuple[int, str]]  # line, statement


def suspicions(path: str, text: str) -> tuple[Suspicion, ...]:
    """What the detectors say of one Python file; nothing of a file that is none."""
    if not path.endswith(".py"):
        return ()
    try:
        tree = ast.parse(text)
    except SyntaxError as problem:
        return (Suspicion(path=path, line=problem.lineno or 1, symbol="", kind="syntax", statement="the file is no Python"),)
    names = _symbols(tree)
    found = []
    for kind, detect in DETECTORS.items():
        for line, statement in detect(tree):
            found.append(Suspicion(path=path, line=line, symbol=_symbol(names, line), kind=kind, statement=statement))
    return tuple(sorted(found, key=lambda one: (one.line, one.kind)))


def _mutable_default(tree: ast.Module) -> _Found:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for default in (*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)):
                if isinstance(default, ast.List | ast.Dict | ast.Set):
                    yield node.lineno, f"the default of {node.name} is one object for all calls"


def _swallowed(tree: ast.Module) -> _Found:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _broad(node.type) and all(_silent(one) for one in node.body):
            yield node.lineno, "every error is taken for nothing"


def _broad(kind: ast.expr | None) -> bool:
    return kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))


def _silent(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return not any(isinstance(one, ast.Name) and one.id == "error" for one in ast.walk(statement))
    return isinstance(statement, ast.Pass | ast.Continue)


def _identity(tree: ast.Module) -> _Found:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
            values = (node.left, *node.comparators)
            if any(
                isinstance(one, ast.Constant) and isinstance(one.value, str | int) and not isinstance(one.value, bool)
                for one in values
            ):
                yield node.lineno, "a value is compared by identity"


def _strip_prefix(tree: ast.Module) -> _Found:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("lstrip", "rstrip")
            and node.args
        ):
            word = node.args[0]
            if isinstance(word, ast.Constant) and isinstance(word.value, str) and sum(map(str.isalnum, word.value)) > 1:
                yield node.lineno, f"{node.func.attr} takes letters away, not a word"


def _unguarded(tree: ast.Module) -> _Found:
    """State that one method writes under the lock and another without it."""
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        writes: list[tuple[str, int, bool]] = []
        for method in (node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name != "__init__"):
            writes += _writes(method.body, held=False)
        locked = {name for name, _, held in writes if held}
        for name, line, held in writes:
            if not held and name in locked:
                yield line, f"self.{name} is written without the lock that guards it elsewhere"


def _writes(body: list[ast.stmt], *, held: bool) -> list[tuple[str, int, bool]]:
    found = []
    for statement in body:
        within = held or (
            isinstance(statement, ast.With) and any("lock" in ast.dump(item.context_expr).lower() for item in statement.items)
        )
        if isinstance(statement, ast.Assign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for one in (part for target in targets for part in ast.walk(target)):
                if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                    found.append((one.attr, statement.lineno, held))
        for name in ("body", "orelse", "finalbody"):
            found += _writes(getattr(statement, name, []), held=within)
    return found


def _wait_without_loop(tree: ast.Module) -> _Found:
    loops = {id(part) for node in ast.walk(tree) if isinstance(node, ast.While) for part in ast.walk(node)}
    conditions = {
        target.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "Condition" in ast.dump(node.value)
        for target in node.targets
        if isinstance(target, ast.Attribute)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "wait"
            and id(node) not in loops
        ):
            whom = node.func.value
            if isinstance(whom, ast.Attribute) and whom.attr in conditions:
                yield node.lineno, "a wake-up is believed without looking again"


def _not_released(tree: ast.Module) -> _Found:
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in ("body", "orelse")):
            if not isinstance(body, list):
                continue
            for at, statement in enumerate(body):
                call = statement.value if isinstance(statement, ast.Expr) else None
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "acquire":
                    after = body[at + 1] if at + 1 < len(body) else None
                    if not (isinstance(after, ast.Try) and after.finalbody):
                        yield statement.lineno, "what was acquired is not given back when something fails"


def _wall_clock(tree: ast.Module) -> _Found:
    lines = {
        part.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp | ast.Compare)
        for part in ast.walk(node)
        if isinstance(part, ast.Call) and ast.unparse(part.func) == "time.time"
    }
    if lines:
        yield min(lines), "a span of time is measured on a clock that can be set"


def _late_binding(tree: ast.Module) -> _Found:
    for loop in (node for node in ast.walk(tree) if isinstance(node, ast.For)):
        names = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        for statement in loop.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Lambda) and isinstance(statement, ast.Assign):
                    own = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
                    used = {one.id for one in ast.walk(node.body) if isinstance(one, ast.Name)}
                    if (names & used) - own:
                        yield node.lineno, "the function sees the last value of the loop"


def _mutated(tree: ast.Module) -> _Found:
    for loop in (node for node in ast.walk(tree) if isinstance(node, ast.For)):
        walked = ast.unparse(loop.iter).removesuffix(".items()").removesuffix(".keys()").removesuffix(".values()")
        for node in (part for statement in loop.body for part in ast.walk(statement)):
            gone = isinstance(node, ast.Delete) and any(
                isinstance(one, ast.Subscript) and ast.unparse(one.value) == walked for one in node.targets
            )
            taken = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("remove", "pop", "popitem", "clear")
                and ast.unparse(node.func.value) == walked
            )
            if gone or taken:
                yield loop.lineno, f"{walked} is changed while it is walked"


def _loses_last(tree: ast.Module) -> _Found:
    for node in ast.walk(tree):
        for loop in (*((node,) if isinstance(node, ast.For) else ()), *getattr(node, "generators", ())):
            source = ast.unparse(loop.iter)
            if source.startswith("range(len(") and source.endswith(") - 1)"):
                whole = ast.unparse(node)
                if f"{ast.unparse(loop.target)} + 1" not in whole:
                    yield loop.iter.lineno, "the last item is left out"


DETECTORS: dict[str, Callable[[ast.Module], _Found]] = {
    "mutable_default": _mutable_default,
    "swallowed_exception": _swallowed,
    "literal_identity": _identity,
    "strip_prefix": _strip_prefix,
    "unguarded_state": _unguarded,
    "wait_without_loop": _wait_without_loop,
    "lock_not_released": _not_released,
    "wall_clock_deadline": _wall_clock,
    "late_binding": _late_binding,
    "mutated_while_iterated": _mutated,
    "loses_last": _loses_last,
}


def _symbols(tree: ast.Module) -> list[tuple[int, int, str]]:
    found = []

    def walk(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{above}.{child.name}" if above else child.name
                found.append((child.lineno, child.end_lineno or child.lineno, name))
                walk(child, name)
            else:
                walk(child, above)

    walk(tree, "")
    return found


def _symbol(names: list[tuple[int, int, str]], line: int) -> str:
    """The innermost function or class around a line."""
    around = [(last - first, name) for first, last, name in names if first <= line <= last]
    return min(around)[1] if around else ""
