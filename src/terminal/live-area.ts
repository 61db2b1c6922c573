/** Lines at the bottom of a terminal that are redrawn. Other output appears above them. */
import type { WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { cutToWidth, textWidth } from "./text-width.ts";

type Write = typeof process.stdout.write;

export class LiveArea {
  readonly #streams = [process.stdout, process.stderr].map((stream) => ({
    stream,
    write: stream.write.bind(stream),
  }));
  readonly #write: Write;
  readonly #width: () => number;
  #lines: readonly string[] = [];

  constructor(terminal: WriteStream = process.stdout) {
    this.#write = terminal.write.bind(terminal);
    // A terminal that does not know its width reports 0.
    this.#width = () => (terminal.columns > 0 ? terminal.columns : 80);
    for (const { stream, write } of this.#streams) {
      stream.write = ((...given: Parameters<Write>) => {
        this.#erase();
        const result = write(...given);
        this.#paint();
        return result;
      }) as Write;
    }
  }

  draw(lines: readonly string[]): void {
    this.#erase();
    this.#lines = lines.map((line) => cut(line, this.#width()));
    this.#paint();
  }

  /** Prints a permanent line above the area. */
  print(text: string): void {
    this.#erase();
    this.#write(`${text}\n`);
    this.#paint();
  }

  [Symbol.dispose](): void {
    for (const { stream, write } of this.#streams) stream.write = write;
    this.#lines = [];
  }

  #erase(): void {
    // Start at the first column: the terminal prints ^C at the cursor.
    if (this.#lines.length > 0) this.#write(`\r\u001B[${this.#lines.length}A\u001B[0J`);
  }

  #paint(): void {
    if (this.#lines.length > 0) this.#write(`${this.#lines.join("\n")}\n`);
  }
}

/** Lines must not wrap: a wrapped line would need two lines to erase. */
function cut(line: string, width: number): string {
  const plain = stripVTControlCharacters(line);
  return textWidth(plain) < width ? line : cutToWidth(plain, width - 1);
}
