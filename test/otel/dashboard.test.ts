/** The dashboard and the alert rules ask only for metrics that exist, and for those that operators need. */
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

const metricsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/\b(?:toolwright|gen_ai)_\w+(?=[[{)])/g)].map(([name]) => name)),
];

it("every metric of the dashboard exists", () => {
  const dashboard = JSON.parse(read("grafana-dashboard.json")) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const names = expressions
    .flatMap(metricsIn)
    .filter((name) => !/_name$|_type$|_model$|_source$|_kind$/.test(name));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !prometheusNames().has(name))).toEqual([]);
});

it("the alerts cover pending approvals, unknown calls, queue lag, crash loops and commit time", () => {
  const alerts = read("alerts.yaml");
  const needed = [
    "toolwright_approvals_oldest_seconds",
    "toolwright_calls_unknown_total",
    "toolwright_queue_lag_seconds_bucket",
    "toolwright_runs_taken_over_total",
    "toolwright_store_commit_duration_seconds_bucket",
  ];
  expect(needed.filter((name) => !alerts.includes(name) || !prometheusNames().has(name))).toEqual([]);
});
