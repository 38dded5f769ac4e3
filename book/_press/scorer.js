// The order of search results, which Sphinx asks for by this name: chapters, pages of reference, exercises,
// solutions, the package. Among these, those with more of the words in their title; then in the book's order.

var Scorer = (() => {
  // Which kind of page comes first; the first pattern that fits decides.
  const KINDS = [/^book\/api\/|^genindex/, /_solutions$|^book\/checking\//, /_exercises$/];
  const CHAPTER = /^book\/(\w+)\/\1$/;
  let order = null;

  function placeOf(docname) {
    if (!order) {
      const links = document.querySelectorAll("nav.bd-links a[href]");
      order = [...links].map((link) => link.getAttribute("href"));
    }
    const place = order.indexOf(`${docname}.html`);
    return place < 0 ? order.length : place;
  }

  function score([docname, title, , , before]) {
    const kind = KINDS.findIndex((pattern) => pattern.test(docname));
    const rank = CHAPTER.test(docname) ? KINDS.length + 1 : kind < 0 ? KINDS.length : kind;
    const asked = new URLSearchParams(location.search).get("q") ?? "";
    const words = asked.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const named = words.filter((word) => title.toLowerCase().includes(word)).length;
    // each of these outweighs all that follow it
    return (
      1e6 * rank + 1e4 * Math.min(named, 99) + 10 * Math.min(before, 500) - placeOf(docname) / 1e3
    );
  }

  return {
    score,
    // as Sphinx has them
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
