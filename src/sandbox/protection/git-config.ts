/**
 * Parses git's configuration format. It must never miss an entry that git would obey. It reports text that it cannot
 * parse as a separate entry, so a caller with an allow-list refuses it.
 */

export interface ConfigEntry {
  /** Lower case except for the subsection: `core.hookspath`, `remote.Origin.url`. */
  readonly name: string;
  /** Undefined for a name without `=`, which git reads as true. */
  readonly value: string | undefined;
}

/**
 * Reads character by character, like git: where a comment ends, and whether a backslash joins two lines, depends on
 * the text before. A backslash at the end of a comment joins nothing.
 */
export function parseGitConfig(text: string): ConfigEntry[] {
  const source = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const entries: ConfigEntry[] = [];
  let section = "";
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  while (at < source.length) {
    if (match(SPACE) !== null || match(COMMENT) !== null) continue;
    const header = match(HEADER);
    if (header !== null) {
      const [, name = "", subsection] = header;
      // The old form `[section.sub]` ignores the case of both parts.
      section =
        subsection === undefined
          ? name.toLowerCase()
          : `${name.toLowerCase()}.${subsection.replaceAll(/\\(.)/g, "$1")}`;
      continue;
    }
    const key = match(KEY)?.[1]?.toLowerCase();
    if (key === undefined) {
      entries.push({ name: UNREADABLE, value: match(LINE)?.[0] });
    } else if (source[at] === "=") {
      const { value, end } = readValue(source, at + 1);
      entries.push({ name: `${section}.${key}`, value });
      at = end;
    } else if (at >= source.length || /[\n#;]/.test(source.charAt(at))) {
      // `name # comment` is a name without a value.
      entries.push({ name: `${section}.${key}`, value: undefined });
    } else {
      entries.push({ name: UNREADABLE, value: `${key} ${match(LINE)?.[0] ?? ""}` });
    }
  }
  return entries;
}

const SPACE = /\s+/y;
const COMMENT = /[#;][^\n]*/y;
const HEADER = /\[\s*([^\s"\]]*)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\]/y;
const KEY = /([A-Za-z][A-Za-z0-9-]*)[^\S\n]*/y;
const LINE = /[^\n]+/y;

/** The name of an entry that could not be parsed. */
export const UNREADABLE = "?";

/** Formats entries so that git reads exactly these. */
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

/** Reads from after the `=` to the end of the line, including lines that a backslash joins to it. */
function readValue(source: string, start: number): { readonly value: string; readonly end: number } {
  let value = "";
  let kept = 0;
  let [quoted, inComment] = [false, false];
  let index = start;
  for (; index < source.length && source[index] !== "\n"; index += 1) {
    const character = source.charAt(index);
    if (inComment) continue;
    if (character === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (character === "\\") {
      index += 1;
      if (source[index] === "\n") continue;
      value += ESCAPES[source.charAt(index)] ?? source.charAt(index);
      kept = value.length;
    } else if (!quoted && (character === "#" || character === ";")) {
      inComment = true;
    } else if (quoted || !/\s/.test(character)) {
      value += character;
      kept = value.length;
    } else if (value !== "") {
      value += character;
    }
  }
  return { value: value.slice(0, kept), end: index };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
