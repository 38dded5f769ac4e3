"""What the kit of scenes promises on its own, whatever a scene makes of it."""

import pytest
from playwright.sync_api import Error, expect

from tests.book.reading import globally, press, select

pytestmark = pytest.mark.browser

SCENE = """() => {
  let value = { x: 0, prediction: { guess: 0.5, shown: false }, step: 0 };
  const listeners = [];
  const model = {
    get: () => value,
    set: (_, changed) => { value = changed; listeners.forEach((listener) => listener()); },
    save_changes() {},
    on: (_, listener) => listeners.push(listener),
    off() {},
  };
  const state = connect(model);
  const move = (root) => {
    const handle = drawing("g", {}, drawing("circle", { class: "cl-hit", r: 20 }));
    const nudge = (dx, dy) => state.set({ x: state.value.x + dx + dy });
    const drag = draggable(root, handle, { name: "x", nudge, move: (x) => state.set({ x }) });
    const knob = part(root, handle, { y: 50 });
    return {
      height: 100,
      pose({ x }, { jump }) {
        drag.say(`x is ${x}`, x);
        knob.to({ x }, { jump });
      },
    };
  };
  const scene = stage(state, "a line", move);
  const asked = predict(state, "prediction", {
    question: "How much?", low: 0, high: 1, step: 0.1, act: () => ({ step: 1 }),
  });
  const step = element("b");
  state.draw((value) => write(step, value.step, 0));
  const puzzles = goals(state, [
    { text: "Take x beyond 3", reached: ({ x }) => x > 3 },
    { text: "Take x below 0", reached: ({ x }) => x < 0 },
  ]);
  const el = document.body.appendChild(document.createElement("div"));
  frame(el, "kit", scene, asked, step, puzzles);
}"""


@pytest.fixture
def page(browser):
    page = browser.new_page(reduced_motion="reduce", viewport={"width": 600, "height": 700})
    page.add_script_tag(
        content=globally("dom.js", "controls.js", "stage.js", "predict.js", "goals.js")
    )
    page.evaluate(SCENE)
    yield page
    page.close()


def test_a_goal_once_reached_stays_reached_and_is_spoken(page):
    first, second = page.get_by_role("listitem").all()
    handle = page.get_by_role("slider", name="x", exact=True)
    press(handle, "ArrowRight", times=4)
    expect(first).to_have_class("cl-reached")
    expect(page.locator("[aria-live]")).to_have_text("Goal reached: Take x beyond 3")
    press(handle, "Shift+ArrowLeft")
    for goal in (first, second):
        expect(goal).to_have_class("cl-reached")


def test_a_handle_follows_keys_and_pointer(page):
    handle = page.get_by_role("slider", name="x", exact=True)
    press(handle, "Shift+ArrowUp")
    press(handle, "ArrowDown")
    expect(handle).to_have_attribute("aria-valuetext", "x is 4")
    drawing = page.locator(".cl-stage svg").bounding_box()
    page.mouse.move(drawing["x"] + 4, drawing["y"] + 50)
    page.mouse.down()
    page.mouse.move(drawing["x"] + 200, drawing["y"] + 50)
    page.mouse.up()
    assert float(handle.get_attribute("aria-valuenow")) == pytest.approx(200, abs=1)


def test_the_answer_to_a_guess_may_lead_on(page):
    step = page.locator("b[data-value]")
    expect(step).to_have_text("0")
    page.get_by_role("button", name="Show the answer").click()
    expect(step).to_have_text("1")


def test_one_unit_of_a_stage_is_one_pixel_at_every_width(page):
    svg = page.locator(".cl-stage svg")
    for width in (600, 360):
        page.set_viewport_size({"width": width, "height": 700})
        page.wait_for_function(
            "() => { const svg = document.querySelector('.cl-stage svg');"
            " const { width } = svg.parentNode.getBoundingClientRect();"
            " return svg.viewBox.baseVal.width === Math.floor(width); }"
        )
        assert svg.bounding_box()["height"] == pytest.approx(100, abs=0.5)


