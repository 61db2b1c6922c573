/** The dashboard and the alert rules use only metrics that exist, and include the metrics that operators need. */
import type { Meter } from "@opentelemetry/api";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createInstruments } from "../../src/otel/instruments.ts";

const read = (name: string): string =>
  readFileSync(new URL(`../../examples/telemetry/${name}`, import.meta.url), "utf8");

/** As the Prometheus exporter of a collector names them. */
function prometheusNames(): Set<string> {
  const names = new Set<string>();
  const add = (name: string, unit: string | undefined, ...suffixes: string[]): void => {
    const base = `${name.replaceAll(".", "_")}${unit === "s" ? "_seconds" : ""}`;
    for (const suffix of suffixes) names.add(`${base}${suffix}`);
  };
  const meter = {
    createHistogram: (name: string, { unit }: { unit?: string } = {}) =>
      add(name, unit, "_bucket", "_count", "_sum"),
    createCounter: (name: string, { unit }: { unit?: string } = {}) => add(name, unit, "_total"),
    createObservableGauge: (name: string, { unit }: { unit?: string } = {}) => add(name, unit, ""),
    addBatchObservableCallback: () => undefined,
  };
  createInstruments(meter as unknown as Meter, async () => undefined);
  return names;
}

const LABELS = /\bby \([^)]*\)|\{[^}]*\}/g;
const NAME = /\b(?:toolwright|gen_ai|error)_\w+/g;

/** The names in expressions that are not labels. */
const metricsIn = (text: string): string[] => [...new Set(text.replaceAll(LABELS, "").match(NAME))];
const labelsIn = (text: string): string[] => [
  ...new Set(text.match(LABELS)?.flatMap((part) => part.match(NAME) ?? [])),
];

/** The attributes that the reference lists for metrics, as labels. */
function knownLabels(): Set<string> {
  const page = readFileSync(new URL("../../docs/reference/telemetry.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("## Metrics"));
  return new Set(
    [...table.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g)].map(([, name = ""]) => name.replaceAll(".", "_")),
  );
}

const dashboard = JSON.parse(read("grafana-dashboard.json")) as {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
};
const targets = dashboard.panels.flatMap((panel) => panel.targets);
/** Without the comments, and the texts for people. */
const rules = read("alerts.yaml").replaceAll(/^ *#.*$|^ *(?:summary|description):.*$/gm, "");

it("every metric of the dashboard and of the alerts exists, and so does every label", () => {
  const used = [...targets.map(({ expr }) => expr), rules];
  const names = used.flatMap(metricsIn);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !prometheusNames().has(name))).toEqual([]);
  const labels = used.flatMap(labelsIn);
  expect(labels.length).toBeGreaterThan(10);
  expect(labels.filter((label) => !knownLabels().has(label))).toEqual([]);
  for (const { expr, legendFormat } of targets)
    expect(legendFormat.match(NAME)?.filter((label) => !labelsIn(expr).includes(label)) ?? []).toEqual([]);
});

it("counters that appear in new processes are seen from their first event on", () => {
  for (const name of ["toolwright_calls_unknown_total", "toolwright_runs_taken_over_total"])
    for (const text of [rules, targets.map(({ expr }) => expr).join("\n")])
      expect(text).toMatch(new RegExp(`min_over_time\\(${name}[^)]*\\)\\s+unless ${name}\\S* offset`));
});

it("the alerts cover pending approvals, unknown calls, queue lag, crash loops and commit time", () => {
  const needed = [
    "toolwright_approvals_oldest_seconds",
    "toolwright_calls_unknown_total",
    "toolwright_queue_oldest_seconds",
    "toolwright_queue_lag_seconds_bucket",
    "toolwright_runs_taken_over_total",
    "toolwright_store_commit_duration_seconds_bucket",
  ];
  expect(needed.filter((name) => !metricsIn(rules).includes(name))).toEqual([]);
});
