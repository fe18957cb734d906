"""Users, groups, targets and rights: made, changed and removed on the page; a reader is offered nothing that is refused."""

import base64
import json
import urllib.error
import urllib.request

import screens
from browser import expect
from servers import PASSWORD, server_with_login


def ask(url: str, name: str, path: str, body=None, method: str | None = None):
    """The answer that a user gets, or the status of its refusal."""
    login = base64.b64encode(f"{name}:{PASSWORD}".encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {login}"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data=data, headers=headers, method=method)) as answer:
            text = answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code
    return json.loads(text) if text else None


def log_in(browser, url: str, name: str):
    page = browser.page(expected=("status of 401", "status of 400", "status of 403"))
    page.goto(url + "/ui/")
    page.locator(".login input").first.fill(name)
    page.locator(".login input[type=password]").fill(PASSWORD)
    page.locator(".login .primary").click()
    page.locator("[aria-label=Pages] a[href='#/users']").click()
    page.locator("h1", has_text="Users").wait_for()
    return page


def tab(page, name: str) -> None:
    page.locator(f"[data-tab={name}]").click()


def new(page, **values: str) -> None:
    """Fills the form of what the tab has and sends it."""
    page.locator("[data-action=new]").click()
    fill(page, **values)
    send(page)


def fill(page, **values: str) -> None:
    for name, value in values.items():
        field = page.locator(f".dialog [name={name}]")
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def send(page) -> None:
    page.locator(".dialog-actions button").last.click()
    page.locator(".dialog").wait_for(state="detached")


def shown_request(page) -> tuple[str, dict]:
    first, _, body = page.locator(".dialog pre.json").inner_text().partition("\n")
    return first, json.loads(body or "{}")


def check_conditions(page, resource) -> None:
    """Nothing is sent while a condition lacks its property, or repeats that of another."""
    said = shown_request(page)
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    resource.locator("[data-action=add-condition]").click()
    second = resource.get_by_label("Property").last
    for key in ("", "born"):
        second.fill(key)
        page.locator(".dialog-actions button").last.click()
        assert not second.evaluate("each => each.validity.valid"), key
    assert page.locator(".dialog").count() == 1 and not sent, sent
    second.fill("name")
    assert second.evaluate("each => each.validity.valid")
    # What has no properties has no conditions, and they do not come back.
    kind = resource.locator("select").first
    kind.select_option("SCHEMA")
    assert resource.get_by_label("Property").count() == 0 and shown_request(page)[1]["target_resources"] == [{"type": "SCHEMA", "label": "person"}]
    kind.select_option("VERTEX")
    resource.locator("[data-action=add-condition]").click()
    resource.get_by_label("Operator").select_option("gte")
    resource.get_by_label("Value").fill("1990")
    resource.get_by_label("Property").fill("born")
    assert shown_request(page) == said


def check_target(page, url: str) -> None:
    """People that were born late, and all edges."""
    tab(page, "targets")
    page.locator("[data-action=new]").click()
    fill(page, target_name="late", target_graph="hugegraph")
    first = page.locator("[data-resource='0']")
    first.locator("select").first.select_option("VERTEX")
    first.locator("input").first.fill("person")
    first.locator("input").first.press("Tab")
    first.locator("[data-action=add-condition]").click()
    first.get_by_label("Operator").select_option("gte")
    first.get_by_label("Value").fill("1990")
    first.get_by_label("Property").fill("born")
    first.get_by_label("Property").press("Tab")
    first.locator("p", has_text="vertices of person where born ≥ 1990").wait_for()
    check_conditions(page, first)
    page.locator("[data-action=add-resource]").click()
    page.locator("[data-resource='1'] select").first.select_option("EDGE")
    resources = [{"type": "VERTEX", "label": "person", "properties": {"born": "P.gte(1990)"}}, {"type": "EDGE"}]
    said = shown_request(page)
    assert said[0] == "POST /auth/targets" and said[1]["target_resources"] == resources, said
    assert not (wrong := screens.problems(page, "wide-light-target")), wrong
    with page.expect_request("**/auth/targets") as sent:
        send(page)
    assert sent.value.post_data_json == said[1], "the form shows what it sends"
    row = page.locator("tr[data-name=late]")
    row.wait_for()
    expect(row).to_contain_text("vertices of person where born ≥ 1990; all edges", use_inner_text=True)
    # It opens for a change with what it has.
    row.locator("[data-action=change]").click()
    assert shown_request(page)[1]["target_resources"] == resources, shown_request(page)
    page.keyboard.press("Escape")


def users_and_rights_are_managed(browser, server, open_sample) -> None:
    with server_with_login() as url:
        browser.url = url
        ask(url, "admin", "/graphs/hugegraph/explore/load_sample", {}, "POST")
        page = log_in(browser, url, "admin")
        page.locator("tr[data-name=admin]").wait_for()
        page.locator(".rights-of", has_text="Everything, on the whole server.").wait_for()
        page.locator("[data-action=new]").click()
        fill(page, user_name="bob", user_password=PASSWORD, user_email="bob@example.org")
        assert PASSWORD not in page.locator(".dialog pre.json").inner_text(), "no password on the screen"
        send(page)
        page.locator("tr[data-name=bob]", has_text="bob@example.org").wait_for()
        # What is refused is told in the form, and nothing changes.
        page.locator("[data-action=new]").click()
        fill(page, user_name="bob", user_password=PASSWORD)
        page.locator(".dialog-actions button").last.click()
        page.locator(".dialog .failure").wait_for()
        page.keyboard.press("Escape")
        check_target(page, url)
        tab(page, "groups")
        new(page, group_name="clerks", group_description="they count")
        card = page.locator(".group-card[data-name=clerks]")
        card.locator("[data-action=add-member]").click()
        fill(page, user="-30:bob")
        send(page)
        card.locator(".chip", has_text="bob").wait_for()
        card.locator("[data-action=add-right]").click()
        fill(page, access_permission="READ", target="-44:late")
        assert shown_request(page) == ("POST /auth/accesses", {"group": "-36:clerks", "target": "-44:late", "access_permission": "READ"})
        send(page)
        card.locator(".chip", has_text="May read: late").wait_for()
        assert not (wrong := screens.problems(page, "wide-light-groups")), wrong
        # What bob may do, in words and in fact.
        tab(page, "users")
        page.locator("tr[data-name=bob]", has_text="clerks").locator(".link").click()
        page.locator(".rights-of", has_text="What bob may do").locator("dd", has_text="vertices of person where born ≥ 1990; all edges").wait_for()
        said = page.locator(".rights-of").inner_text()
        assert "Through the groups: clerks" in said and "Graph hugegraph" in said and "May read" in said, said
        assert not (wrong := screens.problems(page, "wide-light-users")), wrong
        seen = ask(url, "bob", "/graphs/hugegraph/graph/vertices?limit=-1")["vertices"]
        assert seen and all(each["label"] == "person" and each["properties"]["born"] >= 1990 for each in seen), seen[:3]
        check_looks(page)
        check_reader(browser, url)
        # A change, and the ends of a membership, a group and a user, each after a question.
        page.locator("tr[data-name=bob] [data-action=change]").click()
        fill(page, user_description="counts", user_email="")
        page.locator(".dialog-actions button").last.click()
        assert not page.locator("[name=user_email]").evaluate("each => each.validity.valid"), "it cannot be cleared"
        fill(page, user_email="bob@example.org")
        send(page)
        page.locator("tr[data-name=bob]", has_text="counts").wait_for()
        assert ask(url, "bob", "/auth/users/-30:bob")["user_email"] == "bob@example.org", "the rest stays, the password too"
        tab(page, "groups")
        card.get_by_role("button", name="Remove bob?").click()
        page.locator(".dialog", has_text="loses the rights").wait_for()
        page.keyboard.press("Escape")
        assert card.locator(".chip", has_text="bob").count() == 1, "nothing is removed without a yes"
        card.get_by_role("button", name="Remove bob?").click()
        send(page)
        card.locator(".chip", has_text="bob").wait_for(state="detached")
        assert ask(url, "bob", "/graphs/hugegraph/graph/vertices") == 403
        card.locator("[data-action=remove]").click()
        send(page)
        card.wait_for(state="detached")
        tab(page, "users")
        page.locator("tr[data-name=bob] [data-action=remove]").click()
        assert shown_request(page)[0] == "DELETE /auth/users/-30%3Abob"
        send(page)
        page.locator("tr[data-name=bob]").wait_for(state="detached")
        assert ask(url, "bob", "/graphs") == 401
        assert page.locator("tr[data-name=admin] [data-action=remove]").count() == 0
        page.context.close()


def check_looks(page) -> None:
    """On a phone, dark, in Chinese."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.locator("[data-action=language]").click()
    page.locator("h1", has_text="用户").wait_for()
    wrong = []
    for name in ("groups", "targets", "users"):
        tab(page, name)
        wrong += screens.problems(page, f"narrow-dark-zh-{name}")
        page.locator("[data-action=new]").click()
        page.locator(".dialog").wait_for()
        wrong += screens.problems(page, f"narrow-dark-zh-{name}-new")
        page.keyboard.press("Escape")
    assert not wrong, "\n".join(wrong)
    page.locator("[data-action=language]").click()
    page.locator("h1", has_text="Users").wait_for()
    page.set_viewport_size({"width": 1280, "height": 720})


def check_reader(browser, url: str) -> None:
    """Who may only read sees its own rights; who may read the users sees them without a button to change others."""
    page = log_in(browser, url, "bob")
    page.locator("h2", has_text="What you may do").wait_for()
    page.locator("dd", has_text="vertices of person where born ≥ 1990; all edges").wait_for()
    assert page.locator("[data-action=new], [data-action=change], [data-action=remove]").count() == 0
    page.context.close()
    target = {"target_name": "people", "target_graph": "", "target_url": "", "target_resources": [{"type": each} for each in ("USER_GROUP", "GRANT", "TARGET")]}
    ask(url, "admin", "/auth/targets", target)
    ask(url, "admin", "/auth/accesses", {"group": "-36:clerks", "target": "-44:people", "access_permission": "READ"})
    page = log_in(browser, url, "bob")
    page.locator("tr[data-name=admin]").wait_for()
    assert page.locator("[data-action=new]").count() == 0
    assert page.locator("[data-action=remove]").count() == 0
    assert page.locator("tr[data-name=bob] [data-action=change]").count() == 1, "its own record it may change"
    assert page.locator("tr[data-name=admin] [data-action=change]").count() == 0
    tab(page, "groups")
    page.locator(".group-card .chip", has_text="May read: people").wait_for()
    assert page.locator("[data-action=add-member], [data-action=add-right], .chip button").count() == 0
    page.context.close()


TESTS = [users_and_rights_are_managed]
