"""Documents: headings become sections, and what a text names in code style or links to is looked for in the code.

Markdown, reStructuredText, HTML and plain text, line by line; knows neither ids nor other files.
"""

import re
from collections.abc import Callable, Iterator

from hindbrain.engines.code.sweep import Found, Symbol

__all__ = ["PROSE", "headings", "named_in", "plain_html", "read_prose"]

Heading = tuple[int, int, str]  # line from 0, level from 1, title

_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t](.*)$")
_HTML_HEADING = re.compile(r"<h([1-6])\b[^<>]{0,500}>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_PATH = re.compile(r"(?<![\w/.@-])((?:\.{0,2}/)?(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7})(?::\d+)?(?![\w/])")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")
_CODE = re.compile(r"`([^`\n]{2,120})`")
_ROLE = re.compile(r":(?:func|class|meth|mod|py:\w+|ref|doc|file|obj|attr|data|exc):`~?([^`<>\n]{2,120})`")
_IDENTIFIER = re.compile(r"~?([A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*)(?:\(.{0,40}\))?")
_MARKUP = re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)")
_LONGEST_TITLE = 500
_LONGEST_LINE = 2_000  # characters of a line in which names are looked for
_MOST_USES = 2_000  # of one document
_KNOWN = """
py pyi js jsx mjs cjs ts tsx go rs java kt c h cc cpp hpp cs rb php sh bash md rst html css json toml yaml yml sql txt vue svelte
swift scala lua proto tf cfg ini xml ipynb r jl ex exs hs ml zig dart gradle
"""
_ENDINGS = frozenset(_KNOWN.split())  # of a file that is named without its directory


def headings(language: str, lines: list[str]) -> list[Heading]:
    """The headings of a document in their order."""
    return list(_HEADINGS.get(language, _none)(lines))


def _none(_lines: list[str]) -> Iterator[Heading]:
    return iter(())


def _markdown(lines: list[str]) -> Iterator[Heading]:
    fence = ""
    for at, line in enumerate(lines):
        if found := _FENCE.match(line):
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence):
                fence = ""
            continue
        if fence:
            continue
        if heading := _ATX.match(line):
            yield at, len(heading[1]), _title(heading[2].strip().rstrip("#"))
        elif at and line[:3] in ("===", "---") and _UNDERLINE.match(line) and _heads(lines[at - 1]):
            yield at - 1, 1 if line[0] == "=" else 2, _title(lines[at - 1])


def _heads(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("#", ">", "-", "*", "|", "    ", "+"))


def _rst(lines: list[str]) -> Iterator[Heading]:
    levels: dict[str, int] = {}
    for at in range(1, len(lines)):
        found = _UNDERLINE.match(lines[at])
        title = lines[at - 1].strip()
        if (
            found is None
            or not title
            or _UNDERLINE.match(title)
            or len(lines[at].rstrip()) < len(title)
            or lines[at - 1][0].isspace()
        ):
            continue
        over = at >= 2 and lines[at - 2].rstrip() == lines[at].rstrip()
        yield at - 1, levels.setdefault(found[1] + ("^" if over else ""), len(levels) + 1), _title(title)


def _html(lines: list[str]) -> Iterator[Heading]:
    text = _without_programs("\n".join(lines))
    line, last = 0, 0
    for found in _HTML_HEADING.finditer(text):
        line += text.count("\n", last, found.start())
        last = found.start()
        inside = text[found.end() : found.end() + _LONGEST_TITLE]
        title = _title(_TAG.sub(" ", inside[:end] if (end := inside.lower().find("</h")) >= 0 else ""))
        if title:
            yield line, int(found[1]), title


def _without_programs(text: str) -> str:
    """A page without scripts and styles. By looking for their ends once, so that a thousand open ones cost no more than one."""
    lower = text.lower()
    for tag in ("script", "style"):
        kept, at = [], 0
        while (start := lower.find(f"<{tag}", at)) >= 0:
            end = lower.find(f"</{tag}", start)
            end = len(text) if end < 0 else end
            kept += [text[at:start], "\n" * text.count("\n", start, end)]
            at = end
        text = "".join([*kept, text[at:]])
        lower = text.lower()
    return text


def plain_html(text: str) -> str:
    """A page without its tags, each line where it was."""
    return _TAG.sub(lambda found: "\n" * found[0].count("\n") + " ", _without_programs(text))


_HEADINGS: dict[str, Callable[[list[str]], Iterator[Heading]]] = {"markdown": _markdown, "rst": _rst, "html": _html}
PROSE = frozenset({*_HEADINGS, "text"})


def _title(text: str) -> str:
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", text[:_LONGEST_TITLE]).split())[:200]


def read_prose(language: str, text: str) -> Found:
    """The sections of a document and what its lines name."""
    lines = text.split("\n")
    offsets = _offsets(lines)
    found = Found()
    here: list[int] = []  # section of each line, -1 before the first
    marks = headings(language, lines)
    _sections(found, marks, offsets)
    section = -1
    starts = {at: number for number, (at, _, _) in enumerate(marks)}
    for at in range(len(lines)):
        section = starts.get(at, section)
        here.append(section)
    seen: set[tuple[int, str, str, str]] = set()
    body = plain_html(text).split("\n") if language == "html" else lines
    for at, line in enumerate(body[: len(lines)]):
        for capture, name, qualifier in named_in(line):
            key = (here[at], capture, name, qualifier)
            if key not in seen and len(seen) < _MOST_USES:
                seen.add(key)
                found.uses.append((here[at], capture, name, qualifier, offsets[at]))
    return found


def _offsets(lines: list[str]) -> list[int]:
    offsets, at = [], 0
    for line in lines:
        offsets.append(at)
        at += len(line.encode("utf-8")) + 1
    return offsets


def _sections(found: Found, marks: list[Heading], offsets: list[int]) -> None:
    """A section goes to the next heading of its level or a higher one, and lies in the one above."""
    above: list[int] = []
    last = offsets[-1] + 1
    for number, (at, level, title) in enumerate(marks):
        while above and marks[above[-1]][1] >= level:
            above.pop()
        end = next((offsets[line] for line, other, _ in marks[number + 1 :] if other <= level), last)
        parent = above[-1] if above else -1
        found.symbols.append(
            Symbol(capture="section", start=offsets[at], end=end, parent=parent, name=title or "section", named_at=offsets[at])
        )
        above.append(number)


def named_in(line: str) -> Iterator[tuple[str, str, str]]:
    """What a line names: (capture, name, qualifier) of files and of identifiers in code style."""
    line = line[:_LONGEST_LINE]
    for match in _PATH.finditer(line):
        known = "/" in match[1] or match[1].rpartition(".")[2].lower() in _ENDINGS
        if known and (use := _file_use(match[1])):
            yield use
    for match in _LINK.finditer(line):
        target = match[1].split("#", 1)[0]
        if target and "://" not in target and not target.startswith("mailto:") and (use := _file_use(target)):
            yield use
    if "`" in line:
        for match in [*_CODE.finditer(line), *_ROLE.finditer(line)]:
            if (found := _IDENTIFIER.fullmatch(match[1].strip())) is not None:
                dotted = re.sub(r"::|->|#", ".", found[1])
                before, _, name = dotted.rpartition(".")
                yield "ref.mention", name, before


def _file_use(path: str) -> tuple[str, str, str] | None:
    directory, _, name = path.rpartition("/")
    return ("ref.file", name, f"{directory or '.'}/") if name and not path.startswith(("http:", "https:", "//")) else None
