// What a search finds beside Sphinx's pages, and in which order; Sphinx asks for `Scorer` by this name.
// Found as well: headings with all the words, at their place. First comes what has them all in its title,
// then in a heading; of these and of the rest chapters, pages of reference, exercises, solutions, the package.
// Then those with more of the words in their title; then the book's order.

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

  const kindOf = (docname) => KINDS.findIndex((pattern) => pattern.test(docname));

  const skipped = new Set(stopwords); // a list in Sphinx 7, a set in Sphinx 9

  // As Sphinx does: words as `splitQuery` cuts them, no stop words, no numbers, their stems.
  function stems(text) {
    const stemmer = new Stemmer();
    const words = splitQuery(text.toLowerCase());
    const kept = words.filter((word) => !skipped.has(word) && !/^\d+$/.test(word));
    return new Set(kept.map((word) => stemmer.stemWord(word)));
  }

  const asked = () => [...stems(new URLSearchParams(location.search).get("q") ?? "")];

  function score([docname, title, anchor, , before]) {
    const words = asked();
    const [, ...sections] = title.split(" > ");
    const found = stems(title);
    const named = words.filter((word) => found.has(word)).length;
    const kind = kindOf(docname);
    const rank = CHAPTER.test(docname) ? KINDS.length + 1 : kind < 0 ? KINDS.length : kind;
    let level = 0;
    if (words.length && kind < 0 && named === words.length) {
      const heading = stems(sections.join(" "));
      if (!anchor) level = 3;
      else
        level = heading.size === words.length && words.every((word) => heading.has(word)) ? 2 : 1;
    }
    // each of these outweighs all that follow it
    return (
      1e8 * level +
      1e6 * rank +
      1e4 * Math.min(named, 99) +
      10 * Math.min(before, 500) -
      placeOf(docname) / 1e3
    );
  }

  /** Results, in Sphinx's form, for the headings that have all of these stems, and are no page's title. */
  function headings(terms) {
    const { alltitles, docnames, filenames, titles } = Search._index;
    return Object.entries(alltitles).flatMap(([title, places]) => {
      const found = stems(title);
      if (!terms.size || titles.includes(title)) return [];
      if (![...terms].every((term) => found.has(term))) return [];
      return places
        .filter(([file, id]) => id && kindOf(docnames[file]) < 0)
        .map(([file, id]) => [
          docnames[file],
          `${titles[file]} > ${title}`,
          `#${id}`,
          null,
          0,
          filenames[file],
          "title",
        ]);
    });
  }

  const pages = Search.performTermsSearch; // this file is loaded after Sphinx's search
  Search.performTermsSearch = (terms, excluded) => [...pages(terms, excluded), ...headings(terms)];

  // What a result shows of its page: no buttons, no copy of its contents for print, no formulas and drawings.
  const textOf = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page
      .querySelectorAll(".bd-header-article, #jb-print-docs-body, .math, svg")
      .forEach((node) => node.remove());
    return textOf(page.documentElement.outerHTML, anchor).replace(/\s+/g, " ");
  };

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
