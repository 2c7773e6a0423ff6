// What the page in one file contains, compressed with gzip in base64: the module, the script of the worker, the licences.

/// The element with a part; null in the page of several files.
export const text = (name) => document.getElementById(`packed-${name}`);

async function stream(name) {
  const bytes = Uint8Array.from(atob(text(name).textContent.trim()), (letter) => letter.charCodeAt(0));
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
}

/// A part that is text.
export const script = async (name) => new Response(await stream(name)).text();

/// A part that is a WebAssembly module.
export async function module(name) {
  return WebAssembly.compileStreaming(new Response(await stream(name), { headers: { "content-type": "application/wasm" } }));
}
