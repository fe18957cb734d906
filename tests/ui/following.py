"""What is shown follows what this page has written: a load, a query, an edit."""

from browser import Browser, Server, expect, legend, set_time, settle, slider, write
from loading import put_files, text_of_mapping

MAPPING = """[[vertex]]
file = "{file}"
label = "staff"
id = "code"
valid_from = "since"

[schema]
propertykeys = [{{ data_type = "TEXT", name = "name" }}]
vertexlabels = [
  {{ id_strategy = "CUSTOMIZE_STRING", name = "staff", properties = ["name"], nullable_keys = [] }},
]
"""


def load(page, name: str, rows: str) -> None:
    page.locator(".rail a[href='#/load']").click()
    put_files(page, {name: ("code,name,since\n" + rows).encode()})
    text_of_mapping(page).fill(MAPPING.format(file=name))
    page.locator("[data-action=load]").click()
    page.locator(".load-done a").click()
    page.locator(".timebar").wait_for()


def changes(page, kind: str) -> int:
    """How many changes the axis has."""
    return int(slider(page, kind).get_attribute("aria-valuemax"))


def the_canvas_follows_what_is_written(browser: Browser, server: Server, _open) -> None:
    server = Server(server.url, "followed")
    server.call("/graphs/followed", {"name": "followed"})
    page = browser.page()
    page.goto(f"{server.url}/ui/#/load?g=followed")
    load(page, "first.csv", "a1,Ann,2020-01-01\na2,Bob,2020-01-01\n")
    page.locator(".label-card", has_text="staff").click()
    page.locator(".legend-row", has_text="staff").wait_for(state="attached")
    set_time(page, "valid", "2021-06-15")
    assert legend(page) == {"staff": 2}
    name = lambda: page.locator(".element h2")
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="Ann").first.click()
    expect(name()).to_have_text("Ann")
    known, valid = changes(page, "known"), changes(page, "valid")
    # A load changes what was true then.
    load(page, "second.csv", "a1,Anna,2021-01-01\n")
    expect(name()).to_have_text("Anna")
    expect(slider(page, "known")).to_have_attribute("aria-valuemax", str(known + 1))
    expect(slider(page, "valid")).to_have_attribute("aria-valuemax", str(valid + 1))
    # A query does.
    page.locator(".rail a[href='#/query']").click()
    page.locator("[data-kind=rest]").click()
    write(page, "DELETE /graphs/followed/graph/vertices/%22a2%22?valid_from=2021-03-01")
    page.locator("[data-action=run]").click()
    page.locator(".dialog .danger").click()
    page.locator(".dialog").wait_for(state="detached")
    expect(page.locator("[data-action=run]")).to_be_visible()
    page.locator(".rail a[href='#/explore']").click()
    expect(slider(page, "known")).to_have_attribute("aria-valuemax", str(known + 2))
    # An edit does, while the page is open. What is known of it is one more change.
    page.locator("[data-action=edit]").click()
    page.locator(".dialog input[name=property-name]").fill("Annika")
    page.locator(".dialog input[name=from]").fill("2021-06-01")
    page.locator("[data-action=send]").click()
    expect(name()).to_have_text("Annika")
    expect(slider(page, "known")).to_have_attribute("aria-valuemax", str(known + 3))
    # Where nothing was written, nothing is read again.
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/explore/elements" in request.url else None)
    page.locator(".rail a[href='#/schema']").click()
    page.locator(".rail a[href='#/explore']").click()
    with page.expect_response(lambda answer: "/explore/summary" in answer.url):
        page.locator(".rail a[href='#/schema']").click()
        page.locator(".rail a[href='#/explore']").click()
    settle(page)
    assert not asked, asked


def a_selected_element_tells_how_it_is_there(browser: Browser, server: Server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="Ann").first.click()
    pane, absent = page.locator(".element[data-ref='\"1:Ann\"']"), page.locator(".element .absent")
    pane.wait_for()
    expect(absent).to_have_count(0)
    # It is only off the canvas, and is still known whole.
    page.locator("[data-tool=clearCanvas]").click()
    page.locator(".label-card", has_text="city").click()
    expect(absent).to_contain_text("Not on the canvas")
    expect(pane.locator(".properties")).to_contain_text("Ann")
    expect(pane.locator(".groups .group-row").first).to_be_visible()
    # Before it was true it does not exist, on the canvas or not.
    set_time(page, "valid", "1900-01-01")
    expect(absent).to_contain_text("Does not exist")
    set_time(page, "valid", "now")
    expect(absent).to_contain_text("Not on the canvas")
    page.locator("[data-action=show-selected]").click()
    expect(absent).to_have_count(0)
    set_time(page, "valid", "1900-01-01")
    expect(absent).to_contain_text("Does not exist")


TESTS = [a_selected_element_tells_how_it_is_there, the_canvas_follows_what_is_written]
