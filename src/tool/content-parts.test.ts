import { describe, expect, test } from "vitest";
import { contentPartsOf, isImage } from "./content-parts.ts";

const PNG = "iVBORw0KGgo=";
const bytes = new Uint8Array(Buffer.from(PNG, "base64"));
const image = { type: "media", mediaType: "image/png", data: PNG };

describe("an output with media", () => {
  test.each<[string, unknown]>([
    ["an MCP image", { type: "image", data: PNG, mimeType: "image/png" }],
    ["an image with a media type", { type: "image", data: PNG, mediaType: "image/png" }],
    ["bytes", { type: "image", data: bytes, mediaType: "image/png" }],
    ["an AI SDK file", { type: "file", mediaType: "image/png", data: { type: "data", data: PNG } }],
    ["deprecated AI SDK data", { type: "image-data", mediaType: "image/png", data: PNG }],
    ["an Anthropic image", { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }],
    ["an OpenAI data URL", { type: "image", image: `data:image/png;base64,${PNG}` }],
    ["an OpenAI image", { type: "image", image: { data: bytes, mediaType: "image/png" } }],
    ["an OpenAI chat part", { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
    ["an MCP resource", { type: "resource", resource: { uri: "a:b", blob: PNG, mimeType: "image/png" } }],
  ])("is recognized as %s", (_name, output) => {
    expect(contentPartsOf(output)).toEqual([image]);
    expect(contentPartsOf([output])).toEqual([image]);
    expect(contentPartsOf({ content: [output] })).toEqual([image]);
    expect(contentPartsOf({ type: "content", value: [output] })).toEqual([image]);
  });

  test("keeps texts, order and URLs", () => {
    const output = [
      { type: "text", text: "before" },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      { type: "file", mediaType: "application/pdf", data: PNG, filename: "a.pdf" },
    ];
    const parts = contentPartsOf(output) ?? [];
    expect(parts).toEqual([
      { type: "text", text: "before" },
      { type: "media", mediaType: "image", url: "https://example.com/a.png" },
      { type: "media", mediaType: "application/pdf", data: PNG, filename: "a.pdf" },
    ]);
    expect(parts.map(isImage)).toEqual([false, true, false]);
  });

  test("keeps fields besides the content", () => {
    const content = [{ type: "image", data: PNG, mimeType: "image/png" }];
    expect(contentPartsOf({ content, structuredContent: { width: 3 } })).toEqual([
      image,
      { type: "text", text: '{"width":3}' },
    ]);
    const said = { type: "text", text: '{"width":3}' };
    expect(contentPartsOf({ content: [said, ...content], structuredContent: { width: 3 } })).toEqual([
      said,
      image,
    ]);
    expect(contentPartsOf({ content, title: "A" })).toEqual([image, { type: "text", text: '{"title":"A"}' }]);
  });
});

test.each<[string, unknown]>([
  ["a text", "a"],
  ["nothing", undefined],
  ["texts only", [{ type: "text", text: "a" }]],
  ["MCP text content", { content: [{ type: "text", text: "a" }] }],
  ["an empty list", []],
  ["a list with something else in it", [{ type: "image", data: PNG, mimeType: "image/png" }, 3]],
  ["a record that has a type", { type: "image", data: { width: 3 } }],
  ["data that is not base64", { type: "image", data: "a picture of a cat", mimeType: "image/png" }],
  ["a file without a media type", { type: "file", data: PNG }],
  ["bytes alone", bytes],
])("%s is not content with media", (_name, output) => {
  expect(contentPartsOf(output)).toBeUndefined();
});
