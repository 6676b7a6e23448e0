"""A walk through the whole Hall in a world where every stored text is an attack: nothing runs, nothing leaves its frame."""

from collections import Counter, deque

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import DESKTOP, PHONE, overflow
from tests.support.hall import BuiltWorld, Hall
from tests.support.hostile_world import IMAGE, SCRIPT, build_hostile_world

ALIKE = 3  # links of one kind that are followed: the tenth card shows what the first does
MOST = 90

# What no page of ours has: scripts of others, addresses that run, handlers in markup, forms that go somewhere, frames, pictures.
# Style in markup is refused by the page's policy, with an error on the console; what a script sets looks the same as that.
_FOREIGN = """() => {
  const ours = one => new URL(one, location.href).origin === location.origin;
  const handlers = one => [...one.attributes].some(({name}) => /^on|^srcdoc$|^formaction$|^action$/i.test(name));
  const bad = [...document.querySelectorAll('*')].filter(one => handlers(one)
    || /^(iframe|object|embed|base|meta)$/i.test(one.localName) && one.closest('body')
    || one.localName === 'script' && !(one.src && ours(one.src) && new URL(one.src).pathname.startsWith('/hall/'))
    || one.localName === 'img' && !(ours(one.src) && new URL(one.src).pathname.startsWith('/hall/'))
    || one.hasAttribute('href') && /^\\s*(javascript|data|vbscript):/i.test(one.getAttribute('href')));
  return {pwned: window.pwned ?? null, foreign: bad.map(one => one.outerHTML.slice(0, 200))};
}"""
# Characters that hide, turn or look like nothing are nowhere as they came: not in words, not in what is read aloud.
_HIDDEN = """() => {
  const unseen = new RegExp('[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e'
    + '\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0d\\ufeff\\u{e0000}-\\u{e0fff}]', 'u');
  const found = unseen.test(document.title) ? ['title'] : [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let one = walk.nextNode(); one; one = walk.nextNode())
    if (unseen.test(one.data)) found.push(one.parentElement.outerHTML.slice(0, 200));
  for (const one of document.querySelectorAll('[title], [aria-label], [placeholder], [alt]'))
    for (const name of ['title', 'aria-label', 'placeholder', 'alt'])
      if (unseen.test(one.getAttribute(name) ?? '')) found.push(`${one.localName} ${name}`);
  return found;
}"""
_OPEN_ALL = "() => { for (const one of document.querySelectorAll('main details')) one.open = true; }"


@pytest.fixture(scope="module")
def hall_world(tmp_path_factory: pytest.TempPathFactory) -> BuiltWorld:
    """Built for this module alone."""
    return build_hostile_world(tmp_path_factory.mktemp("hostile") / "world")


def kind_of(route: str) -> str:
    """The view of a route, with its brain and without the rest: links of one kind lead to pages that are made alike."""
    path, _, query = route.partition("?")
    pieces = path.split("/")
    names = ",".join(sorted(piece.partition("=")[0] for piece in query.split("&") if piece))
    inside = pieces[3:] if pieces[1] == "b" else pieces[1:]
    return "/".join([pieces[2] if pieces[1] == "b" else "", inside[0] if inside else "", str(len(inside)), names])


def looked_at(hall: Hall, page: Page, route: str) -> tuple[list[str], list[str]]:
    """Show a view with all that it folds away, in a wide and in a narrow window: where it leads, and what is wrong with it."""
    wrong = []
    hall.open(route)
    page.evaluate(_OPEN_ALL)
    for number in range(page.locator("main [role=tab]").count()):
        page.locator("main [role=tab]").nth(number).click()
        page.evaluate(_OPEN_ALL)
        wrong += harmful(page)
    for width, height in (PHONE, DESKTOP):
        page.set_viewport_size({"width": width, "height": height})
        if (more := overflow(page)) > 0:
            wrong.append(f"{more} pixels wider than {width}")
    wrong += [*harmful(page), *hall.watch.told()]
    links: list[str] = page.eval_on_selector_all("a[href^='#/']", "all => all.map(one => one.getAttribute('href'))")
    return links, [f"{route}: {one}" for one in wrong]


