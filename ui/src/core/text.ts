// Values and names as texts for people.

/** A value that is shown in its own way: this is its text in sorting, filters and files. */
export abstract class Told {
  abstract readonly text: string;
}

/** A message without the class of Java's exception that the server's API puts before it. */
export function withoutClass(message: string): string {
  return message.replace(/^(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error):\s*/, "");
}

/** The most characters of a name that is drawn or listed. */
const NAME_MAX = 60;

/** A name in one line and no longer than a line. */
export function shorten(name: string): string {
  const letters = [...name.slice(0, NAME_MAX * 4).replace(/\s+/g, " ")];
  const isWhole = name.length <= NAME_MAX * 4 && letters.length <= NAME_MAX;
  return isWhole ? letters.join("") : `${letters.slice(0, NAME_MAX - 1).join("")}…`;
}

/** What stands for a value that has no text of its own; undefined for all others. */
export function emptyText(value: unknown): string | undefined {
  if (value === null) return "null";
  if (value === "") return "''";
  if (Array.isArray(value) && value.length === 0) return "[]";
  return undefined;
}

/** The seconds of a number of days; undefined for an empty text, null for what is no number of days. */
export function secondsOf(days: string): number | undefined | null {
  const text = days.trim();
  if (text === "") return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 86_400) : 0;
  return seconds > 0 ? seconds : null;
}
