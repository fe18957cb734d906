"""Three files, one correction: what somebody sees who never saw the explorer before."""

import json
import time
import urllib.request

from browser import Browser, Server, expect, field, legend, settle, slider

PEOPLE, COMPANIES = 200, 30
MAPPING = """
[[vertex]]
file = "people.csv"
label = "people"
id = "code"
valid_from = 1900-01-01

[[vertex]]
file = "companies.csv"
label = "companies"
id = "code"
valid_from = 1900-01-01

[[edge]]
file = "jobs.csv"
label = "jobs"
source = "who"
target = "where"
valid_from = "from"

[schema]
propertykeys = [{ name = "name", data_type = "TEXT" }, { name = "born", data_type = "DATE" }]
vertexlabels = [
  { name = "people", id_strategy = "CUSTOMIZE_STRING", properties = ["name", "born"], nullable_keys = [] },
  { name = "companies", id_strategy = "CUSTOMIZE_STRING", properties = ["name"], nullable_keys = [] },
]
edgelabels = [{ name = "jobs", source_label = "people", target_label = "companies", properties = [], nullable_keys = [] }]
"""


def load(url: str, name: str, people: int = PEOPLE) -> Server:
    """A graph whose vertices are true since 1900, and its jobs since the years from 2010 on."""
    server = Server(url, name)
    server.call(f"/graphs/{name}", {"name": name})
    # Person 1 has the name of person 0, and both have two jobs.
    rows = [f"p{at},{'Ann' if at < 2 else f'Person {at}'},19{50 + at % 40}-0{1 + at % 9}-11" for at in range(people)]
    jobs = [f"p{at},c{at % COMPANIES},20{10 + at % 14}-0{1 + at % 9}-15" for at in range(people)]
    jobs += [f"p{at},c{at + 10},2020-03-01" for at in range(2)]
    files = {
        "people.csv": ["code,name,born", *rows],
        "companies.csv": ["code,name", *[f"c{at},Firm {at}" for at in range(COMPANIES)]],
        "jobs.csv": ["who,where,from", *jobs],
    }
    for file, lines in files.items():
        data = ("\n".join(lines) + "\n").encode()
        path = f"{url}/graphs/{name}/load/files/{file}?offset=0"
        headers = {"Content-Type": "application/octet-stream"}
        with urllib.request.urlopen(urllib.request.Request(path, data=data, headers=headers, method="PUT"), timeout=60) as answer:
            answer.read()
    asked = urllib.request.Request(f"{url}/graphs/{name}/load", json.dumps({"mapping": MAPPING}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        last = answer.read().decode().strip().splitlines()[-1]
    assert '"done"' in last and '"refused":0' in last, last
    return server


def show_all(page, server: Server) -> None:
    page.goto(f"{server.url}/ui/#/explore?g={server.graph}")
    page.get_by_role("button", name="Show up to 300 of all labels").click()
    page.locator(".legend-row").first.wait_for(state="attached")
    settle(page)


def check_look(browser: Browser, server: Server) -> None:
    few, many = load(server.url, "newcomer_few"), load(server.url, "newcomer_many", 400)
    page = browser.page()
    show_all(page, few)
    assert legend(page) == {"companies": 30, "people": 200, "jobs": 202}
    page.wait_for_timeout(800)
    expect(page.locator(".legend .more")).to_have_count(0)
    # Homonyms have their ids, and a date is a date.
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="Ann").first.wait_for()
    assert [text.split("\n")[0].strip() for text in page.locator(".tree-row", has_text="Ann").all_inner_texts()] == ["Ann · p0", "Ann · p1"]
    page.locator(".tree-row", has_text="Ann · p1").click()
    settle(page)
    expect(page.locator(".properties")).to_contain_text("1951-02-11", use_inner_text=True)
    assert "00:00" not in page.locator(".properties").inner_text()
    # Which companies the two neighbours are.
    page.locator(".fold").click()
    page.locator(".members .link").nth(1).wait_for()
    members = page.locator(".members li").all_inner_texts()
    assert sorted(member.split(" c")[0] for member in members) == ["Firm 1", "Firm 11"], members
    assert any("2020-03-01" in member for member in members), members
    page.locator(".members .link", has_text="Firm 11").click()
    page.locator(".element h2", has_text="Firm 11").wait_for()
    page.goto("about:blank")
    # What has no room is told, and comes on demand.
    show_all(page, many)
    page.locator(".legend .more").wait_for()
    assert legend(page) == {"companies": 30, "people": 270, "jobs": 272}
    expect(page.locator(".legend-row .count")).to_have_text(["30", "270 of 400", "272 of 402"], use_inner_text=True)
    page.locator(".legend .more").click()
    settle(page)
    page.locator(".legend .more").wait_for(state="detached")
    assert legend(page) == {"companies": 30, "people": 400, "jobs": 402}


def check_axes(browser: Browser, server: Server) -> None:
    fresh = load(server.url, "newcomer_axes", 40)
    time.sleep(1.5)
    page = browser.page()
    show_all(page, fresh)
    fresh.call(f"/graphs/{fresh.graph}/graph/vertices/%22p0%22", method="DELETE")
    page.reload()
    page.locator(".legend-row").first.wait_for(state="attached")
    settle(page)
    known, valid = (page.locator(f".slider[data-kind={kind}]") for kind in ("known", "valid"))
    expect(known.locator(".tick"), "a load, and a change").to_have_count(2)
    texts = known.locator(".dates span").all_inner_texts()
    assert len(texts) == 2 and len(set(texts)) == 2, texts
    # Each commit of the load can be reached, and a closer look shows them.
    recorded = len(fresh.explore("timeline", {"vertices": ['"p0"', '"p1"', '"c1"'], "edges": [], "between": True})["recorded"])
    assert recorded > 2 and int(slider(page, "known").get_attribute("aria-valuemax")) > recorded

    def years() -> list[int]:
        return [int(text[:4]) for text in valid.locator(".dates span").all_inner_texts()]

    assert min(years()) >= 2008, years()
    box = slider(page, "valid").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    for _ in range(12):
        page.mouse.wheel(0, 400)
    page.wait_for_timeout(200)
    assert min(years()) < 1950, years()
    # A double click shows the data again.
    page.mouse.dblclick(box["x"] + box["width"] - 3, box["y"] + 10)
    page.wait_for_timeout(200)
    assert min(years()) >= 2008, years()
    page.locator("#main").focus()
    page.keyboard.press("?")
    assert "wheel" in page.locator(".dialog").inner_text().lower()


def check_learned(browser: Browser, server: Server) -> None:
    fresh = load(server.url, "newcomer_learned", 40)
    time.sleep(1.5)
    page = browser.page()
    show_all(page, fresh)
    # The firm, and with it the job of one person. It was shown, so its ring stays.
    fresh.call(f"/graphs/{fresh.graph}/graph/vertices/%22c29%22", method="DELETE")
    page.reload()
    page.locator(".legend-row").first.wait_for(state="attached")
    settle(page)

    def compare(**fields: str) -> None:
        page.locator(".time-actions button", has_text="Compare").click()
        page.locator(".preset", has_text="What we learned").click()
        for name, value in fields.items():
            box = page.locator(f"#compare-{name.replace('_', '-')}")
            box.fill(value)
            box.press("Tab")

    def says(text: str) -> None:
        page.locator(".dialog .primary").click()
        expect(page.locator(".time-notice")).to_contain_text(text, use_inner_text=True)

    compare()
    expect(field(page, "known")).to_have_value("now")
    says("0 added, 2 removed")
    page.locator("[data-action=end-compare]").click()
    # Nothing was recorded between these two.
    compare(a_knownAt="2000-01-01", b_knownAt="2001-01-01")
    says("A and B show the same")
    expect(page.locator(".changes")).to_contain_text("A and B show the same", use_inner_text=True)
    page.locator("[data-action=end-compare]").click()
    compare(a_knownAt="now", b_knownAt="now")
    page.locator(".dialog", has_text="A and B are the same point").wait_for()
