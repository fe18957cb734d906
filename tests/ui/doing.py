"""Changes made in the explorer, and algorithms whose results are seen on the canvas."""

import json
import re
import urllib.parse

from browser import expect, legend, settle


def vertex(server, ref: str, **times) -> dict | None:
    found = server.explore("elements", {"vertices": [ref], "edges": [], "between": False}, **times)["vertices"]
    return found[0] if found else None


def send(page) -> None:
    page.locator("[data-action=send]").click()
    page.locator(".dialog").wait_for(state="detached")
    settle(page)


def open_menu(page) -> None:
    """The menu of the canvas, at a corner where nothing lies."""
    box = page.locator(".canvas").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + 8, button="right")
    page.locator(".menu").wait_for()


def check_edit(browser, server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    path = f"/graphs/{server.graph}"
    server.call(f"{path}/schema/propertykeys", {"name": "motto", "data_type": "TEXT", "check_exist": False})
    server.call(f"{path}/schema/vertexlabels/person?action=append", {"name": "person", "properties": ["motto"], "nullable_keys": ["motto"]}, "PUT")
    # A new vertex with a past of its own.
    open_menu(page)
    page.locator("[data-menu=new-vertex]").click()
    page.locator(".dialog select[name=label]").select_option("person")
    page.locator(".dialog .failure", has_text="missing").wait_for()
    expect(page.locator("[data-action=send]")).to_be_disabled()
    for field in page.locator(".dialog .edit-fields label", has_text="*").all():
        field.locator("input").fill("Zoe" if "TEXT" in field.inner_text() else "1")
    page.locator(".dialog input[name=from]").fill("2020-01-01")
    expect(page.locator(".dialog pre")).to_contain_text("valid_from=2020-01-01", use_inner_text=True)
    expect(page.locator(".preview tr.added")).to_have_count(1)
    people = legend(page)["person"]
    send(page)
    assert legend(page)["person"] == people + 1
    ref = page.locator(".element").get_attribute("data-ref")
    assert vertex(server, ref, as_of="2020-06-01") and not vertex(server, ref, as_of="2019-06-01")
    # A past period is corrected; before and after it nothing changes, and what was known stays.
    before = server.explore("elements", {"vertices": [ref], "edges": [], "between": False})["times"]["as_of_tx"]
    page.locator("[data-action=edit]").click()
    page.locator(".dialog input[name=property-motto]").fill("slow and steady")
    page.locator(".dialog input[name=from]").fill("2021-01-01")
    page.locator(".dialog input[name=to]").fill("2022-01-01")
    periods = page.locator(".preview tbody tr")
    page.locator(".preview tr.added", has_text="slow and steady").wait_for()
    expect(periods).to_have_count(3)
    send(page)
    motto = lambda **times: vertex(server, ref, **times)["properties"].get("motto")
    assert motto(as_of="2021-06-01") == "slow and steady"
    assert motto(as_of="2022-06-01") is None and motto(as_of="2020-06-01") is None
    assert motto(as_of="2021-06-01", as_of_tx=before) is None
    # A new edge to another vertex of the canvas.
    edges = sum(legend(page).values())
    page.keyboard.press("m")
    page.locator("[data-menu=new-edge]").click()
    page.locator(".dialog select[name=label]").select_option("lives_in")
    page.locator(".dialog select[name=target]").select_option(index=1)
    for field in page.locator(".dialog .edit-fields label", has_text="*").all():
        field.locator("input").fill("1")
    send(page)
    assert sum(legend(page).values()) == edges + 1
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="Zoe").first.click()
    page.locator(f".element[data-ref='{ref}']").wait_for()
    # A change of nothing is not sent; an end alone ends the element there.
    page.locator("[data-action=edit]").click()
    expect(page.locator("[data-action=send]")).to_be_disabled()
    page.locator(".dialog input[name=from]").fill("2020-01-01")
    page.locator(".dialog input[name=to]").fill("2090-01-01")
    page.locator("[data-action=end-it]").click()
    expect(page.locator(".dialog pre")).to_have_text(re.compile(r"DELETE .*\?valid_from=2090-01-01$"))
    expect(periods).to_have_count(3)
    expect(periods.last).to_contain_text("2090-01-01")
    send(page)
    assert vertex(server, ref, as_of="2089-12-31") and not vertex(server, ref, as_of="2090-01-01")
    # Deleted for a period: it did not exist then. Deleted without one: it ends now.
    page.locator("[data-action=delete]").click()
    assert page.locator(".dialog pre").inner_text().startswith("DELETE ")
    send(page)
    assert not vertex(server, ref) and vertex(server, ref, as_of="2022-06-01")
    page.locator(".absent").wait_for()


