/** The stored form of values. test/formats/golden.test.ts pins its text. */
import { describe, expect, it, test } from "vitest";
import { createRandom } from "../../test/random.ts";
import { makeValue, randomSpec } from "../../test/formats/random-values.ts";
import { decode, encode, MAX_DEPTH, MAX_HOLES, UnencodableError, UnreadableError } from "./encode.ts";

function refusalOf(value: unknown): UnencodableError {
  try {
    encode(value);
  } catch (error) {
    if (error instanceof UnencodableError) return error;
    throw error;
  }
  throw new Error("it was stored");
}

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** Reading it a second time, as JSON.stringify does, fails. */
function readableOnce(): object {
  let reads = 0;
  return {
    get a(): number {
      reads += 1;
      if (reads > 1) throw new Error("once only");
      return 1;
    },
  };
}

const nested = (depth: number): unknown[] => {
  let value: unknown[] = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
};

const sparse = (length: number): unknown[] => {
  const items: unknown[] = [];
  items.length = length;
  return items;
};

const circular: Record<string, unknown> = {};
circular["a"] = { b: [circular] };

class Empty {
  readonly #data = 1;
  get data(): number {
    return this.#data;
  }
}

describe("values that cannot be stored are refused with their path", () => {
  it.each<[string, unknown, string]>([
    ["a function", { a: [() => 1] }, "a[0] is a function"],
    ["a symbol", [Symbol("x")], "[0] is a symbol"],
    ["a boxed symbol", { a: Object(Symbol("x")) }, "a is a symbol"],
    ["a circular reference", circular, "a.b[0] refers back"],
    ["a regular expression", { a: /x/g }, "a is a RegExp"],
    ["numbers in a typed array", { a: new Float64Array([1]) }, "a is a Float64Array"],
    ["clamped bytes", new Uint8ClampedArray([1]), "the value is a Uint8ClampedArray"],
    ["a buffer without a view", new ArrayBuffer(1), "the value is a ArrayBuffer"],
    ["a promise", { a: Promise.resolve() }, "a is a Promise"],
    ["an instance without fields", new Empty(), "the value is a Empty"],
    ["headers", new Headers(), "the value is a Headers"],
    ["a sparse array", { a: sparse(MAX_HOLES + 1) }, "a is a sparse array with more than 10000 holes"],
    ["an array as long as can be", sparse(2 ** 32 - 1), "the value is a sparse array"],
    ["too many levels", nested(MAX_DEPTH + 1), "is nested too deeply to be stored"],
    ["far too many levels", nested(200_000), "is nested too deeply to be stored"],
    ["a map in itself", new Map([["m", circular]]), "[0][1].a.b[0] refers back"],
  ])("%s", (_what, value, message) => {
    const error = refusalOf(value);
    expect(error).not.toBeInstanceOf(UnreadableError);
    expect(error.message).toContain(message);
  });

  test("a long path is truncated in the message", () => {
    expect(refusalOf(nested(MAX_DEPTH + 1)).message).toMatch(/^.{200}… is nested/);
  });
});

describe("a value that throws when it is read gives a different error from a value that cannot be stored", () => {
  it.each<[string, unknown, string]>([
    [
      "a getter",
      {
        a: {
          get b(): never {
            throw new TypeError("no b");
          },
        },
      },
      "a.b cannot be read: no b",
    ],
    [
      "a getter that throws a RangeError",
      {
        get a(): never {
          throw new RangeError("out of range");
        },
      },
      "a cannot be read: out of range",
    ],
    ["toJSON", [{ toJSON: () => JSON.parse("{") as unknown }], "[0] cannot be read: "],
    ["a revoked proxy", { a: revoked() }, "a cannot be read: "],
    ["a revoked proxy as the whole", revoked(), "the value cannot be read: "],
    [
      "what throws itself",
      {
        get a(): never {
          throw revoked();
        },
      },
      "a cannot be read: ",
    ],
    ["a getter that throws at the second read", readableOnce(), "the value cannot be read: once only"],
    [
      "an error whose message cannot be read",
      Object.defineProperty(new Error("x"), "message", {
        get: () => {
          throw new Error("no message");
        },
      }),
      "the value cannot be read: no message",
    ],
  ])("%s", (_what, value, message) => {
    const error = refusalOf(value);
    expect(error).toBeInstanceOf(UnreadableError);
    expect(error.message).toContain(message);
  });

  test("the thrown value is the cause", () => {
    const cause = new Error("no a");
    const value = {
      get a(): never {
        throw cause;
      },
    };
    expect(refusalOf(value)).toMatchObject({ cause, path: "a" });
  });
});

describe("values come back unchanged", () => {
  test("as many levels and holes as are allowed", () => {
    expect(decode(encode(nested(MAX_DEPTH)))).toEqual(nested(MAX_DEPTH));
    const holes = decode(encode([1 as unknown].concat(sparse(MAX_HOLES)))) as unknown[];
    expect(holes).toHaveLength(MAX_HOLES + 1);
    expect(Object.keys(holes)).toEqual(["0"]);
  });

  test("holes and undefined stay different", () => {
    const items = [1, undefined, 3];
    // oxlint-disable-next-line no-array-delete -- makes the hole
    delete items[0];
    const decoded = decode(encode({ items })) as { items: unknown[] };
    expect(decoded.items).toHaveLength(3);
    expect(0 in decoded.items).toBe(false);
    expect(1 in decoded.items).toBe(true);
  });

  test("a Buffer stays a Buffer, and other bytes do not become one", () => {
    const decoded = decode(encode([Buffer.from("a"), new Uint8Array([97])])) as Uint8Array[];
    expect(decoded.map((bytes) => Buffer.isBuffer(bytes))).toEqual([true, false]);
  });

  test("bytes that are part of a larger buffer, without the rest of it", () => {
    const whole = new Uint8Array([1, 2, 3, 4]);
    expect(decode(encode(whole.subarray(1, 3)))).toStrictEqual(new Uint8Array([2, 3]));
  });

  test("objects that appear twice, twice", () => {
    const shared = { at: new Date(0) };
    expect(decode(encode([shared, shared]))).toStrictEqual([shared, shared]);
  });

  test("fields that look like our tags", () => {
    for (const $type of ["hole", "undefined", "object", "error", 1, null, { $type: "hole" }]) {
      const value = [{ $type }, { a: { $type, value: [] } }];
      expect(decode(encode(value))).toStrictEqual(value);
    }
  });

  test("symbol keys and inherited fields are not part of a value", () => {
    const value = Object.assign(Object.create({ inherited: 1 }) as object, { a: 1, [Symbol("s")]: 2 });
    expect(decode(encode(value))).toStrictEqual({ a: 1 });
  });

  test("encoding changes no value", () => {
    const value = Object.freeze({ a: Object.freeze([new Date(0), undefined]) });
    encode(value);
    expect(value).toStrictEqual({ a: [new Date(0), undefined] });
  });

  test("random values", () => {
    const random = createRandom(11);
    for (let round = 0; round < 3_000; round += 1) {
      const spec = randomSpec(random, "storable");
      const text = encode(makeValue(spec));
      const decoded = decode(text);
      expect(decoded, text).toStrictEqual(makeValue(spec));
      expect(encode(decoded)).toBe(text);
      expect(text).toBe(JSON.stringify(JSON.parse(text)));
    }
  });
});

test("an unknown tag is an error: a newer version wrote it", () => {
  expect(() => decode('{"$type":"temporal","value":1}')).toThrow('unknown tag "temporal"');
});
