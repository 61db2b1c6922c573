/**
 * Keeps the first and the last half of a command's output in bounded memory, and reports how much it left out. It
 * must never retain a chunk that it was given: a slice of a pipe's buffer keeps the whole buffer alive.
 */

export interface OutputBuffer {
  push(chunk: Uint8Array): void;
  /** Bytes written, whether stored or not. */
  readonly total: number;
  readonly truncated: boolean;
  /** The stored bytes, unmodified. Complete unless `truncated`. */
  bytes(): Buffer;
  /** At most `maxBytes`, with a marker where output was left out. */
  text(): string;
}

export function createOutputBuffer(maxBytes: number): OutputBuffer {
  const head = createGrowingBytes(Math.ceil(maxBytes / 2));
  const tail = createRing(Math.floor(maxBytes / 2));
  let total = 0;
  const bytes = (): Buffer => Buffer.concat([head.bytes(), tail.bytes()]);
  return {
    push(chunk) {
      total += chunk.length;
      const rest = head.push(chunk);
      if (rest.length > 0) tail.push(rest);
    },
    get total() {
      return total;
    },
    get truncated() {
      return total > maxBytes;
    },
    bytes,
    text() {
      if (total <= maxBytes) return joinWhole(bytes(), maxBytes);
      return joinHalves(head.bytes(), tail.bytes(), total, maxBytes);
    },
  };
}

/** Bytes that are not valid text grow when decoded, so even complete output can exceed the limit. */
function joinWhole(bytes: Buffer, maxBytes: number): string {
  const text = decode(bytes);
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const half = Math.ceil(bytes.length / 2);
  return joinHalves(bytes.subarray(0, half), bytes.subarray(half), bytes.length, maxBytes);
}

function joinHalves(first: Buffer, last: Buffer, total: number, maxBytes: number): string {
  const markBytes = Buffer.byteLength(markOf(total));
  // The limit is too small for the marker: return only the beginning, and let `truncated` report the rest.
  if (maxBytes <= markBytes) {
    return decode(fit(first, maxBytes, (bytes, length) => bytes.subarray(0, boundaryBefore(bytes, length))));
  }
  const budget = Math.floor((maxBytes - markBytes) / 2);
  const head = fit(first, budget, (bytes, length) => bytes.subarray(0, boundaryBefore(bytes, length)));
  const tail = fit(last, budget, (bytes, length) =>
    bytes.subarray(boundaryAfter(bytes, bytes.length - length)),
  );
  const omitted = total - head.length - tail.length;
  return `${decode(head)}${markOf(omitted)}${decode(tail)}`;
}

const markOf = (omitted: number): string => `\n[… ${omitted} bytes omitted …]\n`;

/** The longest cut whose text fits the budget, found by shrinking in proportion. */
function fit(bytes: Buffer, budget: number, cut: (bytes: Buffer, length: number) => Buffer): Buffer {
  let kept = cut(bytes, Math.min(bytes.length, budget));
  for (;;) {
    const size = Buffer.byteLength(decode(kept));
    if (size <= budget) return kept;
    kept = cut(bytes, Math.min(kept.length - 1, Math.floor((kept.length * budget) / size)));
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The end of the last whole character at or before `length`. */
function boundaryBefore(bytes: Buffer, length: number): number {
  let start = length - 1;
  while (start >= 0 && length - start < 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start >= 0 && start + size > length ? start : length;
}

function boundaryAfter(bytes: Buffer, position: number): number {
  let start = Math.max(0, position);
  while (start < bytes.length && start - position < 3 && isContinuation(bytes[start])) start += 1;
  return start;
}

function decode(bytes: Buffer): string {
  return bytes.toString("utf8");
}

/** Takes up to `limit` bytes and returns the rest. */
function createGrowingBytes(limit: number) {
  let store = Buffer.allocUnsafe(Math.min(limit, 4_096));
  let used = 0;
  return {
    push(chunk: Uint8Array): Uint8Array {
      const taken = Math.min(limit - used, chunk.length);
      if (used + taken > store.length) {
        const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(store.length * 2, used + taken)));
        store.copy(larger, 0, 0, used);
        store = larger;
      }
      store.set(chunk.subarray(0, taken), used);
      used += taken;
      return chunk.subarray(taken);
    },
    bytes: () => store.subarray(0, used),
  };
}

/** Keeps the last `limit` bytes. */
function createRing(limit: number) {
  let store: Buffer | undefined;
  let position = 0;
  let isFull = false;
  return {
    push(chunk: Uint8Array): void {
      store ??= Buffer.allocUnsafe(limit);
      const last = chunk.subarray(Math.max(0, chunk.length - limit));
      const first = last.subarray(0, limit - position);
      store.set(first, position);
      store.set(last.subarray(first.length), 0);
      isFull ||= position + last.length >= limit;
      position = limit === 0 ? 0 : (position + last.length) % limit;
    },
    bytes(): Buffer {
      if (store === undefined) return Buffer.alloc(0);
      return isFull
        ? Buffer.concat([store.subarray(position), store.subarray(0, position)])
        : store.subarray(0, position);
    },
  };
}
