// Files that are dropped anywhere on a page. Without this the browser would open them and leave.

import { createSignal, onCleanup, onMount, type Accessor } from "solid-js";

/** Takes files while the component that asks is shown. Tells whether some are above the page. */
export function dropped(take: (files: File[]) => void): Accessor<boolean> {
  const [over, setOver] = createSignal(false);
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const onOver = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(true);
  };
  // Only where no element follows the pointer has left the window.
  const onLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
  const onDrop = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(false);
    take([...(event.dataTransfer?.files ?? [])]);
  };
  onMount(() => {
    addEventListener("dragover", onOver);
    addEventListener("dragleave", onLeave);
    addEventListener("drop", onDrop);
  });
  onCleanup(() => {
    removeEventListener("dragover", onOver);
    removeEventListener("dragleave", onLeave);
    removeEventListener("drop", onDrop);
  });
  return over;
}
