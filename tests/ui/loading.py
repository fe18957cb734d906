"""The page Load: files, what their columns mean, dry run, load, and what was refused."""

import gzip
import os
import re
import subprocess
import tempfile
from pathlib import Path

from browser import Browser, Server, expect
from playwright.sync_api import TimeoutError as TookTooLong


def put_files(page, files: dict[str, bytes]) -> None:
    found = [{"name": name, "mimeType": "text/csv", "buffer": data} for name, data in files.items()]
    page.set_input_files("input[type=file]", found)
    page.locator(".read-file").first.wait_for()


def text_of_mapping(page):
    if page.locator(".load-mapping[open]").count() == 0:
        page.locator(".load-mapping summary").click()
    return page.locator(".load-mapping textarea")


def check_rows(browser: Browser, server: Server) -> None:
    graph = f"/graphs/{server.graph}"
    server.call(f"{graph}/schema/propertykeys", {"name": "code", "data_type": "TEXT", "check_exist": False})
    server.call(f"{graph}/schema/propertykeys", {"name": "amount", "data_type": "INT", "check_exist": False})
    label = {"name": "item", "id_strategy": "PRIMARY_KEY", "primary_keys": ["code"], "properties": ["code", "amount"]}
    server.call(f"{graph}/schema/vertexlabels", {**label, "nullable_keys": ["amount"], "check_exist": False})
    # No number, no value of the primary key, and too large a number.
    wrong = {17: "i17,x", 5000: ",5", 9999: "i9999,3000000000"}
    rows = [wrong.get(index, f"i{index},{index}") for index in range(10_000)]
    page = browser.page()
    page.goto(server.url + "/ui/#/load")
    put_files(page, {"items.csv": ("\n".join(["code,amount", *rows]) + "\n").encode()})
    page.locator(".unsure", has_text="line 19 has 'x'; 9999 of 10000 values are whole numbers").wait_for()
    expect(page.locator(".read-file h2")).to_contain_text("items.csv", use_inner_text=True)
    text_of_mapping(page).fill('[[vertex]]\nfile = "items.csv"\nlabel = "item"\n')
    # The table follows the text: the graph says what its label is.
    expect(page.locator("tr[data-column=code] select").first).to_have_value("key")
    expect(page.locator("tr[data-column=amount] select").nth(1)).to_have_value("INT")
    # Its keys stay as the graph has them, and the table does not show anything else.
    assert "key" not in page.locator("tr[data-column=amount] option").evaluate_all("options => options.map(option => option.value)")
    page.locator("tr[data-column=code] select").first.select_option("property")
    expect(page.locator("tr[data-column=code] select").first).to_have_value("key")
    page.locator("[data-action=dry]").click()
    page.locator(".outcome", has_text="9,997 elements would be stored, 3 rows would be refused").wait_for()
    page.locator("[data-action=load]").click()
    page.locator(".load-done").wait_for(timeout=60_000)
    expect(page.locator(".outcome")).to_contain_text("9,997 elements stored, 3 rows refused", use_inner_text=True)
    lines = page.locator(".refused-rows strong").all_inner_texts()
    assert [line.split(", ")[1] for line in lines] == ["Line 19:", "Line 5002:", "Line 10001:"], lines
    with page.expect_download() as saved:
        page.locator("[data-action=save-refused]").click()
    kept = Path(saved.value.path()).read_text().splitlines()
    assert kept[0] == "file,line,reason" and [line.split(",")[1] for line in kept[1:]] == ["19", "5002", "10001"], kept
    counted = server.call("/gremlin", {"gremlin": "g.V().hasLabel('item').count()", "aliases": {"g": f"__g_{server.graph}"}})
    assert counted["result"]["data"] == [9997], counted["result"]


