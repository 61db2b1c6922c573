/**
 * The address of a context item: a drive and a path, written as one text on the command line. Paths are normalized, so
 * that an item has one name. Paths that try to leave their folder are refused.
 */
import { z } from "zod";
import { ToolwrightError } from "../../errors.ts";
import { toStorableText } from "../../util/storable-text.ts";

export interface Address {
  readonly drive: string;
  readonly path: string;
}

const DRIVE = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const LONGEST_PATH_BYTES = 1_024;
const LONGEST_NAME_BYTES = 255;
const LONGEST_SHOWN = 80;

export const driveField = z.string().describe('The drive, for example "notes"');
export const pathField = z.string().describe('The path in the drive, for example "/meetings/monday.md"');

/** An item: its path is not the root. @throws TOOL_PATH_INVALID */
export function toItemAddress(drive: string, path: string): Address {
  const address = { drive: toDrive(drive), path: toPath(path) };
  if (address.path === "/") throw invalid("path", path, "names the whole drive, not an item in it");
  return address;
}

/** @throws TOOL_PATH_INVALID */
export function toDrive(drive: string): string {
  if (DRIVE.test(drive)) return drive;
  const rule = "must be 1 to 64 of a-z, 0-9, dot, dash and underscore, and begin with a letter or digit";
  throw invalid("drive", drive, rule);
}

/** Normalizes to one slash before each name. @throws TOOL_PATH_INVALID */
export function toPath(path: string): string {
  if (!path.isWellFormed()) throw invalid("path", path, "contains a lone surrogate");
  if (/[\p{Cc}\u2028\u2029]/u.test(path)) throw invalid("path", path, "contains a control character");
  const names = path
    .normalize("NFC")
    .split("/")
    .filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw invalid("path", path, 'contains "..", which has no meaning here');
  if (names.some((name) => Buffer.byteLength(name) > LONGEST_NAME_BYTES))
    throw invalid("path", path, `contains a name longer than ${LONGEST_NAME_BYTES} bytes`);
  const whole = `/${names.join("/")}`;
  if (Buffer.byteLength(whole) > LONGEST_PATH_BYTES)
    throw invalid("path", path, `is over ${LONGEST_PATH_BYTES} bytes long`);
  return whole;
}

/** Drive and path as one text, such as notes:/a.md. */
export const addressPositional = { name: "drive:/path", parse: parseAddress };

/** @throws TOOL_PATH_INVALID */
export function parseAddress(text: string): { drive: string; path: string } {
  const [, drive, path] = /^([^:/]*):(.*)$/s.exec(text) ?? [];
  if (drive !== undefined && path !== undefined) return { drive, path: path === "" ? "/" : path };
  throw new ToolwrightError(
    "TOOL_PATH_INVALID",
    `A drive and a path are expected, such as notes:/a.md, not ${shown(text)}.`,
    { hint: "Write the drive, a colon and the path: notes:/a.md", effect: "none" },
  );
}

export function showAddress({ drive, path }: Address): string {
  return `${drive}:${path}`;
}

/** For a list of the drives, which has no folder to begin at. */
export function pathWithoutDrive(path: string): ToolwrightError {
  return new ToolwrightError("TOOL_PATH_INVALID", `The path ${shown(path)} is given without its drive.`, {
    details: { field: "drive" },
    hint: "Name the drive too, or omit the path to list the drives.",
    effect: "none",
  });
}

function invalid(what: "drive" | "path", text: string, problem: string): ToolwrightError {
  return new ToolwrightError("TOOL_PATH_INVALID", `The ${what} ${shown(text)} ${problem}.`, {
    details: { field: what },
    hint:
      what === "drive"
        ? 'Use a plain name such as "notes".'
        : 'Use a plain path such as "/meetings/monday.md".',
    effect: "none",
  });
}

function shown(text: string): string {
  return JSON.stringify(
    toStorableText(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text),
  );
}
