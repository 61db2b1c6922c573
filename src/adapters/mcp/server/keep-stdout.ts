/** Keeps stdout for the protocol: what a tool, a config or a library prints there goes to stderr. */
import { Writable } from "node:stream";
import { keepOutputApart } from "../../../terminal/keep-output-apart.ts";

export interface KeptStdout extends Disposable {
  /** Where the protocol is written. */
  readonly stream: Writable;
}

export function keepStdout(): KeptStdout {
  const write = process.stdout.write.bind(process.stdout);
  const restore = keepOutputApart();
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      write(chunk, done);
    },
  });
  return {
    stream,
    [Symbol.dispose]: restore,
  };
}
