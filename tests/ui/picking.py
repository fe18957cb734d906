"""Several vertices at once: picked with a box, with Ctrl, in the list; what is done with all of them."""

import json
import math
import re
from xml.etree import ElementTree

from browser import expect, legend, settle

SVG = "{http://www.w3.org/2000/svg}"


def discs(page) -> list[tuple[float, float, float]]:
    """Places and radii of the vertices on the canvas, by the picture that the page saves."""
    page.get_by_role("button", name="Export the graph").click()
    with page.expect_download() as download:
        page.locator(".export-pictures .preset", has_text="SVG").click()
    page.locator(".dialog").wait_for(state="detached")
    circles = ElementTree.fromstring(download.value.path().read_bytes()).find(f"{SVG}svg").findall(f"{SVG}circle")
    return [(float(each.get("cx")), float(each.get("cy")), float(each.get("r"))) for each in circles]


def places(page) -> list[tuple[float, float]]:
    return [disc[:2] for disc in discs(page)]


def drag(page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def picked(page) -> int:
    bar = page.locator(".picked strong")
    return int(bar.inner_text().split()[0].replace(",", "")) if bar.count() else 0


def act(page, name: str) -> None:
    page.locator(f"[data-picked={name}]").click()
    settle(page)


def vertices(page, server) -> int:
    labels = {each["label"] for each in server.explore("summary")["vertices"]}
    return sum(count for label, count in legend(page).items() if label in labels)


def check(browser, server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    check_box(page)
    check_actions(page, server)
    check_list(page, server)


def check_box(page) -> None:
    """A box picks what it touches, and the canvas stays where it is."""
    frame = page.locator(".canvas").bounding_box()
    before = discs(page)
    assert len(before) > 20, before
    # Right of the middle, where neither legend nor hints lie.
    middle, right, bottom = frame["width"] * 0.5, frame["width"] - 2, frame["height"] * 0.6
    reach = lambda x, y: math.hypot(max(middle - x, 0, x - right), max(2 - y, 0, y - bottom))
    wanted = sum(reach(x, y) <= radius for x, y, radius in before)
    assert 0 < wanted < len(before), wanted
    at = lambda x, y: (frame["x"] + x, frame["y"] + y)
    page.keyboard.down("Shift")
    page.locator(".box-selection").wait_for()
    drag(page, at(middle, 2), at(right, bottom))
    page.keyboard.up("Shift")
    page.locator(".box-selection").wait_for(state="detached")
    assert picked(page) == wanted, (picked(page), wanted)
    assert places(page) == [disc[:2] for disc in before], "the canvas stays where it is"
    # Ctrl and a click take one out, and put it back.
    x, y, _ = next(disc for disc in before if middle < disc[0] - disc[2] and 40 < disc[1] < bottom and disc[0] < right - 40)
    for left in (wanted - 1, wanted):
        page.mouse.move(*at(x, y))
        page.keyboard.down("Control")
        page.mouse.click(*at(x, y))
        page.keyboard.up("Control")
        page.locator(".picked strong", has_text=f"{left} picked").wait_for()
        page.wait_for_timeout(400)
    # The button draws one box without a key.
    page.locator("[data-tool=pickBox]").click()
    drag(page, at(2, 2), at(right, bottom))
    page.locator(".box-selection").wait_for(state="detached")
    assert picked(page) > wanted
    page.keyboard.press("Escape")
    assert picked(page) == 0
    drag(page, at(middle, 3), at(middle - 60, 43))
    assert picked(page) == 0 and places(page) != [disc[:2] for disc in before], "without a key the canvas moves"
    page.locator("[data-tool=fit]").click()
    page.wait_for_timeout(400)


def check_actions(page, server) -> None:
    frame = page.locator(".canvas").bounding_box()
    everything = vertices(page, server)
    page.locator("[data-tool=pickBox]").click()
    drag(page, (frame["x"] + frame["width"] * 0.6, frame["y"] + 2), (frame["x"] + frame["width"] - 2, frame["y"] + frame["height"] * 0.5))
    some = picked(page)
    assert 0 < some < everything, some
    act(page, "invertPicked")
    assert picked(page) == everything - some
    act(page, "hide")
    assert vertices(page, server) == some and picked(page) == 0
    page.get_by_role("button", name="Undo").click()
    settle(page)
    assert vertices(page, server) == everything


def row(page, ref: str):
    """The row of the list for a vertex of the sample."""
    name = re.compile(rf"^\s*{re.escape(json.loads(ref).split(':', 1)[1])}\s*$")
    return page.locator(".tree-row").filter(has=page.locator("[role=gridcell]", has_text=name)).first


def check_list(page, server) -> None:
    """By the list, which has no pixels: two people, what lies between them and around them."""
    shown = server.explore("load_sample")["show"]
    edges = server.explore("elements", {"vertices": shown, "edges": [], "between": True})["edges"]
    ends = [(each["source"], each["target"]) for each in edges]
    # Two with a common neighbour, and no edge between them.
    beside = {frozenset(pair) for pair in ends}
    first, second = next(
        (one, other) for one, at in ends for other, there in ends if at == there and one != other and frozenset((one, other)) not in beside
    )
    around = {first, second} | {two for one, two in ends if one in (first, second)} | {one for one, two in ends if two in (first, second)}
    page.keyboard.press("Escape")
    page.locator("#tab-list").click()
    for ref in (first, second):
        row(page, ref).click(modifiers=["Control"])
    assert picked(page) == 2, (picked(page), first, second)
    assert page.locator(".tree-row[aria-selected=true]").count() == 2
    act(page, "pin")
    act(page, "hideOthers")
    assert vertices(page, server) == 2
    act(page, "pathsBetween")
    assert vertices(page, server) > 2, "the vertices between"
    page.get_by_role("button", name="Undo").click()
    settle(page)
    act(page, "expand")
    assert vertices(page, server) >= len(around), (vertices(page, server), len(around))
    act(page, "pickNeighbours")
    assert picked(page) == len(around), (picked(page), len(around))
    page.keyboard.press("Escape")
    row(page, first).click()
    page.locator(f".element[data-ref='{first}']").wait_for()
    expect(page.get_by_role("button", name="Pin the place")).to_have_attribute("aria-pressed", "true")
