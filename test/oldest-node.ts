/** The syntax of the oldest Node that package.json names. It does not know `await using`. */
import { readFileSync } from "node:fs";
import { type Loader, transformSync } from "esbuild";

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly engines: { readonly node: string };
};

/** Whether esbuild rewrites any syntax for that Node. It always rewrites classes such as `\p{L}`, which are older. */
export function isTooNew(code: string, loader: Loader = "js"): boolean {
  const print = (target: string): string =>
    transformSync(code, { loader, target, supported: { "regexp-unicode-property-escapes": true } }).code;
  return print(`node${engines.node.replace(">=", "")}`) !== print("esnext");
}
