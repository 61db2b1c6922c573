/**
 * A text with the offsets of its lines. It must never copy the lines: a file of ten megabytes may have ten million.
 */
export interface LineTable {
  readonly text: string;
  readonly count: number;
  /** The offset of line `index`. For `count` it is the end of the text. */
  start(index: number): number;
  /** The line without its ending. */
  line(index: number): string;
  /** `"\n"`, `"\r\n"`, or `""` for a last line without an ending. */
  ending(index: number): string;
  isLine(index: number, line: string): boolean;
}

/** With `exactEndings`, only `\n` ends a line, and a `\r` before it belongs to the line. */
export function toLineTable(text: string, exactEndings: boolean): LineTable {
  const starts = lineStarts(text);
  const lastEnds = text.endsWith("\n");
  const count = starts.length - 1;

  const start = (index: number): number => starts[index] ?? text.length;
  const ending = (index: number): string => {
    if (index === count - 1 && !lastEnds) return "";
    return !exactEndings &&
      text.charCodeAt(start(index + 1) - 2) === 13 &&
      start(index + 1) - 2 >= start(index)
      ? "\r\n"
      : "\n";
  };
  const endOf = (index: number): number => start(index + 1) - ending(index).length;

  return {
    text,
    count,
    start,
    ending,
    line: (index) => text.slice(start(index), endOf(index)),
    isLine: (index, line) =>
      index >= 0 &&
      index < count &&
      endOf(index) - start(index) === line.length &&
      text.startsWith(line, start(index)),
  };
}

function lineStarts(text: string): Uint32Array {
  let starts = new Uint32Array(1024);
  let count = 0;
  for (let at = 0; at < text.length;) {
    // Room for this line and for the end.
    if (count + 2 > starts.length) {
      const larger = new Uint32Array(starts.length * 2);
      larger.set(starts);
      starts = larger;
    }
    starts[count++] = at;
    const newline = text.indexOf("\n", at);
    at = newline === -1 ? text.length : newline + 1;
  }
  starts[count] = text.length;
  return starts.subarray(0, count + 1);
}
