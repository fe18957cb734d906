"""Every screen in both themes and sizes: axe finds nothing serious, nothing is wider than the window.

With VARVE_TEST_SHOTS naming a folder, each is kept there as a picture, to be looked at."""

import os
from collections.abc import Callable
from pathlib import Path

import backing
import repository
from browser import set_time, settle, write

# Elements that reach beyond the window, but for those inside of something that scrolls.
OVERFLOW = """() => [...document.querySelectorAll('body *')]
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.table-scroll, .drawing, .visually-hidden, pre'))
  .map(each => each.tagName + '.' + each.getAttribute('class')).slice(0, 5)"""
# Texts of buttons and titles that are cut.
CUT = """() => [...document.querySelectorAll('button, h1, h2, h3, label > span')]
  .filter(each => each.checkVisibility() && each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1
    && !each.closest('.table-scroll, .visually-hidden'))
  .map(each => each.tagName + ' ' + each.textContent.slice(0, 40)).slice(0, 5)"""
AXE = """async () => {
  const found = await axe.run(document, {resultTypes: ['violations']});
  return found.violations.filter(each => ['serious', 'critical'].includes(each.impact))
    .map(each => each.id + ': ' + each.nodes.slice(0, 3).map(node => node.target.join(' ')).join(' | '));
}"""


def problems(page, name: str) -> list[str]:
    """What is wrong with what a page shows; keeps a picture of it."""
    shots = os.environ.get("VARVE_TEST_SHOTS")
    if shots:
        page.screenshot(path=f"{shots}/{name}.png")
    axe = Path(os.environ["VARVE_TEST_AXE"])
    assert axe.is_file(), f"axe-core is missing: {axe}"
    wide, cut = page.evaluate(OVERFLOW), page.evaluate(CUT)
    page.evaluate(axe.read_text())
    found = [*page.evaluate(AXE)]
    if wide:
        found.append(f"wider than the window: {wide}")
    if cut:
        found.append(f"cut: {cut}")
    return [f"{name}: {each}" for each in found]


def explore(page, server, open_sample, look: Callable[[str], None]) -> None:
    page.goto(server.url + "/ui/")
    page.locator("[data-card=sample]").wait_for()
    settle(page)
    look("start")
    open_sample(page, server.url)
    look("sample")
    page.keyboard.press("?")
    look("help")
    page.keyboard.press("Escape")
    for name, button in (("share", "share"), ("export", "exportGraph"), ("scenes", "scenes")):
        page.locator(f"[data-tool={button}]").click()
        page.locator(".dialog").wait_for()
        look(name)
        page.keyboard.press("Escape")
    legend = page.locator(".legend")
    if legend.get_attribute("open") is None:
        legend.locator("summary").click()
        look("legend")
    page.locator("[data-style=person]").click()
    page.locator(".dialog select[name=by]").select_option("born")
    page.locator(".dialog [data-scale]").wait_for()
    look("style")
    page.locator(".dialog select[name=by]").select_option("")
    page.keyboard.press("Escape")
    page.locator("#tab-list").click()
    look("list")
    for row in range(2):
        page.locator(".tree-row").nth(row).click(modifiers=["Control"])
    page.locator(".picked").wait_for()
    look("picked")
    page.keyboard.press("Escape")
    page.locator(".tree-row").first.click()
    settle(page)
    page.locator(".fold").first.click()
    page.locator(".members .link").first.wait_for()
    look("element")
    page.keyboard.press("m")
    page.locator("[data-menu=expand-group]").first.wait_for()
    look("menu")
    page.keyboard.press("Escape")
    for action in ("edit", "delete"):
        page.locator(f"[data-action={action}]").click()
        page.locator(".preview tbody tr").first.wait_for()
        look(action)
        page.keyboard.press("Escape")
    page.locator("[data-action=expand-with]").click()
    settle(page)
    look("expand")
    page.keyboard.press("Escape")
    page.locator("[data-tab=history]").click()
    page.locator(".history-row").first.wait_for()
    look("history")
    set_time(page, "valid", "2021-06-01")
    look("past")
    page.locator(".time-actions button").nth(1).click()
    look("compare")
    page.locator(".dialog .primary").click()
    settle(page)
    look("difference")
    page.locator("[data-action=end-compare]").click()
    page.locator(".tour-start").click()
    settle(page)
    look("tour")


