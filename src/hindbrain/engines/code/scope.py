"""Scope: what a name means from inside one file. The nearest definition the language lets it see; no guess between two.

Own file, then what is imported, then the directory where the language shares it, then the one definition of that name in the
tree.
"""

from hindbrain.engines.code.modules import family
from hindbrain.engines.code.table import FileTable, Table, kind_of, parent_of, path_of
from hindbrain.policy.graph import COMMON_NAMES

__all__ = ["AMBIGUOUS", "SELF", "Scope"]

AMBIGUOUS = "?"  # more than one definition could be meant
SELF = frozenset({"self", "cls", "this", "super", "Self", "static", "parent", "base"})

_PACKAGE = frozenset({"go", "java", "c", "csharp", "ruby", "php", "bash"})  # a name needs no import
_IMPLICIT_SELF = frozenset({"java", "c", "csharp", "ruby"})  # a method is called by its bare name
_OPEN = frozenset({"file", "fn", "mod"})  # what lies in them is seen by its bare name
_MOST_FOLLOWED = 500  # files a name is followed through that is passed on
_MOST_BASES = 60  # types above a type
_DEPTH = 2


class Scope:
    """What can be seen from one file."""

    def __init__(self, table: Table, here: FileTable) -> None:
        self.table = table
        self.here = here
        self._family = family(here.language)
        self._root = f"file::{here.path}"
        self._directory = here.path.rpartition("/")[0]

    def module(self, module: str) -> tuple[str, ...]:
        """The files of a module."""
        return self.table.modules.find(self.here.path, self.here.language, module)

    def imported(self, target: str) -> str:
        """The node an import means: a file, or a symbol of it, followed through files that pass it on."""
        first, beyond = self._aims(target)
        return first if isinstance(first, str) else self._follow(first) or beyond

    def _aims(self, target: str) -> tuple[str | list[tuple[str, str]], str]:
        """The file an import takes whole, or the files in which its name is looked for; and what it means if none has it."""
        module, _, member = target.partition("#")
        paths = self.module(module)
        if not member or member == "*":
            return (f"file::{paths[0]}" if paths else ""), ""
        beyond = ""
        if self._family == "python":
            below = self.module(f"{module}{'' if module.endswith('.') else '.'}{member}")
            beyond = f"file::{below[0]}" if below else ""
        elif paths and member == "default":
            beyond = f"file::{paths[0]}"
        return [(path, member) for path in paths], beyond

    def _follow(self, wanted: list[tuple[str, str]]) -> str:
        """The definition behind (path, name) pairs, through files that only pass a name on; each pair is looked at once."""
        seen = dict.fromkeys(wanted)
        beyond = ""
        queue = list(seen)
        for path, name in queue:  # grows while it is walked
            if path not in self.table.paths or len(seen) > _MOST_FOLLOWED:
                continue
            there = self.table.file(path)
            if ids := there.names.get(name):
                outer = f"file::{path}"
                return next((one for one in ids if parent_of(one) == outer), ids[0])
            target = there.exports.get(name) or there.locals.get(name)
            if target is None and not there.stars:
                continue
            other = Scope(self.table, there)
            if target is None:
                further = [(one, name) for module in there.stars for one in other.module(module)]
            else:
                first, last = other._aims(target)
                if isinstance(first, str):
                    return first
                further, beyond = first, beyond or last
            for pair in further:
                if pair not in seen:
                    seen[pair] = None
                    queue.append(pair)
        return beyond

    def _exported(self, path: str, name: str) -> str:
        key = (path, name)
        if key not in self.table.exported:
            self.table.exported[key] = self._follow([key])
        return self.table.exported[key]

    def find(self, source: str, name: str, qualifier: str) -> str:
        """The node a name means at a place."""
        if qualifier:
            return self._qualified(name, qualifier)
        return self._in_file(source, name) or self._from_outside(name)

    def own(self, source: str, name: str) -> str:
        """A member of the type around a place, or of what that type inherits."""
        around = source
        while around.count("::") > 1:
            if kind_of(around) != "fn":
                key = (around, name)
                if key not in self.table.members:
                    self.table.members[key] = self._member(around, name)
                if found := self.table.members[key]:
                    return found
                break
            around = parent_of(around)
        return self._of_anything(name)

    def _in_file(self, source: str, name: str) -> str:
        """The innermost definition around the place of use."""
        best, depth = "", -1
        for node_id in self.here.names.get(name, ()):
            around = parent_of(node_id)
            if kind_of(around) not in _OPEN and self._family not in _IMPLICIT_SELF:
                continue  # a member is not seen by its bare name
            if (source == around or source.startswith(around + "::")) and len(around) > depth:
                best, depth = node_id, len(around)
        return best

    def _from_outside(self, name: str) -> str:
        target = self.here.locals.get(name)
        if target is not None:
            return self.imported(target)
        for module in self.here.stars:
            for path in self.module(module):
                if found := self._exported(path, name):
                    return found
        return self._by_nearness(name) if self._family in _PACKAGE else ""

    def _by_nearness(self, name: str) -> str:
        """Of all definitions of a name the one in this directory, else the only one. A single letter is a type parameter."""
        if len(name) < 2:
            return ""
        found = self.table.named(name, self._family)
        if len(found) < 2:
            return found[0] if found else ""
        near = [one for one in found if path_of(one).rpartition("/")[0] == self._directory]
        if len(near) > 1:
            near = [one for one in near if path_of(one) == self.here.path] or near
        return near[0] if len(near) == 1 else AMBIGUOUS

    def _member(self, type_id: str, name: str) -> str:
        """A member of a type or of one it inherits from; each type is looked at once."""
        queue = [type_id]
        for one in queue:  # grows while it is walked
            path = path_of(one)
            if path not in self.table.paths or len(queue) > _MOST_BASES:
                continue
            there = self.table.file(path)
            for node_id in there.names.get(name, ()):
                if parent_of(node_id) == one:
                    return node_id
            queue += [above for above in self._bases(there, one) if above not in queue]
        return ""

    def _bases(self, there: FileTable, type_id: str) -> list[str]:
        # A base may itself be a member of a type, whose bases are members of types: two such steps are code, more are a trap.
        if type_id not in there.bases or self.table.depth >= _DEPTH:
            return []
        scope = self if there is self.here else Scope(self.table, there)
        self.table.depth += 1
        found = [scope.find(type_id, base, qualifier) for base, qualifier in there.bases[type_id]]
        self.table.depth -= 1
        return [one for one in found if one and one is not AMBIGUOUS and one.count("::") > 1]

    def _qualified(self, name: str, qualifier: str) -> str:
        if (whole := f"{qualifier}.{name}") in self.here.locals:  # `import a.b` makes `a.b` a name
            return self.imported(self.here.locals[whole])
        holder = self._holder(qualifier)
        if holder is None:  # a module that is not in this tree
            return ""
        if holder and holder is not AMBIGUOUS:
            return self._inside(holder, name)
        return self._of_anything(name)

    def _holder(self, qualifier: str) -> str | None:
        """What stands before the dot; empty when it is a value of unknown type, None when it comes from outside the tree."""
        here = self.here
        first, _, rest = qualifier.partition(".")
        if qualifier in here.locals:
            return self.imported(here.locals[qualifier]) or None
        if qualifier in here.modules:
            paths = self.module(qualifier)
            return f"file::{paths[0]}" if paths else None
        if first in here.locals:
            return self._along(self.imported(here.locals[first]), rest)
        if self._family in ("rust", "php") and (paths := self.module(self._spelled(qualifier))):
            return f"file::{paths[0]}"
        last = qualifier.rsplit(".", 1)[-1]
        for node_id in here.names.get(last, ()):
            if kind_of(node_id) != "fn":
                return node_id
        return self._by_nearness(last) if self._family in _PACKAGE and last[:1].isupper() else ""

    def _spelled(self, qualifier: str) -> str:
        return qualifier.replace(".", "::" if self._family == "rust" else "\\")

    def _along(self, holder: str, rest: str) -> str | None:
        for part in rest.split("."):
            if not holder or holder is AMBIGUOUS:
                return holder or None
            holder = self._inside(holder, part)
        return holder

    def _inside(self, holder: str, name: str) -> str:
        if holder.count("::") > 1:
            return self._member(holder, name)
        path = path_of(holder)
        if self._family == "go":
            for beside in self.table.modules.directory(path.rpartition("/")[0]):
                if found := self._exported(beside, name):
                    return found
        if found := self._exported(path, name):
            return found
        if self._family == "python" and path in self.table.paths:
            below = Scope(self.table, self.table.file(path)).module(f".{name}")
            return f"file::{below[0]}" if below else ""
        return ""

    def _of_anything(self, name: str) -> str:
        """A member of a value of unknown type: only a name that one definition has, and that says enough to be one."""
        if name in COMMON_NAMES:
            return ""
        found = self.here.names.get(name) or self.table.named(name, self._family)
        if not found:
            return ""
        return found[0] if len(found) == 1 else AMBIGUOUS
