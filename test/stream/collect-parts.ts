/** Reads a stream in the background. */
import type { StreamPart } from "toolwright";

export function collect(stream: AsyncIterable<StreamPart>) {
  const parts: StreamPart[] = [];
  let changed = Promise.withResolvers<void>();
  const done = (async () => {
    for await (const part of stream) {
      parts.push(part);
      changed.resolve();
      changed = Promise.withResolvers();
    }
    return parts;
  })();
  const until = async (isThere: (part: StreamPart) => boolean): Promise<void> => {
    while (!parts.some(isThere)) await Promise.race([changed.promise, done]);
  };
  return { parts, done, until };
}

export const says = (text: string) => (part: StreamPart) => part.type === "text-delta" && part.delta === text;

export function textOf(parts: readonly StreamPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
}

/** Everything until the end. */
export async function readAll<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}