class Person:
    """A person with a list and a set, and a plan: from 2100 on it has another name."""

    def __init__(self, server):
        self.server, path = server, f"/graphs/{server.graph}"
        for name, cardinality in (("marks", "LIST"), ("tags", "SET"), ("remark", "SINGLE")):
            server.call(f"{path}/schema/propertykeys", {"name": name, "data_type": "TEXT", "cardinality": cardinality, "check_exist": False})
        keys = ["marks", "tags", "remark"]
        server.call(f"{path}/schema/vertexlabels/person?action=append", {"name": "person", "properties": keys, "nullable_keys": keys}, "PUT")
        found = server.explore("sample", label="person", limit=1)["vertices"][0]
        properties = {**found["properties"], "name": "Yves", "marks": ["a", "b"], "tags": ["a", "b"], "remark": "old"}
        made = server.call(f"{path}/graph/vertices", {"label": "person", "properties": properties}, valid_from="2020-01-01")
        self.ref = json.dumps(made["id"])
        self.path = f"{path}/graph/vertices/{urllib.parse.quote(self.ref, safe='')}"
        planned = {"label": "person", "properties": {"remark": "planned", "marks": ["c"]}}
        server.call(self.path, planned, "PUT", action="append", valid_from="2100-01-01")

    def states(self) -> list[dict]:
        return [{"from": each["valid_from"], "to": each["valid_to"], **each["element"]["properties"]} for each in self.server.call(f"{self.path}/timeline")["states"]]

    def open(self, page) -> None:
        """Shows it, selected."""
        page.locator("#search").fill("Yves")
        page.locator("[role=option]", has_text="Yves").first.click()
        settle(page)
        page.locator(f".element[data-ref='{self.ref}']").wait_for()


def rows(page) -> list[str]:
    return page.locator(".preview tbody td").all_inner_texts()


def check_plans(browser, server, open_sample) -> None:
    """The preview shows what the server stores: plans stay, lists and sets get members, and what cannot be stored is not sent."""
    page = browser.page(expected=("status of 500",))
    open_sample(page, server.url)
    person = Person(server)
    person.open(page)
    page.locator("[data-action=edit]").click()
    page.locator(".dialog input[name=property-remark]").fill("new")
    page.locator(".dialog input[name=property-marks]").fill('["a"]')
    page.locator(".dialog .failure", has_text="members").wait_for()
    page.locator(".dialog input[name=property-marks]").fill('["a", "b", "x"]')
    page.locator(".dialog input[name=property-tags]").fill('["x", "b", "a"]')
    page.locator(".preview tr.added", has_text="2100").nth(1).wait_for()
    previewed = rows(page)
    expect(page.locator(".dialog pre")).to_contain_text("valid_from=", use_inner_text=True)
    send(page)
    past, present, plan = person.states()
    assert (past["remark"], past["marks"], past["tags"]) == ("old", ["a", "b"], ["a", "b"]), past
    assert (present["remark"], present["marks"], present["tags"]) == ("new", ["a", "b", "x"], ["a", "b", "x"]), present
    assert plan["from"].startswith("2100") and plan["to"] is None, plan
    # The plan had a remark of its own: the change is of each state from now on.
    assert (plan["remark"], plan["marks"], plan["tags"]) == ("new", ["a", "b", "c", "x"], ["a", "b", "x"]), plan
    assert len(previewed) == 3, previewed
    # What must have a value is not cleared, a period is not empty, and now is an instant.
    page.locator("[data-action=edit]").click()
    page.locator(".dialog input[name=property-remark]").fill("")
    page.locator(".dialog input[name=to]").fill("now")
    page.locator(".dialog .failure", has_text="after the start").wait_for()
    page.locator(".dialog input[name=from]").fill("2021")
    page.locator(".dialog pre", has_text="valid_to=20").wait_for()
    required = page.locator(".dialog input[name=property-born]")
    held = required.input_value()
    required.fill("")
    page.locator(".dialog .failure", has_text="born is missing").wait_for()
    # Two requests, of which the second fails: nothing is sent twice.
    required.fill(str(int(held) + 1))
    page.route("**action=eliminate**", lambda route: route.fulfill(status=500, json={"message": "no room"}))
    page.locator("[data-action=send]").click()
    page.locator(".dialog .failure", has_text="The first request is stored, the second is not: no room").wait_for()
    expect(page.locator("[data-action=send]")).to_be_disabled()
    page.keyboard.press("Escape")
    # Nothing is sent that no preview shows.
    page.route("**/timeline**", lambda route: route.fulfill(status=500, json={"message": "no timeline"}))
    before = person.states()
    assert any(each["born"] == int(held) + 1 and each["remark"] == "old" for each in before), before
    page.locator("[data-action=delete]").click()
    page.locator(".dialog .failure", has_text="no timeline").wait_for()
    expect(page.locator("[data-action=send]")).to_be_disabled()
    expect(page.locator(".dialog .preview")).to_have_count(0)
    page.locator(".dialog input[name=from]").press("Enter")
    settle(page)
    assert person.states() == before
    page.keyboard.press("Escape")
    server.call(person.path, method="DELETE")


