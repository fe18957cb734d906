"""The query page: errors in plain words, plans as trees, paths and maps, the picture beside the table, saved queries."""

import csv
import io
import json
import re

from browser import expect, settle, write

UUID = "835e1153-9281-4957-8691-cf79258e90eb"
RESULT = ".result tbody td"


def begin(browser, server, open_sample, kind: str = "gremlin", expected: tuple[str, ...] = ()):
    page = browser.page(expected=expected)
    open_sample(page, server.url)
    page.goto(server.url + "/ui/#/query")
    page.locator(f"[data-kind={kind}]").click()
    page.locator(".editor .cm-content").wait_for()
    return page


def run(page, text: str, wait: str = RESULT) -> None:
    write(page, text)
    page.locator("[data-action=run]").click()
    page.locator(wait).first.wait_for()
    # By then it is among the past ones.
    page.locator("[data-action=run]").wait_for()


def names_of_people(server) -> list[str]:
    rows = server.call(f"/db/{server.graph}/query/v2", {"statement": "MATCH (p:person) RETURN p.name ORDER BY p.name"})
    return [name for [name] in rows["data"]["values"]]


def errors_are_told_in_plain_words(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample, expected=("status of 400",))
    marked = page.locator(".cm-lintRange-error")
    cases = [
        ("g.V().nothing()", "No such step", "There is no step nothing() without arguments.", "nothing"),
        ("g.V()\n  .has('name' 'x')", "The text cannot be read", "unexpected ''x''", "'"),
        ("g.V().count(1, 2)", "No such step", "There is no step count(Integer, Integer).", "count"),
        ("foo.bar", "Unknown name", "foo", "foo"),
        ("g.addV('nolabel')", "A name or value is not accepted", "Undefined vertex label: 'nolabel'", "nolabel"),
    ]
    for text, title, message, place in cases:
        run(page, text, ".failure strong")
        box = page.locator(".failure")
        box.locator("strong", has_text=title).wait_for()
        expect(box.locator("p").first).to_contain_text(message, use_inner_text=True)
        expect(marked.first).to_have_text(re.compile("^" + re.escape(place)), use_inner_text=True)
        said = box.locator("strong").inner_text() + box.locator("p").first.inner_text()
        assert not any(part in said for part in ("java", "groovy", "Exception", "org.")), said
    run(page, "g.V().nothing()", ".failure strong")
    box.locator("summary").click()
    expect(box.locator("details")).to_contain_text("groovy.lang.MissingMethodException", use_inner_text=True)
    # An old result and an old error go when a new query runs.
    run(page, "g.V().hasLabel('person').count()")
    expect(page.locator(".failure")).to_have_count(0)
    expect(marked).to_have_count(0)
    held = []
    page.route("**/gremlin", lambda route: held.append(route))
    page.locator("[data-action=run]").click()
    page.locator("[role=status]", has_text="Running").wait_for()
    expect(page.locator(".result")).to_have_count(0)
    held[0].continue_()
    page.locator(RESULT).first.wait_for()


def a_plan_of_gremlin_is_a_tree(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample)
    write(page, "g.V().hasLabel('person').where(out('lives_in').has('name', 'Milan')).limit(3).toList()")
    page.locator("[data-action=explain]").click()
    sides = page.locator(".plan-side")
    sides.first.wait_for()
    expect(sides).to_have_count(2)
    names = [sides.nth(at).locator(".operator strong").all_inner_texts() for at in (0, 1)]
    assert names[1] == ["Range", "Where", "Source", "HasProperty", "Expand"], names
    assert "HasToken" in names[0], "as it was written, the label is a step of its own"
    expect(sides.nth(1).locator(".branches > li"), "what a step tests is a branch").to_have_count(2)
    said = sides.nth(1).inner_text()
    assert "person" in said and "{" not in said and "Some(" not in said, said
    page.locator("[data-action=profile]").click()
    page.locator(".profile tbody tr").first.wait_for()
    people = len(names_of_people(server))
    cells = page.locator(".profile tbody tr").first.locator("td").all_inner_texts()
    assert cells[0].startswith("Source") and "Some(" not in cells[0] and 0 < int(cells[4]) <= people, cells
    write(page, "g.V().drop()")
    page.locator("[data-action=profile]").click()
    page.locator(".dialog .danger").wait_for()
    page.keyboard.press("Escape")
    page.locator("[data-action=explain]").click()
    page.locator(".plan-side").first.wait_for()
    assert len(names_of_people(server)) == people, "neither was run"


