// @ts-check
// "Show all answers", in the head of a page: for who lectures, or reads on.

const KEPT = "companion-answers"; // in the session: while one reads

/** `show(shown)` is called now where all answers are shown, and whenever the reader changes that.
    @param {State} state
    @param {(shown: boolean) => void} show */
export function followAnswers(state, show) {
  const follow = (event) => show(event.detail);
  document.addEventListener(KEPT, follow);
  state.atEnd(() => document.removeEventListener(KEPT, follow));
}

/** Put the switch into the head of a page that asks for guesses, and do what it says. */
export function offerAnswers() {
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const veils = document.querySelectorAll("details.veiled");
  const head = document.querySelector("article h1"); // which stays where it is
  if (!head || !veils.length) return;
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = sessionStorage.getItem(KEPT) === "shown";
  const turn = () => {
    sessionStorage.setItem(KEPT, box.checked ? "shown" : "");
    document.dispatchEvent(new CustomEvent(KEPT, { detail: box.checked }));
    for (const veil of veils) veil.open = box.checked;
  };
  box.addEventListener("change", turn);
  const label = document.createElement("label");
  label.className = "answers";
  label.append(box, " Show all answers");
  head.after(label);
  if (box.checked) turn();
}
