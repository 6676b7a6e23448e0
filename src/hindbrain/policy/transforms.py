"""Transforms: what a step may do to a text without a tool, and which arguments that takes. `engines.transforming` does it."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["TRANSFORMS", "Transform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """One thing that can be done to a text."""

    does: str
    needs: tuple[str, ...] = ()  # arguments that must be given
    may: tuple[str, ...] = ()  # arguments that can be given


TRANSFORMS: Mapping[str, Transform] = {
    "same": Transform(does="leaves the text as it is"),
    "upper": Transform(does="writes all letters large"),
    "lower": Transform(does="writes all letters small"),
    "sort_lines": Transform(does="puts the lines in order", may=("reverse", "numeric")),
    "dedupe_lines": Transform(does="keeps the first of equal lines"),
    "reverse_lines": Transform(does="puts the last line first"),
    "strip_blank_lines": Transform(does="drops the lines without a character to read"),
    "number_lines": Transform(does="puts its number before each line"),
    "replace": Transform(does="puts one text in the place of another", needs=("old", "new")),
    "csv_to_json": Transform(does="turns a table with a head line into a list of objects"),
    "json_to_csv": Transform(does="turns a list of objects into a table with a head line"),
    "count_lines": Transform(does="says how many lines there are"),
    "count_words": Transform(does="says how many words there are"),
    "count_characters": Transform(does="says how many characters there are"),
    "count_matches": Transform(does="says how often a text occurs", needs=("text",)),
    "count_matching_lines": Transform(does="says in how many lines a text occurs", needs=("text",)),
    "matching_lines": Transform(does="keeps the lines in which a text occurs", needs=("text",)),
    "first_line": Transform(does="keeps the first line that is not empty"),
    "closest_line": Transform(does="keeps the line whose name is most like another", needs=("name",)),
    "sha256": Transform(does="says the SHA-256 of the text"),
    "equals": Transform(does="says whether the text is another one", needs=("text",)),
    "contains": Transform(does="says whether a text occurs", needs=("text",)),
}
