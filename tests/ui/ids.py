"""Ids that are texts of digits, beside numbers: each is the vertex that the answer named."""

from browser import Browser, Server, expect, legend, settle, write


def make(url: str) -> Server:
    """Two persons with ids of digits, and an item whose id is the number that one of them looks like."""
    server, path = Server(url, "digits"), "/graphs/digits"
    server.call(path, {"name": "digits"})
    for name, strategy in (("person", "CUSTOMIZE_STRING"), ("item", "CUSTOMIZE_NUMBER")):
        server.call(f"{path}/schema/vertexlabels", {"name": name, "id_strategy": strategy, "properties": []})
    for name, target in (("knows", "person"), ("owns", "item")):
        server.call(f"{path}/schema/edgelabels", {"name": name, "source_label": "person", "target_label": target, "properties": []})
    for label, id in (("person", "00217"), ("person", "2001"), ("item", 2001)):
        server.call(f"{path}/graph/vertices", {"label": label, "id": id, "properties": {}})
    for name, label, id in (("knows", "person", "2001"), ("owns", "item", 2001)):
        ends = {"outV": "00217", "outVLabel": "person", "inV": id, "inVLabel": label}
        server.call(f"{path}/graph/edges", {"label": name, **ends, "properties": {}})
    return server


def shown(page) -> dict[str, int]:
    settle(page)
    return legend(page)


def texts_of_digits_are_not_numbers(browser: Browser, server: Server, _open) -> None:
    server = make(server.url)
    page = browser.page()
    page.goto(f"{server.url}/ui/#/query")
    page.locator(".graph-choice select").select_option("digits")
    picture = page.locator(".result-picture .canvas")
    queries = {
        ("cypher", "MATCH (a:person)-[r]->(b) RETURN a, r, b"): {"person": 2, "item": 1, "knows": 1, "owns": 1},
        ("cypher", "MATCH (a:person) RETURN a"): {"person": 2, "knows": 1},
        ("cypher", "MATCH (:person)-[r:owns]->() RETURN r"): {"person": 1, "item": 1, "owns": 1},
        ("gremlin", "g.V().hasLabel('person')"): {"person": 2, "knows": 1},
        ("gremlin", "g.V().hasLabel('item')"): {"item": 1},
    }
    for (kind, text), wanted in queries.items():
        page.locator(f"[data-kind={kind}]").click()
        write(page, text)
        page.locator("[data-action=run]").click()
        vertices = wanted.get("person", 0) + wanted.get("item", 0)
        expect(picture).to_have_attribute("data-drawn", str(vertices))
        page.locator("[data-action=to-graph]").click()
        page.locator(".legend-row").first.wait_for(state="attached")
        assert shown(page) == wanted, (text, shown(page))
        page.locator("[data-tool=clearCanvas]").click()
        page.locator(".rail a[href='#/query']").click()
    # The result of an algorithm has its ids as texts.
    for algorithm, values in (("degree_centrality", {}), ("k_core", {"k": "1"})):
        page.locator(".rail a[href='#/tasks']").click()
        page.locator("[data-action=new-task]").click()
        page.locator(".dialog select[name=algorithm]").select_option(algorithm)
        page.locator(".dialog select[name=source_label]").select_option("person")
        for name, value in values.items():
            page.locator(f".dialog input[name={name}]").fill(value)
        page.locator("[data-action=start]").click()
        page.locator("[data-action=to-canvas]").click()
        page.locator(".emphasis", has_text=algorithm).wait_for()
        assert shown(page) == {"person": 2, "knows": 1}, algorithm
        page.locator("[data-tool=clearCanvas]").click()
    # What is kept over a reload is the same, and so is the history of an element.
    page.locator(".label-card", has_text="person").click()
    page.locator(".legend-row").first.wait_for(state="attached")
    expect(page.locator(".emphasis")).to_have_count(0)
    assert shown(page) == {"person": 2, "knows": 1}
    page.wait_for_timeout(500)
    page.reload()
    page.locator(".legend-row").first.wait_for(state="attached")
    assert shown(page) == {"person": 2, "knows": 1}
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="00217").first.click()
    page.locator(".element[data-ref='\"00217\"']").wait_for()
    page.locator(".element [role=tab]").nth(1).click()
    expect(page.locator(".history li")).to_have_count(1)


TESTS = [texts_of_digits_are_not_numbers]
