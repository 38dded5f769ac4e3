// What every page does, also one without figures.

// On a phone the theme's contents lie over the page, also over the section that was chosen there.
const contents = document.getElementById("pst-secondary-sidebar-modal");
contents?.addEventListener("click", (event) => {
  if (event.target.closest('a[href^="#"]')) contents.close();
});

// What is drawn after the browser has gone to a section moves it. Go there again, until the reader does something.
const section = document.getElementById(location.hash.slice(1)); // not yet the :target
const [{ type }] = performance.getEntriesByType("navigation");
if (section && type === "navigate") {
  const grown = new ResizeObserver(() => section.scrollIntoView({ behavior: "instant" }));
  const rest = () => grown.disconnect();
  grown.observe(document.body);
  for (const act of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    addEventListener(act, rest, { once: true, passive: true });
  }
  setTimeout(rest, 5000);
}