def check_refused(browser, server, open_sample) -> None:
    """A refusal says why. It is of one element: others are changed as before."""
    page = browser.page(expected=("status of 403",))
    open_sample(page, server.url)
    page.route("**/graph/vertices**", lambda route: route.fulfill(status=403, json={"message": "Permission denied"}) if route.request.method != "GET" else route.continue_())
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="person").first.click()
    page.locator("[data-action=delete]").click()
    page.locator("[data-action=send]").click()
    page.locator(".dialog .failure", has_text="Permission denied").wait_for()
    page.keyboard.press("Escape")
    page.locator(".dialog").wait_for(state="detached")
    assert page.locator("[data-action=delete], [data-action=edit]").count() == 2


def check_algorithms(browser, server, open_sample) -> None:
    page = browser.page()
    open_sample(page, server.url)
    page.goto(server.url + "/ui/#/tasks")
    page.locator("[data-action=new-task]").click()
    # A weight is a number.
    page.locator(".dialog select[name=algorithm]").select_option("page_rank")
    types = {key["name"]: key["data_type"] for key in server.call(f"/graphs/{server.graph}/schema/propertykeys")["propertykeys"]}
    weights = page.locator(".dialog select[name=weight] option").all_inner_texts()
    assert weights[0] == "none" and len(weights) > 1, weights
    assert all(types[name] in ("INT", "LONG", "FLOAT", "DOUBLE", "BYTE") for name in weights[1:]), weights
    page.locator(".dialog select[name=algorithm]").select_option("degree_centrality")
    page.locator(".dialog input[name=top]").fill("-1")
    expect(page.locator(".dialog pre")).to_contain_text('"top": -1', use_inner_text=True)
    page.locator("[data-action=start]").click()
    page.locator(".dialog .label-table tbody td").first.wait_for()
    expect(page.locator(".dialog [data-at]")).to_have_text(re.compile(r"true at \d{4}-.*, known at \d{4}-"))
    with page.expect_download() as download:
        page.locator("[data-action=save-result]").click()
    rows = dict(line.rsplit(",", 1) for line in download.value.path().read_text().splitlines()[1:])
    tasks = server.call(f"/graphs/{server.graph}/tasks", limit=1, page="")["tasks"]
    assert tasks, "the task is listed"
    newest = max(each["id"] for each in server.call(f"/graphs/{server.graph}/tasks", limit=100)["tasks"])
    wanted = json.loads(server.call(f"/graphs/{server.graph}/tasks/{newest}")["task_result"])
    assert {key.strip('"'): float(value) for key, value in rows.items()} == {key: float(value) for key, value in wanted.items()}
    page.locator("[data-action=to-canvas]").click()
    page.locator(".emphasis", has_text="degree_centrality").wait_for()
    settle(page)
    page.wait_for_timeout(500)
    from picking import discs

    radii = [each[2] for each in discs(page)]
    assert max(radii) > 2 * min(radii), radii
    page.locator("[data-action=end-emphasis]").click()
    page.wait_for_timeout(300)
    radii = [each[2] for each in discs(page)]
    assert max(radii) < 1.1 * min(radii), radii
    page.goto(server.url + "/ui/#/tasks")
    # A number is told with what it means, and with the times that were set.
    page.locator("[data-action=new-task]").click()
    page.locator(".dialog select[name=algorithm]").select_option("weak_connected_component")
    page.locator(".dialog .time-field").first.fill("2021-06-01")
    page.locator(".dialog .time-field").first.press("Tab")
    page.locator("[data-action=start]").click()
    expect(page.locator(".dialog .facts")).to_contain_text("connected parts")
    expect(page.locator(".dialog [data-at]")).to_contain_text("true at 2021-06-01, known at 2")
    page.keyboard.press("Escape")
    page.locator(f"[data-task='{newest}']").click()
    page.locator(".dialog .label-table tbody td").first.wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name=f"Remove {newest}", exact=True).click()
    assert page.locator(f"[data-task='{newest}']").count() == 1, "deleting asks"
    page.locator("td .danger").click()
    page.locator(f"[data-task='{newest}']").wait_for(state="detached")
