// A published encoder on the reader's own sentences. What two sentences gave was computed in Python; for
// others the weights are fetched on a click, from beside the book's script, and run in a worker.

import { choice, connect, slider, tabs } from "../../page/kit/controls.js";
import { BESIDE, deliver } from "../../page/kit/deliver.js";
import { announce, css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, clamp, descending, dot, norm } from "../../page/kit/numerics.js";
import { unpack } from "../../page/kit/packed.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { textInput } from "../../page/kit/sentences.js";
import { label } from "../../page/kit/stage.js";
import { answerList, shareBar } from "../../page/kit/tables.js";

css`
  .cl-heads {
    display: grid;
    gap: 0.6rem 1rem;
    margin-top: 0.6rem;
  }
  .cl-heads .cl-controls {
    gap: 0.2rem 1rem;
    margin: 0;
  }
  .cl-heads input[type="range"] {
    width: 9rem;
  }
  .cl-offer {
    margin: 0 0 0.6rem;
  }
  .cl-view .cl-goals p {
    margin-top: 0.6rem;
  }
  @media (min-width: 40rem) {
    .cl-heads {
      grid-template-columns: 1.15fr 1fr;
      align-items: start;
    }
  }
`;

const VIEWS = [
  ["attention", "Every head"],
  ["nearest", "Nearest sentences"],
  ["senses", "A word in two sentences"],
];

/** A worker with this text: `ask(kind, more)` promises its answer. */
function employ(source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(address);
  const waiting = [];
  worker.addEventListener("message", ({ data: { answer, error } }) => {
    const { resolve, reject } = waiting.shift(); // it answers in turn
    if (error) reject(new Error(error));
    else resolve(answer);
  });
  const ask = (kind, more) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      worker.postMessage({ kind, ...more });
    });
  const close = () => {
    worker.terminate();
    URL.revokeObjectURL(address);
  };
  return { ask, close };
}

/** The encoder at work; `progress(share)` is told how much of it is there. */
async function fetchEncoder(progress) {
  const index = await deliver("encoder/index.js");
  const { ask, close } = employ(index.worker);
  await ask("begin", { length: index.length });
  for (let i = 0; i < index.parts.length; i++) {
    await ask("part", { at: index.parts[i], base64: await deliver(`encoder/${i}.js`) });
    progress((i + 1) / (index.parts.length + 1));
  }
  await ask("end", index);
  return { ask, close, sentences: index.sentences, vectors: unpack(index.vectors) };
}

