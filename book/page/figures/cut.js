// What a language model says of the next word, beside what is true: heated, cut, and drawn from.

import { connect, remember, tabs } from "../kit/controls.js";
import { announce, css, element, format, frame, write } from "../kit/dom.js";
import { goals } from "../kit/goals.js";
import { drawingSliders, nextToken } from "../kit/sampling.js";
import { shareBar, tableRow } from "../kit/tables.js";

const SHOWN = 12; // words in the list; the others are summed up

css`
  .cl-cut {
    display: grid;
    gap: 0.4rem 1.6rem;
    grid-template-columns: minmax(0, 1fr) 15.5rem;
    align-items: start;
  }
  .cl-cut .cl-answers {
    gap: 0 0.7rem;
    grid-template-columns: max-content minmax(3rem, 1fr) max-content max-content;
  }
  .cl-cut .cl-counts {
    margin: 0;
  }
  .cl-cut-sliders {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr));
    input[type="range"] {
      width: 100%;
    }
  }
  @media (max-width: 40rem) {
    .cl-cut {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;

/** What temperature and cuts make of one context's logits: the model's `probabilities`, how much of
    them lies on words that cannot come (`wrong`), and how much of the truth was cut (`lost`). */
function judge({ logits, truth }, value, noCut) {
  const result = nextToken(logits, value, noCut);
  const { probabilities } = result;
  const total = (rows, counts) =>
    rows.reduce((sum, row, i) => sum + (counts(truth[i], probabilities[i]) ? row : 0), 0);
  return {
    ...result,
    wrong: total(probabilities, (right) => right === 0),
    lost: total(truth, (right, kept) => kept === 0),
    distance: truth.reduce(
      (sum, p, i) => sum + (p && p * Math.log(p / probabilities[i])), // p / 0 is infinite
      0,
    ),
  };
}

function render({ model, el }) {
  const { words, contexts, no_cut: noCut } = model.get("data");
  const state = connect(model);
  const all = remember((value) => contexts.map((context) => judge(context, value, noCut)));
  const settings = ({ temperature, top_k, top_p }) => ({ temperature, top_k, top_p });
  const results = (value) => all(settings(value));
  const now = (value) => results(value)[Number(value.context)];

  const named = contexts.map(({ text }, i) => [String(i), `${text} …`]);
  const controls = element(
    "div",
    { class: "cl-controls cl-cut-sliders" },
    drawingSliders(state, noCut),
  );

  const bar = (share, colour, extra = "") =>
    shareBar(share, { "aria-hidden": "true", style: `${colour}; height: 0.4rem; ${extra}` });
  const line = (text, isCut, most, [model, truth], keep) => {
    const hollow = "background: none; border: 1.5px dashed var(--quiet); min-width: 5px";
    const [said, right] = [model, truth].map((share) => write(element("span"), share, 3));
    if (isCut) said.textContent = "cut";
    Object.assign(said.dataset, { name: "model", ...keep });
    right.dataset.name = "truth";
    const name = element("span", { class: isCut ? "cl-off" : null }, text);
    return [
      truth ? name : element("span", {}, name, " ✗"),
      element(
        "span",
        {},
        bar(isCut ? 0 : model / most, isCut ? hollow : "background: var(--first)"),
        bar(truth / most, "background: var(--second)", "margin-top: 2px"),
      ),
      said,
      right,
    ];
  };
  const next = element("div", {
    class: "cl-answers",
    "data-name": "next",
    role: "group",
    "aria-label": "the next word: the model's probability, and the true one",
  });
  state.draw((value) => {
    const { order, probabilities } = now(value);
    const { truth } = contexts[Number(value.context)];
    const sum = (rows, ids) => ids.reduce((total, id) => total + rows[id], 0);
    const rest = order.slice(SHOWN);
    const alive = rest.filter((id) => probabilities[id] > 0).length;
    const label = alive ? `${alive} others` : "all others";
    const heads = ["", "", "model", "true"].map((text) =>
      element("span", { class: "cl-score" }, text),
    );
    const shown = order.slice(0, SHOWN).map((id) => [id, [probabilities[id], truth[id]]]);
    const others = [sum(probabilities, rest), sum(truth, rest)];
    const most = Math.max(...shown.flatMap(([, shares]) => shares), ...others);
    next.replaceChildren(
      ...heads,
      ...shown.flatMap(([id, shares]) =>
        line(words[id], shares[0] === 0, most, shares, { word: words[id] }),
      ),
      ...line(label, alive === 0, most, others, { rest: true }),
    );
  });

  const cells = ["wrong", "lost", "distance"].map((name) => element("td", { "data-name": name }));
  const table = element(
    "table",
    { class: "cl-counts" },
    element(
      "tbody",
      {},
      tableRow("on impossible words", cells[0]),
      tableRow("of the truth cut off", cells[1]),
      tableRow("KL to the truth, in nats", cells[2]),
    ),
  );
  state.draw((value) => {
    const { wrong, lost, distance } = now(value);
    write(cells[0], wrong, 3);
    write(cells[1], lost, 3);
    write(cells[2], Number.isFinite(distance) ? distance : 0, 3);
    cells[2].dataset.value = String(distance);
    if (!Number.isFinite(distance)) cells[2].textContent = "∞";
  });

  const say = announce(state, (value) => {
    const { kept, wrong, lost } = now(value);
    const many = kept.length === 1 ? "1 word is" : `${kept.length} words are`;
    const share = (number) => `${format(100 * number, 1)} %`;
    return (
      `${many} left to draw from. ${share(wrong)} of the probability lies on words that cannot ` +
      `come (✗), and ${share(lost)} of what is true can no longer be said.`
    );
  });
  const clean = ({ wrong, lost }) => wrong < 0.005 && lost === 0;
  const puzzles = goals(state, [
    {
      text: "With top-k alone, in one sentence: less than 0.5 % on impossible words, and nothing true cut off.",
      reached: (value) => value.top_k < noCut && value.top_p === 1 && clean(now(value)),
    },
    {
      text: "In all sentences with one setting: less than 0.5 % on impossible words, and at most a quarter of the truth cut off.",
      reached: (value) => results(value).every((one) => one.wrong < 0.005 && one.lost <= 0.25),
    },
    {
      text: "Without a cut: make impossible words more probable than the others.",
      reached: (value) => value.top_k === noCut && value.top_p === 1 && now(value).wrong > 0.5,
    },
  ]);
  frame(
    el,
    "One next word: the model and the truth",
    tabs(state, "context", "the sentence so far", named),
    controls,
    element("div", { class: "cl-cut" }, next, element("div", {}, table, say)),
    puzzles,
  );
  return state.close;
}

export default { render };
