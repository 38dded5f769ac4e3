// What a draft offers of every word, what the large model keeps, and what is drawn in place of the rest.

import { axes } from "../../page/kit/axes.js";
import { connect, remember, slider, toggle } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

css`
  .cl-offer {
    display: grid;
    gap: 0.2rem 1.6rem;
    grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr));
    align-items: end;
    margin-bottom: 0.4rem;
  }
`;

const FAR = 10; // steps of the slider to either side
const sum = (row) => row.reduce((total, number) => total + number, 0);

/** The draft that stands at a place of the slider: from one that always proposes the word which the model
    likes least, through the given one at 0, to the model itself. */
function draftAt({ model, draft }, near) {
  const least = model.indexOf(Math.min(...model));
  const goal = near < 0 ? model.map((_, i) => Number(i === least)) : model;
  const t = Math.abs(near) / FAR;
  return draft.map((share, i) => (1 - t) * share + t * goal[i]);
}

/** Of every word: offered, kept, drawn instead; and the share kept, and how far what comes out is off. */
function rule(data, { near, mistake }) {
  const { model } = data;
  const offered = draftAt(data, near);
  const kept = offered.map((share, i) => Math.min(share, model[i]));
  const refused = 1 - sum(kept);
  const short = model.map((share, i) => (mistake ? share : share - kept[i]));
  const whole = sum(short);
  const instead = short.map((share) => (whole ? (refused * share) / whole : 0));
  const off = sum(model.map((share, i) => Math.abs(kept[i] + instead[i] - share))) / 2;
  return { offered, kept, instead, share: 1 - refused, off };
}

function build(root, width, { words, model }, result, most) {
  const box = { left: 34, right: width - 6, top: 30, bottom: 176 };
  const column = (box.right - box.left) / words.length;
  const { y } = axes(root, box, {
    x: { first: 0, last: 1, ticks: [] },
    y: { first: 0, last: most, ticks: [0, most / 2, most], text: (share) => format(share, 1) },
  });
  const wide = column * 0.62;
  const long = Math.max(...words.map((word) => word.length));
  const turned = long * 8 > column;
  const inKind = (kind, ...nodes) => drawing("g", { class: `cl-${kind}` }, nodes);
  const columns = words.map((word, i) => {
    const from = box.left + (i + 0.5) * column - wide / 2;
    const text = label(word, 0, 0, turned ? "cl-end" : "cl-strong");
    const turn = turned ? " rotate(-38)" : "";
    const at = `translate(${from + wide / 2} ${box.bottom + (turned ? 14 : 18)})${turn}`;
    text.setAttribute("transform", at);
    root.append(text);
    const bar = (node) =>
      part(root, node, { x: from, y: box.bottom, h: 0 }, ({ h }) =>
        node.querySelector("rect").setAttribute("height", Math.max(0, h)),
      );
    const rect = (look, more = {}) => drawing("rect", { class: look, width: wide, rx: 2, ...more });
    const offered = bar(inKind("stream", rect("cl-edge", { "stroke-dasharray": "4 3" })));
    const kept = bar(inKind("crowd0", rect("cl-tint", { opacity: 0.85 })));
    const instead = bar(inKind("crowd1", rect("cl-tint", { opacity: 0.85 })));
    const goal = `M${from - 5} ${y(model[i])}H${from + wide + 5}`;
    root.append(drawing("path", { class: "cl-line", "stroke-width": 3, d: goal }));
    return { offered, kept, instead };
  });
  const samples = [
    ["stream", "cl-edge", "offered"],
    ["crowd0", "cl-tint", "kept"],
    ["crowd1", "cl-tint", "drawn instead"],
  ];
  const narrow = width < 480;
  let x = narrow ? 2 : box.left;
  for (const [kind, look, text] of samples) {
    const dashes = look === "cl-edge" ? { "stroke-dasharray": "3 2" } : {};
    const sample = drawing("rect", { class: look, x, y: 4, width: 12, height: 12, ...dashes });
    root.append(inKind(kind, sample), label(text, x + 17, 14, "cl-start cl-quiet"));
    x += narrow ? 26 + 6.4 * text.length : 30 + 7.2 * text.length;
  }
  root.append(
    drawing("path", { class: "cl-line", "stroke-width": 3, d: `M${x} 10h14` }),
    label("model", x + 19, 14, "cl-start cl-quiet"),
  );
  function pose(value, { jump }) {
    const { offered, kept, instead } = result(value);
    const high = (share) => box.bottom - y(share);
    columns.forEach((parts, i) => {
      parts.offered.to({ y: y(offered[i]), h: high(offered[i]) }, { jump, ms: 200 });
      parts.kept.to({ y: y(kept[i]), h: high(kept[i]) }, { jump, ms: 200 });
      const top = y(kept[i] + instead[i]);
      parts.instead.to({ y: top, h: high(instead[i]) }, { jump, ms: 200 });
    });
  }
  return { height: box.bottom + (turned ? 20 + 4.2 * long : 26), pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const result = remember((value) => rule(data, value));
  const highest = Math.max(...data.model, ...data.draft);
  const most = Math.min(1, Math.ceil(highest * 5 + 0.5) / 5);
  const drafts = [
    [-FAR, "never what the model wants"],
    [0, "as trained"],
    [FAR, "the model itself"],
  ];
  const nearest = (near) =>
    drafts.find(([at]) => at === near)?.[1] ?? (near < 0 ? "worse" : "nearer to the model");
  const say = (share, mistake, off) => {
    const then = off < 0.001 ? "the model's distribution" : `off by ${format(100 * off, 1)} %`;
    const way = mistake ? "from the model's distribution" : "from what was offered too little";
    return `${format(100 * share, 0)} % of the draft's words are kept; the others are drawn ${way}. What comes out is ${then}.`;
  };
  const tell = (value) => say(result(value).share, value.mistake, result(value).off);
  const scene = stage(state, "Offered, kept, drawn instead", (root, width) =>
    build(root, width, data, result, Math.max(most, 0.4)),
  );
  const puzzles = goals(state, [
    {
      text: "Let the model keep nine of ten words.",
      reached: (value) => result(value).share >= 0.9,
    },
    {
      text: "Switch the mistake on, and make it harmless with a draft that is not the model.",
      reached: (value) => value.mistake && value.near < FAR && result(value).off < 0.001,
    },
  ]);
  frame(
    el,
    "What a draft offers, and what comes out",
    element(
      "div",
      { class: "cl-controls cl-offer" },
      slider(state, "near", "draft:", { min: -FAR, max: FAR, describe: nearest }),
      toggle(state, "mistake", "mistake: replacement from the model"),
    ),
    scene,
    answerList(state, "found", (value) => {
      const { share, off } = result(value);
      return [
        ["kept", share],
        ["off (total variation)", off],
      ];
    }),
    announce(state, tell, [say(0.5, true, 0.5)]),
    puzzles,
  );
  return state.close;
}

export default { render };
