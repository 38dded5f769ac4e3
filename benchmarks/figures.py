"""How long a live figure takes from an input to the redrawn picture.

    PYTHONPATH=. .venv/bin/python benchmarks/figures.py [figure ...] > benchmarks/figures.md

Every figure stands alone on a page in Chromium, with the data that it had when the book was last
executed (`make book`), or with those of its test where no chapter shows it yet. Its controls are
changed in turn, 50 times in all, each time until the page is laid out anew. What counts is the
processor's time in the page's main thread, for scripts, styles and layout, which other programs do
not lengthen; painting is not in it. A figure that takes longer than 16 ms loses a frame.
"""

import argparse
import json
import re
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path

from measuring import machine, print_table
from playwright.sync_api import Browser, CDPSession

from book._press.path import with_chapters
from book._press.printed import chromium
from book.page.live import bundle
from tests.book.page.test_figures import EXAMPLES
from tests.book.reading import PAGE

ROOT = Path(__file__).parents[1]
EXECUTED = ROOT / "_build" / "executed" / "book"
FIGURE = re.compile(r'<div class="companion-live" data-figure="(\w+)"')
CHANGES = 50
FRAME = 16  # ms

# Changes the control number `turn` of those that can be changed; returns its name.
CHANGE = """turn => {
  const wanted = 'input:not([type=text]), select, svg [role=slider], svg [role=button]';
  const seen = (node) => !node.disabled && node.checkVisibility({ visibilityProperty: true });
  const controls = [...document.querySelectorAll(wanted)].filter(seen);
  const node = controls[turn % controls.length];
  const name = node.name?.replace(/-.*/, '') || node.ariaLabel;
  const fire = (event) => node.dispatchEvent(event);
  if (node.type === 'range' || node.type === 'number') {
    const before = node.value;
    node.stepUp();
    if (node.value === before) node.value = node.min;
    fire(new Event('input', { bubbles: true }));
  } else if (node.tagName === 'SELECT') {
    node.selectedIndex = (node.selectedIndex + 1) % node.options.length;
    fire(new Event('change', { bubbles: true }));
  } else if (node.role === 'slider') {
    fire(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true }));
  } else {
    fire(new MouseEvent('click', { bubbles: true }));
  }
  document.documentElement.getBoundingClientRect();
  return name;
}"""


def in_the_book() -> dict[str, tuple[str, str]]:
    """Figure -> a chapter that shows it and the HTML there, as last executed."""
    found, newest = {}, {}
    for file in sorted(EXECUTED.rglob("*.json"), key=lambda file: file.stat().st_mtime):
        newest[f"book/{file.parent.relative_to(EXECUTED)}.ipynb"] = str(file)
        for outputs in json.loads(file.read_text("utf8"))["outputs"]:
            for output in outputs:
                html = "".join(output.get("data", {}).get("text/html", ""))
                if name := FIGURE.match(html):
                    found[name[1]] = file.parent.name, html
    if newest:  # the index has a scene that the press makes from a chapter's outputs
        index = with_chapters((ROOT / "book" / "index.md").read_text("utf8"), ROOT, newest)
        scene = FIGURE.search(index)
        found[scene[1]] = "index", index[scene.start() :].partition("\n")[0]
    return found


def milliseconds(browser: Browser, html: str) -> list[tuple[str, float]]:
    """The control and the time of each change of a figure."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "figures.js").write_text(bundle(), "utf8")
        page_file = Path(folder, "page.html")
        page_file.write_text(PAGE.format(html), "utf8")
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(page_file.as_uri())
        client = context.new_cdp_session(page)
        client.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.evaluate(CHANGE, 0)  # the first calls compile
        times = []
        for turn in range(CHANGES):
            before = processor_seconds(client)
            control = page.evaluate(CHANGE, turn)
            times.append((control, 1000 * (processor_seconds(client) - before)))
        context.close()
    return times


def processor_seconds(client: CDPSession) -> float:
    """What the page's main thread has computed so far."""
    metrics = client.send("Performance.getMetrics")["metrics"]
    parts = {"ScriptDuration", "RecalcStyleDuration", "LayoutDuration"}
    return sum(metric["value"] for metric in metrics if metric["name"] in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("figures", nargs="*", default=sorted(EXAMPLES))
    names = parser.parse_args().figures
    shown, rows = in_the_book(), []
    with chromium() as browser:
        for name in names:
            chapter, html = shown.get(name) or ("its test", EXAMPLES[name].make().to_html())
            times = milliseconds(browser, html)
            by_control = defaultdict(list)
            for control, time in times:
                by_control[control].append(time)
            medians = {control: statistics.median(some) for control, some in by_control.items()}
            slowest = max(medians, key=medians.get)
            all_times = [time for _, time in times]
            median, worst = statistics.median(all_times), max(all_times)
            row = [name, chapter, f"{median:.1f} ms", f"{worst:.1f} ms"]
            rows.append([*row, f"{slowest}, {medians[slowest]:.1f} ms"])
    slow = [name for name, _, median, *_ in rows if float(median.split()[0]) > FRAME]
    print("# Live figures: from an input to the redrawn picture\n")
    print(f"{machine('cpu')}; {CHANGES} changes of each figure's controls, in turn;")
    print("processor time of the page's main thread, layout included, paint not.\n")
    print_table(["figure", "data of", "median", "worst", "slowest control, median"], rows)
    print(f"\nMedian over {FRAME} ms: {', '.join(slow) or 'none'}.")


if __name__ == "__main__":
    main()
