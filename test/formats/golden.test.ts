/**
 * The stored formats, character by character. A test that fails here means that existing stores would not be understood:
 * add a further version beside the old one, do not change the vectors. See docs/internals/formats.md.
 */
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import {
  businessKey,
  callKey,
  callText,
  scopeText,
  type ScopeIdentity,
} from "../../src/definition/call-key.ts";
import type { ToolSpec } from "../../src/definition/tool-spec.ts";
import { fingerprintOf } from "../../src/invoke/approvals/contract.ts";
import { mask } from "../../src/invoke/redact.ts";
import { pathOf } from "../../src/invoke/scope.ts";
import { canonicalText } from "../../src/util/canonical.ts";
import { describeContent } from "../../src/invoke/content-digest.ts";
import { decode, encode, HostValue } from "../../src/util/encode.ts";
import { digest, keyedHash, sha256 } from "../../src/util/hash.ts";

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./golden/${name}.json`, import.meta.url), "utf8"));
}

/** The vectors describe values by the expression that makes them. */
const evaluate = (expression: string): unknown => runInThisContext(`(${expression})`);

interface ValueVector {
  readonly value: string;
  readonly canonical: string;
  /** By version 1, where it differs. */
  readonly canonicalV1?: string;
  readonly encoded: string;
  /** Where it is not the value itself. */
  readonly decoded?: string;
  /** What version 0.1 stored for the value, where it differs. */
  readonly encodedV1?: string;
}

const VALUES = read("values") as readonly ValueVector[];

test.each(VALUES)("the canonical text of $value", ({ value, canonical, canonicalV1 }) => {
  expect(canonicalText(evaluate(value))).toBe(canonical);
  expect(canonicalText(evaluate(value), 2)).toBe(canonical);
  expect(canonicalText(evaluate(value), 1)).toBe(canonicalV1 ?? canonical);
});

test.each(VALUES)("the stored form of $value", ({ value, encoded, decoded = value, encodedV1 }) => {
  expect(encode(evaluate(value))).toBe(encoded);
  expect(decode(encoded)).toStrictEqual(evaluate(decoded));
  if (encodedV1 !== undefined) expect(encode(decode(encodedV1))).toBe(encodedV1);
});

test("the stored form of an object that a tool returned to its loop", () => {
  const stored =
    '{"$type":"host","value":["langgraph.Command",{"goto":"next","at":{"$type":"date","value":"2026-01-02T03:04:05.000Z"}}]}';
  const data = { goto: "next", at: new Date("2026-01-02T03:04:05Z") };
  expect(encode(new HostValue("langgraph.Command", data))).toBe(stored);
  const read = decode(stored);
  expect(read).toBeInstanceOf(HostValue);
  expect(read).toMatchObject({ kind: "langgraph.Command", data });
});

interface KeyVectors {
  readonly calls: readonly {
    readonly scope: ScopeIdentity;
    readonly scopeText: string;
    readonly toolName: string;
    readonly args: string;
    readonly place: number | string;
    readonly key: string;
    readonly keyV1?: string;
  }[];
  readonly business: readonly { readonly toolName: string; readonly key: string; readonly digest: string }[];
  readonly paths: readonly { readonly loop: number[]; readonly turn?: number; readonly path: string }[];
  readonly marks: readonly { readonly secret: string; readonly value: string; readonly mark: string }[];
  readonly fingerprints: readonly { readonly spec: ToolSpec; readonly fingerprint: string }[];
  readonly hashes: {
    readonly sha256: Readonly<Record<string, string>>;
    readonly digest: readonly { readonly parts: (string | number)[]; readonly digest: string }[];
    readonly keyedHash: readonly { readonly secret: string; readonly text: string; readonly hash: string }[];
    readonly describeContent: readonly { readonly content: string; readonly description: object }[];
  };
}

const KEYS = read("keys") as KeyVectors;

test.each(KEYS.calls)("the key of $toolName $args at $place in $scopeText", (vector) => {
  const scope = scopeText(vector.scope);
  expect(scope).toBe(vector.scopeText);
  const key = (version?: 1 | 2): string =>
    callKey(scope, vector.place, callText(vector.toolName, evaluate(vector.args), version));
  expect(key()).toBe(vector.key);
  expect(key(2)).toBe(vector.key);
  expect(key(1)).toBe(vector.keyV1 ?? vector.key);
});

test("rules 1 and 35: the keys of different calls differ", () => {
  expect(new Set(KEYS.calls.map(({ key }) => key)).size).toBe(KEYS.calls.length);
});

test.each(KEYS.business)("the business key $key of $toolName", ({ toolName, key, digest: expected }) => {
  expect(businessKey(toolName, key)).toBe(expected);
});

test.each(KEYS.paths)("the path $path", ({ loop, turn, path }) => {
  expect(pathOf(loop, turn)).toBe(path);
});

test.each(KEYS.marks)("the redaction mark of $value", ({ secret, value, mark: expected }) => {
  expect(mask({ field: evaluate(value) }, ["field"], secret)).toEqual({ field: expected });
});

test.each(KEYS.fingerprints)("the fingerprint of $spec.name", ({ spec, fingerprint }) => {
  expect(fingerprintOf(spec)).toBe(fingerprint);
});

test("rule 35: the hashes that keys are made of", () => {
  for (const [text, hash] of Object.entries(KEYS.hashes.sha256)) expect(sha256(text)).toBe(hash);
  for (const { parts, digest: expected } of KEYS.hashes.digest) expect(digest(parts)).toBe(expected);
  for (const { secret, text, hash } of KEYS.hashes.keyedHash) expect(keyedHash(secret, text)).toBe(hash);
  for (const { content, description } of KEYS.hashes.describeContent)
    expect(describeContent(content)).toEqual(description);
});
