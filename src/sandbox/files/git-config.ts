/**
 * Reads git's configuration format. It must never miss an entry that git would obey: what it cannot read it reports as an
 * entry of its own, so that a caller who allows known entries only refuses it.
 */

export interface ConfigEntry {
  /** In lower case but for the subsection: `core.hookspath`, `remote.Origin.url`. */
  readonly name: string;
  /** Undefined for a name without `=`, which git reads as true. */
  readonly value: string | undefined;
}

export function parseGitConfig(text: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section = "";
  const lines = joinContinued(text);
  for (const line of lines) {
    let rest = line.trim();
    while (rest.startsWith("[")) {
      const header = /^\[\s*([^\s"\]]*)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest);
      if (header === null) {
        entries.push({ name: UNREADABLE, value: rest });
        rest = "";
        break;
      }
      const [all, name = "", subsection] = header;
      // The old form `[section.sub]` folds the case of both.
      section =
        subsection === undefined
          ? name.toLowerCase()
          : `${name.toLowerCase()}.${subsection.replaceAll(/\\(.)/g, "$1")}`;
      rest = rest.slice(all.length).trim();
    }
    if (rest === "" || rest.startsWith("#") || rest.startsWith(";")) continue;
    const entry = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/s.exec(rest);
    // `name # comment` is a name without a value.
    const bare = /^([A-Za-z][A-Za-z0-9-]*)\s*[#;]/.exec(rest);
    if (entry !== null) {
      const [, key = "", value] = entry;
      entries.push({
        name: `${section}.${key.toLowerCase()}`,
        value: value === undefined ? undefined : readValue(value),
      });
    } else if (bare !== null) {
      entries.push({ name: `${section}.${(bare[1] ?? "").toLowerCase()}`, value: undefined });
    } else {
      entries.push({ name: UNREADABLE, value: rest });
    }
  }
  return entries;
}

/** The name of what could not be read. */
export const UNREADABLE = "?";

/** Writes entries so that git reads exactly them. */
export function formatGitConfig(entries: readonly ConfigEntry[]): string {
  let text = "";
  let open = "";
  for (const { name, value } of entries) {
    const [first, last] = [name.indexOf("."), name.lastIndexOf(".")];
    const section = name.slice(0, first);
    const subsection = last > first ? name.slice(first + 1, last) : undefined;
    const header =
      subsection === undefined
        ? `[${section}]`
        : `[${section} "${subsection.replaceAll(/["\\]/g, String.raw`\$&`)}"]`;
    if (header !== open) text += `${header}\n`;
    open = header;
    const key = name.slice(last + 1);
    text += value === undefined ? `\t${key}\n` : `\t${key} = "${escapeValue(value)}"\n`;
  }
  return text;
}

function escapeValue(value: string): string {
  return value
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\t", String.raw`\t`);
}

/** A line that ends in a backslash goes on in the next one, inside and outside of quotes. */
function joinContinued(text: string): string[] {
  const lines: string[] = [];
  let pending = "";
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const backslashes = /\\*$/.exec(line)?.[0].length ?? 0;
    const isComment = pending === "" && /^\s*[#;]/.test(line);
    if (backslashes % 2 === 1 && !isComment) {
      pending += line.slice(0, -1);
      continue;
    }
    lines.push(pending + line);
    pending = "";
  }
  if (pending !== "") lines.push(pending);
  return lines;
}

function readValue(raw: string): string {
  let value = "";
  let kept = 0;
  let quoted = false;
  for (let index = 0; index < raw.length; index += 1) {
    const character = raw.charAt(index);
    if (character === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (character === "\\") {
      index += 1;
      value += ESCAPES[raw.charAt(index)] ?? raw.charAt(index);
      kept = value.length;
    } else if (!quoted && (character === "#" || character === ";")) {
      break;
    } else if (quoted || !/\s/.test(character)) {
      value += character;
      kept = value.length;
    } else if (value !== "") {
      value += character;
    }
  }
  return value.slice(0, kept);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
