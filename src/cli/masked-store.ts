/**
 * Commands are printed without the password of the store. A pasted command finds the password where the first command
 * found it.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isStoreFile, withoutPassword } from "../operate/store-address.ts";
import { CliError } from "./cli-error.ts";

const MASK = /:\*\*\*(?=@)|\b\w*password=\*\*\*/i;

export function isMasked(address: string): boolean {
  return !isStoreFile(address) && MASK.test(address);
}

/**
 * An environment variable or the config with the same address, else what the driver itself reads: PGPASSWORD, or a file.
 * @param readConfigured the store of the config, if there is one
 * @throws CLI_USAGE
 */
export async function unmask(
  address: string,
  readConfigured: () => Promise<string | undefined>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const isSame = (other: string | undefined): boolean =>
    other !== undefined && other !== address && withoutPassword(other) === address;
  const found = Object.values(environment).find(isSame);
  if (found !== undefined) return found;
  const configured = await readConfigured();
  if (configured !== undefined && isSame(configured)) return configured;
  if (hasPasswordForDriver(environment)) return address.replace(MASK, "");
  throw new CliError(
    "CLI_USAGE",
    `The password in ${address} is masked.`,
    "Write it instead of ***, or set PGPASSWORD, or set a variable such as DATABASE_URL to the whole address.",
  );
}

function hasPasswordForDriver({ PGPASSWORD, PGPASSFILE }: NodeJS.ProcessEnv): boolean {
  return Boolean(PGPASSWORD) || existsSync(PGPASSFILE ?? join(homedir(), ".pgpass"));
}
