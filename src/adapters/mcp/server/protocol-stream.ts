/** Reserves stdout for the protocol: output of tools, configs and libraries goes to stderr. */
import { Writable } from "node:stream";
import { keepOutputApart } from "../../../terminal/reserve-stdout.ts";

export interface KeptStdout extends Disposable {
  /** The stream for the protocol. */
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
