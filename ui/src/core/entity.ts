// An entity of the open-metadata repository as its graph has it: one map of properties.

export interface Parts {
  own: [string, unknown][];
  header: Record<string, unknown>;
  classifications: { name: string; properties: [string, unknown][] }[];
}

/** An entity's own properties, its header and its classifications, which the graph has in one map. */
export function partsOf(properties: Record<string, unknown>): Parts {
  const named = Array.isArray(properties._classifications) ? (properties._classifications as string[]) : [];
  const parts: Parts = { own: [], header: {}, classifications: named.map((name) => ({ name, properties: [] })) };
  for (const [key, value] of Object.entries(properties)) {
    const of = parts.classifications.find(({ name }) => key.startsWith(`${name}.`));
    if (of) of.properties.push([key.slice(of.name.length + 1), value]);
    // Two signs are before names of own properties that could be taken for others.
    else if (key.startsWith("_") && !key.startsWith("__")) parts.header[key] = value;
    else parts.own.push([key.replace(/^__/, ""), value]);
  }
  return parts;
}

/** Whether these are the properties of an instance of the repository. */
export function isInstance(properties: Record<string, unknown>): boolean {
  return typeof properties._guid === "string" && typeof properties._instanceProvenanceType === "string";
}
