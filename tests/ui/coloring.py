"""Colours by a property: a scale of numbers, a colour for each value, kept with the style of the label."""

import collections
import json
from xml.etree import ElementTree

from browser import expect, legend, settle

SVG = "{http://www.w3.org/2000/svg}"


def fills(page) -> collections.Counter:
    """How many vertices have each colour, in the picture that is saved."""
    page.get_by_role("button", name="Export the graph").click()
    with page.expect_download() as download:
        page.locator(".export-pictures .preset", has_text="SVG").click()
    picture = ElementTree.fromstring(download.value.path().read_bytes())
    inner = picture.find(f"{SVG}svg")
    named = [each.text for each in picture.findall(f"{SVG}text")]
    return collections.Counter(each.get("fill") for each in inner.findall(f"{SVG}circle")), named


def choose(page, label: str, key: str) -> None:
    page.locator(f"[data-style={label}]").click()
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "/schema/" in answer.url):
        page.locator(".dialog select[name=by]").select_option(key)
    page.locator(".dialog [data-scale]").wait_for()
    page.keyboard.press("Escape")
    settle(page)


def colours_follow_a_property(browser, server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    people = legend(page)["person"]
    before, _ = fills(page)
    assert max(before.values()) >= people, "one colour for each label"
    years = [each["properties"]["born"] for each in server.explore("sample", label="person", limit=1000)["vertices"]]
    choose(page, "person", "born")
    key = page.locator(".legend .scale-key[data-scale=numbers]")
    for year in (min(years), max(years)):
        expect(key).to_contain_text(f"{year}", use_inner_text=True)
    after, named = fills(page)
    assert len(after) >= len(before) + len(set(years)) - 3, (len(set(years)), after)
    assert f"person: born {min(years)}" in named and f"person: born {max(years)}" in named, named
    # Words have a colour each.
    countries = {each["properties"]["country"] for each in server.explore("sample", label="city", limit=1000)["vertices"] if "country" in each["properties"]}
    choose(page, "city", "country")
    values = page.locator(".legend .scale-key[data-scale=values] li").all_inner_texts()
    assert {each.strip() for each in values if "more values" not in each} <= countries and len(values) > 1, values
    # It is kept with the style, for all users and over a reload.
    stored = json.loads(server.call(f"/graphs/{server.graph}/schema/vertexlabels/person")["user_data"]["~style"])
    assert stored["color_by"] == "born", stored
    other = browser.page()
    open_sample(other, server.url)
    other.locator(".legend .scale-key[data-scale=numbers]").wait_for()
    assert fills(other)[0] == fills(page)[0], "all see the same"
    for label, key in (("person", ""), ("city", "")):
        page.locator(f"[data-style={label}]").click()
        with page.expect_response(lambda answer: answer.request.method == "PUT" and "/schema/" in answer.url):
            page.locator(".dialog select[name=by]").select_option(key)
        page.keyboard.press("Escape")
    page.locator(".legend .scale-key").first.wait_for(state="detached")
    settle(page)
    assert fills(page)[0] == before


TESTS = [colours_follow_a_property]
