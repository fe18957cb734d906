// The canvas as a file: SVG written from what sigma shows, and PNG painted from that.

import type Sigma from "sigma";
import { placeOf, type Side } from "./labels";
import type { Colors } from "./look";

export interface LegendEntry {
  name: string;
  color: string;
}

const FONT = "system-ui, sans-serif";
const LINE = 20;
const MARGIN = 12;
/** About the width of a letter; a legend needs no more. */
const LETTER = 7;
/** Pixels of a PNG for one of the window. */
const SCALE = 2;
/** The longest side of a PNG: more than that browsers refuse to paint. */
const SIDE_MAX = 8192;

/** A text as XML takes it: control characters and halves of pairs are not allowed in it. */
export function escapeXml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "")
    .replace(/[&<>"]/g, (sign) => names[sign] ?? sign);
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

interface Spot {
  x: number;
  y: number;
  radius: number;
}

/** A line from one spot to another that ends in an arrow at its edge. */
function arrow(from: Spot, to: Spot, color: string, size: number): string {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const head = 4 + size * 2;
  if (length <= to.radius + head) return "";
  const dx = (to.x - from.x) / length;
  const dy = (to.y - from.y) / length;
  const tip = { x: to.x - dx * to.radius, y: to.y - dy * to.radius };
  const base = { x: tip.x - dx * head, y: tip.y - dy * head };
  const half = head / 2.4;
  const points = [tip, { x: base.x - dy * half, y: base.y + dx * half }, { x: base.x + dy * half, y: base.y - dx * half }];
  const fill = escapeXml(color);
  return (
    `<line x1="${px(from.x)}" y1="${px(from.y)}" x2="${px(base.x)}" y2="${px(base.y)}" stroke="${fill}" stroke-width="${px(size)}"/>` +
    `<polygon points="${points.map((point) => `${px(point.x)},${px(point.y)}`).join(" ")}" fill="${fill}"/>`
  );
}

/** Texts have a rim in the colour of the ground, so that lines do not cross them out. */
function label(x: number, y: number, text: string, look: Colors, size: number, anchor: "start" | "end" | "middle"): string {
  return (
    `<text x="${px(x)}" y="${px(y)}" font-size="${size}" text-anchor="${anchor}" fill="${look.text}" ` +
    `stroke="${look.background}" stroke-width="3" stroke-linejoin="round" paint-order="stroke">${escapeXml(text)}</text>`
  );
}

/** The names of colours in lines below the picture, and how high they are together. */
function legendOf(entries: LegendEntry[], width: number, top: number, look: Colors): { text: string; height: number } {
  let [x, line] = [MARGIN, 0];
  const parts: string[] = [];
  for (const { name, color } of entries) {
    const wide = name.length * LETTER + 28;
    if (x > MARGIN && x + wide > width - MARGIN) [x, line] = [MARGIN, line + 1];
    const y = top + line * LINE + 14;
    parts.push(
      `<circle cx="${px(x + 5)}" cy="${px(y - 4)}" r="5" fill="${escapeXml(color)}"/>` +
        `<text x="${px(x + 15)}" y="${px(y)}" font-size="12" fill="${look.text}">${escapeXml(name)}</text>`,
    );
    x += wide;
  }
  return { text: parts.join("\n"), height: entries.length ? (line + 1) * LINE + 4 : 0 };
}

/** What the window shows, as SVG, with a legend and a line of text below it. */
export function svgOf(sigma: Sigma, named: ReadonlyMap<string, Side>, look: Colors, caption: string, legend: LegendEntry[]): string {
  const graph = sigma.getGraph();
  const { width, height } = sigma.getDimensions();
  const spots = new Map<string, Spot>();
  graph.forEachNode((ref, { x, y, size, hidden }) => {
    if (hidden !== true) spots.set(ref, { ...sigma.graphToViewport({ x, y }), radius: sigma.scaleSize(size) });
  });
  const names: string[] = [];
  const lines: string[] = [];
  const namedEdges = sigma.getEdgeDisplayedLabels();
  graph.forEachEdge((ref, attributes, source, target) => {
    const [from, to] = [spots.get(source), spots.get(target)];
    if (!from || !to || attributes.hidden === true) return;
    lines.push(arrow(from, to, attributes.color, sigma.scaleSize(attributes.size)));
    if (attributes.label && namedEdges.has(ref)) {
      names.push(label((from.x + to.x) / 2, (from.y + to.y) / 2 - 2, attributes.label, look, 10, "middle"));
    }
  });
  const discs = [...spots].map(([ref, { x, y, radius }]) => {
    const { color, borderColor, label: name } = graph.getNodeAttributes(ref);
    const side = name ? named.get(ref) : undefined;
    if (side) {
      const place = placeOf(side, { x, y, radius }, 12);
      names.push(label(place.x, place.y + 4, name, look, 12, place.anchor));
    }
    const [fill, rim] = [escapeXml(color), escapeXml(borderColor)];
    return `<circle cx="${px(x)}" cy="${px(y)}" r="${px(Math.max(1, radius - 1.5))}" fill="${fill}" stroke="${rim}" stroke-width="3"/>`;
  });
  const below = legendOf(legend, width, height + 4, look);
  const all = height + below.height + 28;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${px(width)}" height="${px(all)}" viewBox="0 0 ${px(width)} ${px(all)}" font-family="${FONT}">`,
    `<title>${escapeXml(caption)}</title>`,
    `<rect width="100%" height="100%" fill="${look.background}"/>`,
    `<svg width="${px(width)}" height="${px(height)}">`,
    ...lines, ...discs, ...names,
    "</svg>",
    below.text,
    `<text x="${MARGIN}" y="${px(all - 10)}" font-size="11" fill="${look.text}">${escapeXml(caption)}</text>`,
    "</svg>",
  ].join("\n");
}

/** The SVG painted, twice as fine as on a plain screen. */
export async function pngOf(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(SCALE, SIDE_MAX / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.round(image.width * scale), Math.round(image.height * scale)];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
