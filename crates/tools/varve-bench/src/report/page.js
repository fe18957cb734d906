// Shows the values of all lines at the pointer. Positions in the drawing are turned back into values, so that no figure
// is in the page twice.
"use strict";
const tip = document.getElementById("tip");
const back = (axis, share) => {
  const [scale, from, to] = axis;
  if (scale === "linear") return from + share * (to - from);
  if (scale === "log") return 10 ** (Math.log10(from) + share * (Math.log10(to) - Math.log10(from)));
  const nines = (value) => -Math.log10(Math.max(1 - value / 100, 1e-9));
  return 100 * (1 - 10 ** -(nines(from) + share * (nines(to) - nines(from))));
};
const shown = (value) => value.toLocaleString("en", { maximumSignificantDigits: value >= 1000 ? 6 : 4 });
const axisOf = (text) => {
  const [scale, from, to, label] = text.split("|");
  return { range: [scale, Number(from), Number(to)], label };
};
for (const drawing of document.querySelectorAll(".chart svg")) {
  const lines = [...drawing.querySelectorAll("path[data-n]")].map((path) => ({
    name: path.dataset.n,
    points: path.getAttribute("d").slice(1).split("L").map((pair) => pair.split(" ").map(Number)),
  }));
  if (lines.length === 0) continue;
  const [left, top, width, height] = drawing.dataset.box.split(" ").map(Number);
  const x = axisOf(drawing.dataset.x), y = axisOf(drawing.dataset.y);
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * drawing.viewBox.baseVal.width;
    const rows = [];
    let nearest = null;
    for (const { name, points } of lines) {
      const point = points.reduce((best, it) => (Math.abs(it[0] - at) < Math.abs(best[0] - at) ? it : best));
      if (Math.abs(point[0] - at) > 24) continue;
      if (nearest === null || Math.abs(point[0] - at) < Math.abs(nearest - at)) nearest = point[0];
      rows.push(`${name}: ${shown(back(y.range, 1 - (point[1] - top) / height))}`);
    }
    tip.hidden = nearest === null;
    if (nearest === null) return;
    tip.textContent = [`${x.label}: ${shown(back(x.range, (nearest - left) / width))}`, ...rows, y.label].join("\n");
    const right = event.pageX + 14 + tip.offsetWidth > document.documentElement.clientWidth;
    tip.style.left = `${right ? event.pageX - 14 - tip.offsetWidth : event.pageX + 14}px`;
    tip.style.top = `${event.pageY + 14}px`;
  });
  drawing.addEventListener("pointerleave", () => (tip.hidden = true));
}
