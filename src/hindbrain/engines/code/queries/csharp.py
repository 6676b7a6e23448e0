"""C#: its query and how its using directives read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["CSHARP"]

_QUERY = """
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @struct
(interface_declaration name: (identifier) @name) @trait
(enum_declaration name: (identifier) @name) @enum
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @fn
(constructor_declaration name: (identifier) @name) @fn
(local_function_statement name: (identifier) @name) @fn
(property_declaration name: (identifier) @name accessors: (accessor_list (accessor_declaration body: (block)))) @fn
(base_list [(identifier) (qualified_name)] @ref.inherits)
(base_list (generic_name (identifier) @ref.inherits))
(base_list (primary_constructor_base_type [(identifier) (qualified_name)] @ref.inherits))
(invocation_expression function: [(identifier) (member_access_expression) (generic_name)] @ref.call)
(invocation_expression function: (conditional_access_expression (member_binding_expression name: (identifier) @ref.member)))
(object_creation_expression type: [(identifier) (qualified_name) (generic_name)] @ref.call)
(attribute name: [(identifier) (qualified_name)] @ref.annotation)
(parameter type: [(identifier) (qualified_name)] @ref.type)
(variable_declaration type: [(identifier) (qualified_name)] @ref.type)
(method_declaration returns: [(identifier) (qualified_name)] @ref.type)
(property_declaration type: [(identifier) (qualified_name)] @ref.type)
(type_argument_list [(identifier) (qualified_name)] @ref.type)
(using_directive) @import
"""
_USING = re.compile(r"(?:global\s+)?using\s+(?:static\s+)?(?:(\w+)\s*=\s*)?([\w.]+)")
_IGNORED = """
var string int bool object nameof typeof Console Task List Dictionary IEnumerable String Int32 Exception ArgumentException
ArgumentNullException InvalidOperationException Func Action Guid DateTime Nullable Obsolete
"""


def _imports(text: str) -> Imports:
    found = _USING.match(text)
    return [(found[1] or "", found[2])] if found else []


CSHARP = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()))
