// Three word vectors in their plane, and the words nearest to start + (plus − minus).

import { button, choice, connect, remember, toggle } from "../../page/kit/controls.js";
import {
  announce,
  css,
  drawing,
  element,
  format,
  frame,
  longestOf,
  paint,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { dot, norm } from "../../page/kit/numerics.js";
import { unpack } from "../../page/kit/packed.js";
import { answerList } from "../../page/kit/tables.js";

css`
  .cl-arithmetic {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem 1.2rem;
    align-items: start;
    > :first-child {
      flex: 3 1 19rem;
      min-width: 0;
    }
    > :last-child {
      flex: 1 1 12rem;
    }
  }
  .cl-arithmetic .cl-answers {
    margin-bottom: 0.8rem;
    font-size: 0.9rem;
  }
`;

const combine = (...terms) =>
  Array.from(terms[0][1], (_, i) => terms.reduce((sum, [by, v]) => sum + by * v[i], 0));

/** The first two of `vectors`, made orthogonal and of length 1; those that add nothing are skipped. */
function twoDirections(vectors) {
  const found = [];
  for (const vector of vectors) {
    let rest = Array.from(vector);
    for (const direction of found) rest = combine([1, rest], [-dot(rest, direction), direction]);
    const size = norm(rest);
    if (size > 1e-6) found.push(rest.map((x) => x / size));
    if (found.length === 2) break;
  }
  return found;
}

function render({ model, el }) {
  const { words, vectors, groups, examples } = model.get("data");
  const unit = unpack(vectors).map((row) => {
    const size = norm(row);
    return Array.from(row, (x) => x / size);
  });
  const of = (word) => unit[words.indexOf(word)];
  const state = connect(model);
  const given = ({ first, minus, plus }) => [first, minus, plus];
  const different = (value) => new Set(given(value)).size === 3;
  const formula = ({ first, minus, plus }) => `${first} + (${plus} \u2212 ${minus})`;

  /** Words by their cosine with a vector, the nearest first. */
  const ranked = (vector, without) => {
    const size = norm(vector);
    return unit
      .map((row, i) => [words[i], size ? dot(row, vector) / size : 0])
      .filter(([word]) => !without.includes(word))
      .sort((a, b) => b[1] - a[1]);
  };
  const result = remember(({ first, minus, plus, exclude }) => {
    const query = combine([1, of(first)], [-1, of(minus)], [1, of(plus)]);
    const without = exclude ? [first, minus, plus] : [];
    return {
      query,
      answers: ranked(query, without).slice(0, 10),
      alone: ranked(of(first), exclude ? without : [first]).slice(0, 3),
    };
  });

  const offered = Object.entries(groups).map(([group, options]) => ({ group, options }));
  const word = (key, label) => choice(state, key, label, offered);
  const controls = element(
    "div",
    { class: "cl-controls" },
    word("first", "start"),
    word("plus", "+ plus"),
    word("minus", "\u2212 minus"),
    toggle(state, "exclude", "these three may not be the answer"),
  );
  const buttons = element(
    "div",
    { class: "cl-controls" },
    examples.map(([first, minus, plus]) => {
      const words = { first, minus, plus };
      return button(state, formula(words), () => words);
    }),
  );
  const list = (name, rows) => {
    const found = (value) => rows(value).map(([text, cosine]) => [text, cosine, { word: text }]);
    const box = answerList(state, name, found);
    box.style.gridTemplateColumns = "max-content minmax(2rem, 8rem) max-content";
    return box;
  };
  const heading = (text) => {
    const node = element("p", { style: "margin: 0 0 .3rem" });
    state.draw((value) => {
      node.textContent = text(value);
    });
    return node;
  };
  const lists = element(
    "div",
    {},
    element(
      "div",
      {},
      heading(() => "Nearest to the cross:"),
      list("answers", (value) => result(value).answers.slice(0, 5)),
    ),
    element(
      "div",
      {},
      heading(({ first }) => `Nearest to ${first} alone:`),
      list("alone", (value) => result(value).alone),
    ),
  );

  const svg = drawing("svg"),
    picture = element("div", {}, svg);
  state.drawWide(picture, (value, width) => paintWords(svg, width, value, result(value)));

  /** The words as points, the given ones and the answer in bold, and the parallelogram. */
  function paintWords(svg, width, value, { query, answers }) {
    const { first, minus, plus } = value,
      answer = answers[0][0];
    const origin = of(minus);
    const directions = twoDirections([
      combine([1, of(first)], [-1, origin]),
      combine([1, of(plus)], [-1, origin]),
      ...unit,
    ]);
    const place = (vector) => directions.map((d) => dot(combine([1, vector], [-1, origin]), d));
    const main = [...new Set([first, minus, plus, answer])];
    const others = answers.map(([text]) => text).filter((text) => !main.includes(text));
    const corner = place(query);
    const shown = [...main, ...others].map((text) => ({ text, at: place(of(text)) }));
    const all = [corner, ...shown.map(({ at }) => at)];
    const [low, high] = [Math.min, Math.max].map((most) =>
      [0, 1].map((axis) => most(...all.map((at) => at[axis]))),
    );
    const height = Math.max(230, Math.min(300, 0.62 * width)),
      margin = { x: Math.min(70, 0.16 * width), y: 24 };
    const scale = Math.min(
      (width - 2 * margin.x) / Math.max(high[0] - low[0], 1e-9),
      (height - 2 * margin.y) / Math.max(high[1] - low[1], 1e-9),
    );
    const pixel = ([x, y]) => [
      width / 2 + scale * (x - (low[0] + high[0]) / 2),
      height / 2 - scale * (y - (low[1] + high[1]) / 2),
    ];
    const corners = [minus, first, null, plus].map((text) =>
      pixel(text === null ? corner : place(of(text))),
    );
    const [x, y] = corners[2],
      taken = [corner, ...main.map((text) => place(of(text)))]
        .map(pixel)
        .map(([x, y]) => [x - 4, y - 4, x + 4, y + 4]),
      labels = [],
      parts = [
        drawing("polygon", {
          points: corners.map((at) => at.map((x) => x.toFixed(2)).join(",")).join(" "),
          fill: "none",
          stroke: "var(--second)",
          "stroke-width": 1.8,
          "stroke-dasharray": "6 4",
        }),
      ];
    shown.forEach(({ text, at }, i) => {
      const [x, y] = pixel(at),
        bold = i < main.length;
      parts.push(
        drawing("circle", {
          cx: x,
          cy: y,
          r: bold ? 4.5 : 2.5,
          fill: bold ? "var(--first)" : "var(--quiet)",
          "data-word": text,
        }),
      );
      const size = bold ? 13 : 12,
        long = (bold ? 0.72 : 0.62) * size * text.length;
      for (const [left, base, anchor] of [
        [x + 8, y + 4, "start"],
        [x - 8 - long, y + 4, "end"],
        [x - long / 2, y - 9, "middle"],
        [x - long / 2, y + 18, "middle"],
      ]) {
        const box = [left, base - size, left + long, base + 3];
        const free = taken.every(
          ([a, b, c, d]) => box[2] < a || box[0] > c || box[3] < b || box[1] > d,
        );
        if (!free || left < 0 || left + long > width) continue;
        taken.push(box);
        labels.push(
          drawing(
            "text",
            {
              x: { start: left, middle: x, end: x - 8 }[anchor],
              y: base,
              "text-anchor": anchor,
              class: bold ? null : "cl-quiet",
              style:
                `font-size: ${size}px; font-weight: ${bold ? 600 : 400}; ` +
                "paint-order: stroke; stroke: var(--ground); stroke-width: 4px",
            },
            text,
          ),
        );
        break;
      }
    });
    parts.push(
      ...labels,
      drawing("path", {
        d: `M${x - 5},${y - 5} L${x + 5},${y + 5} M${x - 5},${y + 5} L${x + 5},${y - 5}`,
        stroke: "var(--second)",
        "stroke-width": 2.2,
      }),
    );
    paint(
      svg,
      width,
      height,
      `The plane through the three words; the cross marks ${formula(value)}, the fourth corner of the parallelogram; the nearest word is ${answer}`,
      parts,
    );
  }

  const tell = (value, answer, cosine, neighbour) =>
    `${formula(value)}: the nearest word is “${answer}” (cosine ${format(cosine)}). ` +
    `Without arithmetic, the nearest to “${value.first}” is “${neighbour}”.`;
  const longest = longestOf(Object.values(groups).flat());
  const room = tell({ first: longest, minus: longest, plus: longest }, longest, 0, longest);
  const sentence = (value) => {
    const { answers, alone } = result(value);
    return tell(value, ...answers[0], alone[0][0]);
  };
  const say = announce(state, sentence, [room]);
  frame(
    el,
    "Arithmetic with word vectors",
    buttons,
    controls,
    element("div", { class: "cl-arithmetic" }, picture, lists),
    say,
    goals(state, [
      {
        text: "Find an analogy whose answer is the word nearest to the start alone.",
        reached: (value) =>
          different(value) && result(value).answers[0][0] === result(value).alone[0][0],
      },
      {
        text: "Allow the three words as answers, and find an analogy that returns one of them.",
        reached: (value) =>
          different(value) && !value.exclude && given(value).includes(result(value).answers[0][0]),
      },
    ]),
  );
  return state.close;
}

export default { render };
