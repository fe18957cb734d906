// What is being changed; the forms follow.
import { createSignal } from "solid-js";
import type { Element } from "./api";
export type Edit = { kind: "change" | "delete"; element: Element } | { kind: "edge"; source: string } | { kind: "vertex" };
export const [editing, edit] = createSignal<Edit | null>(null);
export const mayWrite = () => false;
export function EditDialog() { return null; }
