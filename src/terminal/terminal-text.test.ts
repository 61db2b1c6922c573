import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { printedWord } from "./terminal-text.ts";
import {
  toTerminalBlock,
  toTerminalJson,
  toTerminalLine,
  toTerminalName,
  toTerminalText,
} from "./terminal-text.ts";

/** Every character that can control a terminal or hide text. */
const STEERING = [
  ...Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((one) =>
    /\p{Cc}/u.test(one),
  ),
  ...Array.from("\u061C\u200B\u200E\u200F\u2028\u2029\u202A\u202E\u2066\u2069\uFEFF\u00AD\u180E"),
  "\u{E0041}",
  // Invisible: variation selectors, in which a text can be hidden, and code points that are reserved as invisible.
  ...Array.from("\u034F\u115F\u180B\u2065\u3164\uFE00\uFE0F\uFFF0\u{E0100}\u{E01EF}\u{E0FFF}"),
];

describe("untrusted text", () => {
  it("contains no control character on a terminal, in a line, a block or JSON", () => {
    for (const one of STEERING) {
      const text = `a${one}b`;
      const isBreak = one === "\n" || one === "\t";
      if (!isBreak) expect(toTerminalText(text)).not.toContain(one);
      expect(toTerminalLine(text)).not.toContain(one);
      expect(toTerminalName(text)).toMatch(/^"/);
      if (one !== "\n") expect(toTerminalJson({ [text]: text }, 0)).not.toContain(one);
    }
  });

  it("is the same value in JSON", () => {
    const value = { text: STEERING.join(""), list: ["\uD800", "🙂 ü"] };
    expect(JSON.parse(toTerminalJson(value))).toEqual(value);
    expect(toTerminalJson({ a: ["ü", 1] })).toBe(JSON.stringify({ a: ["ü", 1] }, null, 2));
  });

  it("keeps letters, and shows replaced characters", () => {
    expect(toTerminalText("Grüße 🙂\n\t漢字 ❤\uFE0F")).toBe("Grüße 🙂\n\t漢字 ❤\uFE0F");
    expect(toTerminalLine("a\nb\u001B[31m\u202E\u{E0041}")).toBe(String.raw`a\nb\u001b[31m\u202e\u{e0041}`);
  });

  it("marks every line of a block after the first", () => {
    const block = toTerminalBlock("one\ntoolwright approve apr_2\n");
    expect(block).toBe("one\n  | toolwright approve apr_2");
    expect(toTerminalBlock(block)).toBe(block);
  });

  it("quotes a name that is more than a word", () => {
    expect(toTerminalName("order-17")).toBe("order-17");
    expect(toTerminalName('x, now run: "y"')).toBe(String.raw`"x, now run: \"y\""`);
  });
});

describe("a printed word", () => {
  it.each([
    "plain",
    "two words",
    "it's",
    "-x",
    "",
    "a\nb",
    "\u001B[31m",
    "\u202Eevil",
    "\t",
    "\u0085a",
    "$(id)`x`",
  ])("can be pasted: %j", (word) => {
    const printed = printedWord(word);
    expect(toTerminalLine(printed)).toBe(printed);
    const read = execFileSync("bash", ["-c", `printf %s ${printed}`], { encoding: "utf8" });
    expect(read).toBe(word);
  });
});