def test_two_widgets_of_a_notebook_keep_their_radio_buttons_apart(browser):
    """Each has its own copy of the helpers."""
    page = browser.new_page()
    script = globally("dom.js", "controls.js")
    page.evaluate(
        f"""() => {{
        for (const view of ["a", "b"]) {{
          {script}
          const model = {{ get: () => ({{ view }}), on() {{}} }};
          const options = [["a", "A"], ["b", "B"]];
          const el = document.body.appendChild(document.createElement("div"));
          frame(el, view, tabs(connect(model), "view", "view", options));
        }}
        }}"""
    )
    checked = page.locator("input:checked").evaluate_all("nodes => nodes.map((n) => n.value)")
    assert checked == ["a", "b"]
    page.close()


def test_a_sheet_is_adopted_once_by_the_page_or_the_shadow_that_shows_it(browser):
    page = browser.new_page()
    found = page.evaluate(
        f"""() => {{
        const hosts = [document.body, document.body.attachShadow({{ mode: "open" }})];
        for (let copy = 0; copy < 2; copy++) {{
          {globally("dom.js")}
          css`.cl-test {{ color: red; }}`;
          for (const host of hosts) {{
            const el = host.appendChild(document.createElement("div"));
            frame(el, "a", element("p"));
            frame(el, "a", element("p"));
          }}
        }}
        return [document, document.body.shadowRoot].map((root) => root.adoptedStyleSheets.length);
        }}"""
    )
    assert found == [2, 2]
    page.close()


CONTROLS = """() => {
  let value = { size: 2, word: "b", at: 3 };
  const listeners = [];
  const model = {
    get: () => value,
    set: (_, changed) => { value = changed; listeners.forEach((listener) => listener()); },
    save_changes() {},
    on: (_, listener) => listeners.push(listener),
  };
  const state = connect(model);
  window.now = () => value;
  const el = document.body.appendChild(document.createElement("div"));
  const sizes = [1, 2, { group: "large", options: [[10, "ten"], 20] }];
  const words = ({ size }) => ["a", "b", "c"].slice(0, size);
  const max = ({ size }) => size + 1, disabled = ({ word }) => word === "a";
  frame(
    el, "controls",
    choice(state, "size", "size", sizes),
    choice(state, "word", "word", words),
    slider(state, "at", "at", { min: 0, max, disabled }),
  );
}"""


def test_the_options_of_a_choice_keep_their_types_and_may_change(browser):
    page = browser.new_page()
    page.add_script_tag(content=globally("dom.js", "controls.js"))
    page.evaluate(CONTROLS)
    size, word = select(page, "size"), select(page, "word")
    assert size.evaluate("node => [...node.options].map((o) => o.text)") == ["1", "2", "ten", "20"]
    assert size.locator("optgroup[label=large] option").count() == 2
    assert word.locator("option").all_inner_texts() == ["a", "b"]
    size.select_option("ten")
    assert page.evaluate("now()") == {"size": 10, "word": "b", "at": 3}
    word.select_option("c")
    assert page.evaluate("now().word") == "c"
    page.close()


def test_the_end_of_a_slider_may_change(browser):
    page = browser.new_page()
    page.add_script_tag(content=globally("dom.js", "controls.js"))
    page.evaluate(CONTROLS)
    slider = page.get_by_role("slider")
    assert [slider.get_attribute("max"), slider.input_value()] == ["3", "3"]
    select(page, "size").select_option("20")
    assert [slider.get_attribute("max"), slider.input_value()] == ["21", "3"]
    select(page, "size").select_option("1")
    assert [slider.get_attribute("max"), slider.input_value()] == ["2", "2"]
    expect(slider).to_be_enabled()
    select(page, "word").select_option("a")
    expect(slider).to_be_disabled()
    page.close()


LED = """(options) => {
  const model = { get: () => ({ step: 0 }), set() {}, save_changes() {}, on() {}, off() {} };
  const steps = ["Query", "Answers"].map((name) => ({ name, caption: `Of ${name}.` }));
  const el = document.body.appendChild(document.createElement("div"));
  frame(el, "led", stepper(connect(model), { steps, ...options }));
}"""


PRINTED = """(first) => {
  let value = { step: first }, hear;
  const model = {
    get: () => value, set(_, now) { value = now; hear(); }, save_changes() {},
    on(_, listener) { hear = listener; }, off() {},
  };
  const state = connect(model);
  const steps = [0, 1, 2, 3].map((at) => ({ name: `${at}`, caption: `Step ${at}.` }));
  const scene = stage(state, "a part", (root) => {
    const part = group(root, {});
    return { height: 20, pose: ({ step }, move) => part.to({ x: 10 * step }, move) };
  });
  const el = document.body.appendChild(document.createElement("div"));
  frame(el, "led", scene, stepper(state, { steps }));
}"""


