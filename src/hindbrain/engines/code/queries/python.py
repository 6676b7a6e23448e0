"""Python: its query and how its import statements read."""

import re

from hindbrain.engines.code.grammar import Grammar, Imports

__all__ = ["PYTHON"]

_QUERY = """
(function_definition name: (identifier) @name) @fn
(class_definition name: (identifier) @name) @class
(module (expression_statement (assignment left: (identifier) @const)))
(class_definition superclasses: (argument_list [(identifier) (attribute)] @ref.inherits))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @ref.inherits)))
(decorator [(identifier) (attribute)] @ref.decorator)
(decorator (call function: [(identifier) (attribute)] @ref.decorator))
(call function: [(identifier) (attribute)] @ref.call)
(type [(identifier) (attribute)] @ref.type)
(type (generic_type (identifier) @ref.type))
(type (subscript [(identifier) (attribute)] @ref.type))
(type (binary_operator [(identifier) (attribute)] @ref.type))
[(import_statement) (import_from_statement) (future_import_statement)] @import
(module . (comment)* . (expression_statement (string) @doc))
(function_definition body: (block . (expression_statement (string) @doc)))
(class_definition body: (block . (expression_statement (string) @doc)))
"""

_COMMENT = re.compile(r"#[^\n]*|\\\n")
_FROM = re.compile(r"from\s*(\.*\s*[\w.]*)\s+import\s+(.*)", re.DOTALL)
_AS = re.compile(r"\s+as\s+")
_IGNORED = """
None True False int str bool float bytes list dict set tuple object type print len isinstance issubclass super range getattr
setattr hasattr repr iter next zip map filter sorted enumerate any all min max sum abs id hash callable vars frozenset
bytearray memoryview reversed round divmod ord chr staticmethod classmethod property Exception ValueError TypeError KeyError
RuntimeError IndexError AttributeError OSError StopIteration AssertionError ImportError Any Optional Union List Dict Set Tuple
Callable Iterable Iterator Sequence Mapping complex
"""


def _imports(text: str) -> Imports:
    text = _COMMENT.sub(" ", text).strip()
    if found := _FROM.match(text):
        module = "".join(found[1].split())
        names = found[2].strip().strip("()").split(",")
        pairs = [_AS.split(name.strip()) for name in names if name.strip()]
        return [(pair[-1], f"{module}#{pair[0]}") for pair in pairs]
    pairs = [_AS.split(name.strip()) for name in text.removeprefix("import").split(",") if name.strip()]
    return [(pair[-1], pair[0]) for pair in pairs]


PYTHON = Grammar(query=_QUERY, imports=_imports, ignored=frozenset(_IGNORED.split()))
