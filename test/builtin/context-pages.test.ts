/** All pages of an item together equal the item, for any content and page size. */
import { contextTools } from "toolwright/tools";
import { expect, it } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { createContextWorld } from "./context-harness.ts";

const { context_write, context_read } = contextTools;

const TEXTS = [
  "",
  "\n",
  "\n\n\n",
  "one line",
  "one\ntwo\nthree",
  "one\r\ntwo\r\n",
  "😀".repeat(50),
  `short\n${"ä😀é".repeat(40)}\n\nend\n`,
  `${"x".repeat(17)}\n`.repeat(7),
  "👩‍👩‍👧‍👦\u0301\n".repeat(9),
];

it.each([1, 2, 3, 5, 16, 17, 18, 64, 10_000])(
  "nothing is lost in pages of %i bytes",
  async (maxOutputBytes) => {
    const { ok, runtime } = await createContextWorld(STORE_KINDS[0], { maxOutputBytes });
    for (const [index, text] of TEXTS.entries()) {
      const address = { drive: "n", path: `/${index}` };
      await runtime.call(context_write, { ...address, content: text });
      let content = "";
      for (let page = { next_offset: 1 as number | null, next_column: 0 }; page.next_offset !== null;) {
        const read = await ok(context_read, {
          ...address,
          offset: page.next_offset,
          column: page.next_column,
        });
        expect(read.content.isWellFormed()).toBe(true);
        content += read.content;
        page = read;
      }
      expect(content).toBe(text);
    }
  },
);

it("offset and limit are lines, and a column may be anything", async () => {
  const { ok } = await createContextWorld(STORE_KINDS[0]);
  const address = { drive: "n", path: "/a" };
  await ok(context_write, { ...address, content: "1\n2\n3😀\n4\n" });
  expect(await ok(context_read, { ...address, offset: 2, limit: 2 })).toMatchObject({
    content: "2\n3😀\n",
    next_offset: 4,
    next_column: 0,
    total_lines: 4,
  });
  expect(await ok(context_read, { ...address, offset: 3, limit: 1, column: 2 })).toMatchObject({
    content: "😀\n",
  });
  expect(await ok(context_read, { ...address, offset: 3, limit: 1, column: 99 })).toMatchObject({
    content: "4\n",
    next_offset: null,
  });
  expect(await ok(context_read, { ...address, offset: 9 })).toMatchObject({ content: "", next_offset: null });
});