def check_time(browser: Browser, server: Server) -> None:
    people = "id;name;born\n1;Ann;3.4.1980\n2;Bob;17.5.1990\n"
    companies = "company_id;company_name\nc1;Acme\nc2;Bolt\n"
    jobs = "person_id;company_id;role;from;to\n1;c1;clerk;2019-01-01;31.12.2021\n1;c2;boss;2022-01-01;\n2;c2;clerk;2020-06-01;\n"
    server.call("/graphs/jobs_in_time", {"name": "jobs_in_time"})
    page = browser.page()
    page.goto(f"{server.url}/ui/#/load?g=jobs_in_time")
    put_files(page, {"people.csv": people.encode(), "companies.csv": companies.encode(), "jobs.csv.gz": gzip.compress(jobs.encode())})
    page.locator("[data-action=load]").click()
    page.locator(".load-done").wait_for(timeout=60_000)
    expect(page.locator(".outcome")).to_contain_text("7 elements stored, 0 rows refused", use_inner_text=True)
    edges = server.call("/graphs/jobs_in_time/graph/edges?as_of=2021-06-01")["edges"]
    assert sorted(edge["properties"]["role"] for edge in edges) == ["clerk", "clerk"], edges


# Ann was a clerk twice, the second time after a pause; she and Bob had two jobs at once at Acme. Ann's
# row is there twice. One date is none, and one company is unknown.
PEOPLE = "code;name;born\np1;Ann;03.04.1980\np2;Bob;17.05.1990\np1;Ann;03.04.1980\n"
COMPANIES = "firm;place\nc1;Oslo\nc2;Rome\n"
JOBS = """who;where;role;begin;finish
p1;c1;clerk;01.01.2019;01.01.2020
p1;c1;clerk;01.01.2021;01.01.2022
p1;c1;boss;01.06.2019;
p2;c1;clerk;01.01.2019;31.06.2021
p2;c9;clerk;01.01.2019;
p2;c2;clerk;01.01.2019;
"""
# What the form must do whatever the draft says: people are automatic, jobs are vertices, dates texts.
DRAFT = """# A comment that stays.
[[vertex]]
file = "people.csv"
label = "people"

[[vertex]]
file = "companies.csv"
label = "companies"
id = "firm"
valid_from = 1900-01-01

[[vertex]]
file = "jobs.csv"
label = "jobs"

[schema]
propertykeys = [
  { data_type = "TEXT", name = "code" }, { data_type = "TEXT", name = "name" }, { data_type = "TEXT", name = "born" },
  { data_type = "TEXT", name = "place" }, { data_type = "TEXT", name = "who" }, { data_type = "TEXT", name = "where" },
  { data_type = "TEXT", name = "role" }, { data_type = "TEXT", name = "begin" }, { data_type = "TEXT", name = "finish" },
]
vertexlabels = [
  { id_strategy = "AUTOMATIC", name = "people", properties = ["code", "name", "born"], nullable_keys = [] },
  { id_strategy = "CUSTOMIZE_STRING", name = "companies", properties = ["place"], nullable_keys = [] },
  { id_strategy = "AUTOMATIC", name = "jobs", properties = ["who", "where", "role", "begin", "finish"], nullable_keys = ["finish"] },
]
"""


def numbers(text: str) -> list[str]:
    """What became of the rows, in the words that page and command share."""
    found = re.search(r"(\d+) elements stored, (\d+) rows refused", text)
    assert found, text
    more = [re.search(rf"(\d+) rows {word}", text) for word in ("are further states of these elements", "replaced an earlier row")]
    return [*found.groups(), *(each.group(1) if each else "0" for each in more)]


