// What an error means, in words of this page; the server's own code and exception are details.

import type { Failure } from "../core/http";
import type { Key } from "../i18n";

/** By a part of the code or of the exception's name, the first that fits. */
const TITLES: [RegExp, Key][] = [
  [/CANCELLED/, "failedCancelled"],
  [/OUTCOME-UNKNOWN|OutcomeUnknown/, "failedUnknown"],
  [/TIMEOUT|TimedOut|TimeoutException/, "failedTime"],
  [/SyntaxError|MultipleCompilationErrors|VRV-JSON/, "failedSyntax"],
  [/MissingMethod/, "failedStep"],
  [/MissingProperty(?!.*Constraint)/, "failedName"],
  [/ParameterMissing/, "failedParameter"],
  [/TypeError|ClassCast|NumberFormat/, "failedType"],
  [/Arithmetic/, "failedArithmetic"],
  [/UNIQUE|CONSTRAINT|Constraint(?!s?AlreadyExists)/, "failedConstraint"],
  [/EXISTED|AlreadyExists|ExistingDatabase/, "failedExists"],
  [/NO-INDEX/, "failedIndex"],
  [/NOT-SUPPORTED|UNSUPPORTED|Unsupported/, "failedSupport"],
  [/LIMIT|TOO-LARGE|MemoryPool|OutOfMemory/, "failedLimit"],
  [/DENIED|Forbidden|SecurityException/, "failedDenied"],
  [/UNAUTHENTICATED|Unauthorized|TOO-MANY-REQUESTS/, "failedLogin"],
  [/NOT-FOUND|NotFound/, "failedFound"],
  [/BUSY|CONFLICT|TransientError/, "failedBusy"],
  [/UNWRITABLE|STORAGE|INTERNAL|TOMBSTONES|DatabaseError|HugeException/, "failedServer"],
  [/QUERY-FAIL/, "failedFail"],
  [/VRV-ARG|ArgumentError|IllegalArgument|NOT-ALLOWED|STATE/, "failedValue"],
];
const BY_STATUS: Record<number, Key> = { 0: "failedReach", 401: "failedLogin", 403: "failedDenied", 404: "failedFound", 413: "failedLimit", 429: "failedLogin", 500: "failedServer", 503: "failedBusy" };

/** The title of a failure. */
export function titleOf({ status, code = "", kind = "" }: Failure): Key {
  for (const text of [code, kind]) {
    const found = TITLES.find(([part]) => part.test(text));
    if (found) return found[1];
  }
  return BY_STATUS[status] ?? "failedQuery";
}

/** A step that does not exist, or not with these arguments. */
export interface NoStep {
  name: string;
  given: string;
  possible: string;
}

/** What stands before the message of a Gremlin text that cannot be read: the place, which the editor marks. */
const UNREADABLE = /^Failed to interpret Gremlin query: Query parsing failed at line \d+, character position at \d+, error message : /;

export function noStepIn(whole: string): NoStep | null {
  const message = whole.replace(UNREADABLE, "");
  const found = /^No signature of method: (?:\S+\.)?(\w+)\(\) is applicable for argument types: \((.*?)\) values: [^]*?(?:Possible solutions: (.*))?$/.exec(message);
  return found && { name: found[1]!, given: found[2] ?? "", possible: found[3] ?? "" };
}

/** A message without the packages of Java classes and Cypher's prefixes of its kinds. */
export function plainMessage(message: string): string {
  return message
    .replace(UNREADABLE, "")
    .replace(/\b(?:[a-z]\w*\.){2,}([A-Z]\w*)/g, "$1")
    .replace(/^(?:[A-Z]\w+: ){1,2}(?=\S)/, "")
    .trim();
}

/** A place in a text: line and column from 1, and how long what is meant is, if that is known. */
export interface Place {
  line: number;
  column: number;
}

function placeAt(text: string, at: number): Place {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: [...before.at(-1)!].length + 1 };
}

const IN_MESSAGE = [
  /^unexpected '(.*)', expected/s,
  /^No signature of method: (?:\S+\.)?(\w+)\(\)/,
  /^No such property: (\w+)/,
  /'([^']+)'/g,
];

/** Where a message is about, if it says no line: the only place of what it names, or the end of the text. */
export function placeOfNamed(text: string, message: string): Place | null {
  if (/^the text ends where/.test(message)) return placeAt(text, Math.max(0, text.trimEnd().length - 1));
  const names = IN_MESSAGE.flatMap((each) => (each.global ? [...message.matchAll(each)] : [each.exec(message)]).flatMap((found) => found?.[1] ?? []));
  for (const name of names) {
    const isWord = /^\w+$/.test(name);
    const pattern = new RegExp(isWord ? `(?<![\\w])${name}(?!\\w)` : name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "g");
    const places = [...text.matchAll(pattern)];
    if (places.length === 1) return placeAt(text, places[0]!.index);
  }
  return null;
}
