"""A label with more vertices than a canvas shows is a table, whose requests are small however many there are.

VARVE_TEST_LABEL says how many vertices: 10_000_000 is the target's number, and its times are printed."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import screens
from browser import expect

# More than counts are exact for (`explore.count_max`).
COUNT = int(os.environ.get("VARVE_TEST_LABEL", "10500"))
GRAPH = "readings"
# An answer of one page, of the counts of one label or of a first look.
ANSWER_BYTES_MAX = 400_000
SCHEMA = {
    "propertykeys": [{"name": "code", "data_type": "TEXT"}, {"name": "value", "data_type": "INT"}],
    "vertexlabels": [{"name": "reading", "id_strategy": "CUSTOMIZE_STRING", "properties": ["code", "value"]}],
    "edgelabels": [],
}
MAPPING = '[[vertex]]\nfile = "readings.csv"\nlabel = "reading"\nid = "code"\n'


def load(server) -> None:
    server.call(f"/graphs/{GRAPH}", {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mapping.toml").write_text(MAPPING)
        (folder / "schema.json").write_text(json.dumps(SCHEMA))
        with (folder / "readings.csv").open("w") as file:
            file.write("code,value\n")
            file.writelines(f"r{index},{index % 1000}\n" for index in range(COUNT))
        command = [os.environ["VARVE_TEST_SERVER"], "load", "mapping.toml", "--schema", "schema.json", "--graph", GRAPH, "--server", server.url]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def check(browser, server) -> None:
    load(server)
    page = browser.page()
    answers: list[tuple[str, int]] = []
    page.on("requestfinished", lambda request: answers.append((request.url, request.sizes()["responseBodySize"])))
    page.goto(f"{server.url}/ui/")
    page.locator(".graph-choice select").select_option(GRAPH)
    card = page.locator(".label-card", has_text="reading")
    card.wait_for()
    expect(card.locator(".count")).to_have_text("10,000+", use_inner_text=True)
    expect(card).to_contain_text("Table", use_inner_text=True)
    started = time.monotonic()
    card.click()
    rows = page.locator(".label-table tbody tr:not([aria-hidden])")
    rows.first.wait_for()
    print(f"        {COUNT:,} vertices: the table shows after {(time.monotonic() - started) * 1000:.0f} ms", flush=True)
    expect(page.locator(".label-table table")).to_have_attribute("aria-rowcount", "500")
    assert rows.count() < 60, "only rows in view are in the document"
    first = rows.first.locator("td").first.inner_text()
    assert not (wrong := screens.problems(page, "wide-light-table")), wrong
    page.get_by_role("button", name="Next page").click()
    page.locator(".page-number", has_text="Page 2").wait_for()
    page.locator(".label-table[aria-busy=false]").wait_for()
    second = rows.first.locator("td").first.inner_text()
    assert first != second
    page.get_by_role("button", name="Page before").click()
    page.locator(".page-number", has_text="Page 1").wait_for()
    page.locator(".label-table td", has_text=first).first.wait_for()
    rows.first.locator("button").click()
    page.locator(".legend-row", has_text="reading").wait_for(state="attached")
    page.locator(".legend-row .count", has_text="1 of 10,000+").wait_for()
    of_graph = [(url, size) for url, size in answers if f"/graphs/{GRAPH}/" in url]
    assert of_graph and max(size for _, size in of_graph) < ANSWER_BYTES_MAX, of_graph
    listings = [url for url, _ in of_graph if "/graph/vertices" in url]
    assert listings and all("limit=500" in url for url in listings), listings
    server.call(f"/graphs/{GRAPH}", method="DELETE", confirm_message="I'm sure to drop the graph")
