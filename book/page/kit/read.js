// @ts-check
// Which chapters were read to their end. Only this browser knows; the index marks their cards.

const KEY = "chapters-read";

/** @returns {string[]} */
function chaptersRead() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]");
  } catch {
    return []; // a browser may keep nothing
  }
}

/** @param {string} address */
const nameOf = (address) => new URL(address).pathname.split("/").at(-1);

/** Mark the cards of what was read; of a chapter, note when its last section comes into sight. */
export function rememberChapters() {
  const mark = () => {
    const known = chaptersRead();
    /** @type {NodeListOf<HTMLAnchorElement>} */
    const cards = document.querySelectorAll("ul.chapters a");
    for (const card of cards) card.classList.toggle("read", known.includes(nameOf(card.href)));
  };
  addEventListener("pageshow", mark); // back from a chapter, too
  const last = document.querySelector("nav.here") && document.querySelector("#you-can-now");
  if (!last) return;
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    try {
      const known = new Set([...chaptersRead(), nameOf(location.href)]);
      localStorage.setItem(KEY, JSON.stringify([...known]));
    } catch {
      // then it is not remembered
    }
  });
  watch.observe(last);
}
