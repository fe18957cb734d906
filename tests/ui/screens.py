"""Every screen in both themes and sizes: axe finds nothing serious, nothing is wider than the window.

With VARVE_TEST_SHOTS naming a folder, each is kept there as a picture, to be looked at."""

import os
from pathlib import Path

from browser import settle

PAGES = ["query", "schema", "load", "metadata", "tasks", "monitor", "api"]
# Elements that reach beyond the window, but for those inside of something that scrolls.
OVERFLOW = """() => [...document.querySelectorAll('body *')]
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.table-scroll, .visually-hidden, pre'))
  .map(each => each.tagName + '.' + each.getAttribute('class')).slice(0, 5)"""
AXE = """async () => {
  const found = await axe.run(document, {resultTypes: ['violations']});
  return found.violations.filter(each => ['serious', 'critical'].includes(each.impact))
    .map(each => each.id + ': ' + each.nodes.slice(0, 3).map(node => node.target.join(' ')).join(' | '));
}"""


def check(browser, server, open_sample) -> None:
    axe = Path(os.environ["VARVE_TEST_AXE"])
    assert axe.is_file(), f"axe-core is missing: {axe}"
    source = axe.read_text()
    wrong = []
    for size, theme in (("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")):
        page = browser.page(size, theme)

        def look(name: str) -> None:
            shots = os.environ.get("VARVE_TEST_SHOTS")
            if shots:
                page.screenshot(path=f"{shots}/{size}-{theme}-{name}.png")
            wide = page.evaluate(OVERFLOW)
            if wide:
                wrong.append(f"{size} {theme} {name}: wider than the window: {wide}")
            page.evaluate(source)
            wrong.extend(f"{size} {theme} {name}: {each}" for each in page.evaluate(AXE))

        page.goto(server.url + "/ui/")
        page.locator("[data-card=sample]").wait_for()
        settle(page)
        look("start")
        open_sample(page, server.url)
        look("sample")
        page.locator("#tab-list").click()
        page.locator(".tree-row").first.click()
        settle(page)
        look("element")
        page.get_by_role("tab", name="History").click()
        page.locator(".history-row").first.wait_for()
        look("history")
        page.locator(".time-actions button").nth(1).click()
        look("compare")
        page.locator(".dialog .primary").click()
        settle(page)
        look("difference")
        for name in PAGES:
            page.goto(server.url + f"/ui/#/{name}")
            page.wait_for_timeout(700)
            look(name)
        page.context.close()
    assert not wrong, "\n" + "\n".join(wrong)
