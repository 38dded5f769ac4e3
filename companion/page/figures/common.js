// What all live figures share. This text stands before every figure, and once in the book's script,
// after style.js: no import, no export. A figure is `export default { render }`; render({ model, el }) draws into `el`
// from model.get("data"), and keeps what the reader sets in model.get("value").

function useStyle() {
  if (document.companionStyle) return;
  document.companionStyle = new CSSStyleSheet();
  document.companionStyle.replaceSync(STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, document.companionStyle];
}

// ---------------------------------------------------------------- elements

function fill(node, attributes, children) {
  for (const [name, content] of Object.entries(attributes ?? {})) {
    if (content !== null && content !== undefined && content !== false) {
      node.setAttribute(name, content === true ? "" : content);
    }
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

const element = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

const drawing = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Replace what an <svg> shows; the title is what a screen reader says of it. */
function paint(svg, width, height, title, parts) {
  fill(svg, { role: "img", viewBox: `0 0 ${width} ${height}`, width, height }, []);
  svg.replaceChildren(drawing("title", {}, title), ...parts);
}

/** "−0.50": as many decimals as asked for, a real minus sign, no minus zero. */
function format(number, digits = 2) {
  const text = number.toFixed(digits);
  return /^-[0.]*$/.test(text) ? text.slice(1) : text.replace("-", "\u2212");
}

/** Show a number, and keep it in full precision beside the text. */
function write(node, number, digits = 2) {
  node.textContent = format(number, digits);
  node.dataset.value = String(number);
  return node;
}

/** The figure's frame: a titled group, filled with the given parts. */
function frame(el, title, ...parts) {
  useStyle();
  const box = element("div", { class: "cl", role: "group", "aria-label": title });
  box.append(element("p", { class: "cl-title" }, title), ...parts);
  for (const control of box.querySelectorAll("input, select, button")) {
    control.dataset.lmSuppressShortcuts = true; // JupyterLab takes arrow keys for its own, otherwise
  }
  el.replaceChildren(box);
}

// ---------------------------------------------------------------- state and controls

/** What the reader sets: `state.value`, `state.set({...})`; functions given to `state.draw` run now
    and after every change, whether it comes from a control or from Python. */
function connect(model) {
  const draws = [];
  const redraw = () => draws.forEach((draw) => draw(state.value));
  const state = {
    get value() {
      return model.get("value");
    },
    set(changes) {
      model.set("value", { ...model.get("value"), ...changes });
      model.save_changes();
    },
    draw(...functions) {
      for (const draw of functions) {
        draws.push(draw);
        draw(state.value);
      }
    },
    close: () => model.off("change:value", redraw),
  };
  model.on("change:value", redraw);
  return state;
}

/** A function that computes again only when its argument has changed: many parts draw from one result. */
function remember(compute) {
  let key, result;
  return (value) => {
    const now = JSON.stringify(value);
    if (now !== key) [key, result] = [now, compute(value)];
    return result;
  };
}

/** A labelled range input; `describe(number, value)` is the text beside the label. */
function slider(
  state,
  key,
  label,
  { min, max, step = 1, describe = (number) => format(number, 0) },
) {
  const shown = element("b");
  const input = element("input", { type: "range", min, max, step, name: key });
  input.addEventListener("input", () => state.set({ [key]: input.valueAsNumber }));
  state.draw((value) => {
    input.value = value[key];
    shown.textContent = describe(value[key], value);
    input.setAttribute("aria-valuetext", shown.textContent);
  });
  return element(
    "label",
    { class: "cl-control cl-wide" },
    element("span", {}, label, " ", shown),
    input,
  );
}

/** A labelled select. `groups(value)` gives {group: [[option, text], ...]}; group "" stands outside. */
function choice(
  state,
  key,
  label,
  groups,
  { disabled = () => false, change = (option) => ({ [key]: option }) } = {},
) {
  const select = element("select", { name: key });
  let shown = "";
  select.addEventListener("change", () => state.set(change(select.value, state.value)));
  state.draw((value) => {
    const offered = groups(value);
    if (JSON.stringify(offered) !== shown) {
      shown = JSON.stringify(offered);
      const options = (list) =>
        list.map(([option, text]) => element("option", { value: option }, text));
      select.replaceChildren(
        ...Object.entries(offered).flatMap(([group, list]) =>
          group === "" ? options(list) : [element("optgroup", { label: group }, options(list))],
        ),
      );
    }
    select.value = value[key];
    select.disabled = disabled(value);
  });
  return element("label", { class: "cl-control" }, label, select);
}

/** A labelled check box. */
function toggle(state, key, label) {
  const input = element("input", { type: "checkbox", name: key });
  input.addEventListener("change", () => state.set({ [key]: input.checked }));
  state.draw((value) => {
    input.checked = value[key];
  });
  return element("label", { class: "cl-control cl-inline" }, input, label);
}

/** Radio buttons that look like tabs: options [[option, text], ...]. */
function tabs(state, key, label, options) {
  const name = `${key}-${(connect.count = (connect.count ?? 0) + 1)}`;
  const inputs = options.map(([option]) =>
    element("input", { type: "radio", name, value: option }),
  );
  inputs.forEach((input) =>
    input.addEventListener("change", () => state.set({ [key]: input.value })),
  );
  state.draw((value) =>
    inputs.forEach((input) => {
      input.checked = input.value === value[key];
    }),
  );
  return element(
    "fieldset",
    { class: "cl-tabs" },
    element("legend", {}, label),
    options.map(([, text], i) => element("label", {}, inputs[i], text)),
  );
}

/** The sentence under the figure, which a screen reader speaks after every change. */
function announce(state, sentence) {
  const output = element("output", { class: "cl-say", "aria-live": "polite" });
  state.draw((value) => {
    output.textContent = sentence(value);
  });
  return output;
}

/** A table of numbers; `cells(value)` gives the matrix, `heat` colours the cells from 0 to 1. */
function matrixTable(
  state,
  caption,
  rows,
  columns,
  cells,
  { heat = false, digits = 2, name } = {},
) {
  const shape = cells(state.value);
  const nodes = shape.map((row) =>
    row.map(() => element("td", { class: heat ? "cl-heat" : null })),
  );
  state.draw((value) =>
    cells(value).forEach((row, i) =>
      row.forEach((number, j) => {
        write(nodes[i][j], number, digits);
        nodes[i][j].style.setProperty("--w", Math.max(0, Math.min(1, number)));
      }),
    ),
  );
  const head = columns.map((column) => element("th", { scope: "col" }, column));
  return element(
    "table",
    { "data-name": name },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, element("td"), head)),
    element(
      "tbody",
      {},
      nodes.map((row, i) => element("tr", {}, element("th", { scope: "row" }, rows[i]), row)),
    ),
  );
}

