"""The canvas: the menu, neighbours, marks of a comparison, axes, what is kept over a reload, scenes."""

import math
import re

from browser import expect, field, legend, set_time, settle


def discs(page) -> list[tuple[float, float, float]]:
    from picking import discs as found

    return found(page)


def at(page, disc) -> tuple[float, float]:
    frame = page.locator(".canvas").bounding_box()
    return frame["x"] + disc[0], frame["y"] + disc[1]


def free_disc(page) -> tuple[float, float, float]:
    """A vertex that nothing of the page covers."""
    frame = page.locator(".canvas").bounding_box()
    inside = [each for each in discs(page) if frame["width"] * 0.35 < each[0] < frame["width"] * 0.9 and 60 < each[1] < frame["height"] * 0.6]
    return inside[0]


def check_menu(browser, server, open_sample) -> None:
    page = browser.page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_sample(page, server.url)
    before = discs(page)
    assert all((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 >= (a[2] + b[2]) ** 2 - 1 for i, a in enumerate(before) for b in before[:i]), "discs overlap"
    disc = free_disc(page)
    x, y = at(page, disc)
    # The right button drags nothing.
    page.mouse.move(x, y)
    page.mouse.down(button="right")
    page.mouse.move(x + 60, y + 40)
    page.mouse.up(button="right")
    page.keyboard.press("Escape")
    assert [each[:2] for each in discs(page)] == [each[:2] for each in before], "the right button drags"
    page.mouse.click(x, y, button="right")
    menu = page.locator(".menu")
    menu.wait_for()
    name = menu.locator(".menu-title").inner_text()
    assert menu.locator("[data-menu=history]").count() == 1
    groups = menu.locator("[data-menu=expand-group]")
    groups.first.wait_for()
    counts = sum(int(each.rstrip("+")) for each in menu.locator("[data-menu=expand-group] .count").all_inner_texts())
    assert counts > 0
    items = menu.locator("[role=menuitem]").evaluate_all("items => items.map(each => each.dataset.menu)")
    for key, index in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", -1), ("Home", 0), ("End", -1)):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.menu") == items[index], (key, items)
    page.keyboard.press("Escape")
    menu.wait_for(state="detached")
    page.mouse.click(x, y, button="right")
    page.locator("[data-menu=neighbours]").click()
    expect(page.locator(".picked strong")).to_have_count(1)
    page.keyboard.press("Escape")
    page.mouse.click(x, y, button="right")
    page.locator("[data-menu=history]").click()
    page.locator(".history-row").first.wait_for()
    expect(page.locator(".element h2")).to_have_text(name, use_inner_text=True)
    shown = sum(legend(page).values())
    page.mouse.click(x, y, button="right")
    page.locator("[data-menu=hide]").click()
    settle(page)
    assert sum(legend(page).values()) < shown


def check_menu_keys(browser, server, open_sample) -> None:
    """By keyboard alone: the menus open, and give the focus back; a vertex is created, on an empty canvas too."""
    page = browser.page()
    open_sample(page, server.url)
    page.locator("#tab-list").click()
    row = page.locator(".tree-row").first
    row.focus()
    assert page.evaluate("(window.row_ = document.activeElement) !== document.body"), "a row of the list takes the focus"
    is_back = lambda: page.evaluate("document.activeElement === window.row_")
    page.keyboard.press("m")
    page.locator("[data-menu=new-vertex]").wait_for()
    page.keyboard.press("Escape")
    assert is_back(), "the menu loses the focus"
    page.keyboard.press("m")
    page.keyboard.press("Enter")
    page.locator(".dialog select[name=label]").wait_for()
    page.keyboard.press("Escape")
    page.locator(".dialog").wait_for(state="detached")
    assert is_back(), "the dialog loses the focus"
    page.keyboard.press("Enter")
    page.locator(".element h2").wait_for()
    page.keyboard.press("m")
    page.locator("[data-menu=expand]").wait_for()
    page.keyboard.press("Escape")
    page.locator("[data-tool=clearCanvas]").click()
    page.locator("[data-card=new-vertex]").focus()
    page.keyboard.press("Enter")
    page.locator(".dialog select[name=label]").select_option("city")
    for each in page.locator(".dialog .edit-fields label", has_text="*").all():
        each.locator("input").fill("Ys" if "TEXT" in each.inner_text() else "1")
    page.locator("[data-action=send]").click()
    page.locator(".dialog").wait_for(state="detached")
    settle(page)
    assert legend(page) == {"city": 1}
    page.locator("[data-tool=newVertex]").click()
    page.locator(".dialog select[name=label]").wait_for()


