/**
 * The Perl launcher for the tiers below bubblewrap. It makes the system calls that neither a shell nor Node can make,
 * and stays as the parent of the command. It must never run the command if a step of its plan failed.
 */
import { buildSeccompFilter, seccompArchitecture, type SeccompOptions } from "../seccomp-filter.ts";
import type { SeccompArchitecture } from "../seccomp-syscalls.ts";
import { COMMON_PART, numbersPart } from "./common-part.ts";
import { LANDLOCK_PART } from "./landlock-part.ts";
import { NAMESPACES_PART } from "./namespaces-part.ts";
import { FILTER_PART, SUPERVISE_PART } from "./supervise-part.ts";

/** The name of a step and its arguments. */
export type Step = readonly [name: string, ...rest: string[]];

export interface LauncherPlan {
  readonly kind: "namespaces" | "landlock" | "filter";
  readonly filter: SeccompOptions;
  /** Where the command starts, as this kind of launcher sees it. */
  readonly cwd: string;
  /** The command's variables. The launcher itself has none, because Perl would read the files of their locale. */
  readonly env: Readonly<Record<string, string>>;
  /** The steps to run, in order. */
  readonly steps: readonly Step[];
}

/** The arguments that precede the command, and the bytes for the options descriptor. */
export function perlLauncher(
  perl: string,
  plan: LauncherPlan,
): { readonly argv: string[]; readonly options: Buffer } {
  const arch = seccompArchitecture();
  if (arch === undefined) throw new Error(`There is no launcher for ${process.arch}.`);
  const variables = encode(Object.entries(plan.env).flat());
  const fields = [filterFor(arch, plan.filter), plan.cwd, variables, ...plan.steps.flat()];
  return { argv: [perl, "-e", scriptFor(arch, plan.kind), "--"], options: encode(fields) };
}

const PARTS = {
  namespaces: [NAMESPACES_PART],
  landlock: [SUPERVISE_PART, LANDLOCK_PART],
  filter: [SUPERVISE_PART, FILTER_PART],
} as const;

const scripts = new Map<string, string>();
const filters = new Map<string, Buffer>();

function scriptFor(arch: SeccompArchitecture, kind: LauncherPlan["kind"]): string {
  return remember(scripts, kind, () =>
    [numbersPart(arch), COMMON_PART, ...PARTS[kind]].join("").replaceAll(COMMENT, ""),
  );
}

function filterFor(arch: SeccompArchitecture, options: SeccompOptions): Buffer {
  return remember(filters, JSON.stringify(options), () => buildSeccompFilter(arch, options));
}

/** Perl parses the script with each command, so comments are removed. */
const COMMENT = /^ *#.*\n/gm;

function remember<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** Prefixes each field with its length: a path may contain any byte but NUL, and a filter any byte. */
function encode(fields: readonly (string | Buffer)[]): Buffer {
  const parts = fields.flatMap((field) => {
    const bytes = typeof field === "string" ? Buffer.from(field) : field;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return Buffer.concat(parts);
}
