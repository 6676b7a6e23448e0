"""C and C++: their queries and how their includes read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["CPP", "C"]

_COMMON = """
(preproc_include) @import
(preproc_def name: (identifier) @const value: (_))
(preproc_function_def name: (identifier) @name) @fn
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @fn
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @fn
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))) @fn
(function_definition declarator: (parenthesized_declarator (function_declarator declarator: (identifier) @name))) @fn
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @struct
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition type: (struct_specifier body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier body: (_)) declarator: (type_identifier) @name) @enum
(type_definition type: (struct_specifier !body) declarator: (type_identifier) @name) @type
(type_definition type: [(type_identifier) (primitive_type) (sized_type_specifier)] declarator: (type_identifier) @name) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (type_identifier) @name)))) @type
(call_expression function: [(identifier) (field_expression)] @ref.call)
(parameter_declaration type: (type_identifier) @ref.type)
(parameter_declaration type: (struct_specifier name: (type_identifier) @ref.type !body))
(field_declaration type: (type_identifier) @ref.type)
(field_declaration type: (struct_specifier name: (type_identifier) @ref.type !body))
(declaration type: (type_identifier) @ref.type)
(declaration type: (struct_specifier name: (type_identifier) @ref.type !body))
(function_definition type: (type_identifier) @ref.type)
"""
_CPP = (
    _COMMON
    + """
(class_specifier name: (type_identifier) @name body: (_)) @class
(namespace_definition name: [(namespace_identifier) (nested_namespace_specifier)] @name) @mod
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
(function_definition declarator: (function_declarator
  declarator: [(field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)) @fn
(function_definition declarator: (reference_declarator (function_declarator
  declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @fn
(function_definition declarator: (pointer_declarator declarator: (function_declarator
  declarator: [(field_identifier) (qualified_identifier) (operator_name)] @name))) @fn
(base_class_clause [(type_identifier) (qualified_identifier)] @ref.inherits)
(base_class_clause (template_type name: (type_identifier) @ref.inherits))
(call_expression function: (qualified_identifier) @ref.call)
(call_expression function: (template_function name: (identifier) @ref.call))
(new_expression type: [(type_identifier) (qualified_identifier)] @ref.call)
(parameter_declaration type: (qualified_identifier) @ref.type)
(field_declaration type: (qualified_identifier) @ref.type)
(template_argument_list (type_descriptor type: [(type_identifier) (qualified_identifier)] @ref.type))
"""
)
_INCLUDE = re.compile(r'#\s*include\s*[<"]([^>"\n]+)[>"]')
_IGNORED = """
printf fprintf sprintf snprintf malloc calloc realloc free memcpy memset memmove memcmp strlen strcmp strncmp strcpy strncpy
strcat strdup exit abort assert sizeof size_t ssize_t uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t bool
FILE va_list static_cast dynamic_cast reinterpret_cast const_cast move forward make_unique make_shared string vector
"""


def _imports(text: str) -> Imports:
    found = _INCLUDE.match(text)
    return [("", found[1])] if found else []


_WORDS = frozenset(_IGNORED.split())
C = Grammar(query=_COMMON, imports=_imports, ignored=_WORDS)
CPP = Grammar(query=_CPP, imports=_imports, ignored=_WORDS)
