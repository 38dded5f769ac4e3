// @ts-check
// Prose with markup.

/** Nodes of a text in HTML: html`Its <b class="cl-q">query</b> meets ${count} keys.` What stands in ${} is
    text or a node, or a list of these, and never read as HTML; it cannot stand in a tag.
    @param {TemplateStringsArray} strings
    @param {any[]} values */
export function html(strings, ...values) {
  const template = document.createElement("template");
  template.innerHTML = strings.map((text) => text.replace(/\s*\n\s*/g, " ")).join("<!---->");
  const places = document.createTreeWalker(template.content, NodeFilter.SHOW_COMMENT);
  const found = [];
  while (places.nextNode()) found.push(places.currentNode);
  if (found.length !== values.length) throw new Error(`a value stands in a tag: ${strings.raw}`);
  found.forEach((place, i) => place.replaceWith(...[values[i]].flat(Infinity)));
  return template.content;
}
