// A state as text in a fragment: JSON, deflated, in base64 that a URL can hold.

async function through(stream: CompressionStream | DecompressionStream, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function pack(state: unknown): Promise<string> {
  const bytes = new Uint8Array(new TextEncoder().encode(JSON.stringify(state)));
  const packed = await through(new CompressionStream("deflate-raw"), bytes);
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The state in a text, or null if it holds none. */
export async function unpack(text: string): Promise<unknown> {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
    return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
  } catch {
    return null;
  }
}

/** The graph that a link is about. */
export async function graphOfLink(text: string): Promise<string | undefined> {
  const state = (await unpack(text)) as { g?: unknown } | null;
  return typeof state?.g === "string" ? state.g : undefined;
}