def paths_are_chains_and_maps_are_rows(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample)
    run(page, "g.V().has('person','name','Ann').outE('lives_in').inV().path()", ".chain")
    chain = page.locator(".chain").first
    expect(chain.locator(".chain-node")).to_have_text(["Ann", "Milan"], use_inner_text=True)
    expect(chain.locator(".chain-edge")).to_have_text(["– lives_in →"], use_inner_text=True)
    run(page, "g.V().has('person','name','Ann').out().tree()", ".chain")
    assert page.locator(".chain").count() > 1
    # One map with many keys: a row for each.
    run(page, "g.V().hasLabel('person').groupCount().by('name')")
    expect(page.locator(".result thead button")).to_have_text(["Key", "Value"], use_inner_text=True)
    shown = page.locator(".result tbody tr td:first-child").all_inner_texts()
    assert set(shown) <= set(names_of_people(server)) and len(shown) > 10, shown
    # Maps with the same keys have columns.
    run(page, "g.V().hasLabel('city').project('name','people').by('name').by(__.in('lives_in').count())")
    expect(page.locator(".result thead button")).to_have_text(["name", "people"], use_inner_text=True)
    with page.expect_download() as download:
        page.locator("[data-action=saveCsv]").click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))
    assert rows[0] == ["name", "people"] and len(rows) == 1 + page.locator(".result tbody tr").count(), rows[:2]
    with page.expect_download() as download:
        page.locator("[data-action=downloadJson]").click()
    assert len(json.loads(download.value.path().read_text())) == len(rows) - 1


def the_picture_is_beside_the_table(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample, "cypher")
    run(page, "MATCH (a:person {name: 'Ann'})-[r:lives_in]->(b) RETURN a.name, r, b")
    picture = page.locator(".result-picture .canvas[data-arranged=yes]")
    picture.wait_for()
    expect(picture).to_have_attribute("data-drawn", "2")
    expect(picture).to_have_attribute("data-edges", "1")
    table, drawn = page.locator(".result .table-frame").bounding_box(), page.locator(".result-picture").bounding_box()
    assert table["x"] + table["width"] <= drawn["x"] and abs(table["y"] - drawn["y"]) < 2, "side by side"
    page.locator(".result tbody td .link").first.click()
    page.locator(".result tr.chosen").wait_for()
    page.locator("[data-action=picture]").click()
    page.locator(".result-picture").wait_for(state="detached")
    page.locator("[data-action=picture]").click()
    # On the canvas, what was found is marked.
    run(page, "MATCH (c:city) RETURN c")
    cities = page.locator(".result tbody tr").count()
    page.get_by_role("button", name=f"Show {cities} in the graph").click()
    page.locator(".picked strong", has_text=f"{cities} picked").wait_for()
    settle(page)
    assert int(page.locator(".explore .canvas").get_attribute("data-drawn")) > cities, "what was there stays"
    # Graph and times are those of the request, not those of the page.
    page.goto(f"{server.url}/ui/#/query")
    page.locator("[data-kind=rest]").click()
    path = f"/graphs/{server.graph}/graph/vertices?label=city&as_of=2020-06-01"
    with page.expect_request("**/explore/elements**") as asked:
        run(page, f"GET {path}")
    assert "as_of=2020-06-01" in asked.value.url, asked.value.url
    page.locator(".result-facts", has_text="true at 2020-06-01").wait_for()
    page.locator("[data-kind=cypher]").click()
    run(page, "FOR VALID_TIME AS OF date('2020-06-01') MATCH (c:city) RETURN c")
    assert page.locator("[data-action=to-graph], [data-action=picture]").count() == 0
    assert "true at" not in page.locator(".result-facts").inner_text()


