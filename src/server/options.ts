/** The options of `serve` and `createHandler`, and their checks. */
import { aHostName, aListenAddress, anOrigin, aPort, aToken } from "../http/server-checks.ts";
import {
  aBoolean,
  aFullText,
  aFunction,
  aRuntime,
  aStore,
  type Check,
  describe,
  fields,
  fieldsWith,
  isOptionsObject,
  listOf,
  must,
  oneOf,
  Problem,
  valuesOf,
} from "../definition/option-checks.ts";
import { asOptionError, checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { StoreOption } from "../operate/store-address.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { isWorkflowDefinition } from "../workflow/create-workflows.ts";
import { RUN_WORKFLOW_OPTIONS } from "../workflow/run-options.ts";
import { createToken, OPERATOR, SCOPES, type ServerToken } from "./tokens.ts";
import type { ServedWorkflows, WorkflowSource } from "./workflow-runs.ts";

export interface HandlerOptions {
  /** A SQLite file, a postgres:// address or an open store. Pass either this or `runtime`. */
  readonly store?: StoreOption | undefined;
  readonly runtime?: Runtime | undefined;
  /** Default: one token named `operator` with all scopes, from the environment variable TOOLWRIGHT_TOKEN. */
  readonly tokens?: readonly ServerToken[] | undefined;
  /** Accepted names in the `Host` header, without ports. Default: those of this machine. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of pages that may write, besides the server's own. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Refuses every decision and command, whatever the scopes of the token are. */
  readonly readOnly?: boolean | undefined;
  /** The workflows that `POST /runs` starts, and that are resumed in this process. */
  readonly workflows?: ServedWorkflows | undefined;
  /** Also take runs that are ready, as a worker does. Default `false`. */
  readonly worker?: boolean | undefined;
  /** Where a framework mounts the handler, such as `/toolwright`, if it does not remove that prefix. */
  readonly basePath?: string | undefined;
}

export interface ServeOptions extends Omit<HandlerOptions, "basePath"> {
  /** Default `127.0.0.1`. Any address other than loopback needs `tokens` or TOOLWRIGHT_TOKEN. */
  readonly host?: string | undefined;
  /** Default 4983. `0`: a free port. */
  readonly port?: number | undefined;
}

export const DEFAULT_PORT = 4_983;
export const TOKEN_VARIABLE = "TOOLWRIGHT_TOKEN";

const aTokenEntry: Check = fieldsWith(["name", "token", "scopes"], {
  name: aFullText,
  token: aToken,
  scopes: listOf(oneOf(...SCOPES)),
});

const tokenList: Check = (value, field) => {
  listOf(aTokenEntry)(value, field);
  const tokens = value as readonly ServerToken[];
  if (tokens.length === 0) throw new Problem(field, "must have at least one token.");
  for (const key of ["name", "token"] as const) {
    const all = tokens.map((one) => one[key]);
    const index = all.findIndex((one, position) => all.indexOf(one) !== position);
    if (index >= 0) throw new Problem(`${field}[${index}].${key}`, "is already used by an earlier token.");
  }
};

/** The server sets the others itself. */
const {
  input: _,
  runId: _1,
  resume: _2,
  runtime: _3,
  file: _4,
  signal: _5,
  onProgress: _6,
  ...START_CHECKS
} = RUN_WORKFLOW_OPTIONS.checks;

const aSource: Check = fieldsWith(["load"], {
  load: aFunction,
  file: aFullText,
  options: fields(START_CHECKS),
} satisfies Record<keyof WorkflowSource, Check>);

const aWorkflow: Check = (value, field) => {
  if (isWorkflowDefinition(value)) return;
  if (isOptionsObject(value)) aSource(value, field);
  else
    throw new Problem(
      field,
      `must be a workflow from workflow(), or { load, file }, not ${describe(value)}.`,
    );
};

const aBasePath: Check = must(
  (value) => typeof value === "string" && /^(\/[\w.~-]+)*$/.test(value),
  'a path such as "/toolwright", without a trailing slash',
);

const SHARED = {
  store: aStore,
  runtime: aRuntime,
  tokens: tokenList,
  allowedHosts: listOf(aHostName),
  allowedOrigins: listOf(anOrigin),
  readOnly: aBoolean,
  workflows: valuesOf(aWorkflow),
  worker: aBoolean,
} as const;

const EXAMPLE = '{ store: "toolwright.db" }';

export const HANDLER_OPTIONS: OptionTable = optionTable<HandlerOptions>(
  "createHandler",
  { ...SHARED, basePath: aBasePath },
  { example: EXAMPLE },
);

export const SERVE_OPTIONS: OptionTable = optionTable<ServeOptions>(
  "serve",
  { host: aListenAddress, port: aPort, ...SHARED },
  { example: EXAMPLE },
);

/** @throws TOOL_OPTION_INVALID */
export function checkServerOptions(table: OptionTable, options: HandlerOptions): void {
  checkOptions(table, options);
  asOptionError(table.surface, () => {
    if (options.store === undefined && options.runtime === undefined)
      throw new Problem("store", "is missing: pass store or runtime.");
    if (options.store !== undefined && options.runtime !== undefined)
      throw new Problem("store", "cannot be combined with runtime: pass one of them.");
  });
}

/** The tokens of the options, else of the environment. `undefined` if there are none. @throws TOOL_OPTION_INVALID */
export function explicitTokens(surface: string, options: HandlerOptions): readonly ServerToken[] | undefined {
  if (options.tokens !== undefined) return options.tokens;
  const token = process.env[TOKEN_VARIABLE];
  if (token === undefined || token === "") return undefined;
  asOptionError(surface, () => aToken(token, TOKEN_VARIABLE));
  return [{ name: OPERATOR, token, scopes: SCOPES }];
}

export function newOperatorToken(): ServerToken {
  return { name: OPERATOR, token: createToken(), scopes: SCOPES };
}
