// @ts-check
// What a page takes from beside its script when its reader asks for it, and never before.

/** The address of the page's script; null in a notebook, where no site is beside it. */
export const BESIDE = /** @type {HTMLScriptElement | null} */ (document.currentScript)?.src;

/** @type {Promise<any>} */
let before = Promise.resolve();

/** What a file of the site hands over: it is a script, since a page from the disk can read nothing else.
    One comes after the other: all of them call the same name.
    @param {string} file */
export const deliver = (file) => {
  const own = before.then(() => arrival(file));
  before = own.catch(() => {});
  return own;
};

/** @param {string} file */
const arrival = (file) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(window, { companionDelivers: resolve });
    script.addEventListener("load", () => script.remove());
    script.addEventListener("error", () => reject(new Error(`${file} did not arrive`)));
    script.src = new URL(file, BESIDE).href;
    document.head.append(script);
  });
