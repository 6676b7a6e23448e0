"""Modules: which file an import means. Knows the paths of a tree and how each language spells them; reads none of the files."""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Collection

__all__ = ["Modules", "family"]

_FAMILIES = {
    "typescript": "javascript",
    "tsx": "javascript",
    "vue": "javascript",
    "svelte": "javascript",
    "cpp": "c",
    "objc": "c",
    "kotlin": "java",
    "scala": "java",
    "groovy": "java",
    "cython": "python",
}
_JS_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".json")
_JS_ALIASES = ("@/", "~/", "src/", "app/", "lib/")
_SOURCE_ROOTS = frozenset({"", "src", "lib", "python", "source"})
_JAVA_ENDINGS = (".java", ".kt", ".scala", ".groovy")
_INDEX_NAMES = frozenset({"__init__", "index", "mod", "lib"})
_GO_WORDS = """
archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar flag fmt go hash html
image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv strings structs sync
syscall testing text time unicode unique unsafe
"""
_GO_STANDARD = frozenset(_GO_WORDS.split())


def family(language: str) -> str:
    """Languages whose files import each other share a family."""
    return _FAMILIES.get(language, language)


class Modules:
    """The files of a tree, ready to be asked for by the names that imports use."""

    def __init__(self, paths: Collection[str], *, go_modules: dict[str, str] | None = None) -> None:
        self._paths = paths
        self._go_modules = go_modules or {}  # module path as declared -> directory of its go.mod
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        self._by_directory: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            directory, _, name = path.rpartition("/")
            stem = name.split(".", 1)[0]
            self._by_stem[stem].append(path)
            if stem in _INDEX_NAMES and directory:
                self._by_stem[directory.rsplit("/", 1)[-1]].append(path)
            self._by_directory[directory].append(path)
        self._answers: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._ways: dict[str, Callable[[str, str], tuple[str, ...]]] = {
            "python": self._python,
            "javascript": self._javascript,
            "go": self._go,
            "rust": self._rust,
            "java": self._java,
            "c": self._include,
            "php": self._php,
            "ruby": self._ruby,
            "bash": self._include,
        }

    def directory(self, path: str) -> list[str]:
        """The files that lie directly in a directory."""
        return self._by_directory.get(path, [])

    def called(self, name: str) -> list[str]:
        """The files with this name."""
        return [path for path in self._by_stem.get(name.split(".", 1)[0], ()) if path.rpartition("/")[2] == name]

    def standing_for(self, directory: str) -> list[str]:
        """The files that stand for a directory of this name: `__init__.py`, `index.ts`, `lib.rs`, ..."""
        found = self._by_stem.get(directory, ())
        return [path for path in found if path.split("/")[-1].split(".", 1)[0] in _INDEX_NAMES and f"{directory}/" in path]

    def find(self, importer: str, language: str, module: str) -> tuple[str, ...]:
        """The files a module is made of, as seen from the file that imports it; none when it is not in this tree."""
        way = self._ways.get(family(language))
        if way is None or not module:
            return ()
        key = (importer.rpartition("/")[0] if language != "rust" else importer, family(language), module)
        if key not in self._answers:
            self._answers[key] = way(importer, module)
        return self._answers[key]

    def _first(self, *candidates: str) -> tuple[str, ...]:
        return next(((path,) for path in candidates if path in self._paths), ())

    def _python(self, importer: str, module: str) -> tuple[str, ...]:
        here = importer.rpartition("/")[0]
        if module.startswith("."):
            rest = module.lstrip(".")
            base = here
            for _ in range(len(module) - len(rest) - 1):
                base = base.rpartition("/")[0]
            return self._python_at(_join(base, rest.replace(".", "/")))
        parts = module.split(".")
        tail = "/".join(parts)
        found = []
        for path in self._by_stem.get(parts[-1], ()):
            if not path.endswith((".py", ".pyi", ".pyx")):
                continue
            bare = path.rsplit(".", 1)[0].removesuffix("/__init__")
            if bare != tail and not bare.endswith("/" + tail):
                continue
            root = bare[: -len(tail)].rstrip("/")
            package = path.rpartition("/")[2].startswith("__init__.")
            # What lies in a package is not importable by a part of its name, and a lone module only from beside or below it.
            if _join(root, "__init__.py") in self._paths:
                continue
            if len(parts) == 1 and not package and root not in _SOURCE_ROOTS and not (here + "/").startswith(root + "/"):
                continue
            found.append(path)
        return _nearest(found, importer)

    def _python_at(self, base: str) -> tuple[str, ...]:
        return self._first(base + ".py", _join(base, "__init__.py"), base + ".pyi", _join(base, "__init__.pyi"), base + ".pyx")

    def _javascript(self, importer: str, module: str) -> tuple[str, ...]:
        if module.startswith("."):
            return self._javascript_at(_join(importer.rpartition("/")[0], module))
        for alias in _JS_ALIASES:
            if module.startswith(alias):
                tail = module.removeprefix(alias).rsplit(".js", 1)[0]
                stem = tail.rsplit("/", 1)[-1].split(".", 1)[0]
                found = [path for path in self._by_stem.get(stem, ()) if _bare_javascript(path).endswith("/" + tail)]
                return _nearest(found, importer)
        return ()

    def _javascript_at(self, base: str) -> tuple[str, ...]:
        if base in self._paths:
            return (base,)
        bare = base.rsplit(".", 1)[0] if base.endswith((".js", ".jsx", ".mjs", ".cjs")) else base
        candidates = [base + ending for ending in _JS_ENDINGS] + [_join(base, "index" + ending) for ending in _JS_ENDINGS]
        return self._first(*candidates, *(bare + ending for ending in _JS_ENDINGS if bare != base))

    def _go(self, importer: str, module: str) -> tuple[str, ...]:
        for name, root in self._go_modules.items():
            if module == name or module.startswith(name + "/"):
                return self._go_files(_join(root, module.removeprefix(name).lstrip("/")))
        if self._go_modules or module.split("/", 1)[0] in _GO_STANDARD:
            return ()
        parts = module.split("/")
        for at in range(1, len(parts)):
            if found := self._go_files("/".join(parts[at:])):
                return found
        return ()

    def _go_files(self, directory: str) -> tuple[str, ...]:
        return tuple(p for p in self.directory(directory) if p.endswith(".go") and not p.endswith("_test.go"))

    def _rust(self, importer: str, module: str) -> tuple[str, ...]:
        parts = module.split("::")
        directory, _, name = importer.rpartition("/")
        own = directory if name in ("mod.rs", "lib.rs", "main.rs") else _join(directory, name.removesuffix(".rs"))
        if parts[0] == "crate":
            base, parts = self._rust_root(directory), parts[1:]
        elif parts[0] in ("self", "super"):
            base = own
            while parts and parts[0] in ("self", "super"):
                base = base.rpartition("/")[0] if parts[0] == "super" else base
                parts = parts[1:]
        else:
            crate = self._crate(parts[0])
            base, parts = (crate, parts[1:]) if crate is not None else (own, parts)
        while parts:
            at = _join(base, "/".join(parts))
            if found := self._first(at + ".rs", _join(at, "mod.rs")):
                return found
            parts = parts[:-1]  # the last part may be a module inside the file, or a type
        if module.split("::", 1)[0] in ("crate", "self", "super") or self._crate(module.split("::", 1)[0]) is not None:
            return self._first(_join(base, "lib.rs"), _join(base, "main.rs"), _join(base, "mod.rs"), base + ".rs")
        return ()

    def _rust_root(self, directory: str) -> str:
        at = directory
        while True:
            if _join(at, "lib.rs") in self._paths or _join(at, "main.rs") in self._paths:
                return at
            if not at:
                return directory
            at = at.rpartition("/")[0]

    def _crate(self, name: str) -> str | None:
        for spelled in (name, name.replace("_", "-")):
            for path in self._by_stem.get("lib", ()):
                if path.endswith(f"{spelled}/src/lib.rs") and (path == f"{spelled}/src/lib.rs" or f"/{spelled}/src" in path):
                    return path.rpartition("/")[0]
        return None

    def _java(self, importer: str, module: str) -> tuple[str, ...]:
        parts = [part for part in module.split(".") if part != "*"]
        if module.endswith("*"):
            tail = "/".join(parts)
            return tuple(
                path
                for directory, paths in self._by_directory.items()
                if directory == tail or directory.endswith("/" + tail)
                for path in paths
                if path.endswith(_JAVA_ENDINGS)
            )
        while len(parts) > 1:
            if found := self._suffix("/".join(parts), _JAVA_ENDINGS, importer):
                return found
            parts = parts[:-1]  # a class inside a class, or a static member
        return ()

    def _include(self, importer: str, module: str) -> tuple[str, ...]:
        near = _join(importer.rpartition("/")[0], module)
        if near in self._paths:
            return (near,)
        name = module.rsplit("/", 1)[-1]
        tail = module.lstrip("./")
        found = [p for p in self._by_stem.get(name.split(".", 1)[0], ()) if p == tail or p.endswith("/" + tail)]
        return _nearest(found, importer)

    def _php(self, importer: str, module: str) -> tuple[str, ...]:
        if module.endswith(".php"):
            return self._include(importer, module.lstrip("/"))
        parts = module.strip("\\").split("\\")
        for at in range(max(1, len(parts) - 1)):  # a namespace begins with a name that is no directory
            if found := self._suffix("/".join(parts[at:]), (".php",), importer):
                return found
        return ()

    def _ruby(self, importer: str, module: str) -> tuple[str, ...]:
        if found := self._first(_join(importer.rpartition("/")[0], module) + ".rb"):
            return found
        return self._suffix(module.lstrip("./"), (".rb",), importer)

    def _suffix(self, tail: str, endings: tuple[str, ...], importer: str) -> tuple[str, ...]:
        found = []
        for path in self._by_stem.get(tail.rsplit("/", 1)[-1], ()):
            bare = path.rsplit(".", 1)[0]
            if path.endswith(endings) and (bare == tail or bare.endswith("/" + tail)):
                found.append(path)
        return _nearest(found, importer)


def _join(directory: str, name: str) -> str:
    joined = posixpath.normpath(posixpath.join(directory, name))
    return "" if joined == "." else joined


def _bare_javascript(path: str) -> str:
    ending = next((one for one in _JS_ENDINGS if path.endswith(one)), "")
    return path.removesuffix(ending).removesuffix("/index")


def _nearest(paths: list[str], importer: str) -> tuple[str, ...]:
    """Of several files that could be meant the one with the longest way in common, then the shortest path."""
    if len(paths) < 2:
        return tuple(paths)
    return (min(paths, key=lambda path: (-_common(path, importer), len(path), path)),)


def _common(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
