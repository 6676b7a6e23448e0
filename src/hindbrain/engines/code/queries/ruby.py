"""Ruby: its query and how its requires read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["RUBY"]

_QUERY = """
(class name: [(constant) (scope_resolution)] @name) @class
(module name: [(constant) (scope_resolution)] @name) @mod
(method name: (_) @name) @fn
(singleton_method name: (_) @name) @fn
(program (assignment left: (constant) @const))
(superclass [(constant) (scope_resolution)] @ref.inherits)
(call receiver: [(constant) (scope_resolution)] @ref.call method: (identifier) @_new (#eq? @_new "new"))
(call method: [(identifier) (constant)] @ref.member (#not-eq? @ref.member "new"))
(call method: (identifier) @_mixin arguments: (argument_list [(constant) (scope_resolution)] @ref.implements)
  (#any-of? @_mixin "include" "extend" "prepend"))
(call method: (identifier) @_require arguments: (argument_list . (string))
  (#any-of? @_require "require" "require_relative" "load" "autoload")) @import
"""
_STRING = re.compile(r"""['"]([^'"\n]+)['"]""")
_IGNORED = """
new require require_relative load include extend prepend puts print p raise attr_reader attr_writer attr_accessor private
protected public module_function lambda proc loop format sprintf private_constant freeze nil? is_a? respond_to? to_s to_i
to_sym each map
"""


def _imports(text: str) -> Imports:
    found = _STRING.search(text)
    if found is None:
        return []
    near = text.startswith("require_relative") and not found[1].startswith(".")
    return [("", f"./{found[1]}" if near else found[1])]


RUBY = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()))
