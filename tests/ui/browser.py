"""A page of the explorer, with what every test looks at: errors, requests that leave the server, time of the main thread."""

import json
import os
import urllib.parse
import urllib.request

from playwright.sync_api import Page, expect, sync_playwright

# What a page shows comes some time after the action that causes it: `expect` waits for it, an assertion does not.
PATIENCE_MS = 15_000
expect.set_options(timeout=PATIENCE_MS)

# Everything is drawn by the processor: no graphics card is needed.
FLAGS = ["--no-sandbox"]
SIZES = {"wide": {"width": 1280, "height": 720}, "narrow": {"width": 390, "height": 844}}


class Server:
    """The REST API, to compare with what the page shows."""

    def __init__(self, url: str, graph: str = "hugegraph", headers: dict[str, str] | None = None):
        self.url, self.graph, self.headers = url, graph, headers or {}

    def call(self, path: str, body=None, method: str | None = None, **query):
        query = {name: value for name, value in query.items() if value is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = self.headers | ({"Content-Type": "application/json"} if data is not None else {"Accept": "application/json"})
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def explore(self, what: str, body=None, **query):
        return self.call(f"/graphs/{self.graph}/explore/{what}", body, **query)


class Browser:
    """One Chromium; each page is a fresh profile."""

    def __init__(self, url: str):
        self.url = url
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=os.environ["VARVE_TEST_CHROMIUM"], args=FLAGS)
        self.problems: list[str] = []

    def page(self, size: str = "wide", theme: str = "light", expected: tuple[str, ...] = (), language: str = "en-US") -> Page:
        """A page in a fresh profile. Its console errors but for those `expected` are problems."""
        context = self.browser.new_context(
            viewport=SIZES[size], color_scheme=theme, reduced_motion="reduce", locale=language, timezone_id="UTC"
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)

        def tell(kind: str, text: str) -> None:
            if not any(part in text for part in expected):
                self.problems.append(f"{kind}: {text}")

        page.on("console", lambda message: tell("console", message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: tell("error", str(error)))
        page.on("request", lambda request: self.check_origin(request.url))
        return page

    def check_origin(self, url: str) -> None:
        if not url.startswith((self.url, "blob:", "data:")):
            self.problems.append(f"a request left the server: {url}")

    def keep_pictures(self, name: str) -> None:
        """What each page showed when a test failed, where VARVE_TEST_SHOTS names a folder."""
        folder = os.environ.get("VARVE_TEST_SHOTS")
        pages = [page for context in self.browser.contexts for page in context.pages] if folder else []
        for index, page in enumerate(pages):
            page.screenshot(path=f"{folder}/failed-{name}-{index}.png")

    def close(self) -> None:
        self.browser.close()
        self.playwright.stop()


def slider(page: Page, kind: str):
    return page.locator(f".slider[data-kind={kind}] [role=slider]")


def field(page: Page, kind: str):
    return page.locator(f".slider[data-kind={kind}] input.time-field")


def set_time(page: Page, kind: str, value: str) -> None:
    box = field(page, kind)
    box.fill(value)
    box.press("Enter")
    settle(page)


def settle(page: Page) -> None:
    """Waits until the page has asked for what it shows and has the answer."""
    page.wait_for_timeout(250)
    page.locator(".busy:not(.on)").wait_for(state="attached")
    page.wait_for_timeout(100)


def legend(page: Page) -> dict[str, int]:
    """Labels and counts of what is drawn."""
    rows = page.locator(".legend-row").all_inner_texts()
    # A count may be followed by how many there are in all.
    parts = [row.split()[:2] for row in rows]
    return {name: int(count.replace(",", "")) for name, count in parts}


def write(page: Page, text: str) -> None:
    """Puts a text into the editor in place of what is there."""
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)
    page.keyboard.press("Escape")
