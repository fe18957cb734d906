// The canvas as a file: SVG written from what is drawn, and PNG painted from that.

import type { Colors } from "./look";
import { EDGE_NAME_SIZE, NAME_SIZE, placeNames, spotsOf, type Name } from "./names";
import { measureWith } from "./paint";
import { lineOf, type EdgeLook, type Line, type NodeLook, type Scene, type Viewport } from "./scene";

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

/** A line from one rim to another that ends in an arrow. */
function arrow(line: Line, { color, width: plain, dash, alpha }: EdgeLook, widen: number): string {
  const width = plain * widen;
  const size = 5 + width * 1.6;
  const [fromX, fromY] = line.bent ? [line.cx, line.cy] : [line.x1, line.y1];
  const length = Math.hypot(line.x2 - fromX, line.y2 - fromY) || 1;
  const [dx, dy] = [(line.x2 - fromX) / length, (line.y2 - fromY) / length];
  const points = [
    [line.x2, line.y2],
    [line.x2 - dx * size - dy * size * 0.45, line.y2 - dy * size + dx * size * 0.45],
    [line.x2 - dx * size + dy * size * 0.45, line.y2 - dy * size - dx * size * 0.45],
  ];
  const fill = escapeXml(color);
  const style = `stroke="${fill}" stroke-width="${px(width)}" opacity="${px(alpha)}"${dash ? ' stroke-dasharray="5 4"' : ""}`;
  const drawn = line.bent
    ? `<path d="M${px(line.x1)} ${px(line.y1)}Q${px(line.cx)} ${px(line.cy)} ${px(line.x2)} ${px(line.y2)}" fill="none" ${style}/>`
    : `<line x1="${px(line.x1)}" y1="${px(line.y1)}" x2="${px(line.x2)}" y2="${px(line.y2)}" ${style}/>`;
  if (line.length <= size * 1.6) return drawn;
  return `${drawn}<polygon points="${points.map((point) => point.map((value) => px(value!)).join(",")).join(" ")}" fill="${fill}" opacity="${px(alpha)}"/>`;
}

function disc(x: number, y: number, r: number, look: NodeLook, count: string): string {
  const [fill, rim] = [escapeXml(look.fill), escapeXml(look.ring)];
  const place = `cx="${px(x)}" cy="${px(y)}"`;
  const dash = look.dash ? ' stroke-dasharray="3 2.5"' : "";
  const text = (content: string, at: number, size: number, color: string) =>
    `<text x="${px(x)}" y="${px(at)}" font-size="${px(size)}" font-weight="600" text-anchor="middle" fill="${color}">${escapeXml(content)}</text>`;
  return [
    // A second ring is an ellipse: each vertex is one circle.
    look.double ? `<ellipse ${place} rx="${px(r + 2 * look.ringWidth)}" ry="${px(r + 2 * look.ringWidth)}" fill="none" stroke="${rim}" stroke-width="${look.ringWidth}"/>` : "",
    `<circle ${place} r="${px(r)}" fill="${fill}" stroke="${rim}" stroke-width="${look.ringWidth}" opacity="${px(look.alpha)}"${dash}/>`,
    look.sign ? text(look.sign, y - r - 4, Math.max(11, r * 1.5), rim) : "",
    count ? text(count, y + 4, Math.max(10, Math.min(16, r * 0.6)), "#fff") : "",
  ].join("");
}

/** Texts have a rim in the colour of the ground, so that lines do not cross them out. */
function label({ x, y, text, anchor, turn }: Name, look: Colors, size: number): string {
  const turned = turn ? ` transform="rotate(${px((turn * 180) / Math.PI)} ${px(x)} ${px(y)})"` : "";
  return (
    `<text x="${px(x)}" y="${px(y + size / 3)}" font-size="${size}" text-anchor="${anchor}" fill="${look.text}" ` +
    `stroke="${look.background}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"${turned}>${escapeXml(text)}</text>`
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
export function svgOf(scene: Scene, view: Viewport, look: Colors, caption: string, legend: LegendEntry[]): string {
  const { width, height } = view;
  const spots = spotsOf(scene, view);
  const context = document.createElement("canvas").getContext("2d")!;
  const placed = placeNames(scene, view, spots, measureWith(context));
  const lines = scene.edgeKeys.map((_, at) => {
    const [from, to] = [scene.ends[2 * at]!, scene.ends[2 * at + 1]!];
    const line = lineOf(spots.x[from]!, spots.y[from]!, spots.r[from]!, spots.x[to]!, spots.y[to]!, spots.r[to]! + 1, scene.bends[at]!);
    return line ? arrow(line, scene.edgeLooks[scene.edgeLook[at]!]!, scene.widths[at]!) : "";
  });
  const discs = [...scene.order].reverse().map((at) => disc(spots.x[at]!, spots.y[at]!, spots.r[at]!, scene.nodeLooks[scene.looks[at]!]!, scene.counts[at]!));
  const names = [
    ...[...placed.edges.values()].map((name) => label(name, look, EDGE_NAME_SIZE)),
    ...[...placed.vertices.values()].map((name) => label(name, look, NAME_SIZE)),
  ];
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
