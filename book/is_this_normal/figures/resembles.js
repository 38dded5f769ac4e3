// A loss curve of the reader's, pasted or drawn, and the known runs that it resembles. The rule is that of
// book/is_this_normal/known.py, and a test holds the two to each other.

import { axes, scale } from "../../page/kit/axes.js";
import { choice, connect, remember } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { label, stage } from "../../page/kit/stage.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

const DRAWN = 64; // losses that a drawing has
const FEWEST = 8;
const HEIGHT = 214;

css`
  .cl-curve {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem 1.2rem;
  }
  .cl-curve .cl-stage {
    flex: 1 1 17rem;
    min-width: 0;
    margin: 0;
  }
  .cl-curve svg {
    cursor: crosshair;
    touch-action: pan-y;
  }
  .cl-asked {
    flex: 0 0 9rem;
    display: flex;
    flex-direction: column;
    gap: 0.4rem;
  }
  .cl-asked :is(input, select, textarea) {
    width: 100%;
  }
  .cl-asked textarea {
    height: 5.6rem;
    resize: vertical;
  }
  .cl-resembled th[scope="row"] {
    white-space: normal;
  }
  .cl-resembled :is(th, td) {
    padding: 0.2rem 0.4rem;
  }
  @media (max-width: 30rem) {
    .cl-asked {
      flex-basis: 100%;
    }
    .cl-asked textarea {
      height: 5rem;
    }
  }
`;

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const NONE = /^[-+]?(nan|inf|infinity)$/i;
const letter = (i) => String.fromCharCode(65 + i);
const asNumber = (word) => (NUMBER.test(word) ? Number(word) : NONE.test(word) ? NaN : null);

/** The numbers of a line, or null where it has a word that is none. */
function numbersOf(line) {
  const words = line.split(/[\s,;[\]]+/).filter(Boolean);
  const found = words.map(asNumber);
  return words.length && !found.includes(null) ? found : null;
}

/** A line of JSON, with NaN and Infinity as Python writes them; null where it is none. */
function logged(line) {
  try {
    return JSON.parse(line.replace(/-?\b(NaN|Infinity)\b/g, '"nan"'));
  } catch {
    return null;
  }
}

const first = (...found) => {
  const one = found.find((number) => number !== undefined && number !== null);
  return one === undefined ? null : Number(one);
};

/** The losses, the last validation loss (null if there is none) and how many lines said nothing. A line is a
    loss; a step and a loss; these and a validation loss; or JSON. A list in brackets, or all in one line, are
    losses. */
function read(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  const list = lines.length === 1 || text.trim().startsWith("[") ? numbersOf(text) : null;
  if (list && (list.length > 3 || text.trim().startsWith("["))) {
    return { losses: list, validation: null, skipped: 0 };
  }
  const losses = [];
  let validation = null,
    skipped = 0;
  for (const line of lines) {
    if (line.trim().startsWith("{")) {
      const found = logged(line) ?? {};
      const loss = first(found.loss, found.train_loss);
      const judged = first(
        found.evaluation?.validation_loss,
        found.validation_loss,
        found.eval_loss,
      );
      if (loss !== null) losses.push(loss);
      if (judged !== null) validation = judged;
      if (loss === null && judged === null) skipped += 1;
      continue;
    }
    const found = numbersOf(line);
    if (!found) skipped += 1;
    else {
      losses.push(found.length > 1 ? found[1] : found[0]);
      if (found.length > 2) validation = found[2];
    }
  }
  return { losses, validation: Number.isFinite(validation) ? validation : null, skipped };
}

/** known.portrait: the mean and the highest of each part, the gap, and whether it ended in NaN. */
function portrait({ losses, validation }, unit, { bins, ceiling }) {
  const kept = losses.filter(Number.isFinite).map((loss) => Math.min(loss / unit, ceiling));
  const parts = Array.from({ length: bins }, (_, i) => {
    const start = Math.floor((i * kept.length) / bins);
    return kept.slice(start, Math.max(start + 1, Math.floor(((i + 1) * kept.length) / bins)));
  });
  const means = parts.map((part) => part.reduce((sum, loss) => sum + loss, 0) / part.length);
  const gap = validation === null ? NaN : clamp(validation / unit - means.at(-1), -1, 1);
  return {
    parts: [...means, ...parts.map((part) => Math.max(...part))],
    gap,
    ended: kept.length < losses.length ? 1 : 0,
  };
}

/** known.distance */
function distance(one, { parts, gap, ended }) {
  const squares = one.parts.reduce((sum, loss, i) => sum + (loss - parts[i]) ** 2, 0);
  const off = gap === null ? NaN : Math.abs(one.gap - gap);
  const between = Math.sqrt(squares / parts.length) + Math.abs(one.ended - ended);
  return between + (Number.isNaN(off) ? 0 : off);
}

