"""The open-metadata view: types, an entity with its classifications, provenance, lineage and versions, compared with the
repository's own answers."""

import json
import urllib.parse

from browser import expect, settle

PATH = "/servers/varve/open-metadata/repository-services/users/ada"
# One flows into the next; the second is looked at.
NAMES = ["orders of a day", "the orders' sum", "a day's report", "a month's report"]


def text(value: str) -> dict:
    return {
        "class": "PrimitivePropertyValue",
        "instancePropertyCategory": "PRIMITIVE",
        "primitiveDefCategory": "OM_PRIMITIVE_TYPE_STRING",
        "primitiveValue": value,
    }


def strings(**values: str) -> dict:
    return {"class": "InstanceProperties", "instanceProperties": {name: text(value) for name, value in values.items()}}


def call(server, path: str, body=None, **query):
    answer = server.call(f"{PATH}/{path}", body, **query)
    assert answer["relatedHTTPCode"] == 200, answer
    return answer


def load(server) -> dict[str, dict]:
    """The entities by name, loaded once: a flow, with a classification and two versions of the second."""
    found = {name: by_name(server, name) for name in NAMES}
    if all(found.values()):
        return found
    types = {each["name"]: each["guid"] for each in call(server, "types/all")["typeDefs"]}
    for name in NAMES:
        body = {
            "class": "EntityCreateRequest",
            "entityTypeGUID": types["DataSet"],
            "initialProperties": strings(qualifiedName=f"set:{name}", name=name),
        }
        found[name] = call(server, "instances/entity", body)["entity"]
    for one, two in zip(NAMES, NAMES[1:]):
        body = {
            "class": "RelationshipCreateRequest",
            "relationshipTypeGUID": types["LineageMapping"],
            "entityOneGUID": found[one]["guid"],
            "entityTwoGUID": found[two]["guid"],
        }
        call(server, "instances/relationship", body)
    guid = found[NAMES[1]]["guid"]
    changed = strings(qualifiedName=f"set:{NAMES[1]}", name=NAMES[1], description="with taxes")
    call(server, f"instances/entity/{guid}/properties", {"class": "InstancePropertiesRequest", "instanceProperties": changed})
    classified = {"class": "InstancePropertiesRequest", "instanceProperties": strings(notes="careful")}
    call(server, f"instances/entity/{guid}/classification/Confidentiality", classified)
    return {name: by_name(server, name) for name in NAMES}


def by_name(server, name: str) -> dict | None:
    body = {"class": "EntityPropertyFindRequest", "pageSize": 10, "offset": 0}
    path = "instances/entities/by-property-value"
    found = call(server, path, body, searchCriteria=f".*{name}.*").get("entities") or []
    return found[0] if found else None


def find(page, wanted: str) -> None:
    """Opens the entity with this name or GUID."""
    page.locator(".metadata-search").fill(wanted)
    page.locator(".metadata-search").press("Enter")
    result = page.locator(".entity-list .row-button", has_text=wanted)
    page.locator(".entity-view h2").or_(result).first.wait_for()
    if result.count():
        result.first.click()
    page.locator(".entity-view h2").wait_for()


def check(browser, server) -> None:
    entities = load(server)
    second = entities[NAMES[1]]
    page = browser.page()
    page.goto(f"{server.url}/ui/#/metadata")
    check_types(page, server)
    find(page, second["guid"])
    check_entity(page, server, second)
    check_lineage(page)
    # A step, and back.
    page.locator(".lineage-node", has_text=NAMES[2]).click()
    page.locator(".entity-view h2", has_text=NAMES[2]).wait_for()
    page.get_by_role("button", name="← Back").click()
    page.locator(".entity-view h2", has_text=NAMES[1]).wait_for()
    check_past(page, second)
    page.get_by_role("button", name="See in the graph").click()
    element = page.locator(f".element[data-ref='{json.dumps(second['guid'])}']")
    element.wait_for()
    settle(page)
    check_canvas(page, element, second)


def check_canvas(page, element, entity: dict) -> None:
    """On the canvas an entity has its name and its properties; what the repository adds is apart, and nothing is offered that is refused."""
    expect(element.locator("h2")).to_have_text(NAMES[1], use_inner_text=True)
    keys = element.locator("table.properties").first.locator("th").all_inner_texts()
    assert set(keys) == {"description", "name", "qualifiedName"}, keys
    assert element.locator("h3", has_text="Confidentiality").count() == 1
    header = element.locator(".header-rows")
    assert not header.locator("table").is_visible()
    header.locator("summary").click()
    header.locator("td", has_text=entity["guid"]).first.wait_for()
    assert element.locator("[data-action=edit]").count() == 0
    page.locator("[data-tool=newVertex]").wait_for(state="detached")


