"""The repository; and Chromium over the built site, or over one figure, all else refused.

A test opens pages through `open_page`; when it ends, a request to anywhere else, an error on the
console or an uncaught exception fails it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route

from book._press.printed import chromium
from book.page.live import LiveFigure, bundle
from tests.book.reading import PAGE

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"

# The page has loaded, and is not the one that only leads on to the first.
LOADED = "document.readyState === 'complete' && !document.querySelector('[http-equiv=Refresh]')"


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the built site; the rest are figures, each on a page of its own."""
    for item in items:
        if "site" in getattr(item, "fixturenames", ()):
            item.add_marker("site")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built book."""
    if not (SITE / "index.html").is_file():
        pytest.exit(f"There is no built book in {SITE}: run `make book` first.", returncode=2)
    return SITE


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as the machine has it, with an empty profile."""
    try:
        with chromium() as browser:
            yield browser
    except FileNotFoundError as error:
        pytest.exit(str(error), returncode=2)


@pytest.fixture(scope="session")
def http_address(site: Path) -> Iterator[str]:
    """The address of a small web server over the site, on this machine only."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session", params=["file", "http"])
def address(request: pytest.FixtureRequest, site: Path) -> str:
    """The site's address: a test that asks for it runs from the disk and again over http."""
    return site.as_uri() if request.param == "file" else request.getfixturevalue("http_address")


@contextmanager
def opening(browser: Browser, site: Path) -> Iterator[Callable[..., Page]]:
    """`open_page(url, **options)` -> a loaded, typeset page; options of a Playwright context."""
    contexts, complaints = [], []

    def refuse_outside(route: Route, request: Request) -> None:
        if request.url.startswith((site.as_uri(), "http://127.0.0.1:", "data:", "blob:")):
            route.continue_()
        else:
            complaints.append(f"asked for {request.url}")
            route.abort()

    def note_error(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(f"console: {message.text}")

    def open_page(url: str, **options: object) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        context.route("**/*", refuse_outside)
        page = context.new_page()
        page.on("console", note_error)
        page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
        page.goto(url)
        page.wait_for_function(LOADED)
        page.evaluate("async () => { await window.MathJax?.startup?.promise; }")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[Callable[..., Page]]:
    """Opens pages for one test."""
    with opening(browser, site) as open_page:
        yield open_page


@contextmanager
def showing(browser: Browser, folder: Path) -> Iterator[Callable[..., Page]]:
    """`show(figure, **options)` -> a page in that folder with the figure alone."""
    contexts, complaints = [], []

    def show(figure: LiveFigure, **options) -> Page:
        (folder / "figures.js").write_text(bundle([figure.name]), "utf8")
        (folder / "page.html").write_text(PAGE.format(figure.to_html()), "utf8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)  # a machine that is busy with something else
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "blob:")) or complaints.append(request.url)
            ),
        )
        page.goto((folder / "page.html").as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Shows figures to one test; a complaint of the browser fails it."""
    with showing(browser, tmp_path) as show:
        yield show
