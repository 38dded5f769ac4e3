// What a GPU holds while it writes: weights and caches. Every token has all of it read again, so one axis
// says both, gigabytes and milliseconds; a second bar says how long the arithmetic takes.

import { scale } from "../../page/kit/axes.js";
import { choice, connect, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

css`
  .cl-room-controls {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
    gap: 0.2rem 1.2rem;
    margin: -0.4rem 0 0.4rem;
  }
  .cl-room-controls :is(select, input[type="range"]) {
    width: 100%;
    min-height: 1.7rem;
  }
  .cl-room {
    display: grid;
    gap: 0.2rem 1.6rem;
    grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr));
    align-items: start;
  }
  .cl-room :is(.cl-counts, .cl-goals p) {
    margin-top: 0.2rem;
  }
  .cl-room .cl-counts :is(td, th) {
    padding-block: 0.15rem;
  }
`;

/** Bytes held, and what a step takes that writes one token of every text: seconds to read, to compute. */
function step(data, { log_texts, log_tokens, key_heads, bits }) {
  const { weights, num_layers: layers, num_heads: heads, d_k: width, gpu } = data;
  const texts = 2 ** log_texts,
    tokens = 2 ** log_tokens;
  const held = 2 * weights; // bytes, with 16 bits
  const cache = (2 * layers * key_heads * width * tokens * bits) / 8; // of one text
  const bytes = held + texts * cache;
  const operations = texts * (2 * weights + 4 * layers * heads * width * tokens);
  const reading = bytes / (gpu.bandwidth * 1e12),
    computing = operations / (gpu.peak * 1e12);
  const seconds = Math.max(reading, computing);
  const fits = bytes <= gpu.memory * 1e9;
  return { texts, tokens, held, cache, bytes, reading, computing, seconds, fits };
}

function build(root, width, data) {
  const { gpu } = data;
  const [left, right] = [4, width - 12];
  const most = 2 * gpu.memory; // gigabytes to the right end
  const x = scale([0, most], [left, right]);
  const narrow = width < 480;
  const [top, high, below, thin] = [44, 40, 130, 12];
  const quarter = gpu.memory / 2;
  const edge = `the memory ends: ${gpu.memory} GB`;
  for (let i = 0; i <= 4; i++) {
    const end = i === 4 ? "cl-end" : i === 0 ? "cl-start" : "";
    const milliseconds = (i * quarter) / gpu.bandwidth;
    const size = i === 2 ? "" : `${format(i * quarter, 0)} GB`; // there the memory ends
    root.append(
      label(size, x(i * quarter), top - 14, `cl-quiet ${end}`),
      drawing("path", { class: "cl-axis", d: `M${x(i * quarter)} ${top - 8}V${below + thin + 6}` }),
      label(`${format(milliseconds, 0)} ms`, x(i * quarter), below + thin + 20, `cl-quiet ${end}`),
    );
  }
  const room = { x: left, y: top - 4, width: x(gpu.memory) - left, height: high + 8, rx: 4 };
  root.append(
    drawing("rect", { class: "cl-unit", ...room }),
    label("held, and read for every token", left, top + high + 20, "cl-start cl-quiet"),
    label("computing", left, below - 5, "cl-start cl-quiet"),
    label(edge, x(gpu.memory), 12, "cl-strong"),
    drawing("path", { class: "cl-line", d: `M${x(gpu.memory)} 18V${top + high + 8}` }),
  );
  const bar = (kind, y, height) => {
    const tint = drawing("rect", { class: "cl-tint", height, opacity: 0.75 });
    const lines = drawing("path", { class: "cl-paper-line" });
    lines.style.cssText = "stroke: var(--ground); stroke-width: 1";
    const node = drawing("g", { class: `cl-${kind}` }, tint, lines);
    return part(root, node, { x: left, y, w: 0, each: 0 }, ({ w, each }) => {
      tint.setAttribute("width", Math.max(1, w));
      const count = each >= 3 ? Math.floor(w / each + 1e-6) : 0; // a line behind every text
      const cuts = Array.from({ length: count }, (_, i) => `M${(i + 1) * each} 0V${height}`);
      lines.setAttribute("d", cuts.join(""));
    });
  };
  const weights = bar("stream", top, high),
    caches = bar("k", top, high),
    busy = bar("crowd0", below, thin);
  const over = (kind, text, place) =>
    drawing("g", { class: `cl-${kind}` }, label(text, 0, 0, `cl-own cl-strong cl-over ${place}`));
  const middle = { x: left, y: top + high / 2 + 4 };
  const first = part(root, over("stream", narrow ? "W" : "weights", ""), middle);
  const second = part(
    root,
    over("k", narrow ? "caches" : "caches of the texts", "cl-start"),
    middle,
  );
  const beyond = label("", right, top + high + 20, "cl-end cl-strong");
  root.append(beyond);
  function pose(value, { jump }) {
    const now = step(data, value);
    const far = (bytes) => clamp(x(bytes / 1e9), left, right);
    const [from, to] = [far(now.held), far(now.bytes)];
    weights.to({ w: from - left, each: 0 }, { jump });
    caches.to({ x: from, w: to - from, each: x(now.cache / 1e9) - left }, { jump });
    busy.to({ w: far(now.computing * gpu.bandwidth * 1e12) - left, each: 0 }, { jump });
    first.to({ x: (left + from) / 2 }, { jump });
    const inside = to + (narrow ? 60 : 160) > right; // where there is no room behind the bar
    second.to({ x: (inside ? from : to) + 8 }, { jump });
    beyond.textContent = now.bytes > most * 1e9 ? `${format(now.bytes / 1e9, 0)} GB →` : "";
  }
  return { height: below + thin + 26, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { name, num_heads: heads, gpu } = data;
  const state = connect(model);
  const at = (value) => step(data, value);
  const power = (key, text, max, min) =>
    slider(state, key, text, {
      min,
      max,
      describe: (exponent) => (2 ** exponent).toLocaleString("en"),
    });
  const controls = element(
    "div",
    { class: "cl-controls cl-room-controls" },
    power("log_texts", "texts at once", 8, 0),
    power("log_tokens", "tokens in each", 17, 8),
    choice(state, "key_heads", "key heads", [heads, heads / 4, 1]),
    choice(state, "bits", "bits of the cache", [16, 8, 4]),
  );
  const scene = stage(state, "Held, read and computed", (root, width) => build(root, width, data));
  const cell = (key) => element("td", { "data-name": key });
  const cells = ["held", "step", "each", "all", "share"].map(cell);
  state.draw((value) => {
    const { bytes, seconds, texts, computing } = at(value);
    const each = 1 / seconds;
    const found = [bytes / 1e9, 1000 * seconds, each, texts * each, (100 * computing) / seconds];
    found.forEach((number, i) => {
      write(cells[i], number, 1);
      if (number >= 100) cells[i].textContent = Math.round(number).toLocaleString("en");
    });
  });
  const rows = ["GB held", "ms for a step, at least", "tokens/s for each reader, at most"];
  const more = ["tokens/s for all", "% of the arithmetic in use"];
  const table = element(
    "table",
    { class: "cl-counts" },
    element(
      "tbody",
      {},
      [...rows, ...more].map((text, i) => tableRow(text, cells[i])),
    ),
  );
  table.querySelectorAll("th").forEach((head) => {
    head.style.whiteSpace = "normal";
  });
  const say = (held, cache, fits, bound) =>
    `Weights ${format(held / 1e9, 1)} GB, each cache ${format(cache / 1e9, 2)} GB. ` +
    `${fits ? "They fit." : "They do not fit: this cannot run."} ${bound} decides how fast.`;
  const tell = (value) => {
    const { held, cache, fits, reading, computing } = at(value);
    return say(held, cache, fits, reading < computing ? "The arithmetic" : "The memory");
  };
  const longest = say(1e11, 1e12, false, "The arithmetic");
  const puzzles = goals(state, [
    {
      text: "Write for 64 readers with 4,096 tokens each, within the memory.",
      reached: (value) => {
        const { texts, tokens, fits } = at(value);
        return fits && texts >= 64 && tokens >= 4096;
      },
    },
    {
      text: "Write 10,000 tokens a second, within the memory.",
      reached: (value) => at(value).fits && at(value).texts / at(value).seconds >= 10000,
    },
    {
      text: "Let the caches take longer to read than the weights, within the memory.",
      reached: (value) => at(value).fits && at(value).bytes > 2 * at(value).held,
    },
  ]);
  frame(
    el,
    `${name} writes on a GPU with ${gpu.memory} GB`,
    controls,
    scene,
    announce(state, tell, [longest]),
    element("div", { class: "cl-room" }, table, puzzles),
  );
  return state.close;
}

export default { render };
