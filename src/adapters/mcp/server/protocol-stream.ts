/** Reserves stdout for the protocol: output of tools, configs and libraries goes to stderr. */
import { Writable } from "node:stream";
import { reserveStdout } from "../../../terminal/reserve-stdout.ts";

export interface ProtocolStream extends Disposable {
  /** The stream for the protocol. */
  readonly stream: Writable;
}

export function reserveStdoutForProtocol(): ProtocolStream {
  const write = process.stdout.write.bind(process.stdout);
  const restore = reserveStdout();
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
