// A string of bits over the steps of its parity that a model has written. From the place at which it
// stood when it wrote a step, an arrow points so many places back; it is whole if the step before and
// the bit there make the step that was written.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, stage } from "../../page/kit/stage.js";

css`
  .cl-made {
    stroke: var(--first);
    stroke-width: 2;
  }
  .cl-unmade {
    stroke: var(--second);
    stroke-width: 1.2;
    stroke-dasharray: 3 3;
  }
`;

/** For each step behind the first one whose bit is in the string: the bit, and whether it makes the step. */
function reads([bits, steps], back) {
  const all = steps.map((step, k) => {
    const bit = bits.length + k - back; // the model stands on the sign or the step before
    return { k, bit, made: (steps[k - 1] ^ bits[bit]) === step };
  });
  return all.filter(({ k, bit }) => k > 0 && bit >= 0 && bit < bits.length);
}

function build(root, width, { string, back, most }) {
  const [bits, steps] = string;
  const height = 150;
  const left = 48;
  const x = (i) => left + ((i + 0.5) * (width - left - 4)) / most;
  root.append(label("bits", 36, 30, "cl-end cl-quiet"), label("steps", 36, 136, "cl-end cl-quiet"));
  for (const { k, bit, made } of reads(string, back)) {
    root.append(
      drawing("path", {
        class: made ? "cl-line cl-made" : "cl-line cl-unmade",
        "data-step": String(k),
        d: `M${x(k)} 118L${x(bit)} 40`,
      }),
    );
  }
  bits.forEach((bit, i) => root.append(label(String(bit), x(i), 30)));
  steps.forEach((step, i) => root.append(label(String(step), x(i), 136)));
  return { height, pose() {} };
}

function render({ model, el }) {
  const { lengths, trained } = model.get("data");
  const state = connect(model);
  const most = Math.max(...lengths.map(({ bits }) => bits));
  const stringsOf = (value) => lengths.find(({ bits }) => bits === value.bits).strings;
  const chosen = (value) => stringsOf(value)[value.string];
  const counted = (value) => {
    const found = reads(chosen(value), value.back);
    return { made: found.filter(({ made }) => made).length, all: found.length };
  };
  const isWhole = (value) => {
    const { made, all } = counted(value);
    return made === all && all > trained / 2;
  };
  const tell = (value) => {
    const { made, all } = counted(value);
    const own = value.back === value.bits ? ", its own," : "";
    return (
      `With ${value.bits} bits, the bit ${value.back} places back${own} added to the step before gives ` +
      `${made} of the ${all} steps that point into the string.`
    );
  };
  const far = lengths.findLast(({ bits }) => bits > trained).bits;
  frame(
    el,
    "Which bit does a step read?",
    element(
      "div",
      { class: "cl-controls" },
      choice(
        state,
        "bits",
        "bits in the string",
        lengths.map(({ bits }) => bits),
        {
          change: (bits) => ({ bits, string: 0 }),
        },
      ),
      slider(state, "string", "string", {
        min: 0,
        max: (value) => stringsOf(value).length - 1,
        describe: (i) => String(i + 1),
      }),
      slider(state, "back", "a step adds the bit", {
        min: trained - 6,
        max: far,
        describe: (back) => `${back} places back`,
      }),
    ),
    stage(
      state,
      "Bits over the steps that the model wrote, and an arrow from each step to a bit",
      (root, width, value) => build(root, width, { string: chosen(value), back: value.back, most }),
      { key: ({ bits, string, back }) => `${bits} ${string} ${back}` },
    ),
    announce(state, tell),
    goals(state, [
      {
        text: `Find the distance that gives every step of a string of ${trained} bits.`,
        reached: (value) => value.bits === trained && isWhole(value),
      },
      {
        text: `Do the same with ${trained + 1} bits.`,
        reached: (value) => value.bits === trained + 1 && isWhole(value),
      },
      {
        text: `With ${far} bits, point every step at its own bit.`,
        reached: ({ bits, back }) => bits === far && back === far,
      },
    ]),
  );
  return state.close;
}

export default { render };