def check_search(browser, server, open_sample) -> None:
    """A search centres what it finds, and new neighbours lie free."""
    page = browser.page()
    open_sample(page, server.url)
    person = server.explore("load_sample")["show"][0]
    name = person.strip('"').split(":", 1)[1]
    page.locator("#search").fill(name)
    page.locator("[role=option]", has_text=name).first.click()
    settle(page)
    page.wait_for_timeout(400)
    page.locator("#search").press("Escape")
    page.keyboard.press("m")
    place = page.locator(".menu").bounding_box()
    frame = page.locator(".canvas").bounding_box()
    assert abs(place["x"] - frame["x"] - frame["width"] / 2) < frame["width"] * 0.25, (place, frame)
    page.keyboard.press("Escape")
    page.locator("[data-tool=clearCanvas]").click()
    page.locator(".label-card", has_text="city").click()
    settle(page)
    page.locator("#tab-list").click()
    page.locator(".tree-row").first.click()
    page.get_by_role("button", name="Expand", exact=True).click()
    settle(page)
    page.wait_for_timeout(500)
    found = discs(page)
    assert all((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 >= (a[2] + b[2]) ** 2 - 1 for i, a in enumerate(found) for b in found[:i]), "neighbours are piled"


def check_comparison(browser, server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    swatch = page.locator(".legend-item circle").first.get_attribute("fill")
    set_time(page, "valid", "2021-01-01")
    page.keyboard.press("Escape")
    page.locator(".time-actions button", has_text="Compare").click()
    page.locator(".preset", has_text="What changed").click()
    page.locator(".dialog .primary").click()
    settle(page)
    assert [each.strip() for each in page.locator(".marks li").all_inner_texts()] == ["added", "removed", "changed"]
    expect(page.locator(".slider[data-kind=valid] .thumb.other")).to_have_text("A", use_inner_text=True)
    assert page.locator(".slider[data-kind=known] .thumb.other").count() == 1
    rows = page.locator("li.change .row-button")
    count = rows.count()
    rows.first.click()
    settle(page)
    expect(page.locator("#tab-changes")).to_have_attribute("aria-selected", "true")
    expect(rows).to_have_count(count)
    expect(page.locator(".legend-item circle").first, "colours of labels stay").to_have_attribute("fill", swatch)


def check_axes(browser, server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    dates = page.locator(".slider[data-kind=valid] .dates span")
    years = dates.all_inner_texts()
    assert years and all(re.fullmatch(r"\d{4}(-\d\d)?", each) for each in years), years
    box = page.locator(".slider[data-kind=valid] .track").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    for _ in range(6):
        page.mouse.wheel(0, -300)
    page.wait_for_timeout(200)
    days = dates.all_inner_texts()
    assert days and len(days[0]) > 4 and days != years, days
    for _ in range(6):
        page.mouse.wheel(0, -300)
    page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + 10)
    settle(page)
    expect(field(page, "valid")).to_have_value(re.compile(r" \d\d:\d\d"))
    page.locator(".slider[data-kind=valid] .calendar input").fill("2022-03-04")
    settle(page)
    expect(field(page, "valid")).to_have_value("2022-03-04")
    assert page.locator(".slider[data-kind=known] .dates span").count() > 0


def check_kept(browser, server, open_sample) -> None:
    """Over a reload and other pages everything stays where it was; a scene keeps it under a name."""
    page = browser.page()
    open_sample(page, server.url)
    set_time(page, "valid", "2023-01-01")
    disc = free_disc(page)
    x, y = at(page, disc)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 25)
    page.mouse.move(x + 50, y + 40)
    page.mouse.up()
    before, shown = discs(page), legend(page)
    assert any(abs(each[0] - disc[0] - 50) < 3 and abs(each[1] - disc[1] - 40) < 3 for each in before), "the left button drags"
    for leave in (lambda: page.reload(), lambda: (page.goto(server.url + "/ui/#/tasks"), page.goto(server.url + "/ui/#/explore"))):
        leave()
        page.locator(".legend-row").first.wait_for(state="attached")
        settle(page)
        expect(field(page, "valid")).to_have_value("2023-01-01")
        assert legend(page) == shown
        after = discs(page)
        assert all(abs(a - b) < 2 for one, other in zip(before, after) for a, b in zip(one, other)), "vertices moved"
    page.locator("[data-tool=scenes]").click()
    page.locator(".dialog input[name=scene]").fill("first look")
    page.locator(".dialog .primary").click()
    page.locator("[data-scene='first look']").wait_for()
    page.keyboard.press("Escape")
    page.locator("[data-tool=clearCanvas]").click()
    page.locator(".label-card", has_text="city").click()
    settle(page)
    page.locator("[data-tool=scenes]").click()
    page.locator("[data-scene='first look']").click()
    settle(page)
    expect(field(page, "valid")).to_have_value("2023-01-01")
    assert legend(page) == shown
    check_replace(page, server)
    other = browser.page()
    other.goto(server.url + "/ui/")
    other.locator(".label-card").first.wait_for()
    expect(other.locator(".legend-row"), "another window begins empty").to_have_count(0)


def check_replace(page, server) -> None:
    """Saving under the name of another scene asks first."""
    path = f"/graphs/{server.graph}/variables/~scene:first%20look"
    before = server.call(path)
    page.locator("[data-tool=scenes]").click()
    page.locator(".dialog input[name=scene]").fill("first look")
    save = page.locator(".dialog .primary")
    page.locator(".legend-row").first.evaluate("row => row.click()")
    save.click()
    page.locator(".dialog .primary", has_text="Replace first look?").wait_for()
    assert server.call(path) == before, "saving asks"
    page.locator(".dialog input[name=scene]").fill("first look ")
    page.locator(".dialog .primary", has_text="Save").wait_for()
    save.click()
    page.locator(".dialog .primary", has_text="Replace").wait_for()
    save.click()
    page.locator(".dialog .primary", has_text="Save").wait_for()
    assert server.call(path) != before
    page.keyboard.press("Escape")


def check_painter(browser, server, open_sample) -> None:
    """A layout that fails is told, and a grid takes its place. A picture that could not be painted is told, and the next one is painted."""
    page = browser.page(expected=("no memory", "no layout"))
    page.route("**/layout.worker*", lambda route: route.fulfill(content_type="text/javascript", body="self.onmessage = () => { throw new Error('no layout'); };"))
    broken = """{ const real = OffscreenCanvas.prototype.transferToImageBitmap; let count = 0;
      OffscreenCanvas.prototype.transferToImageBitmap = function () { if (++count === 4) throw new Error("no memory"); return real.call(this); }; }"""

    def break_it(route) -> None:
        found = route.fetch()
        route.fulfill(response=found, body=broken + found.text())

    page.route("**/paint.worker*", break_it)
    open_sample(page, server.url)
    page.locator(".problem", has_text="no layout").wait_for()
    page.locator(".canvas[data-arranging=no]").wait_for(state="attached")
    page.get_by_role("alert").get_by_role("button").click()
    canvas = page.locator(".canvas canvas")
    painted = lambda: int(canvas.get_attribute("data-painted"))
    for _ in range(10):
        if page.locator(".problem").count():
            break
        page.locator("[data-tool=zoomIn]").click()
        page.wait_for_timeout(300)
    page.locator(".problem", has_text="no memory").wait_for()
    before = painted()
    for name in ("zoomIn", "zoomOut"):
        page.locator(f"[data-tool={name}]").click()
        page.wait_for_timeout(300)
    assert painted() > before, "the canvas stands still"
    found = discs(page)
    assert all(math.hypot(a[0] - b[0], a[1] - b[1]) >= a[2] + b[2] - 1 for i, a in enumerate(found) for b in found[:i]), "discs overlap"


def check_offline(browser, server, open_sample) -> None:
    """Where the server does not answer, the sliders say what the picture shows."""
    page = browser.page(expected=("ERR_FAILED",))
    open_sample(page, server.url)
    set_time(page, "valid", "2023-01-01")
    shown = legend(page)
    page.route("**/explore/elements**", lambda route: route.abort())
    field(page, "valid").fill("2021-01-01")
    field(page, "valid").press("Enter")
    page.locator(".problem").wait_for()
    page.wait_for_timeout(300)
    expect(field(page, "valid")).to_have_value("2023-01-01")
    assert legend(page) == shown
    page.unroute("**/explore/elements**")
    set_time(page, "valid", "2021-01-01")
    expect(field(page, "valid")).to_have_value("2021-01-01")
    expect(page.locator(".problem")).to_have_count(0)


def check_selection(browser, server, open_sample) -> None:
    """Shift and a drag select no text, and after Fit no vertex lies under the legend."""
    page = browser.page()
    open_sample(page, server.url)
    frame = page.locator(".canvas").bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(frame["x"] + frame["width"] * 0.5, frame["y"] + 5)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] + 120, frame["y"] + 200, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert page.evaluate("getSelection().toString()") == ""
    page.keyboard.press("Escape")
    page.locator("[data-tool=fit]").click()
    page.wait_for_timeout(300)
    key = page.locator(".legend").bounding_box()
    covered = [each for each in discs(page) if frame["x"] + each[0] < key["x"] + key["width"] and frame["y"] + each[1] > key["y"]]
    assert not covered, covered
