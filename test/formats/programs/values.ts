/** Values that JSON has no form for, as arguments and as outputs. Only values that version 0.1 accepted. */

class Point {
  readonly x = 1;
  readonly y = 2;
}

const withProto = (): object => JSON.parse('{"__proto__":{"admin":true},"a":1}') as object;

/** `stored`: what version 0.1 recorded, where that is not what was returned. */
interface OutputValue {
  readonly returned: unknown;
  readonly stored?: unknown;
}

/* oxlint-disable no-sparse-arrays -- holes are what is stored here */
export const OUTPUT_VALUES: Readonly<Record<string, OutputValue>> = {
  nothing: { returned: undefined },
  null: { returned: null },
  text: { returned: 'quotes " and \\ and \u2028 and 😀' },
  "lone surrogate": { returned: "a\ud800b" },
  numbers: { returned: [Number.NaN, Infinity, -Infinity, -0, 0, 1e21, 0.1] },
  bigint: { returned: 12_345_678_901_234_567_890n },
  date: { returned: new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123)) },
  "invalid date": { returned: new Date(Number.NaN) },
  bytes: { returned: new Uint8Array([0, 1, 254, 255]) },
  map: {
    returned: new Map<unknown, unknown>([
      ["b", 1],
      [{ key: 1 }, new Set([1n])],
    ]),
  },
  set: { returned: new Set<unknown>([3, "b", undefined]) },
  "undefined inside": { returned: { a: undefined, b: [undefined, null] } },
  "a tag of ours": { returned: { $type: "date", value: "2024-01-01", more: { $type: 1n } } },
  "a __proto__ field": { returned: withProto() },
  instance: { returned: new Point(), stored: { x: 1, y: 2 } },
  url: { returned: new URL("https://example.org/a?b=c"), stored: "https://example.org/a?b=c" },
  error: { returned: new TypeError("no"), stored: { name: "TypeError", message: "no" } },
  buffer: { returned: Buffer.from("abc"), stored: new Uint8Array([97, 98, 99]) },
  // oxfmt-ignore
  hole: { returned: [1, , 3], stored: [1, undefined, 3] },
};

/** Several of them had one canonical text in version 0.1, such as the two errors. */
// oxfmt-ignore
export const ARGUMENTS: readonly unknown[] = [
  new Error("a"),
  new Error("b"),
  Object.assign(new Error("c"), { code: "E_C" }),
  {},
  [],
  [ , ],
  [ , , ],
  [1, , 3],
  [1, undefined, 3],
  Buffer.from("abc"),
  new Uint8Array([97, 98, 99]),
  new Date(86_400_000),
  "1970-01-02T00:00:00.000Z",
  new Date(Number.NaN),
  new Map<unknown, unknown>([["b", 1], ["a", { deep: [1n] }]]),
  new Set([2, 1]),
  [2, 1],
  1n,
  1,
  "1",
  Number.NaN,
  null,
  0,
  -0,
  undefined,
  new Point(),
  { x: 1, y: 2 },
  new URL("https://example.org/"),
  "https://example.org/",
  { $type: "date", value: "1970-01-02" },
  withProto(),
  { z: 1, a: undefined, m: [{ d: 4, c: 3 }] },
  "a\ud800b",
];
