/** Options of a PostgreSQL store, given as an object or as parameters of the address. Anything else is refused by name. */
import { ToolwrightError } from "../../errors.ts";

export interface PostgresStoreOptions {
  readonly connectionString: string;
  /** Maximum number of connections. Default 10. */
  readonly poolSize?: number | undefined;
  /** How long a new connection may take. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long to retry while the server is down or restarts. Default 30,000; 0 fails at once. */
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

const NUMBERS = { poolSize: 1, connectTimeoutMs: 1, retryMs: 0 } as const;
const NAMES = ["connectionString", "preparedStatements", ...Object.keys(NUMBERS)];

/** An option wins over the same parameter of the address. */
export function resolvePostgresOptions(options: PostgresStoreOptions): PostgresSettings {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    const near = NAMES.find((name) => isNear(name.toLowerCase(), unknown.toLowerCase()));
    throw invalid(
      `openPostgresStore: unknown option "${unknown}"${near === undefined ? "" : `. Did you mean "${near}"?`}`,
      `Use one of: ${NAMES.join(", ")}.`,
    );
  }
  if (typeof options.connectionString !== "string")
    throw invalid("connectionString must be a text", 'For example "postgres://user@host/database".');
  const { connectionString, parameters } = splitAddress(options.connectionString);
  const number = (name: keyof typeof NUMBERS, fallback: number): number => {
    const value: unknown = options[name] ?? toNumber(parameters.get(name)) ?? fallback;
    if (typeof value === "number" && Number.isInteger(value) && value >= NUMBERS[name]) return value;
    throw invalid(`${name} must be a whole number from ${NUMBERS[name]}`, `It was ${JSON.stringify(value)}.`);
  };
  return {
    connectionString,
    poolSize: number("poolSize", 10),
    connectTimeoutMs: number("connectTimeoutMs", 10_000),
    retryMs: number("retryMs", 30_000),
    preparedStatements: flag(options.preparedStatements ?? parameters.get("preparedStatements")),
  };
}

/** Takes our own parameters out of the address: the driver gets only what it knows. */
function splitAddress(address: string): { connectionString: string; parameters: Map<string, string> } {
  const parameters = new Map<string, string>();
  const at = address.indexOf("?");
  if (at < 0) return { connectionString: address, parameters };
  const query = new URLSearchParams(address.slice(at + 1));
  for (const name of NAMES) {
    const value = query.get(name);
    if (value === null) continue;
    parameters.set(name, value);
    query.delete(name);
  }
  if (parameters.size === 0) return { connectionString: address, parameters };
  const rest = query.toString();
  return { connectionString: address.slice(0, at) + (rest === "" ? "" : `?${rest}`), parameters };
}

/** The layer that compares names better lies above this one. */
function isNear(name: string, given: string): boolean {
  return name.startsWith(given.slice(0, 5)) || given.startsWith(name.slice(0, 5));
}

function toNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

function flag(value: unknown): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  throw invalid("preparedStatements must be true or false", `It was ${JSON.stringify(value)}.`);
}

function invalid(message: string, hint: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `PostgreSQL store: ${/[.?]$/.test(message) ? message : `${message}.`}`,
    { hint },
  );
}
