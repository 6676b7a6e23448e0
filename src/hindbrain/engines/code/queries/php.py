"""PHP: its query and how its use declarations and includes read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["PHP"]

_QUERY = """
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @trait
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(function_definition name: (name) @name) @fn
(method_declaration name: (name) @name) @fn
(program (const_declaration (const_element (name) @const)))
(base_clause [(name) (qualified_name)] @ref.inherits)
(class_interface_clause [(name) (qualified_name)] @ref.implements)
(class_declaration body: (declaration_list (use_declaration [(name) (qualified_name)] @ref.implements)))
(function_call_expression function: [(name) (qualified_name)] @ref.call)
(object_creation_expression [(name) (qualified_name)] @ref.call)
(member_call_expression name: (name) @ref.member)
(nullsafe_member_call_expression name: (name) @ref.member)
(scoped_call_expression name: (name) @ref.member)
(attribute [(name) (qualified_name)] @ref.annotation)
(named_type [(name) (qualified_name)] @ref.type)
(namespace_use_declaration) @import
(require_once_expression) @import
(require_expression) @import
(include_once_expression) @import
(include_expression) @import
"""
_STRING = re.compile(r"""['"]([^'"\n]+\.php)['"]""")
_USE = re.compile(r"^use\s+(?:function\s+|const\s+)?(.*?);?$", re.DOTALL)
_GROUP = re.compile(r"^(.*?)\{(.*)\}$", re.DOTALL)
_AS = re.compile(r"\s+as\s+")
_IGNORED = """
array count isset empty strlen sprintf printf implode explode in_array is_array is_string is_null array_map array_filter
array_merge array_keys array_values array_key_exists str_replace substr strpos trim json_encode json_decode self static parent
Exception define defined function_exists class_exists
"""


def _imports(text: str) -> Imports:
    if found := _STRING.search(text):
        return [("", found[1].lstrip("/"))]
    use = _USE.match(text.strip())
    if use is None:
        return []
    group = _GROUP.match(use[1].strip())
    prefix, names = (group[1], group[2]) if group else ("", use[1])
    pairs = [_AS.split(one.strip().removeprefix("function ")) for one in names.split(",") if one.strip()]
    full = [(pair[-1], (prefix + pair[0]).lstrip("\\")) for pair in pairs]
    return [(local.rsplit("\\", 1)[-1], f"{name}#{name.rsplit(chr(92), 1)[-1]}") for local, name in full]


PHP = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()))
