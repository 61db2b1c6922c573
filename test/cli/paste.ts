/** Runs the commands in a text, as if a user pasted them into a shell. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { MAIN } from "./command.ts";

export interface Pasted {
  readonly command: string;
  readonly code: number | null;
  readonly output: string;
}

/** Commands of `toolwright` in a text: each on its own line, in quotes, or up to a word that ends it. */
export function commandsIn(text: string): string[] {
  const name = String.raw`(?:npx toolwright|toolwright|node \S*main\.js)`;
  const verb = "(?:approve|deny|resume|why|inspect|approvals|calls|ps|cancel)";
  const found = text.matchAll(
    new RegExp(`(?<![\\w/])(${name} ${verb}\\b(?:(?!, or |; or |\\. | \\(|["\`]).)*)`, "g"),
  );
  return [...found].map(([, command = ""]) => command.trim().replace(/\.$/, ""));
}

/** Runs in a folder where `toolwright` and `npx toolwright` are this package. */
export function paste(folder: string, command: string): Pasted {
  const bin = join(folder, ".bin");
  mkdirSync(bin, { recursive: true });
  const script = (shift: string): string => `#!/bin/sh\n${shift}exec "${process.execPath}" "${MAIN}" "$@"\n`;
  for (const [name, text] of [
    ["toolwright", script("")],
    ["npx", script("shift\n")],
  ] as const) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`, NO_COLOR: "1" },
  });
  return { command, code: status, output: `${stdout}${stderr}` };
}
