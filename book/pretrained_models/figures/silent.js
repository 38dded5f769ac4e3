// Mistakes that nothing reports, at a switch each: under every token of a text hangs its loss, beside
// the loss of the model as it was published; below stands what the model writes.

import { connect, slider, toggle } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, steady, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const LETTER = 8.3;
const DEEP = 40; // pixels of the largest loss
const LINE = DEEP + 30;

/** A space for a line's end, so that a token is one line. */
const shown = (piece) => piece.replace(/\n/g, "⏎");

/** Where each token stands: [x, line], wrapped like a text. */
function wrapped(pieces, width) {
  let x = 0,
    line = 0;
  return pieces.map((piece) => {
    const wide = Math.max(shown(piece).length, 1) * LETTER;
    if (x && x + wide > width) [x, line] = [0, line + 1];
    const at = [x, line, wide];
    x += wide;
    return at;
  });
}

function render({ model, el }) {
  const { pieces, mistakes, runs } = model.get("data");
  const state = connect(model);
  const names = mistakes.map(({ name }) => name);
  const run = (value) => runs[names.map((name) => Number(value[name])).join("")];
  const mean = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  const published = runs["0".repeat(names.length)];
  const most = Math.max(...Object.values(runs).flatMap(({ losses }) => losses));
  const tall = (loss) => (DEEP * loss) / most;

  const scene = stage(state, "A text, and under each token its loss", (root, width) => {
    const places = wrapped(pieces, width);
    const bars = places.slice(1).map(([x, line, wide], i) => {
      const y = line * LINE + 22;
      const bar = drawing("rect", {
        x: 1,
        width: wide - 2,
        "data-name": "loss",
        style: "fill: var(--first); opacity: 0.55",
      });
      const was = tall(published.losses[i]);
      root.append(
        drawing("path", {
          d: `M${x} ${y + was}h${wide}`,
          style: "stroke: var(--ink); stroke-width: 2",
        }),
      );
      const grown = part(root, drawing("g", { "data-name": "bar" }, bar), { x, y, h: 0 }, ({ h }) =>
        bar.setAttribute("height", Math.max(h, 0)),
      );
      return { bar, ...grown };
    });
    const ring = drawing("rect", { rx: 4, height: DEEP + 26, class: "cl-line" });
    const chosen = part(root, ring, {}, ({ wide }) => ring.setAttribute("width", wide ?? 0));
    places.forEach(([x, line], i) => {
      const text = label("", x, line * LINE + 15, "cl-start");
      text.style.cssText = "font-family: monospace; font-size: 13.8px; white-space: pre";
      text.textContent = shown(pieces[i]);
      if (i) {
        text.style.cursor = "pointer"; // the slider does it for the keyboard
        text.addEventListener("click", () => state.set({ token: i + 1 }));
      }
      root.append(text);
    });
    return {
      height: (places.at(-1)[1] + 1) * LINE + 2,
      pose(value, move) {
        run(value).losses.forEach((loss, i) => {
          bars[i].bar.dataset.value = String(loss);
          bars[i].to({ h: tall(loss) }, move);
        });
        const [x, line, wide] = places[value.token - 1];
        chosen.to({ x, y: line * LINE, wide }, move);
      },
    };
  });

  const numbers = [
    ["mean", "mean loss per token", (value) => mean(run(value).losses)],
    ["moved", "largest change of a logit, in spreads of theirs", (v) => run(v).moved],
  ].map(([name, text, number]) => {
    const node = element("b", { "data-name": name });
    state.draw((value) => write(node, number(value), 4));
    return element("span", {}, `${text}: `, node);
  });
  const writes = element("q", { "data-name": "writes" });
  state.draw((value) => {
    writes.textContent = run(value).writes || "(nothing but blanks)";
  });
  const before = [" (as published: ", element("q", {}, published.writes), ")"];
  const tell = (value) => {
    const rise = mean(run(value).losses) - mean(published.losses);
    return names.some((name) => value[name])
      ? `A wrong setting, yet loading reports nothing; the loss changes by ${format(rise)}.`
      : "As published. The lines under the tokens stay here, for comparison.";
  };
  const worst = Object.fromEntries(names.map((name) => [name, true]));
  const say = announce(state, tell, [tell(worst)]);
  const own = element("p", { class: "cl-score" });
  const all = pieces.slice(1).map((_, i) => ({ ...worst, token: i + 2 }));
  steady(state, own, all, (value) => {
    const [now, was] = [run(value), published].map(({ losses }) => losses[value.token - 2]);
    own.replaceChildren(
      `“${shown(pieces[value.token - 1]).trim()}” had the probability `,
      write(element("b", { "data-name": "was" }), Math.exp(-was), 4),
      " and has ",
      write(element("b", { "data-name": "now" }), Math.exp(-now), 4),
      ".",
    );
  });
  const wrong = (value) => names.some((name) => value[name]);
  const rise = (value) => mean(run(value).losses) - mean(published.losses);
  const same = (value) => run(value).writes === published.writes;
  const puzzles = goals(state, [
    {
      text: "Make a mistake that does not show in what it writes.",
      reached: (value) => wrong(value) && same(value) && run(value).moved > 1e-4,
    },
    {
      text: "Make one that changes what it writes, while the loss rises by less than 0.5.",
      reached: (value) => wrong(value) && !same(value) && rise(value) < 0.5,
    },
    {
      text: "Find the mistakes that together cost the largest loss.",
      reached: (value) =>
        Object.values(runs).every(({ losses }) => mean(losses) < mean(run(value).losses) + 0.001),
    },
  ]);
  frame(
    el,
    "Nothing complains",
    element(
      "div",
      { class: "cl-controls" },
      mistakes.map(({ name, says }) => toggle(state, name, says)),
      slider(state, "token", "token", { min: 2, max: pieces.length }),
    ),
    scene,
    own,
    element("p", { class: "cl-score" }, numbers[0], "; ", numbers[1]),
    element("p", {}, "Asked for the capital of France, it writes: ", writes, ...before),
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
