// A chapter's quiz.

import { connect } from "../kit/controls.js";
import { ask } from "../kit/questions.js";

function render({ model, el }) {
  const state = connect(model);
  const { title, questions } = model.get("data");
  ask(el, state, title, questions);
  return () => state.close();
}

export default { render };
