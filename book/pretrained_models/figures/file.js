// A safetensors file, taken apart in the page: eight bytes that say how long the header is, the header as
// JSON, and the raw numbers. What the companion makes of a tensor is a list of places in the file.

import { choice, connect, slider } from "../../page/kit/controls.js";
import {
  announce,
  css,
  drawing,
  element,
  frame,
  paint,
  steady,
  write,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

css`
  .cl-file :is(td, th) {
    padding-block: 0.02rem;
    line-height: 1.35;
  }
  .cl-controls:has(~ .cl-file) {
    margin: -0.5rem 0 0.4rem;
  }
`;

/** The header of a file, and where its tensors begin. */
function open(bytes) {
  const view = new DataView(bytes.buffer);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  delete header.__metadata__;
  return { view, header, start: 8 + length, size: bytes.length };
}

/** What a reader can know of the file when only its first `present` bytes are there. */
function known({ header, start, size }, present) {
  const left = size - present;
  if (!left) return "";
  if (present < 8) return "Not even the length of the header is there.";
  if (present < start) {
    return `The first eight bytes announce a header of ${start - 8} bytes, of which ${present - 8} are there: no name can be read.`;
  }
  const cut = Object.values(header).filter(({ data_offsets: [, end] }) => start + end > present);
  return `The header is whole, and promises ${left} bytes that are not there: ${cut.length} of ${Object.keys(header).length} tensors are cut off.`;
}

const hex = (byte) => byte.toString(16).padStart(2, "0");

function render({ model, el }) {
  const { file: encoded, places } = model.get("data");
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  const file = open(bytes);
  const names = Object.keys(places).sort(
    (a, b) => file.header[a].data_offsets[0] - file.header[b].data_offsets[0],
  );
  const state = connect(model);
  const entry = (value) => file.header[value.tensor];
  const range = (value) => entry(value).data_offsets.map((offset) => file.start + offset);
  const number = (value, i) => file.view.getFloat32(range(value)[0] + 4 * i, true);
  const shape = (sizes) => sizes.join(" × ");

  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "tensor", "tensor", names),
    slider(state, "present", "bytes that have arrived", {
      min: 0,
      max: file.size,
      describe: (present) => `${present} of ${file.size}`,
    }),
  );

  const svg = drawing("svg");
  const strip = element("div", { class: "cl-scroll" }, svg);
  state.drawWide(strip, ({ tensor, present }, width) => {
    const x = (byte) => (byte / file.size) * width;
    const [from, to] = range({ tensor });
    const box = (start, end, attributes) =>
      drawing("rect", {
        x: x(start),
        y: 22,
        width: Math.max(x(end) - x(start), 1),
        height: 26,
        ...attributes,
      });
    const label = (byte, anchor, text, y) =>
      drawing(
        "text",
        { x: x(byte), y, "text-anchor": anchor, class: "cl-quiet", style: "font-size: 12px" },
        text,
      );
    paint(
      svg,
      width,
      66,
      `The file from its first byte to its last; the chosen tensor is marked`,
      [
        box(0, file.start, {
          fill: "none",
          stroke: "var(--second)",
          "stroke-width": 1.5,
          "stroke-dasharray": "4 2",
        }),
        ...names.map((name) =>
          box(...range({ tensor: name }), { fill: "none", stroke: "var(--line)" }),
        ),
        box(from, to, { fill: "var(--first)" }),
        present < file.size
          ? box(present, file.size, {
              fill: "var(--ground)",
              "fill-opacity": 0.8,
              stroke: "var(--ink)",
              "stroke-dasharray": "2 3",
            })
          : null,
        label(0, "start", `length and header, ${file.start} bytes`, 14),
        label(file.size, "end", "tensors", 14),
        drawing(
          "text",
          {
            x: Math.min(Math.max(x((from + to) / 2), 45), width - 45),
            y: 63,
            "text-anchor": "middle",
            style: "font-size: 12px",
          },
          `▲ ${from} – ${to}`,
        ),
      ].filter((part) => part !== null),
    );
  });

  svg.style.cursor = "pointer"; // the list does it for the keyboard
  svg.addEventListener("click", ({ clientX }) => {
    const { left, width } = svg.getBoundingClientRect();
    const byte = ((clientX - left) / width) * file.size;
    const tensor = names.find((name) => {
      const [from, to] = range({ tensor: name });
      return from <= byte && byte < to;
    });
    if (tensor) state.set({ tensor });
  });

  const code = element("code", {
    style: "overflow-wrap: anywhere; color: var(--ink); background: none",
  });
  const said = element("p", {}, "In the header: ", code);
  const every = names.map((tensor) => ({ tensor, present: file.size }));
  steady(state, said, every, (value) => {
    code.textContent =
      value.present < file.start
        ? "cannot be read yet"
        : `"${value.tensor}": ${JSON.stringify(entry(value))}`;
  });

  const raw = element("tbody", { "data-name": "raw" });
  const ours = element("tbody", { "data-name": "ours" });
  const cell = (value, i) => {
    const gone = range(value)[0] + 4 * (i + 1) > value.present;
    return gone ? element("td", {}, "–") : write(element("td"), number(value, i), 3);
  };
  const tabulate = (value) => {
    const [from] = range(value);
    const count = Math.min(
      4,
      entry(value).shape.reduce((a, b) => a * b, 1),
    );
    raw.replaceChildren(
      ...Array.from({ length: count }, (_, i) =>
        tableRow(
          String(from + 4 * i),
          element(
            "td",
            {},
            element(
              "code",
              { style: "color: var(--ink); background: none" },
              Array.from(bytes.subarray(from + 4 * i, from + 4 * i + 4), (byte, k) =>
                from + 4 * i + k < value.present ? hex(byte) : "··",
              ).join(" "),
            ),
          ),
          cell(value, i),
        ),
      ),
    );
    ours.replaceChildren(
      ...places[value.tensor].flatMap(({ name, shape: sizes, words, entries }) => [
        element(
          "tr",
          {},
          element(
            "th",
            {
              scope: "colgroup",
              colspan: 4,
              style: "overflow-wrap: anywhere; white-space: normal; text-align: left",
            },
            name.split(/(?<=[._])/).flatMap((part) => [part, element("wbr")]),
            element("br"),
            element(
              "span",
              { class: "cl-quiet", style: "font-weight: 400" },
              `${shape(sizes)}, ${words}`,
            ),
          ),
        ),
        element(
          "tr",
          {},
          entries.map((i) => cell(value, i)),
        ),
      ]),
    );
  };
  const tables = [
    element(
      "table",
      { style: "margin-top: 0.3rem" },
      element("caption", {}, "The tensor's first bytes"),
      headRow(["at byte", "in the file", "number"].map(columnHead)),
      raw,
    ),
    element(
      "table",
      { style: "margin-top: 0.3rem" },
      element("caption", {}, "In companion: the parameters, and the first numbers of each"),
      ours,
    ),
  ];

  const tell = (value) => {
    const trouble = known(file, value.present);
    if (trouble) return `${trouble} companion.pretrained.load refuses the file.`;
    const into = places[value.tensor].map(({ name }) => name);
    const [from, to] = range(value);
    return (
      `${value.tensor} has ${shape(entry(value).shape)} numbers, bytes ${from} to ${to}. ` +
      (into.length
        ? `It becomes ${into.join(", ")}.`
        : "No parameter of companion's model needs it.")
    );
  };
  const end = ({ data_offsets: offsets }) => file.start + offsets[1];
  const puzzles = goals(state, [
    {
      text: "Cut the file where its header is whole and no tensor is.",
      reached: ({ present }) =>
        present >= file.start && names.every((name) => end(file.header[name]) > present),
    },
    {
      text: "Find a matrix that is copied unchanged.",
      reached: ({ tensor }) =>
        file.header[tensor].shape.length === 2 &&
        places[tensor].some(({ words }) => words === "as it is"),
    },
  ]);
  const side = element("div", { class: "cl-side cl-file" }, tables);
  steady(state, side, every, tabulate);
  const told = [...every, { tensor: names[0], present: 0 }].map(tell);
  const caption = announce(state, tell, told);
  frame(el, "A file of weights, byte by byte", controls, strip, said, side, caption, puzzles);
  return state.close;
}

export default { render };
