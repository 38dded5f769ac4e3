// pass@k of several models over k: a curve for each, and the numbers at one k.

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, longestOf } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

css`
  .cl-passes {
    display: grid;
    gap: 0.4rem 1.6rem;
    grid-template-columns: max-content minmax(0, 1fr);
    align-items: start;
  }
  @media (max-width: 40rem) {
    .cl-passes {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;

const DASHES = ["2 4", "none", "9 4", "9 3 2 3", "none", "5 3", "3 2", "12 3"];
const TONES = [
  "--quiet",
  "--quiet",
  "--first",
  "--first",
  "--second",
  "--second",
  "--ink",
  "--ink",
];

/** 1 − C(n − c, k) / C(n, k): of k answers out of `tries`, of which `right` pass, at least one does. */
function passAt(k, right, tries) {
  let missed = 1;
  for (let i = 0; i < k; i++) missed *= Math.max(0, tries - right - i) / (tries - i);
  return 1 - missed;
}

const meanPass = ({ tries }, counts, k) =>
  counts.reduce((sum, right) => sum + passAt(k, right, tries), 0) / counts.length;

/** A picture of the curves: k on a doubling axis, the share of requests upwards. */
function build(root, width, { names, most, at, shownIn }) {
  const edge = { left: 40, right: 12, top: 12, bottom: 34 };
  const height = Math.min(228, Math.max(210, width * 0.5));
  const across = width - edge.left - edge.right,
    up = height - edge.top - edge.bottom;
  const doubled = Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, i) => 2 ** i);
  const { x, y } = axes(
    root,
    { left: edge.left, right: width - edge.right, top: edge.top, bottom: height - edge.bottom },
    {
      x: { first: 1, last: most, log: true, ticks: doubled },
      y: { first: 0, last: 1, ticks: [0, 0.25, 0.5, 0.75, 1], text: (share) => format(share) },
    },
  );
  root.append(label("tries k", edge.left + across / 2, height - 2, "cl-quiet"));
  const ruler = part(root, drawing("path", { class: "cl-line", d: `M0 ${edge.top}v${up}` }));
  const curves = names.map((name, i) => {
    const line = drawing("path", {
      class: "cl-line",
      style: `stroke: var(${TONES[i % 8]}); stroke-width: 2.2; stroke-dasharray: ${DASHES[i % 8]}`,
    });
    const dot = drawing("circle", { r: 4.5, style: `fill: var(${TONES[i % 8]})` });
    const badge = drawing("circle", { class: "cl-paper", r: 7.5 });
    const letter = drawing("g", {}, badge, label(String.fromCharCode(65 + i), 0, 4.5, "cl-strong"));
    const node = drawing("g", { "data-curve": name }, line);
    root.append(node);
    return { name, line, node, dot: part(root, dot), letter: part(root, letter) };
  });
  // A letter stands on its line where the other lines and letters are farthest away.
  const homes = (value) => {
    const seen = names.filter((name) => shownIn(value, name)),
      taken = [];
    const height = (name, k) => {
      const low = Math.floor(k),
        part = (x(k) - x(low)) / (x(low + 1) - x(low));
      const [a, b] = [low, low + 1].map((whole) => y(at(name, value.which, whole)));
      return a + part * (b - a);
    };
    return names.map((name) => {
      const spots = Array.from({ length: 14 }, (_, j) => {
        const k = most ** ((j + 1) / 15);
        const here = { x: x(k), y: height(name, k) };
        const lines = seen
          .filter((other) => other !== name)
          .map((other) => Math.abs(height(other, k) - here.y));
        const letters = taken.map((spot) => Math.hypot(spot.x - here.x, spot.y - here.y) / 2);
        return { ...here, free: Math.min(14, ...lines, ...letters) };
      });
      const { x: across, y: up } = spots.reduce((a, b) => (b.free > a.free ? b : a));
      if (seen.includes(name)) taken.push({ x: across, y: up });
      return { x: across, y: up };
    });
  };
  const pose = (value, { jump }) => {
    const places = homes(value);
    ruler.to({ x: x(value.k) }, { jump: true });
    curves.forEach(({ name, line, node, dot, letter }, i) => {
      const seen = shownIn(value, name);
      node.style.display = seen ? "" : "none";
      const points = Array.from({ length: most }, (_, j) => [
        x(j + 1),
        y(at(name, value.which, j + 1)),
      ]);
      line.setAttribute("d", `M${points.map((point) => point.join(" ")).join("L")}`);
      letter.to({ ...places[i], o: seen ? 1 : 0 }, { jump });
      const here = { x: x(value.k), y: y(at(name, value.which, value.k)), o: seen ? 1 : 0 };
      dot.to(here, { jump, ms: 90 });
    });
  };
  return { height, pose };
}

function render({ model, el }) {
  const { stages, most } = model.get("data");
  const state = connect(model);
  const names = Object.keys(stages);
  const at = (name, which, k) => meanPass(stages[name], stages[name][which], k);
  const shownIn = ({ shown }, name) => shown.includes(name);
  const lettered = (name) => `${String.fromCharCode(65 + names.indexOf(name))} ${name}`;
  const picture = stage(state, "pass@k over k", (root, width) =>
    build(root, width, { names, most, at, shownIn }),
  );
  const switches = names.map((name) => {
    const input = element("input", { type: "checkbox", name });
    input.addEventListener("change", () => {
      const on = (other) => (other === name ? input.checked : shownIn(state.value, other));
      state.set({ shown: names.filter(on) });
    });
    state.draw((value) => {
      input.checked = shownIn(value, name);
    });
    return element("label", { class: "cl-control cl-inline" }, input, lettered(name));
  });
  const list = answerList(state, "pass", ({ shown, which, k }) =>
    names
      .filter((name) => shown.includes(name))
      .map((name) => [lettered(name), at(name, which, k)]),
  );
  Object.assign(list.style, { minHeight: `${1.5 * names.length}rem`, alignContent: "start" });
  const tell = (who, { which, k }, share) =>
    `With ${k === 1 ? "one try" : `${k} tries`}, ${who} most ${which} requests: ` +
    `${format(100 * share, 0)} % of them.`;
  const sentence = (value) => {
    const shares = value.shown.map((name) => at(name, value.which, value.k)),
      most = Math.max(...shares);
    if (!shares.length) return "No model is shown.";
    const best = value.shown.filter((_, i) => shares[i] > most - 5e-4); // as the numbers show it
    const letters = best.map((name) => lettered(name)[0]).join(", ");
    return tell(best.length > 1 ? `${letters} meet` : `“${best}” meets`, value, most);
  };
  const room = tell(`“${longestOf(names)}” meets`, { which: "trained", k: most }, 1);
  const say = announce(state, sentence, [room]);
  const ks = Array.from({ length: most }, (_, i) => i + 1);
  const [luck, taught] = names,
    last = names.at(-1);
  const enough = ks.find((k) => at(luck, "trained", k) >= at(taught, "trained", 1));
  const lead = (k) => at(last, "unseen", k) - at(taught, "unseen", k);
  const furthest = Math.max(...ks.map(lead));
  const puzzles = [
    enough && {
      text: `Trained: the smallest k at which “${luck}” does as well as “${taught}” at once.`,
      reached: ({ which, k }) => which === "trained" && k === enough,
    },
    {
      text: `Unseen: the k at which “${last}” is furthest ahead of “${taught}”.`,
      reached: ({ which, k }) => which === "unseen" && lead(k) === furthest,
    },
  ].filter(Boolean);
  frame(
    el,
    "One of k answers passes",
    element(
      "div",
      { class: "cl-controls" },
      tabs(state, "which", "requests", [
        ["trained", "trained requests"],
        ["unseen", "unseen requests"],
      ]),
      slider(state, "k", "tries k =", { min: 1, max: most }),
    ),
    element("div", { class: "cl-controls" }, switches),
    picture,
    element("div", { class: "cl-passes" }, list, say),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
