"""Whether people can use a page: axe's findings in the light and in the dark, and where the Tab key leads."""

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

__all__ = ["findings", "lost_by_tab"]

_AXE = files("axe_playwright_python").joinpath("axe.min.js")
_GRAVE = ("serious", "critical")
_RUN = """async rules => {
  const only = rules ? {runOnly: {type: 'rule', values: rules}} : {};
  const found = await axe.run(document, {resultTypes: ['violations'], ...only});
  return found.violations.map(one => ({id: one.id, impact: one.impact, help: one.help,
    nodes: one.nodes.slice(0, 5).map(node => `${node.target.join(' ')}: ${node.html.slice(0, 160)} | ${node.failureSummary}`)}));
}"""

# What the Tab key must reach: everything that can be used and seen. One radio of a group stands for the others.
_WANTED = """most => {
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex], audio[controls], [contenteditable]';
  const wanted = [...document.querySelectorAll(usable)].filter(one => one.tabIndex >= 0 && !one.disabled
    && !one.closest('[inert]') && one.checkVisibility({visibilityProperty: true})
    && !(one.type === 'radio' && !one.checked));
  const outlined = style => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  const marked = one => getComputedStyle(one).boxShadow !== 'none'
    || [one, one.parentElement, one.parentElement?.parentElement].some(at => at && outlined(getComputedStyle(at)))
    || ['::before', '::after'].some(part => outlined(getComputedStyle(one, part)));
  wanted.length = Math.min(wanted.length, most);
  window.tabbed = {wanted, seen: new Set(), unmarked: []};
  document.addEventListener('focusin', event => {
    window.tabbed.seen.add(event.target);
    if (!marked(event.target)) window.tabbed.unmarked.push(event.target.outerHTML.slice(0, 160));
  });
  document.activeElement?.blur();
  window.getSelection().removeAllRanges();
  return wanted.length;
}"""
_MISSED = """() => ({
  missed: window.tabbed.wanted.filter(one => one.isConnected && !window.tabbed.seen.has(one))
    .map(one => one.outerHTML.slice(0, 160)),
  unmarked: window.tabbed.unmarked,
})"""
_MOST_TABS = 150  # a long list is the same row many times


def findings(page: Page, *rules: str) -> list[dict[str, Any]]:
    """What axe finds serious or critical, by all its rules or by these."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(_RUN, list(rules) or None)
    return [one for one in found if one["impact"] in _GRAVE]


def lost_by_tab(page: Page) -> dict[str, list[str]]:
    """What the Tab key did not reach, and what did not show that it has the focus."""
    wanted = page.evaluate(_WANTED, _MOST_TABS)
    for _ in range(2):  # Tab goes on from where the last one used the page; on one that grew meanwhile a round is longer
        for _ in range(wanted + 2):
            page.keyboard.press("Tab")
        lost: dict[str, list[str]] = page.evaluate(_MISSED)
        if not lost["missed"]:
            break
    return lost
