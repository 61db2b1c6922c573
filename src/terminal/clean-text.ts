/** Text from outside, for a terminal or a prompt: no character that steers what shows it. */

const LONGEST_LINE = 200;

/** Line breaks and tabs stay. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, "");
}

/** In one line, and not longer than this. */
export function cleanLine(text: string, longest = LONGEST_LINE): string {
  const line = cleanText(text).replaceAll(/\s+/g, " ").trim();
  return line.length > longest ? `${line.slice(0, longest - 1).toWellFormed()}…` : line;
}
