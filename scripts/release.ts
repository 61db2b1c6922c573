/**
 * Prepares a release: sets the version in both packages, package-lock.json and the source, and dates the section of the
 * changelog. It commits and publishes nothing; CONTRIBUTING.md lists the steps before and after.
 *
 *   npm run release -- 0.2.0
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface ReleaseFiles {
  readonly "package.json": string;
  readonly "package-lock.json": string;
  readonly "CHANGELOG.md": string;
  readonly "src/definition/package-copy.ts": string;
  readonly "packages/create-toolwright/package.json": string;
}

const NAMES = [
  "package.json",
  "package-lock.json",
  "CHANGELOG.md",
  "src/definition/package-copy.ts",
  "packages/create-toolwright/package.json",
] as const;

/** The files as they are in the release. @throws Error with what is missing */
export function prepareRelease(files: ReleaseFiles, version: string, date: string): ReleaseFiles {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`Expected a version such as 0.2.0, got ${JSON.stringify(version)}.`);
  }
  const { version: current } = JSON.parse(files["package.json"]) as { readonly version: string };
  const heading = `## ${version} (unreleased)`;
  if (!files["CHANGELOG.md"].includes(`\n${heading}\n`)) {
    throw new Error(`CHANGELOG.md has no section "${heading}". Add it, with what changed since ${current}.`);
  }
  const setVersion = (text: string): string =>
    text.replaceAll(`"version": "${current}"`, `"version": "${version}"`);
  const lock = files["package-lock.json"];
  const [head, rest] = splitLock(lock);
  return {
    "package.json": setVersion(files["package.json"]),
    "package-lock.json": setVersion(head) + rest,
    "CHANGELOG.md": files["CHANGELOG.md"].replace(heading, `## ${version} (${date})`),
    "src/definition/package-copy.ts": files["src/definition/package-copy.ts"].replace(
      `const VERSION = "${current}"`,
      `const VERSION = "${version}"`,
    ),
    "packages/create-toolwright/package.json": setVersion(
      files["packages/create-toolwright/package.json"],
    ).replace(`"toolwright": "^${current}"`, `"toolwright": "^${version}"`),
  };
}

/** Dependencies may have the same version as the package: only the part before them is the package's own. */
function splitLock(lock: string): [string, string] {
  const end = lock.indexOf('"node_modules/');
  return end === -1 ? [lock, ""] : [lock.slice(0, end), lock.slice(end)];
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const read = Object.fromEntries(NAMES.map((name) => [name, readFileSync(join(root, name), "utf8")]));
  try {
    const date = new Date().toISOString().slice(0, 10);
    const files = prepareRelease(read as unknown as ReleaseFiles, process.argv[2] ?? "", date);
    for (const name of NAMES) writeFileSync(join(root, name), files[name]);
    console.log(
      `Prepared ${process.argv[2]}. Next: npm test, then commit, tag and publish as CONTRIBUTING.md says.`,
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
