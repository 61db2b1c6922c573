/** Keeps phrases out of the project that only its first authors understood. STYLE: write what an engineer would say. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const SELF = "test/project/plain-english.test.ts";

/** Each with what to write instead. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bon record\b/i, "stored, logged, recorded"],
  [/\b(?:goes|go|going) on with\b|\bgoes on\b/i, "resumes, continues"],
  [/\banew\b/i, "again, from the start"],
  // Not the user "nobody" of the system, nor a constant named after it.
  [/\b[Nn]obody\b(?!")|\bsomebody\b|\b[Ww]hoever\b/, "name the caller, the process, the listener"],
  [/\b(?:is|are|was|were|be) told\b/i, "receives, is notified"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\brobbed\b/i, "never takes over from a live owner"],
  [/\bparted\b/i, "split"],
  [/\bfor ever\b/i, "forever, or say how long"],
  [/\bwhat (?:came|comes) of\b|\bcame of it\b/i, "the outcome, the result"],
  [/\ba person (?:is asked|decides|has to decide)\b/i, "needs approval, waits for approval"],
  [/\bwho asks\b|\bwants no part\b/i, "the caller; opts out"],
  [/\blets? go of\b/i, "releases"],
  [/\bany more\b/i, "no longer"],
  [/\bin clear\b/i, "in plain text"],
  [/\bagain and again\b/i, "repeatedly"],
  [
    /, also (?:if|when|where|after|without|for|in|of|those|from|through|on|with|at|by)\b/,
    "even if, including",
  ],
  [/\b(?:models?|agents?|tools?|clients?|messages) of the AI SDK\b/i, "AI SDK models"],
  [/\bother makers\b/i, "third-party"],
  [/\b(?:with|for|has|have) other arguments\b|\bother [a-z]+ than\b/i, "different arguments; other than"],
  [/\bsome (?:hundred|thousand|(?:milli|micro)?seconds)\b/i, "several, a few"],
  [/\b[a-z]+s? of ours\b(?!")/, "our own"],
  [/\bnothing of (?:it|them)\b/i, "none of its data; it is discarded"],
  [/\bits? time is over\b/i, "its time is up; it has expired"],
  [
    /\b(?:tak(?:e|es|en)|took) (?:it|this|them)? ?for (?:a|an|the|its|dead|that)\b/,
    "mistaken for, presumed, counts as",
  ],
  [/\bhears? of\b/, "is notified, gets the answer"],
  [/\ball the same\b/, "still, anyway"],
  [/\bas of an? /, "such as from a, for example of a"],
  [/\bmay not (?:write|change|touch|read|enter)\b/, "must not, cannot"],
  [/\bthat of (?:a|an|the)\b/, "repeat the noun, or write whose it is: the key of the call, the call's key"],
];

/** Descriptions that models read. They are part of the request hash of stored runs, so they cannot change. */
const FIXED = [
  "nextOffset of the page before goes on.",
  "write: the whole plan anew.",
  "[Earlier parts of this conversation are not shown any more.]",
];

/** Released notes and records of decisions. */
const PAST = /^(?:CHANGELOG\.md|docs\/decisions\/00(?:0\d|1[0-7])-|test\/formats\/|api\/|sql\/|package-lock)/;

const FOLDERS = [
  "src",
  "test",
  "docs",
  "examples",
  "templates",
  "packages",
  "bench",
  "scripts",
  "skills",
  "ui",
  ".github",
];

const files = [
  ...FOLDERS.flatMap((folder) =>
    readdirSync(resolve(ROOT, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  ),
  ...readdirSync(ROOT),
].filter(
  (name) =>
    /\.(?:ts|tsx|md|mjs|ya?ml)$/.test(name) &&
    !/node_modules|dist\//.test(name) &&
    !PAST.test(name) &&
    name !== SELF,
);

test.each(BANNED)("no file says %s", (phrase, instead) => {
  const found = files.flatMap((name) =>
    readFileSync(resolve(ROOT, name), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        phrase.test(line) && !FIXED.some((text) => line.includes(text))
          ? [`${name}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(found, `write instead: ${instead}`).toEqual([]);
});
