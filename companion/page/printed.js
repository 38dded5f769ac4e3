// Prepares one page of the built site for paper or an e-reader; returns its title and its text.
({ form, site, names, name }) => {
  const article = document.querySelector("article.bd-article");
  const anchor = (page) => page.replaceAll("/", "-");
  const onPaper = form === "pdf";

  article.querySelectorAll(".headerlink, .copybtn, button").forEach((part) => part.remove());
  article.querySelectorAll("details").forEach((part) => (part.open = true));
  for (const figure of article.querySelectorAll(".companion-live")) {
    // Nobody answers a quiz on paper: its questions and answers are in the table behind it.
    if (!onPaper || figure.dataset.figure === "quiz") {
      figure.querySelectorAll("script").forEach((part) => part.remove());
      figure.removeAttribute("data-figure");
    }
  }
  if (!onPaper) article.querySelectorAll("script").forEach((part) => part.remove());

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

  const title = article.querySelector("h1").textContent.trim();
  if (onPaper) {
    for (const part of article.querySelectorAll("[id]"))
      if (!part.closest("svg")) part.id = `${anchor(name)}--${part.id}`;
    for (const picture of article.querySelectorAll("img")) picture.src = picture.src;
    article.id = anchor(name);
    return [title, article.outerHTML];
  }

  for (const formula of window.MathJax?.startup?.document?.math ?? []) {
    const mathml = MathJax.tex2mml(formula.math, { display: formula.display });
    const parsed = new DOMParser().parseFromString(mathml, "application/xml").documentElement;
    formula.typesetRoot.replaceWith(document.importNode(parsed, true));
  }
  for (const part of article.querySelectorAll("mjx-assistive-mml, style")) part.remove();
  return [title, new XMLSerializer().serializeToString(article)];
};
