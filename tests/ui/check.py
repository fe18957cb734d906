"""The explorer in a browser, compared with the API. `check.py URL [NAME…]` runs all tests or those whose name has a NAME."""

import collections
import re
import struct
import sys
import time
import traceback
from pathlib import Path
from xml.etree import ElementTree

import account
import backing
import canvas
import coloring
import crowd
import cypher
import doing
import following
import ids
import keeping
import label
import large
import loading
import mixed
import newcomer
import people
import picking
import querying
import repository
import screens
import styles
import views
from browser import Browser, Server, expect, field, legend, set_time, settle, slider, write

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def counts(server: Server, refs: list[str], **times) -> dict[str, int]:
    found = server.explore("elements", {"vertices": refs, "edges": [], "between": True}, **times)
    labels = [element["label"] for element in found["vertices"] + found["edges"]]
    return dict(collections.Counter(labels))


def open_sample(page, url: str):
    page.goto(url + "/ui/")
    page.locator("[data-card=sample]").click()
    page.locator(".canvas canvas").first.wait_for()
    page.locator(".legend-row").first.wait_for(state="attached")
    settle(page)


@test
def first_start_shows_the_sample(browser: Browser, server: Server):
    page = browser.page()
    response = page.goto(server.url + "/")
    assert page.url.endswith("/ui/"), page.url
    policy = response.headers["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy, policy
    page.locator("[data-card=sample]").click()
    page.locator(".legend-row").first.wait_for(state="attached")
    settle(page)
    sample = server.explore("load_sample")
    assert sample["loaded"]
    assert legend(page) == counts(server, sample["show"])


@test
def both_sliders_show_what_the_api_says(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    refs = server.explore("load_sample")["show"]
    for day in ("2021-06-01", "2023-01-01", "2026-12-01"):
        set_time(page, "valid", day)
        assert legend(page) == counts(server, refs, as_of=day), day
    set_time(page, "valid", "2022-06-01")
    slider(page, "known").focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    settle(page)
    known = slider(page, "known").get_attribute("data-value")
    assert known.isdigit(), known
    assert legend(page) == counts(server, refs, as_of="2022-06-01", as_of_tx=known)
    expect(page.locator(".time-notice")).to_contain_text("Not now", use_inner_text=True)
    page.keyboard.press("Home")
    settle(page)
    first = slider(page, "known").get_attribute("data-value")
    assert int(first) < int(known)
    assert legend(page) == counts(server, refs, as_of="2022-06-01", as_of_tx=first)
    page.get_by_role("button", name="Back to now").click()
    settle(page)
    assert legend(page) == counts(server, refs)
    expect(page.locator(".time-notice")).to_have_count(0)


@test
def a_slider_steps_by_changes(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    refs = server.explore("load_sample")["show"]
    handle = slider(page, "valid")
    handle.focus()
    page.keyboard.press("ArrowLeft")
    settle(page)
    text = handle.get_attribute("aria-valuetext")
    assert text and "now" not in text.split(",")[0], text
    day = field(page, "valid").input_value()
    assert legend(page) == counts(server, refs, as_of=day.replace(" ", "T") + ("Z" if ":" in day else "")), day
    page.keyboard.press("n")
    settle(page)
    expect(field(page, "valid")).to_have_value("now")
    set_time(page, "valid", "nonsense")
    expect(field(page, "valid")).to_have_attribute("aria-invalid", "true")


@test
def expand_undo_redo_and_search(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    page.get_by_role("button", name="Clear the canvas").click()
    page.locator(".start").wait_for()
    label = server.explore("summary")["vertices"][0]["label"]
    page.locator(".label-card", has_text=label).click()
    settle(page)
    before = legend(page)
    assert list(before)[0] == label
    page.locator("#tab-list").click()
    page.locator(".tree-row").first.click()
    page.get_by_role("button", name="Expand", exact=True).click()
    settle(page)
    after = legend(page)
    assert sum(after.values()) > sum(before.values()), (before, after)
    page.get_by_role("button", name="Undo").click()
    settle(page)
    assert legend(page) == before
    page.get_by_role("button", name="Redo").click()
    settle(page)
    assert legend(page) == after
    found = server.explore("sample", label="person", limit=1)["vertices"][0]
    name = next(value for value in found["properties"].values() if isinstance(value, str))
    page.locator("#search").fill(name)
    page.locator("[role=option]", has_text=name).first.click()
    settle(page)
    expect(page.locator(".element h2")).to_have_text(name, use_inner_text=True)


@test
def a_difference_has_the_right_elements(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    refs = server.explore("load_sample")["show"]
    set_time(page, "valid", "2022-01-01")
    page.keyboard.press("Escape")
    page.locator(".time-actions button", has_text="Compare").click()
    page.locator(".preset", has_text="What changed").click()
    page.locator(".dialog .primary").click()
    settle(page)
    scope = {"vertices": refs, "between": True}
    expected = server.explore("diff", {"a": {"as_of": "2022-01-01"}, "b": {}, "scope": scope})
    for kind in ("added", "removed", "changed"):
        expect(page.locator(f"li.change.{kind}")).to_have_count(len(expected[kind]))
    assert len(expected["added"]) + len(expected["removed"]) + len(expected["changed"]) > 0
    for change in expected["changed"][:3]:
        row = page.locator("li.change.changed", has_text=next(iter(change["after"]["properties"].values())).__str__())
        assert row.count() >= 1, change
    page.get_by_role("button", name="End comparison").click()
    settle(page)
    expect(page.locator(".time-notice.comparing")).to_have_count(0)


@test
def an_element_has_its_history_and_corrections(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    day = "2021-06-01"
    person = server.explore("load_sample")["corrected"][0]
    edges = server.explore("expand", {"ids": [person], "direction": "OUT"}, as_of=day)["edges"]
    histories = {edge["ref"]: server.explore("history", type="edge", ref=edge["ref"])["versions"] for edge in edges}
    ref = next(ref for ref, versions in histories.items() if any("correction" in each["badges"] for each in versions))
    expected, edge = histories[ref], next(each for each in edges if each["ref"] == ref)
    set_time(page, "valid", day)
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text=plain(person)).first.click()
    page.locator("#tab-list").click()
    row = page.locator(".tree-row", has_text=plain(person)).first
    if row.get_attribute("aria-expanded") != "true":
        row.press("ArrowRight")
    page.locator(".tree-row.child", has_text=f"{edge['label']} → {plain(edge['target'])}").first.click()
    page.locator(f".element[data-ref='{ref}']").wait_for()
    page.get_by_role("tab", name="History").click()
    rows = page.locator(".history-row")
    rows.first.wait_for()
    expect(rows).to_have_count(len(expected))
    assert page.locator(".badge.correction").count() == sum("correction" in each["badges"] for each in expected) > 0
    expect(page.locator(".version-box")).to_have_count(len(expected))
    rows.last.click()
    settle(page)
    expect(slider(page, "known")).to_have_attribute("data-value", expected[-1]["version"])


def plain(ref: str) -> str:
    """The name in a reference to a vertex of the sample."""
    return ref.strip('"').split(":", 1)[1]


@test
def a_link_shows_the_same_in_a_fresh_profile(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    set_time(page, "valid", "2023-01-01")
    shown = legend(page)
    page.get_by_role("button", name="Share").click()
    link = page.locator(".dialog textarea").input_value()
    assert len(link) < 8192 and "#" in link
    other = browser.page(theme="dark")
    other.goto(link)
    other.locator(".legend-row").first.wait_for()
    settle(other)
    assert legend(other) == shown
    expect(field(other, "valid")).to_have_value("2023-01-01")
    assert field(other, "known").input_value() != "now", "both times are pinned"


@test
def the_graph_is_exported(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    set_time(page, "valid", "2023-01-01")
    page.get_by_role("button", name="Export the graph").click()
    with page.expect_download() as download:
        page.locator(".preset", has_text="CSV (vertices)").click()
    lines = download.value.path().read_text().splitlines()
    people = server.explore("summary", as_of="2023-01-01")["vertices"]
    assert len(lines) == 1 + sum(each["count"] for each in people), lines[:3]


@test
def the_canvas_is_saved_as_a_picture(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    set_time(page, "valid", "2023-01-01")
    shown = legend(page)
    people = [each["label"] for each in server.explore("summary")["vertices"]]
    files = {}
    for kind in ("SVG", "PNG"):
        page.get_by_role("button", name="Export the graph").click()
        with page.expect_download() as download:
            page.locator(".export-pictures .preset", has_text=kind).click()
        files[kind] = download.value.path().read_bytes()
    picture = ElementTree.fromstring(files["SVG"])
    named = "{http://www.w3.org/2000/svg}"
    inner = picture.find(f"{named}svg")
    assert len(inner.findall(f"{named}circle")) == sum(count for label, count in shown.items() if label in people)
    assert len(inner.findall(f"{named}line")) > 0
    assert "2023-01-01" in picture.find(f"{named}title").text
    legend_texts = [each.text for each in picture.findall(f"{named}text")]
    assert set(shown) & set(people) <= set(legend_texts), legend_texts
    assert files["PNG"].startswith(b"\x89PNG")
    width, height = struct.unpack(">II", files["PNG"][16:24])
    assert (width, height) == tuple(round(2 * float(picture.get(side))) for side in ("width", "height"))
    bare = page.evaluate("document.querySelector('.canvas').clientWidth")
    assert width == 2 * bare, (width, bare)


@test
def labels_get_styles_that_all_users_share(browser: Browser, server: Server):
    styles.check(browser, server, open_sample)


@test
def the_canvas_has_a_menu(browser: Browser, server: Server):
    canvas.check_menu(browser, server, open_sample)


@test
def the_menu_works_by_keyboard_alone(browser: Browser, server: Server):
    canvas.check_menu_keys(browser, server, open_sample)


@test
def what_is_found_is_in_the_middle_and_neighbours_lie_free(browser: Browser, server: Server):
    canvas.check_search(browser, server, open_sample)


@test
def a_comparison_has_marks_of_its_own(browser: Browser, server: Server):
    canvas.check_comparison(browser, server, open_sample)


@test
def the_times_have_axes_and_a_calendar(browser: Browser, server: Server):
    canvas.check_axes(browser, server, open_sample)


@test
def the_canvas_is_kept(browser: Browser, server: Server):
    canvas.check_kept(browser, server, open_sample)


@test
def without_the_server_times_and_picture_agree(browser: Browser, server: Server):
    canvas.check_offline(browser, server, open_sample)


@test
def a_drag_selects_no_text_and_the_legend_covers_nothing(browser: Browser, server: Server):
    canvas.check_selection(browser, server, open_sample)


@test
def a_change_is_stored_as_its_preview_shows(browser: Browser, server: Server):
    doing.check_plans(browser, server, open_sample)


@test
def elements_are_created_corrected_and_deleted(browser: Browser, server: Server):
    doing.check_edit(browser, server, open_sample)


@test
def a_refusal_says_why_and_takes_nothing_else_away(browser: Browser, server: Server):
    doing.check_refused(browser, server, open_sample)


@test
def results_of_algorithms_are_seen_on_the_canvas(browser: Browser, server: Server):
    doing.check_algorithms(browser, server, open_sample)


@test
def several_vertices_are_picked_together(browser: Browser, server: Server):
    picking.check(browser, server, open_sample)


@test
def the_tour_has_six_steps(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    page.get_by_role("button", name="Take the tour").click()
    for step in range(1, 7):
        page.locator(".tour", has_text=f"{step} of 6").wait_for()
        settle(page)
        expect(page.locator(".problem")).to_have_count(0)
        page.locator(".tour button", has_text="Next" if step < 6 else "End").click()
    expect(page.locator(".tour")).to_have_count(0)


@test
def a_query_runs_and_is_cancelled(browser: Browser, server: Server):
    page = browser.page(expected=("503", "status of 5"))
    open_sample(page, server.url)
    page.goto(server.url + "/ui/#/query")
    editor = page.locator(".editor .cm-content")
    editor.click()
    write(page, "g.V().hasLabel('person').count()")
    page.locator("[data-action=run]").click()
    cell = page.locator(".result tbody td").first
    cell.wait_for()
    people = next(each["count"] for each in server.explore("summary")["vertices"] if each["label"] == "person")
    expect(cell).to_have_text(str(people), use_inner_text=True)
    write(page, "g.V().repeat(both().simplePath()).times(14).count()")
    page.locator("[data-action=run]").click()
    page.locator("[data-action=stop]").wait_for()
    page.wait_for_timeout(300)
    page.locator("[data-action=stop]").click()
    stopped = time.monotonic()
    page.locator(".failure").wait_for(timeout=3000)
    print(f"        the cancelled query is gone after {(time.monotonic() - stopped) * 1000:.0f} ms")
    running = server.call("/queries")["queries"]
    assert not [each for each in running if "repeat" in (each.get("text") or "")], running


def room(module) -> None:
    """The tests of a file of its own."""
    for check in module.TESTS:
        run = lambda browser, server, check=check: check(browser, server, open_sample)
        run.__name__ = check.__name__
        TESTS.append(run)


room(querying)
room(people)
room(backing)
room(coloring)
room(following)
room(ids)
room(mixed)
room(keeping)


@test
def cypher_shows_rows_paths_and_the_past(browser: Browser, server: Server):
    cypher.check_results(browser, server, open_sample)


@test
def cypher_changes_the_graph(browser: Browser, server: Server):
    cypher.check_changes(browser, server, open_sample)


@test
def cypher_has_its_plan_as_a_tree(browser: Browser, server: Server):
    cypher.check_plan(browser, server, open_sample)


@test
def errors_of_cypher_are_marked_in_the_text(browser: Browser, server: Server):
    cypher.check_errors(browser, server, open_sample)


@test
def cypher_is_completed_from_the_graph(browser: Browser, server: Server):
    cypher.check_completion(browser, server, open_sample)


@test
def the_schema_is_shown_and_changed(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    page.goto(server.url + "/ui/#/schema")
    page.locator("tr[data-name=person]").first.wait_for()
    page.locator("[data-new=propertykeys]").click()
    page.locator(".dialog input[name=name]").fill("nickname")
    page.locator(".dialog .primary").click()
    page.locator("tr[data-name=nickname]").wait_for()
    keys = server.call(f"/graphs/{server.graph}/schema/propertykeys")["propertykeys"]
    assert "nickname" in [key["name"] for key in keys]
    page.get_by_role("button", name="Remove: nickname").click()
    page.locator(".dialog .danger").click()
    page.locator("tr[data-name=nickname]").wait_for(state="detached")


@test
def a_file_is_loaded_and_wrong_rows_are_told(browser: Browser, server: Server):
    loading.check_rows(browser, server)


@test
def files_become_a_graph_in_time(browser: Browser, server: Server):
    loading.check_time(browser, server)


@test
def columns_get_other_meanings_without_text(browser: Browser, server: Server):
    loading.check_meanings(browser, server)


@test
def files_of_one_label_stay_together(browser: Browser, server: Server):
    loading.check_shared(browser, server)


@test
def a_failed_load_says_so_where_it_was_started(browser: Browser, server: Server):
    loading.check_failure(browser, server)


@test
def files_are_dropped_anywhere(browser: Browser, server: Server):
    loading.check_drop(browser, server)


@test
def a_first_look_leaves_nothing_out_in_silence(browser: Browser, server: Server):
    newcomer.check_look(browser, server)


@test
def both_axes_are_of_the_data(browser: Browser, server: Server):
    newcomer.check_axes(browser, server)


@test
def what_was_learned_is_the_last_change(browser: Browser, server: Server):
    newcomer.check_learned(browser, server)


@test
def a_login_is_asked_for_and_ends(browser: Browser, server: Server):
    account.check(browser)


@test
def the_list_works_by_keyboard_alone(browser: Browser, server: Server):
    page = browser.page()
    open_sample(page, server.url)
    page.locator("#tab-list").focus()
    page.keyboard.press("Enter")
    page.locator(".tree-row").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.locator(".element h2").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.locator(".dialog kbd").first.wait_for()
    page.keyboard.press("Escape")
    page.locator(".dialog").wait_for(state="detached")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.locator("h1", has_text="Tasks").wait_for()


@test
def language_and_theme_are_switched_and_kept(browser: Browser, server: Server):
    page = browser.page()
    page.goto(server.url + "/ui/")
    page.locator("[data-action=language]").click()
    page.locator(".rail", has_text="探索").wait_for()
    page.locator("[data-action=theme]").click()
    page.locator("[data-action=theme]").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    page.locator(".rail", has_text="探索").wait_for()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


@test
def names_are_text_and_never_run(browser: Browser, server: Server):
    attack = "<img src=x onerror=document.title='run'>"
    path = f"/graphs/{server.graph}/graph/vertices"
    city = server.explore("sample", label="city", limit=1)["vertices"][0]["properties"]
    key = next(key for key, value in city.items() if isinstance(value, str))
    created = server.call(path, {"label": "city", "properties": {**city, key: attack}})
    page = browser.page()
    page.goto(server.url + "/ui/")
    page.locator(".label-card", has_text="city").click()
    settle(page)
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="<img").click()
    page.locator(".element h2", has_text="<img").wait_for()
    page.get_by_role("tab", name="History").click()
    page.locator(".history-row").first.wait_for()
    assert page.title() != "run"
    server.call(f"{path}/%22{created['id'].replace('<', '%3C').replace('>', '%3E').replace(' ', '%20')}%22", method="DELETE")


@test
def every_screen_is_accessible_and_fits(browser: Browser, server: Server):
    screens.check(browser, server, open_sample)


@test
def metadata_is_as_the_repository_says(browser: Browser, server: Server):
    repository.check(browser, server)


@test
def a_late_answer_about_another_graph_is_dropped(browser: Browser, server: Server):
    server.call("/graphs/other", {})
    server.call("/graphs/other/schema/vertexlabels", {"name": "lonely", "id_strategy": "CUSTOMIZE_STRING", "properties": []})
    server.call("/graphs/other/graph/vertices", {"label": "lonely", "id": "one", "properties": {}})
    page = browser.page()
    held = []
    first = re.compile(f"/graphs/{server.graph}/explore/summary")
    page.route(first, lambda route: held.append(route))
    with page.expect_request(first):
        page.goto(f"{server.url}/ui/")
    page.locator(".graph-choice select").select_option("other")
    card = page.locator(".label-card", has_text="lonely")
    card.wait_for()
    with page.expect_response(first) as late:
        for route in held:
            route.continue_()
    late.value.finished()
    settle(page)
    assert card.is_visible(), "what the first graph holds replaced what the second one holds"
    expect(page.locator(".label-card")).to_have_count(1)
    server.call("/graphs/other", method="DELETE", confirm_message="I'm sure to drop the graph")


@test
def a_picture_that_fails_is_told(browser: Browser, server: Server):
    canvas.check_painter(browser, server, open_sample)


@test
def a_layout_is_made_when_it_is_chosen(browser: Browser, server: Server):
    views.check_layout(browser, server, open_sample)


@test
def links_and_scenes_fit_the_window(browser: Browser, server: Server):
    views.check_camera(browser, server, open_sample)


@test
def each_graph_keeps_its_canvas(browser: Browser, server: Server):
    views.check_switch(browser, server, open_sample)


@test
def a_large_label_is_a_table(browser: Browser, server: Server):
    label.check(browser, server)


@test
def a_crowd_is_grouped_and_covers_nothing(browser: Browser, server: Server):
    crowd.check(browser, server.url)


@test
def a_large_graph_stays_usable(browser: Browser, server: Server):
    large.check(browser, server)


def main() -> int:
    server = Server(sys.argv[1])
    wanted = sys.argv[2:]
    failed = []
    browser = Browser(server.url)
    for each in TESTS:
        name = each.__name__
        if wanted and not any(part in name for part in wanted):
            continue
        browser.problems.clear()
        browser.url = server.url
        try:
            each(browser, server)
            assert not browser.problems, "\n".join(browser.problems)
            print(f"ok      {name}", flush=True)
        except Exception as error:
            failed.append(name)
            browser.keep_pictures(name)
            # Where it failed: an assertion has no text of its own.
            lines = [f"{Path(each.filename).name}:{each.lineno} {each.line}" for each in traceback.extract_tb(error.__traceback__)]
            print(f"FAILED  {name}: {error}", *lines, sep="\n        ", flush=True)
        for context in browser.browser.contexts:
            context.close()
    browser.close()
    print(f"{len(failed)} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
