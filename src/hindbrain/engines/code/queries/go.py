"""Go: its query and how its imports read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["GO"]

_QUERY = """
(function_declaration name: (identifier) @name) @fn
(method_declaration receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (pointer_type (type_identifier) @owner)
    (generic_type type: (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))
  ])) name: (field_identifier) @name) @fn
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @trait
(type_spec name: (type_identifier) @name
  type: [(type_identifier) (qualified_type) (map_type) (slice_type) (array_type) (function_type) (pointer_type)]) @type
(type_alias name: (type_identifier) @name) @type
(source_file (const_declaration (const_spec name: (identifier) @const)))
(struct_type (field_declaration_list (field_declaration !name type: [(type_identifier) (qualified_type)] @ref.inherits)))
(interface_type (type_elem [(type_identifier) (qualified_type)] @ref.inherits))
(call_expression function: [(identifier) (selector_expression)] @ref.call)
(composite_literal type: [(type_identifier) (qualified_type)] @ref.call)
(parameter_declaration type: [(type_identifier) (qualified_type)] @ref.type)
(parameter_declaration type: (pointer_type [(type_identifier) (qualified_type)] @ref.type))
(field_declaration name: (_) type: [(type_identifier) (qualified_type)] @ref.type)
(field_declaration name: (_) type: (pointer_type [(type_identifier) (qualified_type)] @ref.type))
(function_declaration result: [(type_identifier) (qualified_type)] @ref.type)
(method_declaration result: [(type_identifier) (qualified_type)] @ref.type)
(slice_type element: [(type_identifier) (qualified_type)] @ref.type)
(import_spec) @import
"""
_SPEC = re.compile(r'^(?:([\w.]+)\s+)?["`](.+)["`]$')
_IGNORED = """
append cap clear close complex copy delete imag len make max min new panic print println real recover string int int8 int16
int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune bool error any float32 float64 comparable nil
"""


def _imports(text: str) -> Imports:
    found = _SPEC.match(text.strip())
    if found is None:
        return []
    local = found[1] or re.sub(r"^go-|-go$|\.v\d+$", "", _last(found[2]))
    return [("*" if local == "." else local, found[2])] if local != "_" else [("_", found[2])]


def _last(module: str) -> str:
    """The name a package is used by: its last part that is no version."""
    parts = module.split("/")
    return parts[-2] if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]) else parts[-1]


GO = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()), constants=False)