def query(page, look: Callable[[str], None]) -> None:
    write(page, "g.V().hasLabel('person').out().limit(50)")
    for action, wanted in (("run", ".result tbody td"), ("explain", ".plan-side"), ("profile", ".profile tbody tr")):
        page.locator(f"[data-action={action}]").click()
        page.locator(wanted).first.wait_for()
        look(f"query-{action}")
    write(page, "g.V().nothing()")
    page.locator("[data-action=run]").click()
    page.locator(".failure").wait_for()
    look("query-failure")
    page.locator(".failure summary").click()
    look("query-failure-details")
    write(page, "g.V().hasLabel('person').outE().inV().path().limit(40)")
    page.locator("[data-action=run]").click()
    page.locator(".result-picture [data-arranged=yes]").wait_for()
    page.locator(".result tbody td .link").first.click()
    look("query-paths")
    for action in ("saved", "past"):
        page.locator(f"[data-action={action}]").click()
        page.locator(".dialog li").first.wait_for()
        look(f"query-{action}")
        page.keyboard.press("Escape")
    page.locator("[data-kind=cypher]").click()
    write(page, "MATCH (a:person)-[r]->(b) OPTIONAL MATCH (b)-->(c) RETURN a, r, c.name LIMIT 50")
    for action, wanted in (("run", ".result tbody td"), ("explain", ".operators")):
        page.locator(f"[data-action={action}]").click()
        page.locator(wanted).first.wait_for()
        look(f"cypher-{action}")


def schema(page, look: Callable[[str], None]) -> None:
    page.locator("[data-new=edgelabels]").click()
    look("schema-form")
    page.keyboard.press("Escape")
    for tab in ("graph", "json"):
        page.locator(f"[data-tab={tab}]").click()
        look(f"schema-{tab}")


def load(page, look: Callable[[str], None]) -> None:
    text = "name,born\nZoe,1990-01-01\nYan,1991-02-03\n"
    page.set_input_files("input[type=file]", {"name": "people.csv", "mimeType": "text/csv", "buffer": text.encode()})
    page.locator("[data-action=dry]").wait_for()
    page.locator(".part .part-head select").first.select_option("edge")
    page.locator(".load-mapping summary").click()
    look("load-draft")
    page.locator("[data-action=mapping-form]").click()
    look("load-form")
    page.keyboard.press("Escape")


def metadata(page, look: Callable[[str], None]) -> None:
    page.locator(".type-name").first.click()
    page.locator(".type-details").wait_for()
    look("metadata-type")
    page.locator("[data-action=find-of-type]").click()
    page.locator(".entity-list .row-button").first.wait_for()
    look("metadata-found")
    repository.find(page, repository.NAMES[1])
    page.locator("[data-lineage=to]").click()
    page.locator("[data-action=versions]").click()
    page.locator(".entity-view .history-row").first.wait_for()
    look("metadata-entity")


# Every size and theme, and every theme in every language.
VIEWS = [
    ("wide", "light", "en-US"), ("wide", "dark", "en-US"), ("narrow", "light", "en-US"), ("narrow", "dark", "en-US"),
    ("wide", "light", "zh-CN"), ("narrow", "dark", "zh-CN"),
]
STATES = {"query": query, "schema": schema, "load": load, "metadata": metadata, "tasks": None, "monitor": None, "api": None}


def check(browser, server, open_sample) -> None:
    wrong: list[str] = []
    repository.load(server)
    for size, theme, language in VIEWS:
        # The wrong query is answered so.
        page = browser.page(size, theme, expected=("status of 400", "status of 500", *backing.expected(server)), language=language)

        def look(name: str) -> None:
            shown = page.evaluate("document.documentElement.lang")
            assert shown.startswith(language[:2]), shown
            wrong.extend(problems(page, f"{size}-{theme}-{language[:2]}-{name}"))

        explore(page, server, open_sample, look)
        for name, states in STATES.items():
            page.goto(server.url + f"/ui/#/{name}")
            page.wait_for_timeout(700)
            look(name)
            if states:
                states(page, look)
        page.context.close()
    assert not wrong, "\n" + "\n".join(wrong)
