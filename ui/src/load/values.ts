// Values of a file as the server takes them, by the type of their property key. The same rules as
// those of `varve load` (crates/varve/src/load/element.rs and dates.rs); both are tested with
// test/reading.json.

import { formatJson } from "../core/json";
import type { PropertyKey, VertexLabel } from "../core/schema";

export class RowError extends Error {}

const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const NO_NUMBERS: Record<string, string> = { nan: "NaN", inf: "Infinity", infinity: "Infinity" };
const DATE = /^(\d{4})-(\d{2})-(\d{2})$|^(\d{4})(\d{2})(\d{2})$/;
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/i;
const DATE_FORMS = "yyyy-MM-dd, yyyy-MM-dd HH:mm:ss[.SSS] or RFC 3339; for others use varve load with its date_format";

/** A value of a file, to be shown. */
export function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : formatJson(value, 0);
}

function whole(text: string): number | bigint {
  const wrong = () => new RowError(`'${text}' is not a whole number`);
  const digits = text.trim();
  if (!/^[+-]?\d+$/.test(digits)) throw wrong();
  const exact = BigInt(digits.replace(/^\+/, ""));
  if (exact < LONG_MIN || exact > LONG_MAX) throw wrong();
  const value = Number(exact);
  return Number.isSafeInteger(value) ? value : exact;
}

function real(text: string): number | string {
  const plain = text.trim();
  const word = NO_NUMBERS[plain.replace(/^[+-]/, "").toLowerCase()];
  if (word !== undefined) return word !== "NaN" && plain.startsWith("-") ? `-${word}` : word;
  const value = NUMBER.test(plain) ? Number(plain) : NaN;
  if (!Number.isFinite(value)) throw new RowError(`'${text}' is not a number`);
  return value;
}

/** The milliseconds since 1970 UTC of a date or an instant. */
function millisOf(value: unknown): number {
  const text = textOf(value).trim();
  const wrong = () => new RowError(`'${text}' is not a date of the form ${DATE_FORMS}`);
  const [day = "", ...rest] = text.split(/[T ]/i);
  const date = DATE.exec(day);
  const time = rest.length ? TIME.exec(rest.join(" ")) : ["", "0", "0"];
  if (!date || !time) throw wrong();
  const parts = (from: (string | undefined)[]) => from.map((part) => Number(part ?? 0)) as [number, number, number];
  const [year, month, dayOfMonth] = parts(date[1] === undefined ? date.slice(4, 7) : date.slice(1, 4));
  const [hours, minutes, seconds] = parts([time[1], time[2], time[3]]);
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, dayOfMonth);
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== dayOfMonth || hours > 23 || minutes > 59 || seconds > 59) throw wrong();
  const zone = /^([+-])(\d{2}):?(\d{2})?$/.exec(time[5] ?? "");
  const offset = zone ? Number(`${zone[1]}1`) * (Number(zone[2]) * 60 + Number(zone[3] ?? 0)) : 0;
  if (zone && (Number(zone[2]) > 23 || Number(zone[3] ?? 0) > 59)) throw wrong();
  const millis = Math.floor(Number(`0.${time[4] ?? 0}`) * 1000 + 1e-6);
  return at.getTime() + ((hours * 60 + minutes - offset) * 60 + seconds) * 1000 + millis;
}

function scalar(value: unknown, type: string): unknown {
  if (type === "DATE") return millisOf(value);
  if (typeof value !== "string") return value;
  switch (type) {
    case "BYTE":
    case "INT":
    case "LONG":
      return whole(value);
    case "FLOAT":
    case "DOUBLE":
      return real(value);
    case "BOOLEAN":
      if (!/^(true|false)$/i.test(value.trim())) throw new RowError(`'${value}' is not true or false`);
      return value.trim().toLowerCase() === "true";
    case "OBJECT":
      return JSON.parse(value);
    default:
      return value;
  }
}

/** The value of a property. */
export function propertyOf(value: unknown, key: PropertyKey | undefined): unknown {
  if (!key) throw new RowError("no such property");
  if (key.cardinality === "SINGLE") return scalar(value, key.data_type);
  return membersOf(value).map((member) => scalar(member, key.data_type));
}

/** The members of a list or set: those of a JSON array, or the parts of a text with semicolons. */
function membersOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string") return [value];
  const inner = /^\[.*\]$/s.test(value) ? value.slice(1, -1) : value;
  return inner.split(";").map((part) => part.trim());
}

/** The id of a vertex whose label has ids of the writer's choice. */
export function idOf(value: unknown, label: VertexLabel): unknown {
  switch (label.id_strategy) {
    case "PRIMARY_KEY":
      throw new RowError("the label's ids come from its primary keys; ignore the column of the id");
    case "AUTOMATIC":
    case "CUSTOMIZE_NUMBER":
      return typeof value === "string" ? whole(value) : value;
    default:
      return textOf(value);
  }
}

/** The id of an edge's vertex. Of a label with a primary key, it is the value of that key. */
export function endOf(value: unknown, label: VertexLabel, keys: Map<string, PropertyKey>): unknown {
  if (label.id_strategy !== "PRIMARY_KEY") return idOf(value, label);
  const key = keys.get(label.primary_keys[0] ?? "");
  if (label.primary_keys.length !== 1 || !key) throw new RowError(`the vertex has ${label.primary_keys.length} primary keys; load the file with varve load`);
  const part = keyPart(scalar(value, key.data_type), key.data_type);
  return `${label.id}:${part.replaceAll(":", "`:")}`;
}

/** A value in the id of a vertex with a primary key. */
function keyPart(value: unknown, type: string): string {
  switch (type) {
    case "BYTE":
    case "INT":
    case "LONG":
    case "DATE":
      return sortable(BigInt(value as number | bigint));
    case "BOOLEAN":
      return String(value);
    case "UUID":
      return String(value).toLowerCase();
    case "TEXT":
      return String(value).replaceAll("!", "`!");
    default:
      throw new RowError(`the vertex has a primary key of type ${type}; load the file with varve load`);
  }
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/** A whole number as a text that sorts as the number does (crates/varve-model/src/sortable.rs). */
function sortable(number: bigint): string {
  let rest = number < 0n ? number - LONG_MIN : number;
  let digits = "";
  do {
    digits = DIGITS[Number(rest % 64n)] + digits;
    rest /= 64n;
  } while (rest > 0n);
  return `${number < 0n ? "0" : ""}${digits.length.toString(16).toUpperCase()}${digits}`;
}
