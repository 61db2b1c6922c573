/**
 * The launcher in Perl for the tiers below bubblewrap: it makes the system calls that no shell and no Node can make, and
 * stays as the parent of the command. It must never run the command when a step of its plan failed.
 */
import {
  buildSeccompFilter,
  seccompArchitecture,
  type SeccompOptions,
} from "../../isolation/seccomp-filter.ts";
import type { SeccompArchitecture } from "../../isolation/seccomp-syscalls.ts";
import { COMMON_PART, numbersPart } from "./common-part.ts";
import { LANDLOCK_PART } from "./landlock-part.ts";
import { NAMESPACES_PART } from "./namespaces-part.ts";
import { FILTER_PART, SUPERVISE_PART } from "./supervise-part.ts";

/** Its name, and as many arguments as it takes. */
export type Step = readonly [name: string, ...rest: string[]];

export interface LauncherPlan {
  readonly kind: "namespaces" | "landlock" | "filter";
  readonly filter: SeccompOptions;
  /** Where the command starts, as its kind of launcher sees it. */
  readonly cwd: string;
  /** The command's variables. The launcher itself has none: Perl would read the files of their locale. */
  readonly env: Readonly<Record<string, string>>;
  /** What it does, in order. */
  readonly steps: readonly Step[];
}

/** The arguments that come before the command and its own, and the bytes for the descriptor of options. */
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

/** Perl reads the script with every command, so it gets it without what is for people. */
const COMMENT = /^ *#.*\n/gm;

function remember<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** Each field with its length before it: a path may hold any byte but NUL, and a filter every byte. */
function encode(fields: readonly (string | Buffer)[]): Buffer {
  const parts = fields.flatMap((field) => {
    const bytes = typeof field === "string" ? Buffer.from(field) : field;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return Buffer.concat(parts);
}