def harmful(page: Page) -> list[str]:
    """What ran, and what is on the page that we did not put there."""
    found = page.evaluate(_FOREIGN)
    hidden = [f"hidden in {one}" for one in page.evaluate(_HIDDEN)]
    return [*found["foreign"], *hidden, *(["hostile text ran"] if found["pwned"] is not None else [])]


def test_hall_4_hostile_text_does_nothing_on_any_page(hall: Hall, page: Page) -> None:
    wrong, walked, kinds = list[str](), set[str](), Counter[str]()
    waiting = deque(["#/"])
    while waiting and len(walked) < MOST:
        route = waiting.popleft()
        if route in walked or kinds[kind_of(route)] >= ALIKE:
            continue
        walked.add(route)
        kinds[kind_of(route)] += 1
        links, found = looked_at(hall, page, route)
        waiting.extend(links)
        wrong += found

    assert wrong == []
    views = {
        "memory",
        "evidence",
        "recall",
        "knowledge",
        "review",
        "missions",
        "experience",
        "graph",
        "cowork",
        "ledger",
        "mail",
        "doctor",
    }
    assert {kind.split("/")[1] for kind in kinds} >= views


def test_hall_4_the_palette_shows_hostile_names_as_text(hall: Hall, page: Page) -> None:
    hall.open("#/")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or go to").fill("img")

    option = page.get_by_role("option")
    expect(option.filter(has=page.get_by_text("claim", exact=True)).first).to_be_visible()
    assert harmful(page) == []


def test_hall_4_names_that_differ_by_an_unseen_character_look_different(hall: Hall, page: Page) -> None:
    """Also where there is no room for marks; and a text of nothing else does not fill the page with them."""
    hall.open("#/")
    told = page.evaluate(
        """async () => {
          const {plain, text} = await import('/hall/js/dom.js');
          const family = '\\u{1f469}\\u200d\\u{1f467} \\u2764\\ufe0f \\u0645\\u06cc\\u200c\\u062e \\u0915\\u094d\\u200d\\u0937';
          const many = text('a\\u200b'.repeat(50000));
          const calm = [text(family).textContent === family, plain(family) === family];
          const names = ['a b', 'a\\u200b b', 'a\\u202e b', 'a\\r\\nb', '\\u0430\\u200d\\u0431'].map(one => plain(one));
          const {copyable} = await import('/hall/js/ui.js');
          names.push(copyable('rm a\\u202eb').querySelector('button').getAttribute('aria-label'));
          return {calm, names, marks: many.querySelectorAll('*').length};
        }"""
    )

    assert told["calm"] == [True, True]
    assert told["names"] == ["a b", "a\ufffd b", "a\ufffd b", "a b", "\u0430\ufffd\u0431", "Copy the command rm a\ufffdb"]
    assert told["marks"] <= 1000


@pytest.mark.parametrize(
    "route",
    [
        "#/b/{hostile}/memory/{claim}",
        "#/b/{hostile}/evidence/{seen}",
        "#/b/{hostile}/knowledge/{card}",
        "#/b/{hostile}/missions/{mission}",
        "#/mail/{letter-bug}",
    ],
)
def test_hall_4_hostile_text_is_shown_as_what_it_is(hall: Hall, page: Page, route: str) -> None:
    """Markup as its letters, what is unseen as a mark, and what turns text nowhere."""
    hall.open(route)

    told = page.locator("main").inner_text()
    assert [piece for piece in (SCRIPT, IMAGE, "U+200B", "U+202E", "U+E0068", "U+3164", "U+FE01") if piece not in told] == []
    assert not set("\u202e\u200b\x07\x1b") & set(told)
    assert page.locator("main .stored:not([dir])").count() == 0
