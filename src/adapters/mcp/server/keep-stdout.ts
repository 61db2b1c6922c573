/** Keeps stdout for the protocol: what a tool, a config or a library prints there goes to stderr. */
import { Writable } from "node:stream";

export interface KeptStdout extends Disposable {
  /** Where the protocol is written. */
  readonly stream: Writable;
}

export function keepStdout(): KeptStdout {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      write(chunk, done);
    },
  });
  return {
    stream,
    [Symbol.dispose]: () => {
      stdout.write = write;
    },
  };
}
