"""JavaScript, TypeScript and TSX: one family, whose queries grow from each other."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["JAVASCRIPT", "TSX", "TYPESCRIPT"]

_COMMON = """
(function_declaration name: (identifier) @name) @fn
(generator_function_declaration name: (identifier) @name) @fn
(method_definition name: [(property_identifier) (private_property_identifier) (computed_property_name) (string)] @name) @fn
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @fn
(variable_declarator name: (identifier) @name value: (class)) @class
(assignment_expression left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @fn
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @fn
(program (lexical_declaration (variable_declarator name: (identifier) @const)))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @const))))
(call_expression function: [(identifier) (member_expression)] @ref.call)
(new_expression constructor: [(identifier) (member_expression)] @ref.call)
(decorator [(identifier) (member_expression)] @ref.decorator)
(decorator (call_expression function: [(identifier) (member_expression)] @ref.decorator))
(import_statement) @import
(export_statement source: (string)) @import
(variable_declarator value: (call_expression function: (identifier) @_require arguments: (arguments . (string)))
  (#eq? @_require "require")) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
"""

_JAVASCRIPT = (
    _COMMON
    + """
(class_declaration name: (identifier) @name) @class
(class_heritage [(identifier) (member_expression)] @ref.inherits)
(field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression)]) @fn
"""
)

_TYPESCRIPT = (
    _COMMON
    + """
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @trait
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
(internal_module name: [(identifier) (nested_identifier)] @name) @mod
(module name: [(identifier) (string)] @name) @mod
(function_signature name: (identifier) @name) @fn
(method_signature name: (property_identifier) @name) @fn
(abstract_method_signature name: (property_identifier) @name) @fn
(public_field_definition name: (property_identifier) @name value: [(arrow_function) (function_expression)]) @fn
(class_heritage (extends_clause value: [(identifier) (member_expression)] @ref.inherits))
(class_heritage (implements_clause [(type_identifier) (nested_type_identifier)] @ref.implements))
(class_heritage (implements_clause (generic_type name: (type_identifier) @ref.implements)))
(extends_type_clause [(type_identifier) (nested_type_identifier)] @ref.inherits)
(extends_type_clause (generic_type name: (type_identifier) @ref.inherits))
(type_annotation [(type_identifier) (nested_type_identifier)] @ref.type)
(type_annotation (generic_type name: (_) @ref.type))
(type_arguments [(type_identifier) (nested_type_identifier)] @ref.type)
(union_type (type_identifier) @ref.type)
(array_type (type_identifier) @ref.type)
(import_alias) @import
"""
)

_JSX = """
(jsx_opening_element name: [(identifier) (member_expression)] @ref.element)
(jsx_self_closing_element name: [(identifier) (member_expression)] @ref.element)
"""

_STRING = re.compile(r"""(['"`])((?:(?!\1).)+)\1""")
_CLAUSE = re.compile(r"^(?:import|export)\s+(?:type\s+|typeof\s+)?(.*?)\s*from\s*['\"]", re.DOTALL)
_BRACES = re.compile(r"\{(.*?)\}", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_AS = re.compile(r"\s+as\s+")
_REQUIRED = re.compile(r"^(\w+|\{.*?\})\s*=", re.DOTALL)
_ALIAS = re.compile(r"^import\s+(\w+)\s*=\s*([\w.]+)")
_IGNORED = """
require console Math Object Array String Number Boolean Promise Symbol Map Set WeakMap WeakSet Error TypeError RangeError Date
RegExp JSON parseInt parseFloat isNaN setTimeout clearTimeout setInterval clearInterval super Proxy Reflect BigInt Uint8Array
Record Partial Readonly Pick Omit Required Exclude Extract ReturnType Parameters NonNullable ReadonlyArray Iterable
"""


def _imports(text: str) -> Imports:
    if alias := _ALIAS.match(text):
        return [(alias[1], alias[2])]
    strings = list(_STRING.finditer(text))
    if not strings:
        return []
    module = strings[-1 if text.startswith(("import ", "import{", "import*", "export")) else 0][2]
    exported = text.startswith("export")
    if clause := _CLAUSE.match(text):
        return _named(_COMMENT.sub(" ", clause[1]), module, exported=exported)
    if required := _REQUIRED.match(text):
        names = required[1]
        if not names.startswith("{"):
            return [(names, f"{module}#*")]
        pairs = [[part.strip() for part in one.split(":")] for one in names[1:-1].split(",") if one.strip()]
        return [(pair[-1], f"{module}#{pair[0]}") for pair in pairs]
    return [("", module)]


def _named(clause: str, module: str, *, exported: bool) -> Imports:
    found: Imports = []
    if braces := _BRACES.search(clause):
        for one in braces[1].split(","):
            pair = _AS.split(one.strip().removeprefix("type "))
            if pair[0]:
                found.append((pair[-1], f"{module}#{pair[0]}"))
        clause = clause[: braces.start()] + clause[braces.end() :]
    for one in clause.split(","):
        name = one.strip()
        if name.startswith("*"):
            found.append((_AS.split(name)[-1].strip("* "), f"{module}#*"))
        elif name:
            found.append((name, f"{module}#default"))
    # A name that is passed on is no name of this file: the mark tells the two apart.
    return [(f"export {name}".strip(), target) for name, target in found] if exported else found


_WORDS = frozenset(_IGNORED.split())
JAVASCRIPT = Grammar(query=_JAVASCRIPT + _JSX, imports=_imports, ignored=_WORDS)
TYPESCRIPT = Grammar(query=_TYPESCRIPT, imports=_imports, ignored=_WORDS)
TSX = Grammar(query=_TYPESCRIPT + _JSX, imports=_imports, ignored=_WORDS)
