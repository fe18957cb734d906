"""Styles of labels: all users share them in the form that Hubble has; who may not write keeps its own."""

import json

from browser import expect, settle

SWATCH = "document.querySelector('.legend-item:has([data-style=person]) circle').getAttribute('fill')"
CHOSEN = "#b0659a"


def stored(server) -> dict | None:
    label = server.call(f"/graphs/{server.graph}/schema/vertexlabels/person")
    text = label["user_data"].get("~style")
    return None if text is None else json.loads(text)


def choose(page) -> None:
    page.locator("[data-style=person]").click()
    page.get_by_role("radio", name="Colour 4").click()
    page.locator(".dialog select[name=size]").select_option("large")
    page.locator(".dialog select[name=caption]").select_option("~id")


def kept(page) -> str:
    return page.evaluate("localStorage.getItem('varve.style.hugegraph')")


def wait_until(page, holds) -> None:
    for _ in range(100):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it does not come to hold")


def show_people(page) -> None:
    page.locator(".label-card", has_text="person").click()
    settle(page)


def check(browser, server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    plain = page.evaluate(SWATCH)
    # Hubble has styled the label before: what only it knows stays.
    icon = {"icon": "user", "join_symbols": ["-"]}
    path = f"/graphs/{server.graph}/schema/vertexlabels/person"
    server.call(f"{path}?action=append", {"name": "person", "user_data": {"~style": json.dumps(icon)}}, "PUT")
    page.reload()
    page.locator("[data-style=person]").wait_for()
    settle(page)
    choose(page)
    shared = {**icon, "color": CHOSEN, "size": "BIG", "display_fields": ["~id"]}
    wait_until(page, lambda: stored(server) == shared and kept(page) == "{}")
    expect(page.locator(".dialog [role=status]")).to_contain_text("All users", use_inner_text=True)
    page.keyboard.press("Escape")
    assert page.evaluate(SWATCH) == CHOSEN
    other = browser.page()
    other.goto(server.url + "/ui/")
    show_people(other)
    assert other.evaluate(SWATCH) == CHOSEN
    other.get_by_role("button", name="Export the graph").click()
    with other.expect_download() as download:
        other.locator(".export-pictures .preset", has_text="SVG").click()
    assert f'fill="{CHOSEN}"' in download.value.path().read_text()
    page.locator("[data-style=person]").click()
    page.get_by_role("button", name="As before").click()
    # Taken back, it leaves what Hubble has.
    wait_until(page, lambda: stored(server) == icon)
    page.keyboard.press("Escape")
    assert page.evaluate(SWATCH) == plain
    check_refused(browser, server)


def check_refused(browser, server) -> None:
    """Who may not change the schema has a style of its own, and is told so."""
    page = browser.page(expected=("status of 403",))
    refuse = lambda route: route.fulfill(status=403, json={"message": "Permission denied"}) if route.request.method == "PUT" else route.continue_()
    page.route("**/schema/vertexlabels/person**", refuse)
    page.goto(server.url + "/ui/")
    show_people(page)
    choose(page)
    page.locator(".dialog [role=status]", has_text="this browser alone: Permission denied").wait_for()
    page.reload()
    page.locator("[data-style=person]").wait_for()
    assert page.evaluate(SWATCH) == CHOSEN
    assert "color" not in stored(server)
