// @ts-check
// Which chapters were read to their end. Only this browser knows; the index marks their cards.

const KEY = "chapters-read";

/** What this browser keeps under a key.
    @param {string} key
    @param {any} otherwise */
export function remembered(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise; // a browser may keep nothing
  }
}

/** @param {string} key
    @param {any} value */
export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // then it is not remembered
  }
}

/** The names of the pages of chapters, such as self_attention.html.
    @returns {string[]} */
export const chaptersRead = () => remembered(KEY, []);

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
    remember(KEY, [...new Set([...chaptersRead(), nameOf(location.href)])]);
  });
  watch.observe(last);
}