def ids_that_look_alike_are_found(browser, server, open_sample) -> None:
    graph = "looking_alike"
    server.call(f"/graphs/{graph}", {})
    for name, strategy in (("txt", "CUSTOMIZE_STRING"), ("num", "CUSTOMIZE_NUMBER"), ("uid", "CUSTOMIZE_UUID")):
        server.call(f"/graphs/{graph}/schema/vertexlabels", {"name": name, "id_strategy": strategy, "properties": []})
    edge = {"name": "leads", "source_label": "txt", "target_label": "uid", "properties": []}
    server.call(f"/graphs/{graph}/schema/edgelabels", edge)
    for label, id in (("txt", "123"), ("num", 123), ("uid", UUID), ("txt", UUID)):
        server.call(f"/graphs/{graph}/graph/vertices", {"label": label, "id": id, "properties": {}})
    ends = {"outV": "123", "outVLabel": "txt", "inV": UUID, "inVLabel": "uid"}
    server.call(f"/graphs/{graph}/graph/edges", {"label": "leads", **ends, "properties": {}})
    page = begin(browser, server, open_sample)
    page.locator(".graph-choice select").select_option(graph)
    text, number, uuid, text_uuid = '"123"', "123", f'U"{UUID}"', f'"{UUID}"'
    cases = [
        ("gremlin", "g.V().hasLabel('txt')", {text, text_uuid}), ("gremlin", "g.V().hasLabel('num')", {number}),
        ("gremlin", "g.V().hasLabel('uid')", {uuid}), ("gremlin", "g.E()", {text, uuid}), ("gremlin", "g.V().hasLabel('uid').elementMap()", {uuid}),
        ("cypher", "MATCH (n:txt) RETURN n", {text, text_uuid}), ("cypher", "MATCH (n:num) RETURN n", {number}),
        ("cypher", "MATCH (a)-[r]->(b) RETURN r, b", {text, uuid}),
    ]
    for kind, query, refs in cases:
        page.goto(f"{server.url}/ui/#/query")
        page.locator(f"[data-kind={kind}]").click()
        run(page, query)
        page.locator(".result-picture .canvas[data-arranged=yes]").wait_for()
        with page.expect_request("**/explore/elements**") as asked:
            page.locator("[data-action=to-graph]").click()
        assert set(asked.value.post_data_json["vertices"]) == refs, (query, asked.value.post_data_json)
        page.locator(".picked strong", has_text=f"{len(refs)} picked").wait_for()
        page.locator("[data-tool=clearCanvas]").click()
    server.call(f"/graphs/{graph}", method="DELETE", confirm_message="I'm sure to drop the graph")


def queries_are_saved_with_a_name(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample, "cypher", expected=("status of 400",))
    page.locator(".parameters textarea").fill('{"name": "Ann"}')
    text = "MATCH (p:person {name: $name}) RETURN p.born"
    run(page, text)
    page.locator("[data-action=saved]").click()
    page.locator(".dialog input[name=saved]").fill("birth")
    page.locator("[data-action=save-query]").click()
    page.locator("[data-saved=birth]").wait_for()
    page.keyboard.press("Escape")
    # The same name asks before it replaces.
    write(page, "RETURN 1")
    page.locator(".parameters textarea").fill("")
    page.locator("[data-action=saved]").click()
    page.locator(".dialog input[name=saved]").fill("birth")
    page.locator("[data-action=save-query]").click()
    page.locator("[data-action=save-query]", has_text="Replace birth?").wait_for()
    page.keyboard.press("Escape")
    page.reload()
    page.locator("[data-action=saved]").click()
    page.locator("[data-saved=birth]").click()
    expect(page.locator(".editor .cm-content")).to_have_text(text, use_inner_text=True)
    expect(page.locator(".parameters textarea")).to_have_value('{"name": "Ann"}')
    # Another graph has others.
    server.call("/graphs/other_queries", {})
    page.reload()
    page.locator(".graph-choice select").select_option("other_queries")
    page.locator("[data-action=saved]").click()
    page.locator(".dialog", has_text="None yet.").wait_for()
    page.keyboard.press("Escape")
    page.locator(".graph-choice select").select_option(server.graph)
    page.locator("[data-action=saved]").click()
    page.get_by_role("button", name="Remove birth").click()
    page.get_by_role("button", name="Remove birth").click()
    page.locator("[data-saved=birth]").wait_for(state="detached")
    page.keyboard.press("Escape")
    # What was run, and what failed of it.
    run(page, "RETURN nobody", ".failure")
    page.locator("[data-action=past]").click()
    first = page.locator(".past li").first
    for part in ("RETURN nobody", "Failed"):
        expect(first).to_contain_text(part, use_inner_text=True)
    page.locator(".past li", has_text=text).first.click()
    expect(page.locator(".editor .cm-content")).to_have_text(text, use_inner_text=True)
    server.call("/graphs/other_queries", method="DELETE", confirm_message="I'm sure to drop the graph")
    # A request that may hold a password is not kept.
    page.locator("[data-kind=rest]").click()
    write(page, 'PUT /auth/users/x\n\n{"user_password": "secret"}')
    page.locator("[data-action=saved]").click()
    page.locator(".dialog input[name=saved]").fill("secret")
    page.locator("[data-action=save-query]").click()
    page.locator(".dialog .failure", has_text="may hold a password").wait_for()


TESTS = [
    errors_are_told_in_plain_words, a_plan_of_gremlin_is_a_tree, paths_are_chains_and_maps_are_rows,
    the_picture_is_beside_the_table, ids_that_look_alike_are_found, queries_are_saved_with_a_name,
]
