// A word's way up through a trained encoder: what each sub-layer adds, and what the sum reads as.

const split = (sentence) => sentence.trim().split(/\s+/).filter(Boolean);

/** The stream at one word: [{ name, added, stream, turn, words }], the embedding first. `added` and
    `stream` are lengths, `turn` is the cosine with the embedding, `words` the three likeliest. */
function climb({ words, weights, depth, num_heads: numHeads, mask }, { sentence, word, hidden }) {
  const ids = split(sentence).map((text) => words.indexOf(text));
  if (hidden) ids[word] = mask;
  const table = weights["token_embedding.weight"];
  let rows = add(
    ids.map((id) => table[id]),
    weights["positions.weight"],
  );
  const start = rows[word],
    length = (x) => Math.sqrt(dot(x, x));
  const stage = (name, added, x) => {
    const read = layerNorm(weights, "final_norm", [x])[0];
    const chances = softmax(table.map((vector) => dot(read, vector)));
    const order = chances.map((_, i) => i).sort((a, b) => chances[b] - chances[a]);
    return {
      name,
      added: length(added),
      stream: length(x),
      turn: dot(x, start) / (length(x) * length(start)),
      words: order.slice(0, 3).map((i) => [words[i], chances[i]]),
    };
  };
  const stages = [stage("embedding", start, start)];
  for (let block = 0; block < depth; block++) {
    const passed = encoderBlock(weights, `blocks.${block}`, rows, {
      numHeads,
      normFirst: true,
      activation: "gelu",
    });
    stages.push(
      stage(`attention ${block + 1}`, passed.attended[word], passed.middle[word]),
      stage(`FFN ${block + 1}`, passed.fed[word], passed.output[word]),
    );
    rows = passed.output;
  }
  return stages;
}

/** The stream from bottom to top, as wide as it is long; what is added flows in from the left. */
function draw(svg, width, stages, token) {
  const step = 46,
    at = Math.min(0.44 * width, 190),
    height = stages.length * step + 16;
  const scale = 30 / Math.max(...stages.map(({ stream }) => stream));
  const thick = (size) => Math.max(size * scale, 0.75);
  const parts = stages.flatMap(({ name, added, stream, words }, i) => {
    const y = height - i * step - 30;
    const text = (x, dy, content, attributes) =>
      drawing("text", { x, y: y + dy, ...attributes }, content);
    const number = (label, value, digits) => {
      const node = write(drawing("tspan"), value, digits);
      node.dataset.name = label;
      return node;
    };
    const bend = y + 14;
    return [
      drawing("path", {
        d: `M${at} ${y + 6}V${y - step + 6}`,
        stroke: "var(--first)",
        "stroke-width": thick(stream),
        "stroke-opacity": 0.55,
        fill: "none",
      }),
      i > 0 &&
        drawing("path", {
          d: `M${at - 62} ${bend}C${at - 30} ${bend} ${at - 34} ${y - 6} ${at} ${y - 6}`,
          stroke: "var(--second)",
          "stroke-width": thick(added),
          "stroke-opacity": 0.75,
          fill: "none",
        }),
      text(0, 2, i === 0 ? `“${token}”` : name),
      text(0, 18, [i === 0 ? "starts at " : "adds ", number("added", added, 2)], {
        class: "cl-quiet",
      }),
      text(at + 26, -10, [words[0][0], " ", number("chance", words[0][1], 2)]),
      text(
        at + 26,
        6,
        words
          .slice(1)
          .map(([word]) => word)
          .join(", "),
        { class: "cl-quiet" },
      ),
    ].filter(Boolean);
  });
  paint(svg, width, height, `The stream at “${token}”, from its embedding up`, parts);
}

function render({ model, el }) {
  const packed = model.get("data");
  const data = { ...packed, weights: unpackAll(packed.weights) };
  const state = connect(model);
  const most = data.weights["positions.weight"].length;
  const known = new Set(data.words);
  const result = remember((value) => climb(data, value));

  const examples = choice(
    state,
    "example",
    "example",
    () => ({ "": data.examples.map(({ sentence }, i) => [i, sentence]) }),
    { change: (i) => ({ example: Number(i), ...data.examples[i] }) },
  );
  const input = element("input", {
    type: "text",
    name: "sentence",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "none",
    style: "width: 26rem",
  });
  const problem = element("p", { role: "alert" });
  input.addEventListener("input", () => {
    const words = split(input.value),
      strange = words.filter((text) => !known.has(text));
    const trouble =
      words.length === 0
        ? "Write a word."
        : words.length > most
          ? `At most ${most} words.`
          : strange.length > 0
            ? `Not in the language: ${strange.join(", ")}.`
            : "";
    input.setAttribute("aria-invalid", trouble !== "");
    problem.textContent = trouble;
    if (trouble) return; // an unfinished sentence: what was there still counts
    state.set({
      example: -1,
      sentence: words.join(" "),
      word: Math.min(state.value.word, words.length - 1),
    });
  });
  state.draw(({ sentence }) => {
    if (document.activeElement === input) return;
    input.value = sentence;
    input.removeAttribute("aria-invalid");
    problem.textContent = "";
  });
  const token = choice(
    state,
    "word",
    "follow the word",
    ({ sentence }) => ({ "": split(sentence).map((text, i) => [i, `${i + 1} ${text}`]) }),
    { change: (word) => ({ word: Number(word) }) },
  );
  const tokenOf = ({ sentence, word, hidden }) => (hidden ? "[MASK]" : split(sentence)[word]);

  const svg = drawing("svg", {});
  const picture = element("div", { style: "flex: 1 1 20rem" }, svg);
  let width = 0;
  const repaint = () => width > 0 && draw(svg, width, result(state.value), tokenOf(state.value));
  const stop = onWidth(picture, (now) => {
    width = now;
    repaint();
  });
  state.draw(repaint);

  const names = result(state.value).map(({ name }) => name);
  const table = matrixTable(
    state,
    "lengths; cosine with the embedding",
    names,
    ["adds", "stream", "cosine"],
    (value) => result(value).map(({ added, stream, turn }) => [added, stream, turn]),
    { name: "stages" },
  );
  const say = announce(state, (value) => {
    const stages = result(value),
      top = stages.at(-1),
      [word, chance] = top.words[0];
    const largest = stages.slice(1).reduce((a, b) => (b.added > a.added ? b : a));
    return (
      `“${tokenOf(value)}” leaves the last block as “${word}” (${format(chance)}), at a cosine of ` +
      `${format(top.turn)} with its embedding. Most was added by ${largest.name}.`
    );
  });
  frame(
    el,
    "A word’s way up through the trained encoder",
    element("div", { class: "cl-controls" }, examples),
    element(
      "div",
      { class: "cl-controls" },
      element("label", { class: "cl-control" }, "or your own sentence", input),
    ),
    problem,
    element(
      "div",
      { class: "cl-controls" },
      token,
      toggle(state, "hidden", "hide it behind [MASK]"),
    ),
    element("div", { class: "cl-side" }, picture, table),
    say,
  );
  return () => {
    stop();
    state.close();
  };
}

export default { render };
