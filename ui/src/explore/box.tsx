// A box that is drawn over the canvas picks what it touches: with Shift held, or after a tap on the
// button, where there are no keys.

import { createSignal, onCleanup, onMount, Show } from "solid-js";
import { picked, setBoxing, setPicked, togglePicked } from "./state";

/** In pixels of the canvas. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A pointer that moved no further than this has clicked. */
const CLICK_PX = 3;

/** While Shift is held a drag draws a box. */
export function boxWhileShift(): void {
  const on = (event: KeyboardEvent) => event.key === "Shift" && !event.isComposing && setBoxing(true);
  const off = (event: KeyboardEvent) => event.key === "Shift" && setBoxing(false);
  const leave = () => setBoxing(false);
  onMount(() => {
    addEventListener("keydown", on);
    addEventListener("keyup", off);
    addEventListener("blur", leave);
  });
  onCleanup(() => {
    removeEventListener("keydown", on);
    removeEventListener("keyup", off);
    removeEventListener("blur", leave);
    setBoxing(false);
  });
}

export function BoxSelection(props: { touched: (box: Box) => string[] }) {
  const [from, setFrom] = createSignal<{ x: number; y: number } | null>(null);
  const [to, setTo] = createSignal({ x: 0, y: 0 });
  const placeOf = (event: PointerEvent) => {
    const frame = (event.currentTarget as Element).getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  const boxFrom = (start: { x: number; y: number }): Box => {
    const end = to();
    return {
      left: Math.min(start.x, end.x), right: Math.max(start.x, end.x),
      top: Math.min(start.y, end.y), bottom: Math.max(start.y, end.y),
    };
  };
  const finish = (event: PointerEvent) => {
    const start = from();
    if (!start) return;
    const box = boxFrom(start);
    setFrom(null);
    const found = props.touched(box);
    const isClick = box.right - box.left <= CLICK_PX && box.bottom - box.top <= CLICK_PX;
    const last = found[found.length - 1];
    if (isClick && last !== undefined) togglePicked(last);
    else if (!isClick) setPicked(new Set([...(event.ctrlKey || event.metaKey ? picked() : []), ...found]));
    // After the button one box is drawn; Shift draws as many as it is held for.
    if (!event.shiftKey) setBoxing(false);
  };
  return (
    <svg
      class="box-selection"
      aria-hidden="true"
      onPointerDown={(event) => {
        // A drag selects no text of the page.
        event.preventDefault();
        getSelection()?.removeAllRanges();
        event.currentTarget.setPointerCapture(event.pointerId);
        setTo(placeOf(event));
        setFrom(placeOf(event));
      }}
      onPointerMove={(event) => setTo(placeOf(event))}
      onPointerUp={finish}
      onPointerCancel={() => setFrom(null)}
    >
      <Show when={from()}>
        {(start) => {
          const box = () => boxFrom(start());
          return <rect x={box().left} y={box().top} width={box().right - box().left} height={box().bottom - box().top} />;
        }}
      </Show>
    </svg>
  );
}
