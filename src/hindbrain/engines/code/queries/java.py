"""Java: its query and how its imports read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["JAVA"]

_QUERY = """
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @trait
(annotation_type_declaration name: (identifier) @name) @trait
(enum_declaration name: (identifier) @name) @enum
(method_declaration name: (identifier) @name) @fn
(constructor_declaration name: (identifier) @name) @fn
(superclass [(type_identifier) (scoped_type_identifier)] @ref.inherits)
(superclass (generic_type [(type_identifier) (scoped_type_identifier)] @ref.inherits))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @ref.implements))
(super_interfaces (type_list (generic_type [(type_identifier) (scoped_type_identifier)] @ref.implements)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @ref.inherits))
(extends_interfaces (type_list (generic_type (type_identifier) @ref.inherits)))
(method_invocation name: (identifier) @ref.member)
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @ref.call)
(object_creation_expression type: (generic_type (type_identifier) @ref.call))
(method_reference (identifier) @ref.member .)
(marker_annotation name: [(identifier) (scoped_identifier)] @ref.annotation)
(annotation name: [(identifier) (scoped_identifier)] @ref.annotation)
(formal_parameter type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(field_declaration type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(method_declaration type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(local_variable_declaration type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(type_arguments [(type_identifier) (scoped_type_identifier)] @ref.type)
(generic_type (type_identifier) @ref.type)
(import_declaration) @import
"""
_IMPORT = re.compile(r"import\s+(static\s+)?([\w.]+?)(\.\*)?\s*;")
_IGNORED = """
String Integer Long Double Float Boolean Character Byte Short Object List Map Set Optional Collection Override Deprecated
SuppressWarnings FunctionalInterface SafeVarargs Iterable Exception RuntimeException IllegalArgumentException
IllegalStateException Class Void Number ArrayList HashMap HashSet StringBuilder System
"""


def _imports(text: str) -> Imports:
    found = _IMPORT.search(text)
    if found is None:
        return []
    static, name, star = found[1], found[2], found[3]
    if star:
        return [("*", name if static else f"{name}.*")]
    if static:
        module, _, member = name.rpartition(".")
        return [(member, f"{module}#{member}")]
    last = name.rpartition(".")[2]
    return [(last, f"{name}#{last}")]


JAVA = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()))