/** Call draw(width) now and whenever the width of `node` changes; returns a function that stops it. */
function onWidth(node, draw) {
  const observer = new ResizeObserver(([entry]) => {
    if (entry.contentRect.width > 0) draw(entry.contentRect.width);
  });
  observer.observe(node);
  return () => observer.disconnect();
}

// ---------------------------------------------------------------- mathematics
// A matrix is an array of rows.

const dot = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};
const transpose = (matrix) => Array.from(matrix[0], (_, j) => matrix.map((row) => row[j]));
const matmul = (a, b) => {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
};
const add = (a, b) => a.map((row, i) => Array.from(row, (x, j) => x + b[i][j]));

/** A row of -Infinity (nothing may be attended to) gives zeros, as in companion.nn. */
function softmax(row) {
  const most = Math.max(...row);
  if (most === -Infinity) return row.map(() => 0);
  const parts = row.map((x) => Math.exp(x - most));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((x) => x / sum);
}

/** Numbers from companion.page.live.packed: a row, or a matrix as an array of rows. */
function unpack({ shape, float16 }) {
  const bytes = Uint8Array.from(atob(float16), (character) => character.charCodeAt(0));
  const halves = new DataView(bytes.buffer);
  const numbers = new Float64Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; i++) {
    const bits = halves.getUint16(2 * i, true);
    const exponent = (bits >> 10) & 31,
      fraction = bits & 1023;
    const size = exponent
      ? 2 ** (exponent - 15) * (1 + fraction / 1024)
      : 2 ** -14 * (fraction / 1024);
    numbers[i] = bits & 0x8000 ? -size : size;
  }
  if (shape.length === 1) return numbers;
  return Array.from({ length: shape[0] }, (_, i) =>
    numbers.subarray(i * shape[1], (i + 1) * shape[1]),
  );
}

/** {name: packed} -> {name: numbers}, the names of a PyTorch state dict. */
const unpackAll = (weights) =>
  Object.fromEntries(Object.entries(weights).map(([name, packed]) => [name, unpack(packed)]));

/** torch.nn.Linear with the weights `name`.weight and, where there is one, `name`.bias. */
function linear(weights, name, rows) {
  const matrix = weights[`${name}.weight`],
    bias = weights[`${name}.bias`];
  return rows.map((row) => {
    const x = new Float64Array(row); // as the weights are: with one type of array the loop is fast
    return matrix.map((w, i) => {
      let sum = bias ? bias[i] : 0;
      for (let j = 0; j < x.length; j++) sum += x[j] * w[j];
      return sum;
    });
  });
}