const unit = (vector) => {
  const size = norm(vector);
  return Array.from(vector, (x) => x / size);
};
const meanRow = (rows) =>
  Array.from(rows[0], (_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
const cosine = (a, b) => dot(a, b) / (norm(a) * norm(b));

/** {word: where its pieces stand the first time that it occurs} */
function wordsIn(tokens) {
  const places = [];
  for (let i = 1; i < tokens.length - 1; i++) {
    if (tokens[i].startsWith("##")) {
      const last = places.at(-1);
      last[0] += tokens[i].slice(2);
      last[1].push(i);
    } else places.push([tokens[i], [i]]);
  }
  return Object.fromEntries(places.reverse());
}

/** The cosines of each shared word's vectors in two readings, before the first block and after each. */
function sensesOf(first, second) {
  const [a, b] = [first, second].map(({ tokens }) => wordsIn(tokens));
  const vectors = ({ layers }, at) => layers.map((rows) => meanRow(at.map((i) => rows[i])));
  return Object.fromEntries(
    Object.keys(a)
      .filter((word) => word in b)
      .map((word) => {
        const [one, other] = [vectors(first, a[word]), vectors(second, b[word])];
        return [word, one.map((vector, layer) => cosine(vector, other[layer]))];
      }),
  );
}

/** What the page shows of an answer: the same as of a sentence read in Python. */
function reading({ sentences, vectors }, text, { tokens, layers, weights }) {
  const vector = unit(meanRow(layers.at(-1)));
  const cosines = vectors.map((other) => dot(vector, other));
  const nearest = descending(cosines).slice(0, 5);
  return {
    text,
    tokens,
    layers,
    weights,
    vector,
    nearest: nearest.map((i) => [sentences[i], cosines[i]]),
  };
}

/** A sentence read in Python; its weights [layer][head][query][key]. */
function unpackRecord({ weights, tokens, ...rest }, heads) {
  const rows = unpack(weights),
    size = tokens.length;
  const slice = (from, count, step, make) =>
    Array.from({ length: count }, (_, i) => make(from + i * step));
  const layers = rows.length / (size * heads);
  return {
    ...rest,
    tokens,
    weights: slice(0, layers, size * heads, (layer) =>
      slice(layer, heads, size, (head) => rows.slice(head, head + size)),
    ),
  };
}

// ---------------------------------------------------------------- what is drawn

/** All heads as small maps, a row for each layer; a click chooses one. */
function overview(state, shown) {
  const canvas = element("canvas", { role: "img", style: "width: 100%; cursor: pointer" });
  const size = () => {
    const { weights } = shown(state.value).first;
    return [weights.length, weights[0].length];
  };
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect(),
      [layers, heads] = size();
    const at = (share, count) => clamp(1 + Math.floor(share * count), 1, count);
    state.set({
      layer: at((event.clientY - box.top) / box.height, layers),
      head: at((event.clientX - box.left) / box.width, heads),
    });
  });
  let drawn = "",
    wide = 0;
  const draw = ({ layer, head, ...value }, width) => {
    const { weights, text } = shown(value).first,
      style = getComputedStyle(canvas);
    const colours = ["--attention", "--ink", "--line"].map((name) => style.getPropertyValue(name));
    const key = JSON.stringify([layer, head, text, width, colours]);
    if (key === drawn || width === 0) return;
    [drawn, wide] = [key, width];
    const [layers, heads] = size(),
      sharp = window.devicePixelRatio || 1;
    const side = (width / heads) * sharp,
      gap = 2 * sharp;
    canvas.width = width * sharp;
    canvas.height = side * layers;
    canvas.setAttribute(
      "aria-label",
      `The weights of all ${layers * heads} heads as small maps; layer ${layer}, head ${head} is framed`,
    );
    const paint = canvas.getContext("2d");
    const map = side - 2 * gap;
    weights.forEach((maps, row) =>
      maps.forEach((matrix, column) => {
        const x = column * side + gap,
          y = row * side + gap,
          cell = map / matrix.length;
        paint.fillStyle = colours[0];
        matrix.forEach((line, i) =>
          line.forEach((weight, j) => {
            paint.globalAlpha = weight;
            paint.fillRect(x + j * cell, y + i * cell, cell, cell);
          }),
        );
        paint.globalAlpha = 1;
        const chosen = row === layer - 1 && column === head - 1;
        paint.strokeStyle = colours[chosen ? 1 : 2];
        paint.lineWidth = (chosen ? 2.5 : 1) * sharp;
        paint.strokeRect(x, y, map, map);
      }),
    );
  };
  state.drawWide(canvas, draw);
  // what is painted does not follow a switch of the page's colours by itself
  const again = () => draw(state.value, wide);
  const page = new MutationObserver(again),
    dark = matchMedia("(prefers-color-scheme: dark)");
  for (const node of [document.documentElement, document.body]) {
    page.observe(node, { attributes: true });
  }
  dark.addEventListener("change", again);
  state.atEnd(() => {
    page.disconnect();
    dark.removeEventListener("change", again);
  });
  return canvas;
}

/** One head: the tokens ask on the left, one of them now, and are looked at on the right. */
function headScene(state, shown) {
  const root = drawing("svg", { role: "group", "aria-label": "One token looks at all" });
  const box = element("div", { class: "cl-stage" }, root);
  const step = 22;
  let built = "",
    parts;
  const build = (tokens, width) => {
    root.replaceChildren();
    const left = Math.min(100, width / 3.4),
      right = Math.max(width - left - 40, width / 2);
    const y = (i) => 32 + i * step;
    const height = y(tokens.length);
    fill(root, { viewBox: `0 0 ${width} ${height}`, width, height }, []);
    root.append(
      label("from", left / 2 + 14, 16, "cl-quiet"),
      label("to", right + 40, 16, "cl-quiet"),
    );
    const arrows = tokens.map(() => arrow(root, "attention", {}));
    const asking = tokenRow(
      root,
      tokens,
      tokens.map(() => left / 2 + 14),
      {
        height: 20,
        name: "from",
        pick: (token) => state.set({ token }),
      },
    );
    const asked = tokens.map((token, i) => {
      const weight = label("", right + 4, y(i) + 5, "cl-start");
      weight.dataset.name = "weight";
      root.append(weight, label(token, right + 42, y(i) + 5, "cl-start"));
      return weight;
    });
    asking.forEach((token, i) => token.to({ y: y(i) - 10 }, { jump: true }));
    const pose = (from, row, jump) => {
      asking.press(from);
      const edge = left / 2 + 14 + tokens[from].length * 4.2 + 14;
      row.forEach((weight, i) => {
        write(asked[i], weight);
        const shape = { x1: edge, y1: y(from), x2: right - 4, y2: y(i), w: 14 * weight };
        arrows[i].to({ ...shape, o: clamp(weight * 12, 0, 1) }, { jump });
      });
    };
    return { pose };
  };
  state.drawWide(box, (value, width) => {
    const { tokens, weights } = shown(value).first;
    const key = `${Math.floor(width)} ${tokens.join(" ")}`;
    const jump = key !== built;
    if (jump) [built, parts] = [key, build(tokens, Math.floor(width))];
    const from = clamp(value.token, 0, tokens.length - 1);
    parts.pose(from, weights[value.layer - 1][value.head - 1][from], jump);
  });
  return box;
}

