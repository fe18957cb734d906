// Paints away from the page, so that the page answers at once however much there is to paint.

import { paint } from "./paint";
import type { Scene, Viewport } from "./scene";

export type PaintRequest =
  | { kind: "scene"; scene: Scene }
  | { kind: "places"; xy: Float32Array }
  | { kind: "paint"; id: number; view: Viewport; ratio: number };

export interface Painted {
  id: number;
  view: Viewport;
  bitmap: ImageBitmap;
}

let scene: Scene | null = null;
const canvas = new OffscreenCanvas(1, 1);
const context = canvas.getContext("2d", { willReadFrequently: true })!;

self.onmessage = ({ data }: MessageEvent<PaintRequest>) => {
  if (data.kind === "scene") scene = data.scene;
  else if (data.kind === "places") {
    if (scene && data.xy.length === scene.xy.length) scene.xy = data.xy;
  } else {
    const { id, view, ratio } = data;
    const [width, height] = [Math.max(1, Math.round(view.width * ratio)), Math.max(1, Math.round(view.height * ratio))];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    if (scene) paint(context, scene, view, ratio);
    const bitmap = canvas.transferToImageBitmap();
    const answer: Painted = { id, view, bitmap };
    postMessage(answer, { transfer: [bitmap] });
  }
};
