// @ts-check
// What a page takes from beside its script when its reader asks for it, and never before.

/** The address of the page's script; null in a notebook, where no site is beside it. */
export const BESIDE = /** @type {HTMLScriptElement | null} */ (document.currentScript)?.src;

/** What a file of the site hands over: it is a script, since a page from the disk can read nothing else.
    @param {string} file */
export const deliver = (file) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(window, { companionDelivers: resolve });
    script.addEventListener("load", () => script.remove());
    script.addEventListener("error", () => reject(new Error(`${file} did not arrive`)));
    script.src = new URL(file, BESIDE).href;
    document.head.append(script);
  });
