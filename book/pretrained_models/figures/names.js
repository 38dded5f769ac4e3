// The names of a file's tensors on the left, the companion's modules on the right, a line for each that
// becomes one. Choose another family, and the same modules hang on other names.

import { choice, connect, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, fill, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

css`
  .cl-names {
    display: flex;
    flex-wrap: wrap;
    gap: 0.2rem 1.4rem;
    align-items: end;
    margin: -0.4rem 0 0.5rem;
  }
  .cl-names fieldset label {
    font-size: 0.86rem;
    padding-inline: 0.5rem;
  }
  .cl-names select {
    width: 11.5rem;
  }
  .cl-names ~ .cl-captions .cl-say {
    margin-top: 0.4rem;
  }
  .cl-names ~ .cl-goals ul {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr));
  }
`;

const ROW = 15.5;
const BOX = 134; // pixels of a module
const LETTER = 6.7;

/** What stands behind the block's number; outside the blocks, the last two words. */
const short = (name) =>
  name.includes("{i}") ? name.split("{i}.").at(-1) : name.split(".").slice(-2).join(".");
const last = (name) => name.split(".").at(-1);

function build(root, width, parts, files, pick) {
  const right = width - BOX;
  const y = (row) => row * ROW + ROW / 2 + 16;
  const fitting = (name) => (short(name).length * LETTER < right - 14 ? short(name) : last(name));
  const inBlock = parts.flatMap((part, i) => (part.startsWith("blocks.") ? [i] : []));
  root.append(
    label("in the file", 0, 9, "cl-start cl-quiet"),
    label("in companion", width, 9, "cl-end cl-quiet"),
    drawing("rect", {
      class: "cl-axis",
      style: "fill: none",
      x: right - 6,
      y: y(inBlock[0]) - ROW / 2,
      width: BOX + 6,
      height: inBlock.length * ROW,
      rx: 6,
    }),
  );
  const rows = parts.map((name, i) => {
    const line = drawing("path", { class: "cl-line" });
    const tie = part(root, line, { x1: 0, y1: y(i), y2: y(i), w: 1 }, ({ x1, y1, y2, w }) => {
      const middle = (x1 + right) / 2;
      fill(
        line,
        {
          "stroke-width": w,
          d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${right - 8} ${y2}`,
        },
        [],
      );
    });
    const theirs = label("", 0, 4, "cl-start");
    theirs.dataset.name = "theirs";
    const tag = part(root, drawing("g", {}, theirs), { y: y(i) });
    const box = drawing("rect", { x: right, y: y(i) - 7, width: BOX, height: 14, rx: 7 });
    const text = label("", right + BOX / 2, y(i) + 4);
    text.textContent = inBlock.includes(i) ? last(name) : name; // no underline is lowered
    const module = drawing("g", { style: "cursor: pointer" }, box, text);
    module.addEventListener("click", () => pick(name)); // the list does it for the keyboard
    root.append(module);
    for (const node of [theirs, text]) node.style.fontSize = "11px";
    return { line, tie, theirs, tag, box, text };
  });
  return {
    height: y(parts.length - 1) + ROW / 2 + 4,
    pose({ file, part: chosen }, move) {
      const names = files[file];
      rows.forEach(({ line, tie, theirs, tag, box, text }, i) => {
        const own = names[parts[i]],
          lit = parts[i] === chosen;
        const sharing = own
          ? parts.flatMap((p, k) => (names[p]?.name === own.name ? [k] : []))
          : [i];
        const height = sharing.reduce((sum, k) => sum + y(k), 0) / sharing.length;
        theirs.textContent = own ? fitting(own.name) : "";
        const named = own && names[chosen]?.name === own.name; // not bold: there is no room
        theirs.style.fill = named ? "var(--first)" : "";
        theirs.style.textDecoration = named ? "underline" : "";
        tag.to({ y: height, o: own && sharing[0] === i ? 1 : 0 }, move);
        const x1 = Math.min(theirs.textContent.length * LETTER + 8, right - 14);
        tie.to({ x1, y1: height, y2: y(i), w: lit ? 3 : 1, o: own ? 1 : 0 }, move);
        line.style.stroke = lit ? "var(--first)" : "var(--line)";
        box.style.cssText = `fill: var(--ground); stroke: var(--${lit ? "first" : "line"}); stroke-width: ${lit ? 2.5 : 1.2}`;
        fill(box, { "stroke-dasharray": own ? "none" : "3 3" }, []);
        text.setAttribute("class", own ? "" : "cl-quiet");
      });
    },
  };
}

function render({ model, el }) {
  const { parts, files } = model.get("data");
  const state = connect(model);
  const scene = stage(state, "Names in the file, and modules in companion", (root, width) =>
    build(root, width, parts, files, (part) => state.set({ part })),
  );
  const own = ({ file, part }) => files[file][part];
  const sharing = (value) =>
    own(value) ? parts.filter((part) => files[value.file][part]?.name === own(value).name) : [];
  const tell = (value) => {
    const found = own(value);
    if (!found) return `${value.file} has no ${value.part}.`;
    return `${found.name} becomes ${value.part}: ${found.words}.`;
  };
  const told = Object.keys(files).flatMap((file) => parts.map((part) => tell({ file, part })));
  const caption = announce(state, tell, told);
  const puzzles = goals(state, [
    {
      text: "Find a tensor that becomes three.",
      reached: (value) => sharing(value).length === 3,
    },
    {
      text: "Find a part that only one file has.",
      reached: ({ part }) => Object.values(files).filter((names) => part in names).length === 1,
    },
    {
      text: "Find a part named alike on both sides.",
      reached: (value) => own(value) && last(own(value).name) === last(value.part),
    },
  ]);
  frame(
    el,
    "Which name becomes which module?",
    element(
      "div",
      { class: "cl-names" },
      tabs(state, "file", "whose file", Object.keys(files)),
      choice(state, "part", "our module", parts),
    ),
    scene,
    caption,
    puzzles,
  );
  return state.close;
}

export default { render };
