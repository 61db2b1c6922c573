import { UnsupportedFunctionalityError } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, test } from "vitest";
import { createScriptedModel } from "../../testing/index.ts";
import { openStream } from "./open-stream.ts";

const scripted = createScriptedModel(["hello"], { atEnd: "repeat-last" });
const request = { prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] };
const WHOLE = new ReadableStream<unknown>();
const open = (model: object): Promise<ReadableStream<unknown>> =>
  openStream(model as never, request as never, () => WHOLE);

test("a model that streams is called through its stream", async () => {
  expect(await open(scripted)).not.toBe(WHOLE);
});

test("a model that cannot stream returns the whole response", async () => {
  const doGenerate = scripted.doGenerate.bind(scripted) as never;
  const unsupported = (): never => {
    throw new UnsupportedFunctionalityError({ functionality: "streaming" });
  };
  expect(await open({ doGenerate })).toBe(WHOLE);
  expect(await open({ doGenerate, doStream: async () => undefined })).toBe(WHOLE);
  expect(await open({ doGenerate, doStream: unsupported })).toBe(WHOLE);
  expect(await open(new MockLanguageModelV4({ doGenerate }))).toBe(WHOLE);
});

test("an error of a model that streams is its answer: there is no second request", async () => {
  let requests = 0;
  const doGenerate = async (): Promise<object> => {
    requests += 1;
    return {};
  };
  // The text of an error says nothing about what the model can do.
  const doStream = (): never => {
    throw new Error("Not implemented: the service does not support streaming today");
  };
  await expect(open({ doGenerate, doStream })).rejects.toThrow("today");
  expect(requests).toBe(0);
  await expect(open(new MockLanguageModelV4({ doStream }))).rejects.toThrow("today");
});
