"""Rust: its query and how its use declarations read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["RUST"]

_QUERY = """
(function_item name: (identifier) @name) @fn
(function_signature_item name: (identifier) @name) @fn
(macro_definition name: (identifier) @name) @fn
(struct_item name: (type_identifier) @name) @struct
(union_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(trait_item name: (type_identifier) @name) @trait
(source_file (type_item name: (type_identifier) @name) @type)
(mod_item name: (identifier) @name body: (_)) @mod
(mod_item name: (identifier) @ref.module !body)
(source_file (const_item name: (identifier) @const))
(source_file (static_item name: (identifier) @const))
(impl_item type: [(type_identifier) @owner (generic_type type: (type_identifier) @owner)
  (scoped_type_identifier name: (type_identifier) @owner)]) @scope
(impl_item trait: [(type_identifier) (scoped_type_identifier)] @ref.implements)
(impl_item trait: (generic_type type: [(type_identifier) (scoped_type_identifier)] @ref.implements))
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @ref.inherits))
(call_expression function: [(identifier) (field_expression) (scoped_identifier)] @ref.call)
(call_expression function: (generic_function function: [(identifier) (scoped_identifier) (field_expression)] @ref.call))
(macro_invocation macro: [(identifier) (scoped_identifier)] @ref.call)
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @ref.call)
(parameter type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(reference_type type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(field_declaration type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(function_item return_type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(type_arguments [(type_identifier) (scoped_type_identifier)] @ref.type)
(generic_type type: [(type_identifier) (scoped_type_identifier)] @ref.type)
(use_declaration) @import
(extern_crate_declaration) @import
"""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEAD = re.compile(r"^(?:pub(?:\([^)]*\))?\s+)?(?:use|extern\s+crate)\s+")
_IGNORED = """
Some None Ok Err Box Vec String str bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Option Result Self
println print eprintln eprint format vec panic assert assert_eq assert_ne debug_assert write writeln matches todo
unimplemented unreachable dbg include_str include_bytes env concat stringify cfg Clone Copy Debug Default Drop Eq PartialEq
Ord PartialOrd Hash Send Sync Sized From Into Iterator Fn FnMut FnOnce Rc Arc HashMap HashSet
"""
_DEPTH = 16  # braces in braces that are followed; nobody writes more


def _imports(text: str) -> Imports:
    text = _COMMENT.sub(" ", text)
    public = text.startswith("pub")
    body = "".join(_HEAD.sub("", text.strip()).rstrip(";").replace(" as ", "\x00").split())
    found = _tree(body, "", 0)
    return [(f"export {local}" if public and local != "*" else local, target) for local, target in found] + (
        found if public else []
    )


def _tree(text: str, before: str, depth: int) -> Imports:
    """`a::{b, c::D}` as pairs."""
    brace = text.find("{")
    if brace >= 0 and text.endswith("}") and depth < _DEPTH:
        prefix = before + text[:brace]
        return [pair for part in _parts(text[brace + 1 : -1]) for pair in _tree(part, prefix, depth + 1)]
    path, _, alias = (before + text).partition("\x00")
    module, _, name = path.rpartition("::")
    if name == "*":
        return [("*", f"{module}#*")]
    if name == "self":
        return [(alias or module.rsplit("::", 1)[-1], module)]
    return [(alias or name, f"{module}#{name}")] if module else [(alias or name, name)] if name else []


def _parts(text: str) -> list[str]:
    """The text cut at commas that are in no braces."""
    found, depth, last = [], 0, 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            found.append(text[last:at])
            last = at + 1
    return [part for part in [*found, text[last:]] if part]


RUST = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()), constants=False)
