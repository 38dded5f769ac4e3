// The plots and the scenes of one page as SVG files: [{ cell, name, title, description, svg }]. A scene is
// drawn again from what Chromium shows of it, words and boxes too, without its controls; colours and fonts
// are computed, so a file asks for nothing.
() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = 12;
  const LEFT_OUT =
    ".cl-title, .cl-controls, .cl-control:not(th *), .cl-main, .cl-stepper, .cl-captions, .cl-goals, fieldset, " +
    "details, select, textarea, output, input:not([type=number])";
  const LOOKS =
    "fill stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin opacity fill-opacity " +
    "stroke-opacity paint-order font-family font-size font-style font-weight letter-spacing text-anchor dominant-baseline";
  const PLAIN = document.createElementNS(SVG, "g"); // what needs no attribute
  const KEPT =
    /^(x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|dx|dy|d|points|width|height|transform|id|href|offset|gradient\w+|viewBox|preserveAspectRatio|image-rendering)$/;

  const ink = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const seen = new Map();
  /** A colour as every program reads it, and how much of it covers what is below. */
  const plainColour = (colour) => {
    if (!seen.has(colour)) {
      ink.clearRect(0, 0, 1, 1);
      ink.fillStyle = colour;
      ink.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = ink.getImageData(0, 0, 1, 1).data;
      const hex = [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
      seen.set(colour, [`#${hex}`, a / 255]);
    }
    return seen.get(colour);
  };

  const make = (tag, attributes, ...children) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const round = (number) => String(Math.round(number * 100) / 100);

  document.body.append(make("svg", { width: 0, height: 0 }, PLAIN));
  const usual = getComputedStyle(PLAIN);
  const looksOf = (node) => {
    const style = getComputedStyle(node);
    const looks = {};
    for (const name of LOOKS.split(" ")) {
      const value = style.getPropertyValue(name);
      if (name === "fill" || name === "stroke") {
        if (value === "none" || value.startsWith("url")) looks[name] = value;
        else {
          const [colour, cover] = plainColour(value);
          looks[name] = cover ? colour : "none";
          if (cover && cover < 1) looks[`${name}-opacity`] ??= round(cover);
        }
      } else if (name.startsWith("font") || value !== usual.getPropertyValue(name)) {
        looks[name] ??= value.replaceAll('"', "'");
      }
    }
    return looks;
  };

  /** A part of a drawing with its looks as attributes; null where nothing of it is seen. */
  const redrawn = (node) => {
    const style = getComputedStyle(node);
    if (style.display === "none" || Number(style.opacity) < 0.01) return null;
    const isGroup = /^(g|a|svg|defs|linearGradient|clipPath|marker|symbol)$/.test(node.localName);
    if (!isGroup && style.visibility === "hidden") return null;
    const copy = make(node.localName === "a" ? "g" : node.localName, {});
    for (const { name, value } of node.attributes)
      if (KEPT.test(name) && !(node.localName === "a" && name === "href"))
        copy.setAttribute(name, value);
    const isText = /^(text|tspan)$/.test(node.localName);
    const looks = isGroup ? { opacity: looksOf(node).opacity } : looksOf(node);
    for (const [name, value] of Object.entries(looks))
      if (value !== undefined && (isText || !name.startsWith("font")))
        copy.setAttribute(name, value);
    if (isText) {
      if (node.localName === "text") copy.setAttribute("xml:space", "preserve");
      for (const child of node.childNodes)
        if (child.nodeName === "#text") copy.append(child.data);
        else copy.append(...[redrawn(child)].filter(Boolean));
      return copy.textContent.trim() ? copy : null;
    }
    copy.append(...[...node.children].map(redrawn).filter(Boolean));
    if (isGroup) return copy.childNodes.length ? copy : null;
    return looks.fill === "none" && looks.stroke === undefined ? null : copy;
  };

  /** What of a scene is seen, in order, at its place. */
  const parts = (node, left, top) => {
    if (node.nodeName === "#text") return words(node, left, top);
    if (node.nodeType !== Node.ELEMENT_NODE) return [];
    const style = getComputedStyle(node);
    if (style.display === "none" || Number(style.opacity) < 0.01) return [];
    if (style.clipPath !== "none") return []; // for a screen reader alone
    const box = node.getBoundingClientRect();
    const place = { x: round(box.left - left), y: round(box.top - top) };
    const size = { width: round(box.width), height: round(box.height) };
    const isSeen = style.visibility !== "hidden" && box.width > 0 && box.height > 0;
    if (node.localName === "svg") {
      const copy = isSeen && redrawn(node);
      if (!copy) return [];
      const view = node.viewBox.baseVal;
      const scale = view?.width ? box.width / view.width : 1;
      const move = `translate(${place.x} ${place.y})${scale === 1 ? "" : ` scale(${scale})`}`;
      return [make("g", { transform: move }, ...copy.childNodes)];
    }
    if (isSeen && node.localName === "canvas")
      return [make("image", { ...place, ...size, href: node.toDataURL() })];
    const found = isSeen ? boxOf(style, place, size, box) : [];
    if (node.localName === "input")
      return isSeen ? [...found, number(node, style, place, box)] : [];
    return [...found, ...[...node.childNodes].flatMap((child) => parts(child, left, top))];
  };

  /** The ground and the edges of an element. */
  const boxOf = (style, place, size, box) => {
    const [fill, cover] = plainColour(style.backgroundColor);
    const sides = ["top", "right", "bottom", "left"].map((side) => {
      const width = parseFloat(style.getPropertyValue(`border-${side}-width`));
      return [width, ...plainColour(style.getPropertyValue(`border-${side}-color`))];
    });
    const shape = { ...place, ...size };
    const isRing = sides.every(([width]) => width > 0);
    if (!cover && !sides.some(([width, , seen]) => width && seen)) return [];
    const rx = round(Math.min(parseFloat(style.borderTopLeftRadius) || 0, box.height / 2));
    const ground = { ...shape, rx, fill: cover ? fill : "none", "fill-opacity": round(cover) };
    if (isRing)
      return [make("rect", { ...ground, stroke: sides[0][1], "stroke-width": sides[0][0] })];
    const [x, y] = [Number(place.x), Number(place.y)];
    const [right, below] = [x + box.width, y + box.height];
    const ends = [
      [x, y, right, y],
      [right, y, right, below],
      [x, below, right, below],
      [x, y, x, below],
    ];
    const lines = sides.flatMap(([width, stroke, seen], side) => {
      const [x1, y1, x2, y2] = ends[side].map(round);
      return width && seen ? [make("line", { x1, y1, x2, y2, stroke, "stroke-width": width })] : [];
    });
    return [...(cover ? [make("rect", ground)] : []), ...lines];
  };

  const lettering = (style) => {
    const [fill, cover] = plainColour(style.color);
    const looks = { fill, "fill-opacity": round(cover) };
    for (const name of ["font-family", "font-size", "font-style", "font-weight", "letter-spacing"])
      looks[name] = style.getPropertyValue(name).replaceAll('"', "'");
    return looks;
  };

  /** What stands in a field for a number. */
  const number = (field, style, place, box) => {
    const [x, y] = [Number(place.x) + box.width / 2, Number(place.y) + box.height / 2];
    const middle = { "text-anchor": "middle", "dominant-baseline": "central" };
    return make("text", { x: round(x), y: round(y), ...lettering(style), ...middle }, field.value);
  };

  /** The lines of a text as they are broken, and cut where its box ends. */
  const words = (node, left, top) => {
    const style = getComputedStyle(node.parentElement);
    if (!node.data.trim() || style.visibility === "hidden") return [];
    const lines = [];
    let holder = node.parentElement;
    while (holder !== document.body && getComputedStyle(holder).overflowX === "visible")
      holder = holder.parentElement;
    const edge = holder.getBoundingClientRect().right;
    const range = document.createRange();
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      const last = lines.at(-1);
      if (box.right > edge + 1) {
        if (last && !last.text.endsWith("…")) last.text += " …";
        continue;
      }
      if (last && Math.abs(last.box.top - box.top) < 3) last.text += ` ${word}`;
      else lines.push({ text: word, box });
    }
    ink.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const looks = lettering(style);
    return lines.map(({ text, box }) => {
      const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = ink.measureText(text);
      const base = box.top + (box.height - up - down) / 2 + up;
      return make("text", { x: round(box.left - left), y: round(base - top), ...looks }, text);
    });
  };

  /** The file: what is shown, on white, with its title and description. */
  const finished = (svg, title, description) => {
    const [x, y, width, height] = svg.getAttribute("viewBox").split(/[ ,]+/);
    svg.querySelectorAll("metadata").forEach((node) => node.remove());
    svg.prepend(
      make("title", {}, title),
      make("desc", {}, description),
      make("rect", { x, y, width, height, fill: "#ffffff" }),
    );
    svg.setAttribute("role", "img");
    return new XMLSerializer().serializeToString(svg);
  };

  const plot = (picture) => {
    if (picture.src.startsWith("data:image/svg+xml")) {
      const text = decodeURIComponent(picture.src.slice(picture.src.indexOf(",") + 1));
      return new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    }
    const { width, height } = picture;
    const shown = make("image", { width, height, href: picture.src });
    return make("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, shown);
  };

  const scene = (box) => {
    const { left, top } = box.getBoundingClientRect();
    const shown = make("g", {}, ...[...box.childNodes].flatMap((child) => parts(child, left, top)));
    const svg = make("svg", {}, shown);
    document.body.append(svg);
    const around = shown.getBBox();
    svg.remove();
    const [x, y] = [around.x - MARGIN, around.y - MARGIN].map(Math.floor);
    const [width, height] = [around.width, around.height].map((n) => Math.ceil(n) + 2 * MARGIN + 1);
    svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    return svg;
  };

  const heading = (node) =>
    [...document.querySelectorAll("article :is(h1, h2, h3)")]
      .filter((other) => other.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING)
      .at(-1)
      .firstChild.textContent.trim();

  const SCENES = '.companion-live:not([data-figure="prediction"], [data-figure="quiz"])';
  const sheet = document.createElement("style"); // so that what is left closes up
  sheet.textContent = `.cl :is(${LEFT_OUT}) { display: none !important; }`;
  document.head.append(sheet);
  const places = document.querySelectorAll(`article :is(img.companion-figure, ${SCENES})`);
  return [...places].map((node) => {
    const cell = node.closest(".cell")?.id ?? "";
    if (node.localName === "img") {
      const title = heading(node);
      return {
        cell,
        name: "plot",
        title,
        description: node.alt,
        svg: finished(plot(node), title, node.alt),
      };
    }
    const box = node.querySelector(".cl");
    const title = box.getAttribute("aria-label");
    const named = [...box.querySelectorAll("svg[aria-label], svg > title")].map(
      (part) => part.getAttribute("aria-label") ?? part.textContent,
    );
    const said = box.querySelector(".cl-say")?.textContent ?? "";
    const description = [...new Set([...named, said])]
      .filter(Boolean)
      .join(". ")
      .replaceAll("..", ".");
    return {
      cell,
      name: node.dataset.figure,
      title,
      description,
      svg: finished(scene(box), title, description),
    };
  });
};
