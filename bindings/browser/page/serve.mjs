// Serves dist/ on a port of this computer: `node serve.mjs [PORT]`.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const dist = join(dirname(fileURLToPath(import.meta.url)), "dist");
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

/// A server of dist/ that listens at `port`; 0 takes a free one.
export async function serve(port) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    try {
      const name = join(dist, path.endsWith("/") ? `${path}index.html` : path);
      const headers = { "content-type": TYPES[extname(path) || ".html"] ?? "application/octet-stream" };
      const packed = /\bbr\b/.test(request.headers["accept-encoding"] ?? "") ? await readFile(`${name}.br`).catch(() => null) : null;
      if (packed) headers["content-encoding"] = "br";
      response.writeHead(200, headers).end(packed ?? (await readFile(name)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(port, "127.0.0.1", ready));
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await serve(Number(process.argv[2] ?? 8000));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
