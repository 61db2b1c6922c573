import { expect, test } from "vitest";
import { createOutputBuffer } from "./output-buffer.ts";

function filled(maxBytes: number, ...chunks: (string | Buffer)[]) {
  const buffer = createOutputBuffer(maxBytes);
  for (const chunk of chunks) buffer.push(Buffer.from(chunk as string));
  return buffer;
}

test("output that fits is kept unchanged", () => {
  const buffer = filled(10, "hello", "", "world");
  expect(buffer).toMatchObject({ total: 10, truncated: false });
  expect(buffer.text()).toBe("helloworld");
});

test("the first and the last half are kept, and the mark says how much was omitted", () => {
  const buffer = filled(40, "0123456789".repeat(10));
  expect(buffer.truncated).toBe(true);
  expect(buffer.text()).toBe("01234\n[… 90 bytes omitted …]\n56789");
});

test.each([1, 2, 10, 29, 30, 31, 32, 40, 100, 999])(
  "the mark counts: a cap of %s bytes is never passed",
  (cap) => {
    const text = filled(cap, "x".repeat(5_000)).text();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(cap);
    expect(text.includes("omitted")).toBe(cap > 30);
  },
);

test("it does not matter in which chunks the output arrives", () => {
  const text = Array.from({ length: 999 }, (_, index) => String(index % 10)).join("");
  const whole = filled(100, text).text();
  for (const size of [1, 3, 7, 49, 50, 51, 101, 998]) {
    const parts = Array.from({ length: Math.ceil(999 / size) }, (_, i) =>
      text.slice(i * size, (i + 1) * size),
    );
    expect(filled(100, ...parts).text()).toBe(whole);
  }
});

test.each(["ü", "€", "😀"])("a cut never splits %s", (character) => {
  for (const cap of [50, 51, 52, 53, 54, 55, 56, 57]) {
    const text = filled(cap, character.repeat(50)).text();
    const [head = "", , tail = ""] = text.split("\n");
    expect(text).not.toContain("\uFFFD");
    const omitted = Number(/… (\d+) bytes/.exec(text)?.[1]);
    expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + omitted).toBe(
      Buffer.byteLength(character) * 50,
    );
  }
});

test("a character that arrives in two chunks is whole again", () => {
  const bytes = Buffer.from("a😀b");
  expect(filled(100, bytes.subarray(0, 3), bytes.subarray(3)).text()).toBe("a😀b");
});

test.each([1_000, 5_000])("bytes that are not text stay below the cap, too (%s written)", (size) => {
  const text = filled(2_000, Buffer.alloc(size, 0xff)).text();
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
  expect(text).toContain("bytes omitted");
});

test("reusing a chunk afterwards does not change the kept output", () => {
  const buffer = createOutputBuffer(100);
  const chunk = Buffer.from("kept");
  buffer.push(chunk);
  chunk.fill("x");
  expect(buffer.text()).toBe("kept");
});

test("if not even the mark fits, the beginning is kept", () => expect(filled(1, "abc").text()).toBe("a"));
