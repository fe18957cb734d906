"""Cypher in the editor: rows, graph and plan, both times, parameters, completion, and the places of errors."""

import re

from browser import expect, set_time, settle, write


def run(page, text: str, wait: str = ".result tbody td") -> None:
    write(page, text)
    page.locator("[data-action=run]").click()
    page.locator(wait).first.wait_for()


def ask(server, statement: str, **times) -> list:
    answer = server.call(f"/db/{server.graph}/query/v2", {"statement": statement}, **times)
    return answer["data"]["values"]


def begin(browser, server, open_sample, expected: tuple[str, ...] = ()):
    page = browser.page(expected=expected)
    open_sample(page, server.url)
    page.goto(server.url + "/ui/#/query")
    page.locator("[data-kind=cypher]").click()
    return page


def check_results(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample)
    run(page, "MATCH (n:person) RETURN count(n) AS people")
    [[people]] = ask(server, "MATCH (n:person) RETURN count(n)")
    expect(page.locator(".result thead")).to_have_text("people", use_inner_text=True)
    expect(page.locator(".result tbody td")).to_have_text(str(people), use_inner_text=True)

    # A parameter, two columns in their order, a path in the notation of the language.
    [[name]] = ask(server, "MATCH (n:person)-[:lives_in]->() RETURN n.name ORDER BY n.name LIMIT 1")
    page.locator(".parameters textarea").fill('{"name": "%s"}' % name)
    run(page, "MATCH p = (a:person {name: $name})-[:lives_in]->(b) RETURN p, 1", ".result tbody .chain")
    expect(page.locator(".chain-edge").first).to_have_text("– lives_in →", use_inner_text=True)
    expect(page.locator(".result thead button")).to_have_text(["p", "1"], use_inner_text=True)
    page.locator("[data-action=run]").click()
    page.get_by_role("button", name="Show 2 in the graph").click()
    page.locator(".canvas canvas").first.wait_for()
    settle(page)

    # The point of both times that the page shows.
    page.locator("[aria-label=Pages] a[href='#/explore']").first.click()
    set_time(page, "valid", "2021-06-01")
    page.goto(server.url + "/ui/#/query")
    statement = "MATCH (:person)-[r:lives_in]->() RETURN count(DISTINCT elementId(r))"
    run(page, statement)
    [[then]] = ask(server, statement, as_of="2021-06-01")
    [[now]] = ask(server, statement)
    assert then != now, "the test needs a day that differs from now"
    expect(page.locator(".result tbody td")).to_have_text(str(then), use_inner_text=True)
    expect(page.locator(".result-facts")).to_contain_text("2021-06-01", use_inner_text=True)

    # The choice of the language stays.
    page.reload()
    page.locator("[data-kind=cypher][aria-selected=true]").wait_for()


def check_changes(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample)
    [[before]] = ask(server, "MATCH (n:city) RETURN count(n)")
    write(page, "CREATE (n:city {name: 'Cypherville', country: 'Nowhere'}) RETURN n.name")
    page.locator("[data-action=run]").click()
    facts = page.locator(".result-facts")
    facts.filter(has_text="1 nodes created").wait_for()
    deletion = "MATCH (n:city {name: 'Cypherville'}) DETACH DELETE n"
    write(page, deletion)
    page.locator("[data-action=explain]").click()
    page.locator(".operators").wait_for()
    assert ask(server, "MATCH (n:city) RETURN count(n)") == [[before + 1]], "a plan runs nothing"
    page.locator("[data-action=run]").click()
    page.locator(".dialog .danger").click()
    facts.filter(has_text="1 nodes deleted").wait_for()
    assert ask(server, "MATCH (n:city) RETURN count(n)") == [[before]]


def check_plan(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample)
    write(page, "MATCH (a:person)-[:lives_in]->(b) OPTIONAL MATCH (b)<-[:based_in]-(c) RETURN a.name, c")
    page.locator("[data-action=explain]").click()
    operators = page.locator(".operators .operator strong")
    operators.first.wait_for()
    names = operators.all_inner_texts()
    assert names[0] == "ProduceResults" and "OptionalApply" in names, names
    expect(page.locator(".operators .branches > li"), "what is optional is a branch of its own").to_have_count(2)
    expect(page.locator(".operators")).to_contain_text(":person", use_inner_text=True)
    write(page, "PROFILE MATCH (a:person) RETURN a.name LIMIT 2")
    page.locator("[data-action=run]").click()
    page.locator(".operators .measured").first.wait_for()
    expect(page.locator(".operators .measured").first).to_have_text(re.compile("^2 rows"), use_inner_text=True)


def check_errors(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample, expected=("status of 400",))
    marked = page.locator(".cm-lintRange-error")
    for action in ("run", "explain"):
        write(page, "MATCH (n:person)\nRETURN nobody.name")
        page.locator(f"[data-action={action}]").click()
        page.locator(".failure", has_text="line 2, column 8").wait_for()
        expect(marked).to_have_text("nobody", use_inner_text=True)
        page.locator(".failure", has_text="Neo.ClientError.Statement.SyntaxError").wait_for()
    # A part that is selected is counted from its own beginning.
    write(page, "// a comment\nMATCH (n) RETRN n")
    page.keyboard.press("Shift+Home")
    page.locator("[data-action=run]").click()
    page.locator(".failure", has_text="line 1, column 11").wait_for()
    expect(marked).to_have_text("RETRN", use_inner_text=True)
    page.locator(".parameters textarea").fill("{name}")
    page.locator("[data-action=run]").click()
    page.locator(".failure", has_text="The parameters are not a JSON object").wait_for()


def check_completion(browser, server, open_sample) -> None:
    page = begin(browser, server, open_sample)
    page.locator(".parameters textarea").fill('{"given": 1}')
    offered = page.locator(".cm-tooltip-autocomplete li")
    for begun, wanted in (
        ("MATCH (n:per", "person"),
        ("MATCH ()-[:lives", "lives_in"),
        ("MATCH (who:person) RETURN who.na", "name"),
        ("MATCH (who:person) RETURN wh", "who"),
        ("OPT", "OPTIONAL MATCH"),
        ("RETURN toUp", "toUpper"),
        ("CALL db.lab", "db.labels"),
        ("RETURN $gi", "given"),
    ):
        write(page, begun)
        page.keyboard.press("Control+Space")
        offered.filter(has_text=wanted).first.wait_for()
        page.keyboard.press("Escape")
