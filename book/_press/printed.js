// Prepares one page of the built site for paper or an e-reader; returns its title and its text.
({ form, site, names, name }) => {
  const article = document.querySelector("article.bd-article");
  const anchor = (page) => page.replaceAll("/", "-");
  const onPaper = form === "pdf";
  const paragraph = (text) => Object.assign(document.createElement("p"), { textContent: text });

  article
    .querySelectorAll(".headerlink, .copybtn, button, nav.here")
    .forEach((part) => part.remove());
  // Code that the page folds stands there like any other.
  for (const fold of article.querySelectorAll("details.hide")) {
    fold.querySelector("summary").remove();
    fold.replaceWith(...fold.childNodes);
  }
  article.querySelectorAll("details").forEach((part) => (part.open = true));
  for (const figure of article.querySelectorAll(".companion-live")) {
    const isQuiz = figure.dataset.figure === "quiz";
    // Nobody answers a quiz on paper: its questions and answers are in the table behind it. Nor does anybody click.
    if (!onPaper || isQuiz || figure.dataset.from) {
      figure.querySelectorAll("script").forEach((part) => part.remove());
      figure.removeAttribute("data-figure");
    }
    if (isQuiz) continue;
    const shown = onPaper ? "it stands still" : "are the numbers with which it begins";
    const note = paragraph(`This figure is live on the web page. Here ${shown}.`);
    note.className = "live-elsewhere";
    figure.after(note);
  }
  // Without the page's styles a chapter's small drawing on the index is a black box.
  if (!onPaper) article.querySelectorAll("script, .chapters svg").forEach((part) => part.remove());

  // Where a link leads to, in the new form; null where that is not in it.
  const target = (link) => {
    const [page, place] = link.href.split("#");
    if (!page.startsWith(site)) return link.href;
    const to = decodeURI(page.slice(site.length)).replace(/\.html$/, "");
    if (!names.includes(to)) return null;
    if (onPaper) return `#${anchor(to)}${place ? `--${place}` : ""}`;
    return `${anchor(to)}.xhtml${place ? `#${place}` : ""}`;
  };
  for (const link of article.querySelectorAll("a[href]")) {
    const found = target(link);
    if (found === null) link.replaceWith(...link.childNodes);
    else link.setAttribute("href", found);
  }
  // The links that a live figure draws on paper.
  for (const script of article.querySelectorAll('[data-figure="translator"] > script')) {
    const state = JSON.parse(script.textContent);
    const here = Object.entries(state.data.doors).map(([stage, to]) => {
      const href = target({ href: new URL(to.href, location.href).href });
      return [stage, { ...to, href }];
    });
    state.data.doors = Object.fromEntries(here.filter(([, { href }]) => href !== null));
    script.textContent = JSON.stringify(state).replaceAll("<", "\\u003c");
  }

  // A formula does not part from the bracket before it, nor from the full stop behind it.
  for (const formula of article.querySelectorAll("span.math")) {
    const [before, after] = [formula.previousSibling, formula.nextSibling];
    const opening = before?.nodeName === "#text" ? before.data.match(/[(\[“]*$/)[0] : "";
    const closing = after?.nodeName === "#text" ? after.data.match(/^[)\]”’.,;:?]*/)[0] : "";
    if (!opening && !closing) continue;
    if (opening) before.data = before.data.slice(0, -opening.length);
    if (closing) after.data = after.data.slice(closing.length);
    const whole = document.createElement("span");
    whole.className = "unbroken";
    formula.replaceWith(whole);
    whole.append(opening, formula, closing);
  }

  // Nor does a line that announces what follows: the kind of an exercise, and its solution.
  for (const line of article.querySelectorAll("p")) {
    const isKind = /^(Coding|Reasoning|Open problem) · /.test(line.textContent);
    if (isKind || line.textContent.trim() === "Solution") line.classList.add("with-next");
  }

  // A listing of more lines may be continued overleaf.
  for (const listing of article.querySelectorAll("pre"))
    if (listing.textContent.trim().split("\n").length > 20) listing.classList.add("long");

  const heading = article.querySelector("h1");
  const title = heading.textContent.trim();
  if (name === names[0]) {
    const [book, shown] = onPaper
      ? ["on paper", "without moving"]
      : ["for an e-reader", "by the numbers with which they begin"];
    const note = paragraph(
      `You have the book ${book}. Its live figures stand here ${shown}; hints are open, and a ` +
        "quiz has its answers below each question. The figures follow your hand on the web " +
        "pages, which are built by ",
    );
    const command = Object.assign(document.createElement("code"), { textContent: "make book" });
    note.append(command, ".");
    heading.after(note);
  }
  if (onPaper) {
    for (const part of article.querySelectorAll("[id]"))
      if (!part.closest("svg")) part.id = `${anchor(name)}--${part.id}`;
    for (const picture of article.querySelectorAll("img")) picture.src = picture.src;
    article.id = anchor(name);
    return [title, article.outerHTML];
  }

  // A small page has no room for formulas side by side: each gets a line of its own.
  const lines = (formula) => {
    const parts = [formula.cloneNode(false)];
    for (const piece of formula.childNodes) {
      const space = piece.localName === "mstyle" && piece.querySelector("mspace");
      if (space && parseFloat(space.getAttribute("width")) >= 1)
        parts.push(formula.cloneNode(false));
      else parts.at(-1).append(piece.cloneNode(true));
    }
    return parts.filter((part) => part.childNodes.length > 0);
  };
  for (const formula of window.MathJax?.startup?.document?.math ?? []) {
    const mathml = MathJax.tex2mml(formula.math, { display: formula.display });
    const parsed = new DOMParser().parseFromString(mathml, "application/xml").documentElement;
    formula.typesetRoot.replaceWith(...lines(document.importNode(parsed, true)));
  }
  for (const part of article.querySelectorAll("mjx-assistive-mml, style")) part.remove();
  for (const table of article.querySelectorAll("table"))
    if (table.rows[0].cells.length > 3) table.classList.add("wide");
  // A long name in a table may be broken where its words meet.
  for (const code of article.querySelectorAll("td code"))
    code.innerHTML = code.innerHTML.replace(/([_.,(=])(?=\w)/g, "$1<wbr>");
  return [title, new XMLSerializer().serializeToString(article)];
};
