"""The page Load: a column of dates in two forms, notes that are answered, and many refused rows."""

import re

from browser import Browser, Server, expect
from loading import put_files, text_of_mapping

ENDS = ["2020-06-01", "01.07.2020", "present", "-"]
JOBS = "who,since,until\n" + "".join(f"p{at % 3},2020-01-01,{ENDS[at % 4]}\n" for at in range(8))


def dates_of_several_forms_are_read(browser: Browser, server: Server, _open) -> None:
    server.call("/graphs/mixed", {"name": "mixed"})
    page = browser.page()
    page.goto(f"{server.url}/ui/#/load?g=mixed")
    put_files(page, {"jobs.csv": JOBS.encode()})
    text_of_mapping(page).fill('[[vertex]]\nfile = "jobs.csv"\nlabel = "jobs"\nignore = ["who"]\n')
    row = page.locator(".part[data-label=jobs] tr[data-column=until]")
    row.locator("select").first.select_option("to")
    expect(row.locator("select").nth(1)).to_have_value("auto, day_month_year")
    expect(row).to_contain_text("no value: -, present")
    expect(text_of_mapping(page)).to_have_value(re.compile(r'null = \["", "-", "present"\]'))
    page.locator(".part[data-label=jobs] tr[data-column=since] select").first.select_option("from")
    page.locator("[data-action=dry]").click()
    expect(page.locator(".outcome [role=status]")).to_contain_text("8 elements would be stored, 0 rows would be refused")


def notes_go_and_refused_rows_are_counted(browser: Browser, server: Server, _open) -> None:
    server.call("/graphs/refusals", {"name": "refusals"})
    page = browser.page()
    page.goto(f"{server.url}/ui/#/load?g=refusals")
    rows = "".join(f"i{at},{at if at % 2 or at < 40 else 'x'}\n" for at in range(200))
    put_files(page, {"items.csv": ("code,amount\n" + rows).encode()})
    note = page.locator(".unsure li", has_text="amount")
    expect(note.first).to_be_visible()
    page.locator("tr[data-column=amount] select").first.select_option("ignore")
    expect(note).to_have_count(0)
    page.locator("[data-action=draft]").click()
    expect(note.first).to_be_visible()
    text_of_mapping(page).fill(
        '[[vertex]]\nfile = "items.csv"\nlabel = "item"\nid = "code"\n\n[schema]\npropertykeys = [{ name = "amount", data_type = "INT" }]\n'
        'vertexlabels = [{ name = "item", id_strategy = "CUSTOMIZE_STRING", properties = ["amount"], nullable_keys = [] }]\n'
    )
    page.locator("[data-action=load]").click()
    expect(page.locator(".outcome [role=status]").first).to_contain_text("120 elements stored, 80 rows refused")
    expect(page.locator(".refused-rows li")).to_have_count(50)
    expect(page.locator(".refused-more")).to_contain_text("30 more refused rows")
    expect(page.locator("[data-action=save-refused]")).to_contain_text("(80)")
    with page.expect_download() as download:
        page.locator("[data-action=save-refused]").click()
    assert len(download.value.path().read_text().splitlines()) == 81


TESTS = [dates_of_several_forms_are_read, notes_go_and_refused_rows_are_counted]