function render({ model, el }) {
  const { records, senses: recordedSenses, sentences, heads } = model.get("data");
  const state = connect(model);
  const [first, second] = records.map((record) => unpackRecord(record, heads));
  let results = new Map([first, second].map((record) => [record.text, record]));
  let last = { first, second, senses: recordedSenses };
  let encoder = null,
    busy = false;

  /** The two sentences as read; while one is being read, what was shown before. */
  const shown = (value) => {
    const [a, b] = [results.get(value.first), results.get(value.second)];
    const changed = last.first !== a || last.second !== b;
    if (a && b && changed) last = { first: a, second: b, senses: sensesOf(a, b) };
    return last;
  };

  // reading, one sentence at a time
  const problem = element("p", { role: "alert", hidden: true });
  const complain = (error) => {
    problem.hidden = false;
    problem.textContent = `The encoder cannot run here: ${error.message}.`;
    state.set({ loaded: 0 });
  };
  const read = async ({ first, second }) => {
    const text = [first, second].find((text) => !results.has(text));
    if (!encoder || busy || text === undefined) return;
    busy = true;
    const answer = await encoder.ask("encode", { text });
    busy = false;
    const now = [state.value.first, state.value.second];
    results = new Map([...results].filter(([text]) => now.includes(text)));
    results.set(text, reading(encoder, text, answer));
    state.set({ read: state.value.read + 1 });
  };
  state.draw((value) => read(value).catch(complain));

  const load = element("button", { type: "button", class: "cl-main", name: "load" });
  const bar = element("progress", { max: 1, "aria-label": "loaded" });
  load.textContent = "Load the encoder (30 MB)";
  load.addEventListener("click", async () => {
    problem.hidden = true;
    state.set({ loaded: 0.001 });
    try {
      encoder = await fetchEncoder((loaded) => state.set({ loaded }));
    } catch (error) {
      return complain(error);
    }
    results.clear(); // what was read in Python has no vectors of each layer
    state.set({ loaded: 1 });
  });
  state.atEnd(() => encoder?.close());
  const offer = BESIDE
    ? element("p", { class: "cl-offer" }, "Write your own; it stays in this page: ", load, " ", bar)
    : element(
        "p",
        { class: "cl-offer" },
        "Two sentences are shown. For others, make the figure again with them; in the published book they can be written here.",
      );
  state.draw(({ loaded }) => {
    load.hidden = loaded > 0;
    bar.hidden = loaded === 0 || loaded === 1;
    bar.value = loaded;
    offer.hidden = loaded === 1;
  });

  // the reader's sentences
  const line = (key, text) => {
    const { input, alert } = textInput(state, key, {
      maxlength: 100,
      complaint: (text) => (text.trim() ? "" : "Write a sentence."),
      change: (text) => (text.trim() ? { [key]: text } : null),
    });
    state.draw(({ loaded }) => {
      input.disabled = loaded !== 1;
    });
    return element(
      "div",
      { "data-name": key },
      element("label", { class: "cl-control cl-write" }, text, input),
      alert,
    );
  };
  const other = line("second", "another sentence");

  // the three views
  const layers = first.weights.length;
  const maps = element(
    "div",
    {},
    overview(state, shown),
    element(
      "div",
      { class: "cl-controls" },
      slider(state, "layer", "layer", { min: 1, max: layers }),
      slider(state, "head", "head", { min: 1, max: heads }),
    ),
  );
  const before = (matrix) => matrix.slice(1).every((row, i) => argmax(row) === i);
  const attention = element(
    "div",
    { class: "cl-view" },
    element("div", { class: "cl-heads" }, maps, headScene(state, shown)),
  );
  const near = answerList(state, "nearest", (value) => shown(value).first.nearest, 3);
  near.style.gridTemplateColumns =
    "minmax(min-content, max-content) minmax(2.5rem, 6rem) max-content";
  const nearest = element(
    "div",
    { class: "cl-view" },
    element("p", { class: "cl-quiet" }, `The nearest of ${sentences} sentences, and their cosines`),
    near,
  );
  const chosen = (value) => {
    const { senses } = shown(value);
    return value.word in senses ? value.word : Object.keys(senses).at(-1);
  };
  const curve = (value) => shown(value).senses[chosen(value)] ?? [];
  const apart = (value) => curve(value).map((cosine) => 1 - cosine);
  const distances = element("div", { class: "cl-answers", "data-name": "senses" });
  state.draw((value) => {
    const found = apart(value),
      most = Math.max(...found, 0.01);
    distances.replaceChildren(
      ...found.flatMap((distance, layer) => [
        element("span", {}, layer ? `after block ${layer}` : "looked up, with its position"),
        shareBar(clamp(distance / most, 0, 1), { "aria-hidden": "true" }),
        write(element("span"), distance, 3),
      ]),
    );
  });
  const senses = element(
    "div",
    { class: "cl-view" },
    element(
      "div",
      { class: "cl-controls" },
      choice(state, "word", "word in both", (value) => Object.keys(shown(value).senses)),
      element("span", { class: "cl-quiet" }, "how far its two vectors are apart: 1 − cosine"),
    ),
    distances,
  );
  const views = { attention, nearest, senses };
  state.draw(({ view }) => {
    for (const [name, node] of Object.entries(views)) node.hidden = name !== view;
    other.hidden = view !== "senses";
  });

  const SAY = {
    attention(value) {
      const { tokens, weights } = shown(value).first;
      const from = clamp(value.token, 0, tokens.length - 1);
      const row = weights[value.layer - 1][value.head - 1][from],
        most = argmax(row);
      return `In layer ${value.layer}, head ${value.head}, “${tokens[from]}” gives most weight, ${format(row[most])}, to “${tokens[most]}”.`;
    },
    nearest(value) {
      const { text, nearest } = shown(value).first;
      return `Of the ${sentences} sentences, “${nearest[0][0]}” is nearest to “${text}”: cosine ${format(nearest[0][1])}.`;
    },
    senses(value) {
      const word = chosen(value);
      if (word === undefined) return "The two sentences share no word.";
      return `Looked up, the two vectors of “${word}” are ${format(apart(value)[0])} apart; after the last block ${format(apart(value).at(-1))}.`;
    },
  };
  const say = announce(state, (value) => SAY[value.view](value));

  const puzzles = [
    {
      text: "Find a head in which every token looks most at the token before it.",
      reached: (value) =>
        value.view === "attention" &&
        before(shown(value).first.weights[value.layer - 1][value.head - 1]),
    },
    {
      text: "Write a sentence that has no word in common with the nearest of the sixty, at a cosine above .5.",
      reached: (value) => {
        const { text, tokens, nearest } = shown(value).first;
        if (value.view !== "nearest" || text === first.text) return false;
        return (
          nearest[0][1] > 0.5 && !nearest[0][0].split(" ").some((word) => tokens.includes(word))
        );
      },
    },
    {
      text: "Find a word of your own whose vectors in two sentences are more than .5 apart after the last block.",
      reached: (value) =>
        value.view === "senses" &&
        shown(value).first.text !== first.text &&
        apart(value).at(-1) > 0.5,
    },
  ];
  Object.values(views).forEach((view, i) => view.append(goals(state, [puzzles[i]])));

  frame(
    el,
    "A real encoder at work",
    offer,
    problem,
    tabs(state, "view", "what is shown", VIEWS),
    element(
      "div",
      { class: "cl-controls", style: "display: grid; grid-template-columns: minmax(0, 1fr)" },
      line("first", "sentence"),
      other,
    ),
    say,
    attention,
    nearest,
    senses,
  );
  return state.close;
}

export default { render };
