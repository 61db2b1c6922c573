/**
 * The files of the page, from `dist/ui`. They are read into memory on first use, and a request is answered from that list
 * only: no path of a request ever reaches the file system.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { sha256 } from "../util/hash.ts";

/** The same folder from `src/server` and from `dist/server`. */
const UI_FOLDER = fileURLToPath(new URL("../../dist/ui/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json; charset=utf-8",
};

const INDEX = "/index.html";

interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
}

export class StaticFiles {
  readonly #folder: string;
  readonly #basePath: string;
  #files: ReadonlyMap<string, StaticFile> | undefined;

  /** @param basePath where the page is mounted: `""`, or a path such as `/toolwright` */
  constructor(basePath: string, folder: string = UI_FOLDER) {
    this.#basePath = basePath;
    this.#folder = folder;
  }

  /** `undefined` if there is no such file. @param path of the request, without the base path */
  respond(request: Request, path: string): Response | undefined {
    const files = this.#load();
    if (!files.has(INDEX)) return path === "/" ? notBuilt() : undefined;
    // A path without a file is a view of the page, such as /runs/order-17 or /runs/report.json. A missing script must
    // stay missing.
    const isView =
      (path.startsWith("/runs/") || !Object.hasOwn(TYPES, extname(path))) && acceptsHtml(request);
    const file = files.get(path === "/" ? INDEX : path) ?? (isView ? files.get(INDEX) : undefined);
    if (file === undefined) return undefined;
    const headers = { etag: file.etag, "content-type": file.type, "cache-control": "no-cache" };
    const known = (request.headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim());
    if (known.includes(file.etag)) return new Response(null, { status: 304, headers });
    return new Response(request.method === "HEAD" ? null : file.bytes, { headers });
  }

  /** A build that ends while the server runs is found by the next request. */
  #load(): ReadonlyMap<string, StaticFile> {
    if (this.#files !== undefined) return this.#files;
    const files = new Map(listFiles(this.#folder).map((name) => [`/${name}`, this.#read(name)] as const));
    if (files.has(INDEX)) this.#files = files;
    return files;
  }

  #read(name: string): StaticFile {
    const raw = readFileSync(join(this.#folder, name));
    // The page's links are relative to its base, which depends on where the handler is mounted.
    const bytes =
      `/${name}` === INDEX
        ? Buffer.from(raw.toString().replace('<base href="/"', `<base href="${this.#basePath}/"`))
        : raw;
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    return { bytes, type, etag: `"${sha256(bytes.toString("base64")).slice(0, 22)}"` };
  }
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
  } catch {
    // The page is not built.
    return [];
  }
}

export function acceptsHtml(request: Request): boolean {
  return (request.headers.get("accept") ?? "").includes("text/html");
}

function notBuilt(): Response {
  return new Response(
    "The page is not built. Build it with: npm run build\nThe API is at /api/v1; its description is at /api/v1/openapi.json.\n",
    { status: 503, headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" } },
  );
}