def check_types(page, server) -> None:
    types = call(server, "types/all")["typeDefs"]
    page.locator(".type-row .count").first.wait_for()
    shown = page.locator(".type-name").all_inner_texts()
    assert "DataSet" in shown and "Community" not in shown, shown
    count = page.locator(".type-row", has=page.get_by_role("button", name="DataSet", exact=True)).locator(".count").inner_text()
    assert count == str(len(NAMES)), count
    page.locator("input[name=all-types]").check()
    page.locator(".type-tree input[type=search]").fill("Communit")
    page.get_by_role("button", name="Community", exact=True).wait_for()
    page.locator("input[name=all-types]").uncheck()
    page.get_by_role("button", name="Community", exact=True).wait_for(state="detached")
    page.locator(".type-tree input[type=search]").fill("DataSet")
    page.get_by_role("button", name="DataSet", exact=True).click()
    page.locator(".type-details h2", has_text="DataSet").wait_for()
    parents = page.locator(".type-details header .quiet").inner_text()
    assert "Asset" in parents and "Referenceable" in parents, parents
    around = [each.strip() for each in page.locator(".radial-other").all_text_contents()]
    ends = {(each["endDef1"]["entityType"]["name"], each["endDef2"]["entityType"]["name"]) for each in types if "endDef1" in each}
    assert around and all(any(other in pair for pair in ends) for other in around), around
    page.locator("[data-action=find-of-type]").click()
    page.locator(".entity-list .row-button").first.wait_for()
    shown = page.locator(".entity-list .row-button > span:first-child").all_inner_texts()
    assert set(NAMES) <= set(shown), shown


def check_entity(page, server, entity: dict) -> None:
    view = page.locator(".entity-view")
    said = view.inner_text()
    for wanted in ("with taxes", entity["guid"], "ada", entity["metadataCollectionName"], "LOCAL_COHORT"):
        assert wanted in said, (wanted, said)
    badge = view.locator(".badge", has_text="Confidentiality")
    expect(badge).to_have_attribute("title", "notes: careful")
    page.locator("[data-action=versions]").click()
    rows = page.locator(".entity-view .history-row")
    rows.first.wait_for()
    path = f"instances/entity/{urllib.parse.quote(entity['guid'])}/history/all"
    versions = call(server, path, {"class": "HistoryRangeRequest", "pageSize": 50, "offset": 0})["entities"]
    assert len(versions) > 1
    expect(rows).to_have_count(len(versions))


def columns(page) -> list[list[str]]:
    """The names in the lineage's columns, from the first to the last."""
    nodes = page.locator(".lineage-node")
    found: dict[int, list[str]] = {}
    for index in range(nodes.count()):
        node = nodes.nth(index)
        found.setdefault(int(node.get_attribute("data-column")), []).append(node.locator(".lineage-name").text_content())
    return [found[column] for column in sorted(found)]


def check_lineage(page) -> None:
    page.locator(".lineage-picture").wait_for()
    assert page.locator(".lineage-node.here .lineage-name").text_content() == NAMES[1]
    assert columns(page) == [[NAMES[0]], [NAMES[1]], [NAMES[2]]], columns(page)
    expect(page.locator(".lineage-flow")).to_have_count(2)
    page.locator("[data-lineage=to]").click()
    page.locator(".lineage-node", has_text=NAMES[3]).wait_for()
    page.locator("[data-lineage=to]").click()
    page.locator(".lineage-end", has_text="Nothing further").wait_for()
    assert page.locator("[data-lineage=to]").count() == 0
    expect(page.locator(".lineage-flow")).to_have_count(3)
    assert columns(page)[-1] == [NAMES[3]], columns(page)


def check_past(page, entity: dict) -> None:
    """Both times: what was recorded first, and before the entity was made there is none."""
    if page.locator(".entity-view .history-row").count() == 0:
        page.locator("[data-action=versions]").click()
    page.locator(".entity-view .history-row").last.click()
    page.locator(".entity-view td", has_text="with taxes").wait_for(state="detached")
    expect(page.locator(".entity-view h2")).to_have_text(NAMES[1], use_inner_text=True)
    assert page.locator(".entity-view .badges .badge", has_text="Confidentiality").count() == 0
    valid, known = page.locator(".metadata .time-field").all()
    assert known.input_value() != "now" and valid.input_value() != "now"
    for field, value in ((known, "now"), (valid, "2001-01-01")):
        field.fill(value)
        field.press("Enter")
    page.locator(".metadata-main .failure", has_text=entity["guid"]).wait_for()
    valid.fill("now")
    valid.press("Enter")
    page.locator(".entity-view h2", has_text=NAMES[1]).wait_for()
    page.locator(".entity-view td", has_text="with taxes").wait_for()