/** What can be said of a text: its losses, and every kind with its distance, the nearest first. */
function judge({ text, vocabulary }, data) {
  const found = read(text);
  const finite = found.losses.filter(Number.isFinite);
  if (finite.length < FEWEST || !(vocabulary >= 2)) return { ...found, finite, order: [] };
  const unit = Math.log(vocabulary);
  const own = portrait(found, unit, data);
  const order = data.kinds
    .map((kind) => ({ ...kind, far: distance(own, kind) }))
    .sort((a, b) => a.far - b.far);
  return { ...found, finite, unit, order, known: order[0].far <= data.reach };
}

/** Texts at the ends of curves, none over another. */
function apart(heights, gap = 14) {
  const order = heights.map((_, i) => i).sort((a, b) => heights[a] - heights[b]);
  const placed = [];
  let last = -Infinity;
  for (const i of order) placed[i] = last = Math.max(heights[i], last + gap);
  return placed;
}

const boxOf = (width) => ({ left: 36, right: width - 22, top: 10, bottom: HEIGHT - 24 });

/** Where the axis ends: nobody's drawing changes it. */
const topOf = ({ finite, unit }) => (unit && Math.max(...finite) > 1.2 * unit ? 2 : 1.2);

function build(root, width, now) {
  const box = boxOf(width),
    top = topOf(now);
  const { finite, losses, unit, order } = now;
  const { y } = axes(root, box, {
    x: { first: 0, last: 1, ticks: [0, 1], text: (share) => (share ? "end" : "start") },
    y: {
      first: 0,
      last: top,
      ticks: top > 1.2 ? [0, 0.5, 1, 1.5, 2] : [0, 0.25, 0.5, 0.75, 1],
      text: (tick) => (tick === 1 ? "ln V" : String(tick)),
    },
  });
  root.append(
    label("the run", (box.left + box.right) / 2, box.bottom + 17, "cl-quiet"),
    label("loss, in units of ln V", box.right, box.top + 4, "cl-quiet cl-end"),
  );
  const trace = (values, style) => {
    const x = scale([0, Math.max(1, values.length - 1)], [box.left, box.right]);
    const points = values.map((value, i) => `${x(i)} ${y(Math.min(value, top))}`);
    root.append(drawing("path", { class: "cl-line", d: `M${points.join("L")}`, style }));
  };
  const three = order.slice(0, 3).map(({ parts }) => parts.slice(0, parts.length / 2));
  three.forEach((means, i) =>
    trace(means, `stroke: var(--quiet); stroke-dasharray: ${["none", "7 3", "2 3"][i]}`),
  );
  const ends = apart(three.map((means) => y(Math.min(means.at(-1), top)) + 4));
  ends.forEach((end, i) =>
    root.append(label(String(i + 1), box.right + 8, end, "cl-start cl-strong")),
  );
  if (unit) {
    const every = Math.ceil(finite.length / 400);
    const shown = finite.filter((_, i) => i % every === 0).map((loss) => loss / unit);
    trace(shown, "stroke: var(--second); stroke-width: 2.2");
    if (finite.length < losses.length) {
      const last = y(Math.min(shown.at(-1), top));
      root.append(label("NaN", box.right, last - 8, "cl-end cl-strong cl-over"));
    }
  }
  root.append(drawing("rect", { class: "cl-hit", width, height: HEIGHT }));
  return { height: HEIGHT, pose() {} };
}

