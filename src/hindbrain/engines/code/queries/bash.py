"""Shell scripts: their query and how they source each other."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["BASH"]

_QUERY = """
(function_definition name: (word) @name) @fn
(program (variable_assignment name: (variable_name) @const))
(program (declaration_command (variable_assignment name: (variable_name) @const)))
(command name: (command_name (word) @ref.call))
(command name: (command_name (word) @_source) argument: (_) (#any-of? @_source "source" ".")) @import
"""
_SOURCE = re.compile(r"""^(?:source|\.)\s+["']?(?:\$\{?\w+\}?/|\$\([^)]*\)/)?([\w./-]+)["']?""")
_IGNORED = """
echo cd ls rm cp mv cat grep sed awk printf exit return export local set unset shift test read eval exec trap source mkdir
chmod find sort head tail cut tr wc xargs kill sleep true false git make python python3 pip node npm docker curl tar basename
dirname pwd date command type declare typeset readonly if then else fi for while do done case esac break continue wait touch
ln env sudo tee
"""


def _imports(text: str) -> Imports:
    found = _SOURCE.match(text)
    return [("", found[1])] if found else []


BASH = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()))