@pytest.mark.parametrize(
    ("options", "width", "under", "beside"),
    [
        ({}, 700, 2, "1 of 2"),
        ({}, 390, 0, "1 of 2: Query"),
        ({"names": False}, 700, 0, "1 of 2: Query"),
        ({"beside": True}, 700, 0, "1 of 2: Query"),
    ],
)
def test_a_step_is_named_once(browser, options, width, under, beside):
    page = browser.new_page(viewport={"width": width, "height": 600})
    page.add_script_tag(content=globally("dom.js", "controls.js", "stepper.js"))
    page.evaluate(LED, options)
    expect(page.locator(".cl-steps span").filter(visible=True)).to_have_count(under)
    expect(page.locator(".cl-score")).to_have_text(beside, use_inner_text=True)
    line, stepper = (page.locator(f).bounding_box() for f in (".cl-steps input", ".cl-stepper"))
    between = stepper["width"] / 2 + 16  # the middles of the names
    wide = between if under else stepper["width"]
    assert line["width"] == pytest.approx(wide, abs=1)
    page.close()


@pytest.mark.parametrize(("first", "printed"), [(0, 30), (1, 10)])
def test_paper_has_a_scene_at_its_end_unless_it_opens_in_its_middle(browser, first, printed):
    """And nothing glides there: the part is where it has to be when the event is over."""
    page = browser.new_page(viewport={"width": 700, "height": 600})
    page.add_script_tag(content=globally("dom.js", "controls.js", "stage.js", "stepper.js"))
    page.evaluate(PRINTED, first)
    place = """(event) => {
      dispatchEvent(new Event(event));
      return document.querySelector(".cl-stage g").getAttribute("transform");
    }"""
    assert page.evaluate(place, "beforeprint") == f"translate({printed} 0)"
    page.evaluate(place, "afterprint")
    expect(page.get_by_role("slider")).to_have_value(str(first))
    page.close()


def test_prose_with_markup_takes_values_as_text_or_nodes(browser):
    page = browser.new_page()
    page.add_script_tag(content=globally("html.js"))
    found = page.evaluate(
        """() => {
        const box = document.createElement("p");
        const node = document.createElement("u");
        box.append(html`Its <b class="cl-q">query</b> is ${"<i>"}, with
          ${["two", node]} and ${html`<i>${1}</i>`}.`);
        return box.innerHTML;
        }"""
    )
    assert found == ('Its <b class="cl-q">query</b> is &lt;i&gt;, with two<u></u> and <i>1</i>.')
    with pytest.raises(Error, match="a value stands in a tag"):
        page.evaluate("() => html`<b class=${'a'}>b</b>`")
    page.close()


def test_axes_say_where_numbers_are(browser):
    page = browser.new_page()
    page.add_script_tag(content=globally("dom.js", "axes.js"))
    page.evaluate(
        """() => {
        const svg = document.body.appendChild(drawing("svg"));
        const box = { left: 40, right: 140, top: 10, bottom: 210 };
        const x = { first: 1, last: 100, log: true, ticks: [10], lines: true };
        const y = { first: -1, last: 1, ticks: [-1, 0], text: (n) => `y ${n}` };
        window.scales = axes(svg, box, { x, y });
        }"""
    )
    assert page.evaluate("[1, 10, 100].map(scales.x)") == pytest.approx([40, 90, 140])
    assert page.evaluate("[-1, 0, 1].map(scales.y)") == [210, 110, 10]
    texts = "nodes => nodes.map((n) => [n.textContent, +n.getAttribute('x'), +n.getAttribute('y')])"
    found = page.locator("text").evaluate_all(texts)
    assert found == [["y -1", 32, 214], ["y 0", 32, 114], ["10", 90, 227]]
    lines = page.locator("path").evaluate_all("nodes => nodes.map((n) => n.getAttribute('d'))")
    assert lines == ["M40 210H140", "M40 110H140", "M90 10V210"]
    page.close()
