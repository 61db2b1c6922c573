/** The file of the code that called a function of this package. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const OWN_FOLDER = fileURLToPath(new URL("..", import.meta.url));
const FRAME = /(?:\(|at |async )((?:file:\/\/)?\/[^()\n]+?):\d+:\d+\)?$/;

/** `undefined` if the stack does not name an existing file outside this package, as in a bundle without file names. */
export function callerFile(): string | undefined {
  const lines = new Error("stack").stack?.split("\n").slice(1) ?? [];
  for (const line of lines) {
    const [, place = ""] = FRAME.exec(line) ?? [];
    const path = toPath(place);
    if (path === undefined || path.startsWith(OWN_FOLDER)) continue;
    return existsSync(path) ? path : undefined;
  }
  return undefined;
}

function toPath(place: string): string | undefined {
  if (place === "") return undefined;
  try {
    return place.startsWith("file:") ? fileURLToPath(place) : place.replace(/[?#].*$/, "");
  } catch {
    return undefined;
  }
}
