/** Removes control characters from untrusted text, for a terminal or a prompt. */

const LONGEST_LINE = 200;

/** Keeps line breaks and tabs. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, "");
}

/** On one line, cut to `longest` characters. */
export function cleanLine(text: string, longest = LONGEST_LINE): string {
  const line = cleanText(text).replaceAll(/\s+/g, " ").trim();
  return line.length > longest ? `${line.slice(0, longest - 1).toWellFormed()}…` : line;
}
