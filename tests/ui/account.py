"""A server that asks who you are: the login, the account with its tokens, and the logout."""

import base64
import contextlib
import json
import urllib.error
import urllib.request

import screens
from browser import expect, settle
from servers import PASSWORD, server_with_login


def check(browser) -> None:
    with server_with_login() as url:
        browser.url = url
        page = browser.page(expected=("status of 401", "status of 503"))
        page.goto(url + "/ui/")
        page.locator(".login input[type=password]").wait_for()
        assert not (wrong := screens.problems(page, "wide-light-login")), wrong
        log_in(page, "admin", "wrong")
        page.locator(".login [role=alert]", has_text="Wrong name or password").wait_for()
        log_in(page, "admin", PASSWORD)
        page.locator("[data-card=sample]").click()
        page.locator(".legend-row").first.wait_for(state="attached")
        kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
        assert PASSWORD not in kept and "eyJ" not in kept, kept
        name = f"varve-session-{url.rsplit(':', 1)[1]}"
        cookie = next(each for each in page.context.cookies() if each["name"] == name)
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict", cookie
        page.reload()
        page.locator(".legend-row").first.wait_for(state="attached")
        page.get_by_role("button", name="Export the graph").click()
        with page.expect_download() as download:
            page.locator(".preset", has_text="CSV (vertices)").click()
        assert download.value.path().read_text().startswith("~id,"), "the export has the session too"
        refuse = "**/ui/session"
        page.route(refuse, lambda route: route.fulfill(status=503, json={"message": "busy"}))
        check_account(page, url)
        log_out(page)
        page.locator(".offline[role=alert]", has_text="You are still logged in: busy").wait_for()
        page.unroute(refuse)
        log_out(page)
        page.locator(".login").wait_for()
        page.reload()
        page.locator(".login").wait_for()
        assert page.evaluate("sessionStorage.length") == 0, "the next user sees no canvas"
        expect(page.locator(".offline")).to_have_count(0)
        assert not [each for each in page.context.cookies() if each["name"] == name]
        # Whoever kept the token has nothing.
        request = urllib.request.Request(url + "/auth/users", headers={"Cookie": f"{name}={cookie['value']}"})
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request)
            raise AssertionError("the token counts after the logout")
        check_reader(browser, url)
        check_next_user(page)


def check_next_user(page) -> None:
    """Nothing of a user is seen by the next one, after a logout and after a session that the server ended."""
    log_in(page, "admin", PASSWORD)
    page.locator("[data-card=sample]").click()
    page.locator(".legend-row").first.wait_for(state="attached")
    log_out(page)
    log_in(page, "admin", PASSWORD)
    sees_nothing(page)
    page.locator("[data-card=sample]").click()
    page.locator(".legend-row").first.wait_for(state="attached")
    end_session(page)
    log_in(page, "admin", PASSWORD)
    page.evaluate("location.hash = '#/explore'")
    page.locator(".legend-row").first.wait_for(state="attached")
    end_session(page)
    log_in(page, "ann", PASSWORD)
    page.get_by_role("button", name="ann").wait_for()
    page.evaluate("location.hash = '#/explore'")
    sees_nothing(page)


def end_session(page) -> None:
    """The next request is answered 401."""
    settle(page)
    page.context.clear_cookies()
    page.evaluate("location.hash = '#/schema'")
    page.locator(".login").wait_for()


def sees_nothing(page) -> None:
    page.locator(".label-card").first.wait_for()
    page.wait_for_timeout(500)
    expect(page.locator(".start")).to_have_count(1)
    expect(page.locator(".legend-row"), "the canvas of another session").to_have_count(0)


def log_in(page, name: str, password: str) -> None:
    page.locator(".login input").first.fill(name)
    page.locator(".login input[type=password]").fill(password)
    page.locator(".login .primary").click()


def log_out(page) -> None:
    page.get_by_role("button", name="admin").click()
    page.locator("[data-action=log-out]").click()


def check_account(page, url: str) -> None:
    """A token for a program is made, counts, and is revoked."""
    page.get_by_role("button", name="admin").click()
    page.locator(".dialog input[name=token]").fill("nightly")
    assert not (wrong := screens.problems(page, "wide-light-account")), wrong
    page.locator("[data-action=new-token]").click()
    token = page.locator(".dialog input[name=made]").input_value()
    request = urllib.request.Request(url + "/graphs", headers={"Authorization": f"Bearer {token}"})
    assert urllib.request.urlopen(request).status == 200
    page.locator("[data-token=nightly]").wait_for()
    page.get_by_role("button", name="Revoke").click()
    page.locator("[data-token=nightly]").wait_for(state="detached")
    with contextlib.suppress(urllib.error.HTTPError):
        urllib.request.urlopen(request)
        raise AssertionError("the token counts after it was revoked")
    for wrong in ("90d", "abc", "-5", "0"):
        page.locator(".dialog input[name=token]").fill("endless")
        page.locator(".dialog input[name=days]").fill(wrong)
        page.locator("[data-action=new-token]").click()
        page.locator(".dialog .failure", has_text="a number above 0").wait_for()
        page.locator(".dialog input[name=days]").fill("1")
    assert page.locator("[data-token=endless]").count() == 0
    page.locator(".dialog input[name=password]").fill("one")
    page.locator(".dialog input[name=again]").fill("other")
    page.get_by_role("button", name="Change the password").click()
    page.locator(".dialog .failure", has_text="differ").wait_for()
    page.keyboard.press("Escape")
    page.locator(".dialog").wait_for(state="detached")


def check_reader(browser, url: str) -> None:
    """Who may only read is offered no changes; a new right counts from the next change of the graph or page on."""
    call(url, "/auth/users", {"user_name": "ann", "user_password": PASSWORD})
    call(url, "/auth/groups", {"group_name": "readers"})
    call(url, "/auth/targets", {"target_name": "all", "target_graph": "hugegraph", "target_url": "", "target_resources": [{"type": "ALL"}]})
    call(url, "/auth/belongs", {"user": "-30:ann", "group": "-36:readers"})
    call(url, "/auth/accesses", {"group": "-36:readers", "target": "-44:all", "access_permission": "READ"})
    page = browser.page(expected=("status of 401",))
    page.goto(url + "/ui/")
    page.locator(".login input").first.fill("ann")
    page.locator(".login input[type=password]").fill(PASSWORD)
    page.locator(".login .primary").click()
    page.locator(".label-card", has_text="person").click()
    page.locator("#tab-list").click()
    page.locator(".tree-row", has_text="person").first.click()
    page.locator(".element [data-action=expand-with]").wait_for()
    page.locator("[data-action=edit]").wait_for(state="detached")
    call(url, "/auth/accesses", {"group": "-36:readers", "target": "-44:all", "access_permission": "WRITE"})
    page.reload()
    page.locator(".element [data-action=edit]").wait_for()
    page.context.close()


def call(url: str, path: str, body: dict) -> None:
    headers = {"Content-Type": "application/json", "Authorization": "Basic " + base64.b64encode(f"admin:{PASSWORD}".encode()).decode()}
    urllib.request.urlopen(urllib.request.Request(url + path, data=json.dumps(body).encode(), headers=headers)).close()
