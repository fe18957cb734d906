"""The panel of backups: the list, the age of the last one, the next one, and a backup now."""

import datetime
import tempfile
import urllib.error
from pathlib import Path

import screens
from browser import Server, expect
from servers import second_server


def is_served(server) -> bool:
    try:
        server.call("/admin/backups")
    except urllib.error.HTTPError as refusal:
        assert refusal.code == 404, refusal
        return False
    return True


def expected(server) -> tuple[str, ...]:
    """What the console tells of a server that has no such resource."""
    return () if is_served(server) else ("status of 404",)


def instant(**ago: int) -> str:
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**ago)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def told(**changed) -> dict:
    one = {"graphs": ["hugegraph", "~system"], "left_out": [], "files": 12, "bytes": 3 << 20, "new_bytes": 4096, "took_ms": 812}
    backups = [{"name": "b2", "created": instant(hours=3), **one}, {"name": "b1", "created": instant(hours=27), **one, "left_out": ["broken"]}]
    plan = {"to": "s3://bucket/prefix", "every_seconds": 86400, "keep": 7, "keep_for_seconds": 0, "next": instant(hours=-20, minutes=-59)}
    return {**plan, "running": None, "stored_bytes": 5 << 20, "failure": None, "backups": backups, **changed}


def backups_are_listed_and_begun(browser, server, open_sample) -> None:
    page = browser.page(expected=expected(server))
    page.goto(f"{server.url}/ui/#/monitor")
    panel = page.locator(".backups")
    panel.locator("code", has_text="--set backup.to=").wait_for()
    assert panel.locator("[data-action=back-up]").count() == 0
    page.context.close()
    check_told(browser, server)
    if is_served(server):
        check_real(browser)


def check_failure(page, panel) -> None:
    """A failure is told, and the next answer replaces it."""
    def refuse(route) -> None:
        route.fulfill(status=500, json={"exception": "x", "message": "no disk"})

    page.route("**/admin/backups", refuse)
    panel.locator(".failure", has_text="no disk").wait_for()
    page.unroute("**/admin/backups", refuse)
    panel.locator(".failure").wait_for(state="detached")
    panel.locator("tbody tr").nth(1).wait_for()


def check_told(browser, server) -> None:
    """What the server may say."""
    page = browser.page(expected=("status of 500",))
    answer = told()
    sent = []
    page.route("**/admin/backups", lambda route: route.fulfill(json=answer))
    page.route("**/admin/backup", lambda route: (sent.append(route.request.post_data_json), answer.update(running=4), route.fulfill(status=202, json={"job": 4}))[-1])
    page.goto(f"{server.url}/ui/#/monitor")
    panel = page.locator(".backups")
    panel.locator("tbody tr").nth(1).wait_for()
    check_failure(page, panel)
    tiles = panel.locator(".backup-tiles").inner_text()
    for part in ("3 h 0 min ago", "in 20 h 5", "5.0 MiB", "the last 7"):
        assert part in tiles, (part, tiles)
    rows = panel.locator("tbody tr").all_inner_texts()
    assert "b2" in rows[0] and "3.0 MiB" in rows[0] and "without broken" in rows[1] and "without" not in rows[0], rows
    panel.locator("[data-action=back-up]").click()
    expect(page.locator(".dialog pre.json")).to_have_text("POST /admin/backup\n{}", use_inner_text=True)
    assert not sent, "a backup begins after a yes"
    page.locator("[data-action=begin-backup]").click()
    panel.locator("[role=status]", has_text="job 4").wait_for()
    assert sent == [{}] and panel.locator("[data-action=back-up]").is_disabled()
    # Late, failed, without a schedule.
    answer.update(told(running=None, backups=[], failure={"at": instant(minutes=5), "error": "the bucket refuses"}))
    panel.locator(".failure", has_text="the bucket refuses").wait_for()
    panel.locator(".late dd", has_text="never").wait_for()
    answer.update(every_seconds=0, next=None)
    panel.locator("dd", has_text="no schedule").wait_for()
    assert not (wrong := screens.problems(page, "wide-light-backups")), wrong
    page.context.close()


def check_real(browser) -> None:
    """A backup to a folder, and what the server says of it."""
    with tempfile.TemporaryDirectory() as folder:
        with second_server("--set", f"backup.to={Path(folder, 'store')}") as url:
            browser.url = url
            page = browser.page()
            page.goto(f"{url}/ui/#/monitor")
            panel = page.locator(".backups")
            panel.locator("dd", has_text="never").wait_for()
            panel.locator("[data-action=back-up]").click()
            page.locator("[data-action=begin-backup]").click()
            panel.locator("tbody tr").wait_for(timeout=60_000)
            [made] = Server(url).call("/admin/backups")["backups"]
            expect(panel.locator("tbody tr")).to_contain_text(made["name"], use_inner_text=True)
            page.context.close()


TESTS = [backups_are_listed_and_begun]