/** companion.nn.MultiHeadAttention: queries from `rows`, keys and values from `memory`.
    allowed(i, j) says what may be attended to; a head whose `on` is false contributes nothing.
    Returns { output, weights: [head][query][key] }. */
function multiHead(weights, name, rows, memory, numHeads, { allowed = () => true, on = [] } = {}) {
  const query = linear(weights, `${name}.q_proj`, rows);
  const key = linear(weights, `${name}.k_proj`, memory);
  const value = linear(weights, `${name}.v_proj`, memory);
  const of = (matrix, head) => {
    const width = matrix[0].length / numHeads;
    return matrix.map((row) => row.slice(head * width, (head + 1) * width));
  };
  const merged = rows.map(() => []),
    all = [];
  for (let head = 0; head < numHeads; head++) {
    const q = of(query, head),
      k = of(key, head),
      v = of(value, head);
    const attention = q.map((qi, i) =>
      softmax(k.map((kj, j) => (allowed(i, j) ? dot(qi, kj) / Math.sqrt(qi.length) : -Infinity))),
    );
    all.push(attention);
    matmul(attention, v).forEach((row, i) =>
      merged[i].push(...(on[head] === false ? row.map(() => 0) : row)),
    );
  }
  return { output: linear(weights, `${name}.out_proj`, merged), weights: all };
}

/** torch.nn.LayerNorm with the weights `name`.weight and, where there is one, `name`.bias. */
function layerNorm(weights, name, rows, eps = 1e-5) {
  const scale = weights[`${name}.weight`],
    bias = weights[`${name}.bias`];
  return rows.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const centred = Array.from(row, (x) => x - mean);
    const deviation = Math.sqrt(dot(centred, centred) / row.length + eps);
    return centred.map((x, i) => (x / deviation) * scale[i] + (bias ? bias[i] : 0));
  });
}

/** The error function by its series of positive terms, to the last digits of a double. */
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x,
    sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** The names of companion.nn.FeedForward. */
const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

/** companion.nn.FeedForward, without a gate. */
function feedForward(weights, name, rows, activation = "relu") {
  const hidden = linear(weights, `${name}.up_proj`, rows).map((row) =>
    row.map(ACTIVATIONS[activation]),
  );
  return linear(weights, `${name}.down_proj`, hidden);
}

/** companion.nn.EncoderBlock. Returns { output, weights: [head][query][key] } and what happened in
    between: `attended`, what the attention adds; `middle`, the stream between the two sub-layers;
    `fed`, what the feed-forward network adds. */
function encoderBlock(
  weights,
  name,
  rows,
  { numHeads, normFirst = false, activation = "relu", eps = 1e-5, allowed },
) {
  const norm = (number, x) => layerNorm(weights, `${name}.norm${number}`, x, eps);
  const before = (number, x) => (normFirst ? norm(number, x) : x);
  const after = (number, x) => (normFirst ? x : norm(number, x));
  const read = before(1, rows);
  const { output: attended, weights: attention } = multiHead(
    weights,
    `${name}.self_attention`,
    read,
    read,
    numHeads,
    { allowed },
  );
  const middle = after(1, add(rows, attended));
  const fed = feedForward(weights, `${name}.feed_forward`, before(2, middle), activation);
  return { output: after(2, add(middle, fed)), weights: attention, attended, middle, fed };
}

/** companion.nn.DecoderBlock. `allowed` rules the self-attention, causal unless told otherwise,
    `memoryAllowed` the attention to `memory`. Returns { output, weights, crossWeights }. */
function decoderBlock(
  weights,
  name,
  rows,
  memory,
  {
    numHeads,
    normFirst = false,
    activation = "relu",
    eps = 1e-5,
    allowed = (i, j) => j <= i,
    memoryAllowed,
  },
) {
  const norm = (number, x) => layerNorm(weights, `${name}.norm${number}`, x, eps);
  const before = (number, x) => (normFirst ? norm(number, x) : x);
  const after = (number, x) => (normFirst ? x : norm(number, x));
  const attend = (part, query, source, rule) =>
    multiHead(weights, `${name}.${part}`, query, source, numHeads, { allowed: rule });
  const read = before(1, rows);
  const self = attend("self_attention", read, read, allowed);
  let x = after(1, add(rows, self.output));
  const cross = attend("cross_attention", before(2, x), memory, memoryAllowed);
  x = after(2, add(x, cross.output));
  x = after(3, add(x, feedForward(weights, `${name}.feed_forward`, before(3, x), activation)));
  return { output: x, weights: self.weights, crossWeights: cross.weights };
}
