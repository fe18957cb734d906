"""What stays: the texts of queries, the times of saved ones, a search without a canvas, and what a history differs in."""

from browser import Browser, Server, expect, field, set_time, settle, write


def queries_keep_their_texts_and_times(browser: Browser, server: Server, open_sample) -> None:
    page = browser.page()
    page.goto(server.url + "/ui/#/query")
    page.locator("[data-kind=cypher]").click()
    write(page, "MATCH (kept) RETURN kept")
    page.locator(".parameters textarea").fill('{"a": 1}')
    times = page.locator(".time-fields .time-field")
    times.first.fill("2021-06-15")
    times.first.press("Tab")
    page.locator("[data-action=saved]").click()
    page.locator(".dialog input[name=saved]").fill("in june")
    page.locator("[data-action=save-query]").click()
    expect(page.locator("[data-saved='in june']")).to_contain_text("true at 2021-06-15")
    page.keyboard.press("Escape")
    page.reload()
    editor = page.locator(".editor .cm-content")
    expect(editor).to_contain_text("MATCH (kept) RETURN kept")
    expect(page.locator(".parameters textarea")).to_have_value('{"a": 1}')
    expect(times.first).to_have_value("now")
    write(page, "RETURN 1")
    page.locator("[data-action=saved]").click()
    page.locator("[data-saved='in june']").click()
    expect(editor).to_contain_text("MATCH (kept) RETURN kept")
    expect(times.first).to_have_value("2021-06-15")


def one_element_is_found_on_an_empty_canvas(browser: Browser, server: Server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    page.locator("[data-tool=clearCanvas]").click()
    page.locator(".start #search").fill("Ann")
    page.locator("[role=option]", has_text="Ann").first.click()
    settle(page)
    page.locator(".element[data-ref='\"1:Ann\"']").wait_for()
    expect(page.locator(".legend-row")).to_have_count(1)


def a_history_names_what_differs(browser: Browser, server: Server, open_sample) -> None:
    server, path = Server(server.url, "towns"), "/graphs/towns"
    server.call(path, {"name": "towns"})
    keys = [*"abcd", "town"]
    for name in keys:
        server.call(f"{path}/schema/propertykeys", {"name": name, "data_type": "TEXT"})
    server.call(f"{path}/schema/vertexlabels", {"name": "person", "id_strategy": "CUSTOMIZE_STRING", "properties": keys})
    place = {name: "same" for name in keys}
    server.call(f"{path}/graph/vertices", {"label": "person", "id": "p1", "properties": place}, valid_from="2020-01-01")
    for town, day in (("Graz", "2021-01-01"), ("Bonn", "2022-01-01")):
        server.call(f"{path}/graph/vertices/%22p1%22", {"label": "person", "properties": {"town": town}}, "PUT", action="append", valid_from=day)
    page = browser.page()
    page.goto(f"{server.url}/ui/#/explore?g=towns")
    page.locator(".label-card", has_text="person").click()
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="p1").first.click()
    page.locator(".element [role=tab]").nth(1).click()
    expect(page.locator(".chart-key")).to_have_text(["town: same", "town: Graz", "town: Bonn"])


def nothing_moves_or_is_cut(browser: Browser, server: Server, open_sample) -> None:
    """A time that is set moves no field, and a window of 1024 pixels has room for all tools in a row."""
    page = browser.page()
    page.set_viewport_size({"width": 1024, "height": 720})
    open_sample(page, server.url)
    place = lambda: field(page, "valid").bounding_box()
    before = place()
    set_time(page, "valid", "2021-06-15")
    assert place() == before, (place(), before)
    stage = page.locator(".stage").bounding_box()
    tools = [each.bounding_box() for each in page.locator(".toolbar .icon-button").all()]
    assert len({tool["y"] for tool in tools}) == 1, tools
    assert max(tool["x"] + tool["width"] for tool in tools) <= stage["x"] + stage["width"], (tools, stage)


TESTS = [nothing_moves_or_is_cut, queries_keep_their_texts_and_times, one_element_is_found_on_an_empty_canvas, a_history_names_what_differs]
