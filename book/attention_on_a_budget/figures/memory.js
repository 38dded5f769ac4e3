// A matrix of 8 × 8 numbers in which the reader writes facts by one of three rules, the scores that a
// question gets from it, and beside it the cache, which keeps every fact.

import { button, choice, connect, remember, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, stage } from "../../page/kit/stage.js";

css`
  .cl-cells text {
    font-size: 12px;
  }
  .cl-cells .cl-edge {
    stroke-width: 0.6;
  }
  .cl-cells .cl-plus {
    fill: var(--first);
  }
  .cl-cells .cl-minus {
    fill: var(--second);
  }
  .cl-kept {
    display: grid;
    grid-template-columns: repeat(2, 6rem);
    gap: 0.25rem 0.4rem;
  }
  .cl-kept button {
    min-height: 1.8rem;
    padding: 0.1rem 0.5rem;
    text-align: left;
  }
  .cl-kept [aria-pressed="true"] {
    border: 2px solid var(--first);
  }
  .cl-kept [data-old] {
    text-decoration: line-through;
    color: var(--quiet);
  }
`;

const RULES = [
  ["add", "add"],
  ["fade", "fade, then add"],
  ["overwrite", "overwrite"],
];
const MOST = 12;
const N = 8;

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** The matrix after all facts: rows are digits, columns entries of the keys, which are signs. So a key
    has the length √8, and reading divides by 8. */
function written({ keys, fade }, { facts, rule }) {
  let rows = Array.from({ length: N }, () => Array(N).fill(0));
  for (const [animal, digit] of facts) {
    const key = keys[animal];
    if (rule === "fade") rows = rows.map((row) => row.map((x) => fade * x));
    rows = rows.map((row, i) => {
      const old = rule === "overwrite" ? dot(row, key) / N : 0;
      const value = (i + 1 === digit ? 1 : 0) - old;
      return row.map((x, j) => x + value * key[j]);
    });
  }
  return rows;
}

const read = (rows, key) => rows.map((row) => dot(row, key) / N);

/** The digits that share the highest score. */
function said(scores) {
  const most = Math.max(...scores);
  return scores.flatMap((score, i) => (score > most - 1e-9 ? [i + 1] : []));
}

/** By animal, the digit that was written last. */
const latest = (facts) => new Map(facts);

/** The animals of which the matrix still says the last digit, and no other. */
function known(data, value) {
  const rows = written(data, value);
  return [...latest(value.facts)].filter(
    ([animal, digit]) => said(read(rows, data.keys[animal])).join() === String(digit),
  );
}

