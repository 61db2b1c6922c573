/** TypeScript and JSX to JavaScript, with Toolwright's JSX and without a tsconfig. */
import { extname } from "node:path";
import { type Loader, transformSync } from "esbuild";

const LOADERS: Readonly<Record<string, Loader>> = { ".ts": "ts", ".mts": "ts", ".tsx": "tsx" };

/** @throws with esbuild's `errors`, each with its place */
export function compile(file: string, source: string): string {
  const { code } = transformSync(source, {
    loader: LOADERS[extname(file)] ?? "jsx",
    format: "esm",
    // What the oldest supported Node does not know, such as `using`, is spelled out.
    target: "node22.13",
    jsx: "automatic",
    jsxImportSource: "toolwright",
    sourcefile: file,
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
    // The nearest tsconfig is for the editor; it does not change what a workflow does.
    tsconfigRaw: {},
  });
  return code;
}