def check_meanings(browser: Browser, server: Server) -> None:
    for graph in ("meanings", "meanings_cli"):
        server.call(f"/graphs/{graph}", {"name": graph})
    page = browser.page()
    page.goto(f"{server.url}/ui/#/load?g=meanings")
    files = {"people.csv": PEOPLE.encode(), "companies.csv": COMPANIES.encode(), "jobs.csv": JOBS.encode()}
    put_files(page, files)
    text = text_of_mapping(page)
    drafted = text.input_value()
    page.locator(".part[data-label=people] [data-action=remove-part]").click()
    page.locator(".read-file", has_text="This file is left out").wait_for()
    page.locator("[data-action=draft]").click()
    expect(text).to_have_value(drafted)
    text.fill(DRAFT)

    def choose(label: str, column: str, role: str) -> None:
        page.locator(f".part[data-label={label}] tr[data-column={column}] select").first.select_option(role)

    choose("people", "code", "id")
    page.locator(".part[data-label=people] tr[data-column=born] select").nth(1).select_option("DATE")
    page.locator(".part[data-label=people] .part-head input").nth(1).fill("1900-01-01")
    page.locator(".part[data-label=people] .part-head input").nth(1).press("Enter")
    page.locator(".part[data-label=jobs] .part-head select").first.select_option("edge")
    page.locator(".part[data-label=jobs][data-kind=edge]").wait_for()
    for column, role in (("who", "source"), ("where", "target"), ("role", "sort"), ("begin", "from"), ("finish", "to")):
        choose("jobs", column, role)
    ends = page.locator(".part[data-label=jobs] .part-head select")
    ends.nth(1).select_option("people")
    ends.nth(2).select_option("companies")
    assert "# A comment that stays." in text.input_value()
    # A text that the table cannot show is told with its line, and changes nothing.
    whole = text.input_value()
    text.fill(whole + "a.b = 1\n")
    page.locator(".load .notice", has_text=f"Line {whole.count(chr(10)) + 1}:").wait_for()
    text.fill(whole)
    page.locator("[data-action=load]").click()
    page.locator(".load-done").wait_for(timeout=60_000)
    told = page.locator(".outcome [role=status]").inner_text()
    assert numbers(told) == ["7", "2", "1", "1"], told
    rows = sorted(row.split(": ")[0] for row in page.locator(".refused-rows li").all_inner_texts())
    assert [row.split(", ")[1].split(":")[0] for row in rows] == ["Line 5", "Line 6"], rows
    then = server.call("/graphs/meanings/graph/edges?as_of=2021-06-01")["edges"]
    assert sorted((edge["outV"], edge["properties"]["role"]) for edge in then) == [("p1", "boss"), ("p1", "clerk"), ("p2", "clerk")], then
    ann = server.call("/graphs/meanings/graph/vertices/%22p1%22")["properties"]
    assert ann == {"name": "Ann", "born": "1980-04-03 00:00:00.000"}, ann
    # The command counts the same.
    with tempfile.TemporaryDirectory() as folder:
        for name, data in {**files, "mapping.toml": whole.encode()}.items():
            Path(folder, name).write_bytes(data)
        command = [os.environ["VARVE_TEST_SERVER"], "load", "mapping.toml", "--server", server.url, "--graph", "meanings_cli"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert numbers(ran.stdout) == numbers(told), ran.stdout + ran.stderr
    page.locator("[data-action=mapping-form]").click()
    expect(page.locator(".mapping-form")).to_contain_text("valid_from", use_inner_text=True)


SHARED = """[[vertex]]
file = "group_1.csv"
label = "people"
id = "code"

[[vertex]]
file = "group_2.csv"
label = "people"
id = "code"

[schema]
propertykeys = [{ data_type = "INT", name = "age" }, { data_type = "TEXT", name = "name" }]
vertexlabels = [
  { id_strategy = "CUSTOMIZE_STRING", name = "people", properties = ["age", "name"], nullable_keys = [] },
]
"""


def check_shared(browser: Browser, server: Server) -> None:
    server.call("/graphs/shared", {"name": "shared"})
    page = browser.page()
    page.goto(f"{server.url}/ui/#/load?g=shared")
    put_files(page, {f"group_{at}.csv": f"code,age,name\np{at},3,Ann\nq{at},,Bob\n".replace(",,", f",{at},").encode() for at in (1, 2)})
    text = text_of_mapping(page)

    def choose(column: str, role: str) -> None:
        page.locator(f".part >> nth=0 >> tr[data-column={column}] select").first.select_option(role)

    def rename(label: str) -> None:
        name = page.locator(".part .part-head input").first
        renamed = page.locator(f".part[data-label={label}]").nth(1)
        # The schema is read after a load, and the table drawn anew.
        for _ in range(4):
            name.fill(label)
            name.press("Enter")
            try:
                return renamed.wait_for(timeout=4_000)
            except TookTooLong:
                continue
        renamed.wait_for()

    def load() -> None:
        page.locator("[data-action=load]").click()
        page.locator(".load-done").wait_for(timeout=60_000)
        assert numbers(page.locator(".outcome [role=status]").inner_text())[:2] == ["4", "0"], text.input_value()

    def ages(label: str) -> list[int]:
        found = server.call(f"/graphs/shared/graph/vertices?label={label}")["vertices"]
        return sorted(vertex["properties"].get("age", 0) for vertex in found)

    text.fill(SHARED)
    choose("age", "ignore")
    load()
    assert ages("people") == [0, 0, 2, 3]
    # One kind of ids for both files, under a new name.
    text.fill(SHARED.replace('"people"', '"folk"'))
    choose("code", "key")
    rename("member")
    load()
    assert ages("member") == [1, 2, 3, 3]
    # The graph says what its label is.
    text.fill(SHARED.replace('"people"', '"folk"').replace('"age", "name"', '"code", "age", "name"'))
    rename("member")
    load()
    assert ages("member") == [1, 2, 3, 3]
    # A label like that of the graph, which has none of this name.
    rename("guest")
    load()
    assert ages("guest") == [1, 2, 3, 3]


def check_failure(browser: Browser, server: Server) -> None:
    page = browser.page(expected=("status of 400",))
    page.goto(f"{server.url}/ui/#/load")
    rows = "".join(f"n{index},1\n" for index in range(5))
    put_files(page, {f"part{index}.csv": ("a,b\n" + rows).encode() for index in range(6)})
    text_of_mapping(page).fill('[[vertex]]\nfile = "part0.csv"\nlabel = "nowhere"\nid = "c"\n')
    for action in ("dry", "load"):
        page.locator(f"[data-action={action}]").click()
        failure = page.locator(".failure")
        failure.wait_for()
        box, button = failure.bounding_box(), page.locator(f"[data-action={action}]").bounding_box()
        height = page.viewport_size["height"]
        assert box["y"] + box["height"] <= height + 1, (action, box)
        assert 0 <= box["y"] - button["y"] < 120, (action, box, button)


# A file from the desktop above an element. Whether the page takes it: a browser would open it otherwise.
DROP = """selector => {
  const transfer = new DataTransfer();
  transfer.items.add(new File(["name,born\\nZoe,1990-01-01\\n"], "dropped.csv", {type: "text/csv"}));
  const place = document.querySelector(selector);
  const send = type => {
    const event = new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true});
    place.dispatchEvent(event);
    return event.defaultPrevented;
  };
  return [send("dragover"), send("drop")];
}"""


def check_drop(browser: Browser, server: Server) -> None:
    server.call("/graphs/drops", {"name": "drops"})
    for path, place in (("load", ".page-head h1"), ("explore", ".start h1")):
        page = browser.page()
        page.goto(f"{server.url}/ui/#/{path}?g=drops")
        page.locator(place).wait_for()
        assert page.evaluate(DROP, place) == [True, True], path
        page.locator(".read-file h2", has_text="dropped.csv").wait_for()
        assert "#/load" in page.url
    # The files are for this graph.
    page.locator(".graph-choice select").select_option(server.graph)
    page.locator(".read-file").wait_for(state="detached")
    page.locator(".graph-choice select").select_option("drops")
    page.locator(".read-file h2", has_text="dropped.csv").wait_for()
    # Who comes from the start page sees there what was loaded.
    page.locator("[data-action=load]").click()
    page.locator(".load-done a").click()
    page.locator(".label-card", has_text="dropped").wait_for()
