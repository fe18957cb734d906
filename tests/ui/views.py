"""Views that are shown again: layouts, the camera of links and scenes, and the canvas of each graph."""

import math

from browser import expect, legend, settle
from picking import discs


def layout(page, name: str) -> list[tuple[float, float, float]]:
    page.get_by_label("Layout", exact=True).select_option(name)
    page.wait_for_timeout(300)
    page.locator(".canvas[data-arranging=no]").wait_for(state="attached")
    page.wait_for_timeout(200)
    return discs(page)


def distances(found) -> list[float]:
    middle = [sum(each[axis] for each in found) / len(found) for axis in (0, 1)]
    return [math.hypot(x - middle[0], y - middle[1]) for x, y, _ in found]


def same(one, other, within: float = 1.5) -> bool:
    return len(one) == len(other) and all(abs(a - b) < within for left, right in zip(one, other) for a, b in zip(left, right))


def drag(page, x: float, y: float, by: tuple[float, float]) -> None:
    frame = page.locator(".canvas").bounding_box()
    page.mouse.move(frame["x"] + x, frame["y"] + y)
    page.mouse.down()
    page.mouse.move(frame["x"] + x + by[0] / 2, frame["y"] + y + by[1] / 2)
    page.mouse.move(frame["x"] + x + by[0], frame["y"] + y + by[1])
    page.mouse.up()


def check_layout(browser, server, open_sample) -> None:
    """A layout places the vertices when it is chosen, not when a view with it is shown again."""
    from canvas import free_disc

    page = browser.page()
    open_sample(page, server.url)
    reach = distances(layout(page, "circle"))
    assert max(reach) < 1.02 * min(reach), (min(reach), max(reach))
    rows = {round(y) for _, y, _ in layout(page, "grid")}
    assert 1 < len(rows) < 20, rows
    layout(page, "circle")
    x, y, _ = free_disc(page)
    drag(page, x, y, (-50, 40))
    moved = discs(page)
    page.reload()
    page.locator(".legend-row").first.wait_for(state="attached")
    settle(page)
    page.wait_for_timeout(300)
    assert same(moved, discs(page)), "a view that is shown again keeps its places"


def fits(page) -> None:
    settle(page)
    page.wait_for_timeout(300)
    found = discs(page)
    page.locator("[data-tool=fit]").click()
    page.wait_for_timeout(300)
    assert same(found, discs(page)), "the view does not fit the window"


def check_camera(browser, server, open_sample) -> None:
    """A link and a scene show all of what they have, wherever the camera was."""
    page = browser.page()
    open_sample(page, server.url)
    frame = page.locator(".canvas").bounding_box()
    for _ in range(4):
        page.locator("[data-tool=zoomIn]").click()
    page.get_by_role("button", name="Share").click()
    link = page.locator(".dialog textarea").input_value()
    page.keyboard.press("Escape")
    other = browser.page()
    other.goto(link)
    other.locator(".legend-row").first.wait_for(state="attached")
    fits(other)
    page.locator("[data-tool=scenes]").click()
    page.locator(".dialog input[name=scene]").fill("near")
    page.locator(".dialog .primary").click()
    page.locator("[data-scene=near]").wait_for()
    page.keyboard.press("Escape")
    drag(page, frame["width"] - 8, 8, (-400, 200))
    page.locator("[data-tool=scenes]").click()
    page.locator("[data-scene=near]").click()
    fits(page)


def check_switch(browser, server, open_sample) -> None:
    """Each graph has its canvas, with its places and its camera as they were at the switch."""
    from canvas import free_disc

    server.call("/graphs/second", {})
    server.call("/graphs/second/schema/vertexlabels", {"name": "lonely", "id_strategy": "CUSTOMIZE_STRING", "properties": []})
    server.call("/graphs/second/graph/vertices", {"label": "lonely", "id": "one", "properties": {}})
    page = browser.page()
    open_sample(page, server.url)
    page.locator(".tour-start").wait_for()
    graph = page.locator(".graph-choice select")
    graph.select_option("second")
    page.locator(".label-card", has_text="lonely").click()
    page.locator(".legend-row", has_text="lonely").wait_for(state="attached")
    expect(page.locator(".tour-start"), "the tour is of the other graph").to_have_count(0)
    graph.select_option(server.graph)
    page.locator(".legend-row", has_text="person").wait_for(state="attached")
    page.locator(".tour-start").wait_for()
    settle(page)
    shown = legend(page)
    page.locator("[data-tool=zoomIn]").click()
    x, y, _ = free_disc(page)
    drag(page, x, y, (40, 30))
    frame = page.locator(".canvas").bounding_box()
    drag(page, frame["width"] - 8, 8, (-60, 20))
    before = discs(page)
    drag(page, frame["width"] - 8, 8, (-60, 20))
    # At once: nothing has been kept since the last drag.
    graph.select_option("second")
    page.locator(".legend-row", has_text="lonely").wait_for(state="attached")
    settle(page)
    assert legend(page) == {"lonely": 1} and len(discs(page)) == 1
    graph.select_option(server.graph)
    page.locator(".legend-row", has_text="person").wait_for(state="attached")
    settle(page)
    page.wait_for_timeout(300)
    after = discs(page)
    assert legend(page) == shown
    assert same([(x - 60, y + 20, r) for x, y, r in before], after), "places or camera are lost"
    page.locator("[data-tool=clearCanvas]").click()
    page.locator(".start").wait_for()
    graph.select_option("second")
    page.locator(".legend-row", has_text="lonely").wait_for(state="attached")
    graph.select_option(server.graph)
    page.locator(".start").wait_for()
    server.call("/graphs/second", method="DELETE", confirm_message="I'm sure to drop the graph")
