"""How the page's own files are written: text never becomes markup, nothing runs inline, modules stay small and used."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hindbrain.surfaces.hall
from tests.hall.views import SCRIPT_BYTES

STATIC = Path(hindbrain.surfaces.hall.__file__).with_name("static")
MODULES = sorted(STATIC.joinpath("js").rglob("*.js"))
PAGES = sorted(STATIC.rglob("*.html"))
LONGEST = 400  # lines of a module

SINKS = re.compile(
    r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe|createContextualFragment|parseFromString|srcdoc)\b(?!\$/)"
    r"|\beval\s*\(|\bnew\s+Function\b|\bdocument\s*\.\s*write(?:ln)?\b"
    r"|\bsetAttribute(?:NS)?\(\s*['\"](?:style|on\w+)['\"]|\.cssText\b"
    r"|\bset(?:Timeout|Interval)\(\s*['\"`]"
)
EXPORT = re.compile(r"^export\s+(?:async\s+)?(?:function\*?|const|let|class)\s+(\w+)", re.MULTILINE)
IMPORTED = re.compile(
    r"^(?:import|export)\b[^;'\"]*\bfrom\s+['\"]([^'\"\n]+)['\"]|^import\s+['\"]([^'\"\n]+)['\"]|\bimport\(\s*['\"]([^'\"\n]+)['\"]",
    re.MULTILINE,
)
WORKER = re.compile(r"['\"](?:/hall/js/[\w/]*|\./)(\w*worker\.js)['\"]")


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def named(path: Path) -> str:
    return path.relative_to(STATIC).as_posix()


def test_hall_4_no_text_becomes_markup_or_script() -> None:
    # The one place that names them is the list of what an element is never given.
    found = [
        f"{named(module)}:{number}: {line.strip()[:120]}"
        for module in MODULES
        for number, line in enumerate(text_of(module).splitlines(), 1)
        if SINKS.search(line) and "is not set from here" not in line
    ]

    assert found == []


def test_hall_4_a_policy_of_trusted_types_lets_only_our_own_workers_pass() -> None:
    makers = {named(module) for module in MODULES if "createPolicy" in text_of(module)}

    assert all("createScriptURL" in text_of(STATIC / name) for name in makers)
    assert not any(re.search(r"createHTML|createScript\s*[:(]", text_of(STATIC / name)) for name in makers)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        told = dict(attrs)
        self.inline += [f"{tag} {name}" for name in told if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and not (told.get("src") or "").startswith("/hall/")):
            self.inline.append(tag)
        if tag == "link" and not (told.get("href") or "").startswith("/hall/"):
            self.inline.append(f"link {told.get('href')}")

    def handle_data(self, data: str) -> None:
        if self._open == "script" and data.strip():
            self.inline.append(data.strip()[:80])

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_hall_4_nothing_is_inline_in_the_document(page: Path) -> None:
    read = _Page()
    read.feed(text_of(page))

    assert read.inline == []


def test_hall_1_every_module_says_what_it_is_and_stays_small() -> None:
    unsaid = [named(module) for module in MODULES if not text_of(module).startswith(("// ", "/** "))]
    long = {named(module): lines for module in MODULES if (lines := len(text_of(module).splitlines())) > LONGEST}

    assert (unsaid, long) == ([], {})


def targets_of(module: Path) -> list[str]:
    """What a module imports, at once or later, as it writes it."""
    return [next(filter(None, match.groups())) for match in IMPORTED.finditer(text_of(module))]


def loaded_with(*modules: Path) -> set[Path]:
    """All modules that these bring along. The table of routes loads one view of many, and workers are named by their address."""
    found, waiting = set[Path](), list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            asked = [] if module.name == "routes.js" else [*targets_of(module), *WORKER.findall(text_of(module))]
            waiting += [(module.parent / target).resolve() for target in asked]
    return found


@pytest.mark.parametrize("view", sorted(STATIC.joinpath("js", "views").glob("*.js")), ids=named)
def test_hall_3_a_view_and_the_frame_around_it_are_little_script(view: Path) -> None:
    assert sum(module.stat().st_size for module in loaded_with(STATIC / "js" / "main.js", view)) < SCRIPT_BYTES


def test_hall_1_every_import_leads_to_a_file_of_the_page() -> None:
    lost = [
        f"{named(module)} imports {target}"
        for module in MODULES
        for target in targets_of(module)
        if not target.startswith(".") or not (module.parent / target).resolve().is_file()
    ]

    assert lost == []


def test_hall_1_every_exported_name_is_used_elsewhere() -> None:
    unused = []
    for module in MODULES:
        for name in EXPORT.findall(text_of(module)):
            # The router calls `show` of the view that it loaded.
            if name == "show" and module.parent.name == "views":
                continue
            used = re.compile(rf"\b{name}\b")
            if not any(used.search(text_of(other)) for other in MODULES if other != module):
                unused.append(f"{named(module)}: {name}")

    assert unused == []


def test_hall_1_every_exported_function_is_explained() -> None:
    unsaid = [
        f"{named(module)}: {match.group(1)}"
        for module in MODULES
        for match in EXPORT.finditer(text_of(module))
        if not text_of(module)[: match.start()].rstrip().endswith("*/")
    ]

    assert unsaid == []


def test_hall_4_styles_load_nothing_from_elsewhere() -> None:
    asked = re.compile(r"@import|url\(\s*['\"]?(?!/hall/|data:image/svg|#)")
    found = [
        f"{named(sheet)}: {line.strip()[:100]}"
        for sheet in sorted(STATIC.rglob("*.css"))
        for line in text_of(sheet).splitlines()
        if asked.search(line)
    ]

    assert found == []