/** Let a pointer draw losses over the run: whatever it passes gets one. */
function drawable(root, state, top) {
  let losses, before, most;
  const pass = (event) => {
    const place = root.getBoundingClientRect(),
      box = boxOf(place.width);
    const across = (event.clientX - place.left - box.left) / (box.right - box.left),
      down = (event.clientY - place.top - box.top) / (box.bottom - box.top);
    const at = Math.round(clamp(across, 0, 1) * (DRAWN - 1)),
      loss = most * (1 - clamp(down, 0, 1)) * Math.log(state.value.vocabulary);
    const [from, old] = before ?? [at, loss];
    const steps = Math.max(1, Math.abs(at - from));
    for (let step = 0; step <= steps; step++) {
      const share = step / steps;
      losses[Math.round(from + share * (at - from))] = old + share * (loss - old);
    }
    before = [at, loss];
    const text = losses.filter((one) => one !== null).map((one) => one.toFixed(3));
    state.set({ text: text.join("\n"), example: "own" });
  };
  root.addEventListener("pointerdown", (event) => {
    if (!(state.value.vocabulary >= 2)) return;
    root.setPointerCapture(event.pointerId);
    event.preventDefault();
    [losses, before, most] = [Array(DRAWN).fill(null), null, top(state.value)];
    pass(event);
  });
  root.addEventListener("pointermove", (event) => {
    if (root.hasPointerCapture(event.pointerId)) pass(event);
  });
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const compute = remember((asked) => judge(asked, data));
  const now = ({ text, vocabulary }) => compute({ text, vocabulary });
  const name = ({ order, known }) => (known ? order[0].name : null);
  const counted = (value) => (now(value).validation === null ? "alone" : "judged");

  const numbers = element("textarea", { name: "numbers", spellcheck: "false", wrap: "off" });
  numbers.addEventListener("input", () => state.set({ text: numbers.value, example: "own" }));
  state.draw(({ text }) => {
    if (numbers.value !== text) numbers.value = text;
  });
  const size = element("input", { type: "number", name: "vocabulary", min: 2, step: 1 });
  size.addEventListener("input", () => state.set({ vocabulary: size.valueAsNumber || 0 }));
  state.draw(({ vocabulary }) => {
    if (size.valueAsNumber !== vocabulary && vocabulary) size.value = vocabulary;
    size.setAttribute("aria-invalid", String(!(vocabulary >= 2)));
  });
  const asked = element(
    "div",
    { class: "cl-asked" },
    choice(
      state,
      "example",
      "curve",
      [...data.examples.map((_, i) => [i, `run ${letter(i)}`]), ["own", "your own"]],
      {
        change: (example) =>
          example === "own"
            ? { example, text: "" }
            : { example, text: data.examples[example], vocabulary: data.vocabulary },
      },
    ),
    element("label", { class: "cl-control" }, "vocabulary size V", size),
    element("label", { class: "cl-control" }, "losses", numbers),
  );

  const picture = stage(
    state,
    "The curve, and the three known ones that are nearest; draw here with a pointer",
    (root, width, value) => build(root, width, now(value)),
    { key: ({ text, vocabulary }) => `${vocabulary} ${text}` },
  );
  drawable(picture.querySelector("svg"), state, (value) => topOf(now(value)));

  const rows = element("tbody");
  const table = element(
    "table",
    { class: "cl-counts cl-resembled", "data-name": "nearest" },
    headRow(columnHead("nearest"), columnHead("distance, in ln V"), columnHead("right when named")),
    rows,
  );
  state.draw((value) => {
    const { order } = now(value);
    const three = order.length ? order.slice(0, 3) : [null, null, null];
    rows.replaceChildren(
      ...three.map((kind, i) =>
        tableRow(
          kind ? `${i + 1}  ${kind.name}` : "–",
          kind ? write(element("td"), kind.far, 3) : element("td", {}, "–"),
          element("td", {}, kind ? kind[counted(value)].join(" of ") : "–"),
        ),
      ),
    );
  });

  const say = announce(state, (value) => {
    const { finite, losses, validation, skipped, unit, order, known } = now(value);
    if (!unit) {
      return value.vocabulary >= 2
        ? `It takes ${FEWEST} losses or more; here are ${finite.length}.`
        : "How many tokens has the vocabulary? V is 2 or more.";
    }
    const [{ name, far, advice }] = order;
    const { right, refused } = data[counted(value)];
    const verdict = known
      ? `It resembles “${name}”. ${advice} How sure: with another seed, ${right.join(" of ")} ` +
        `runs were named right; of a kind unknown to it, the rule named none in ${refused.join(" of ")}.`
      : `Nothing I know: even “${name}” is ${format(far)} away, and the rule names nothing ` +
        `beyond ${format(data.reach)}.`;
    const end = finite.length < losses.length ? ", then NaN" : "";
    const judged = validation === null ? "" : `, validation ${format(validation / unit)}`;
    const ends = `From ${format(finite[0] / unit)} to ${format(finite.at(-1) / unit)} ln V`;
    const left = skipped ? ` Lines without a loss: ${skipped}.` : "";
    return `${verdict} ${ends}${end}${judged}.${left}`;
  });
  const puzzles = goals(state, [
    {
      text: "Draw or write a curve that is taken for “the optimizer holds a copy”.",
      reached: (value) =>
        value.example === "own" && name(now(value)) === "the optimizer holds a copy",
    },
    {
      text: "Make one that resembles nothing known.",
      reached: (value) => now(value).order.length > 0 && !now(value).known,
    },
    {
      text: "Take run A, and give it another vocabulary size, so that it gets another name.",
      reached: (value) =>
        value.example === 0 &&
        value.vocabulary !== data.vocabulary &&
        now(value).order.length > 0 &&
        name(now(value)) !== name(now({ text: value.text, vocabulary: data.vocabulary })),
    },
  ]);
  const side = element("div", { class: "cl-curve" }, asked, picture);
  frame(el, "Which known run does your curve resemble?", side, table, say, puzzles);
  return state.close;
}

export default { render };