function build(root, width, data, result) {
  const cell = Math.min(32, Math.floor((width - 118) / N)),
    height = 24,
    left = 22,
    top = 58;
  const right = left + N * cell + 10,
    reach = Math.min(120, width - right - 46);
  const at = (i, j) => ({ x: left + j * cell, y: top + i * height, width: cell, height });
  const box = (name) => {
    const tint = drawing("rect", {}),
      text = drawing("text", {}),
      node = drawing("g", { "data-name": name }, tint, text);
    return { tint, text, node };
  };
  const place = ({ tint, text, node }, { x, y, width: w, height: h }) => {
    for (const [name, number] of Object.entries({ x, y, width: w, height: h }))
      tint.setAttribute(name, number);
    text.setAttribute("x", x + w / 2);
    text.setAttribute("y", y + h / 2 + 4.5);
    node.append(drawing("rect", { x, y, width: w, height: h, class: "cl-edge" }));
    cells.append(node);
  };
  const show = ({ tint, text }, number, most) => {
    const whole = Math.abs(number - Math.round(number)) < 1e-9;
    write(text, number, whole ? 0 : 1);
    tint.setAttribute("class", number < 0 ? "cl-minus" : "cl-plus");
    tint.style.opacity = String(0.42 * Math.min(1, Math.abs(number) / most));
  };
  const cells = drawing("g", { class: "cl-cells cl-stream" });
  root.append(cells);
  const key = Array.from({ length: N }, () => box("key"));
  key.forEach((one, j) => place(one, at(-1.6, j)));
  const asked = label("", left + (N * cell) / 2, top - 46, "cl-quiet");
  root.append(asked, label("score", right + 4, top - 8, "cl-quiet cl-start"));
  root.append(label("S", left + (N * cell) / 2, top - 4, "cl-strong cl-sub"));
  const matrix = Array.from({ length: N }, (_, i) =>
    Array.from({ length: N }, (_, j) => {
      const one = box("cell");
      place(one, at(i, j));
      return one;
    }),
  );
  const bars = matrix.map((_, i) => {
    root.append(label(String(i + 1), left - 10, top + i * height + 16.5, "cl-strong"));
    const bar = drawing("rect", { x: right, y: top + i * height + 5, height: height - 10 });
    const text = drawing("text", { class: "cl-start", "data-name": "score" });
    text.setAttribute("y", top + i * height + 16.5);
    root.append(bar, text);
    return { bar, text };
  });
  function pose(value) {
    const { rows, scores, answer } = result(value);
    asked.textContent = `the key of ${data.animals[value.ask]}`;
    key.forEach((one, j) => show(one, data.keys[value.ask][j], 2));
    matrix.forEach((row, i) => row.forEach((one, j) => show(one, rows[i][j], 2)));
    const most = Math.max(1, ...scores.map(Math.abs));
    bars.forEach(({ bar, text }, i) => {
      const long = (Math.max(0, scores[i]) / most) * reach;
      bar.setAttribute("width", long);
      bar.style.fill = answer.includes(i + 1) ? "var(--first)" : "var(--line)";
      text.setAttribute("x", right + long + 5);
      write(text, scores[i]);
    });
  }
  return { height: top + N * height + 4, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { animals, keys } = data;
  const state = connect(model);
  const compute = remember(({ facts, rule, ask }) => {
    const rows = written(data, { facts, rule }),
      scores = read(rows, keys[ask]);
    return { rows, scores, answer: said(scores) };
  });
  const result = ({ facts, rule, ask }) => compute({ facts, rule, ask });
  const names = animals.map((animal, i) => [i, animal]);
  const digits = Array.from({ length: N }, (_, i) => i + 1);

  const picture = stage(state, "The matrix, a key, and the scores", (root, width) =>
    build(root, width, data, result),
  );
  picture.style.flex = "1 1 21rem";
  const kept = element("div", { class: "cl-kept", "data-name": "kept" });
  const size = element("p", { style: "margin: 0.5rem 0 0; color: var(--quiet)" });
  const buttons = Array.from({ length: MOST }, (_, i) =>
    button(state, "", ({ facts }) => ({ ask: facts[i][0] }), {
      draw(node, { facts, ask }) {
        node.hidden = i >= facts.length;
        node.setAttribute("aria-label", "a free line");
        if (node.hidden) return;
        const [animal, digit] = facts[i];
        const old = facts.slice(i + 1).some(([later]) => later === animal);
        node.textContent = `${animals[animal]} ${digit}`;
        node.toggleAttribute("data-old", old);
        node.setAttribute("aria-pressed", String(animal === ask));
        const name = `${animals[animal]} ${digit}${old ? ", replaced later" : ""}`;
        node.setAttribute("aria-label", `${name}; ask about ${animals[animal]}`);
      },
    }),
  );
  kept.append(...buttons);
  state.draw(({ facts }) => {
    size.textContent = `${16 * facts.length} numbers in the cache, ${N * N} in the matrix`;
  });
  const cache = element(
    "div",
    { style: "flex: 0 1 13rem" },
    element("p", { style: "margin: 0 0 0.4rem" }, "The cache: every fact. Click to ask"),
    kept,
    size,
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "animal", "animal", names),
    choice(state, "digit", "number", digits),
    button(
      state,
      "write",
      ({ facts, animal, digit }) => ({ facts: [...facts, [animal, digit]], ask: animal }),
      {
        draw: (node, { facts }) => {
          node.disabled = facts.length >= MOST;
        },
      },
    ),
    button(state, "undo", ({ facts }) => ({ facts: facts.slice(0, -1) }), {
      draw: (node, { facts }) => {
        node.disabled = facts.length === 0;
      },
    }),
    button(state, "empty", () => ({ facts: [] })),
    choice(state, "ask", "ask about", names),
  );
  const tell = (value) => {
    const { facts, ask } = value,
      { scores, answer } = result(value),
      last = latest(facts),
      name = animals[ask];
    const count = `It still knows ${known(data, value).length} of ${last.size}.`;
    if (!last.has(ask)) return `Nothing was written about ${name}. ${count}`;
    const right = answer.join() === String(last.get(ask));
    const verdict = right ? "as it should" : `and ${last.get(ask)} was written last`;
    const best = format(Math.max(...scores));
    return `Asked about ${name}, the matrix says ${answer.join(" or ")} (${best}), ${verdict}. ${count}`;
  };
  const longest =
    "Asked about cat, the matrix says 3 or 7 or 8 (−1.00), and 7 was written last. It still knows 12 of 12.";
  const only = (value) => latest(value.facts).size === value.facts.length;
  const all = (value, rule) => known(data, { ...value, rule }).length === latest(value.facts).size;
  frame(
    el,
    "A memory of 64 numbers",
    tabs(state, "rule", "the rule", RULES),
    controls,
    element("div", { class: "cl-side" }, picture, cache),
    announce(state, tell, [longest]),
    goals(state, [
      {
        text: "Make the matrix say 7 for cat, and 7 alone, with these three facts.",
        reached: (value) =>
          value.facts.join(";") === "0,3;1,5;0,7" &&
          value.ask === 0 &&
          result(value).answer.join() === "7",
      },
      {
        text: "Let fading lose a fact that adding keeps.",
        reached: (value) => value.rule === "fade" && all(value, "add") && !all(value, "fade"),
      },
      {
        text: "Each animal once: let overwriting lose a fact that adding keeps.",
        reached: (value) =>
          value.rule === "overwrite" &&
          only(value) &&
          all(value, "add") &&
          !all(value, "overwrite"),
      },
    ]),
  );
  return state.close;
}

export default { render };
