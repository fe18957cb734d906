// Reads a file in slices and gives its rows, a block at a time, as they are asked for.

import { open, type Block } from "./reading";

let pull: (() => Promise<Block>) | null = null;

self.onmessage = async (event: MessageEvent<{ file?: File }>) => {
  try {
    if (event.data.file) pull = await open(event.data.file);
    if (pull) postMessage({ block: await pull() });
  } catch (error) {
    postMessage({ failure: error instanceof Error ? error.message : String(error) });
  }
};
