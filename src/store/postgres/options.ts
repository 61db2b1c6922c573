/** Options of a PostgreSQL store, given as an object, which was checked before, or as parameters of the address. */
import { ToolwrightError } from "../../errors.ts";

export interface PostgresStoreOptions {
  readonly connectionString: string;
  /** Maximum number of connections. Default 10. */
  readonly poolSize?: number | undefined;
  /** How long a new connection may take. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long to retry while the server is down or restarts. Default 30,000; 0 fails immediately. */
  readonly retryMs?: number | undefined;
  /**
   * Whether statements are prepared by name. Default: yes on a direct connection, no behind a pooler such as PgBouncer,
   * which may give every transaction another server connection.
   */
  readonly preparedStatements?: boolean | undefined;
}

export interface PostgresSettings {
  readonly connectionString: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly retryMs: number;
  readonly preparedStatements: boolean | undefined;
}

/** The least of each number, wherever it is given. */
export const LEAST = { poolSize: 1, connectTimeoutMs: 1, retryMs: 0 } as const;
const PARAMETERS = ["preparedStatements", ...Object.keys(LEAST)];

/** An option wins over the same parameter of the address. */
export function resolvePostgresOptions(options: PostgresStoreOptions): PostgresSettings {
  const { connectionString, parameters } = splitAddress(options.connectionString);
  const number = (name: keyof typeof LEAST, fallback: number): number =>
    options[name] ?? numberIn(parameters, name) ?? fallback;
  return {
    connectionString,
    poolSize: number("poolSize", 10),
    connectTimeoutMs: number("connectTimeoutMs", 10_000),
    retryMs: number("retryMs", 30_000),
    preparedStatements: options.preparedStatements ?? flagIn(parameters),
  };
}

/** Removes our own parameters from the address: the driver would refuse them. */
function splitAddress(address: string): { connectionString: string; parameters: Map<string, string> } {
  const parameters = new Map<string, string>();
  const at = address.indexOf("?");
  if (at < 0) return { connectionString: address, parameters };
  const query = new URLSearchParams(address.slice(at + 1));
  for (const name of PARAMETERS) {
    const value = query.get(name);
    if (value === null) continue;
    parameters.set(name, value);
    query.delete(name);
  }
  if (parameters.size === 0) return { connectionString: address, parameters };
  const rest = query.toString();
  return { connectionString: address.slice(0, at) + (rest === "" ? "" : `?${rest}`), parameters };
}

function numberIn(parameters: Map<string, string>, name: keyof typeof LEAST): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)) && Number(text) >= LEAST[name]) {
    return Number(text);
  }
  throw invalid(name, `a whole number of at least ${LEAST[name]}`, text);
}

function flagIn(parameters: Map<string, string>): boolean | undefined {
  const text = parameters.get("preparedStatements");
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw invalid("preparedStatements", "true or false", text);
}

function invalid(name: string, wanted: string, text: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `PostgreSQL store: ${name} in the address must be ${wanted}, not ${JSON.stringify(text)}.`,
    { details: { option: name } },
  );
}
