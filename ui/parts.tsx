/** Small parts that several views share. */
import { escapeUnsafe } from "../src/util/storable-text.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "./api.ts";
import { ago, moment } from "./format.ts";
import type { Live } from "./live.ts";
import { onLink, runPath } from "./router.ts";

/** The page's clock: ages and deadlines advance without an event. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function Title({ children, document: name }: { children: ComponentChildren; document: string }) {
  useEffect(() => {
    document.title = escapeUnsafe(`${name} · Toolwright`);
  }, [name]);
  return <h1 tabIndex={-1}>{children}</h1>;
}

export function RunLink({ runId }: { runId: string }) {
  return (
    <a href={runPath(runId)} onClick={onLink} class="id">
      {runId}
    </a>
  );
}

/** Status is never shown by color alone. */
export function Badge({ status, children }: { status: string; children?: ComponentChildren }) {
  return <span class={`badge ${status}`}>{children ?? status}</span>;
}

export function Loading() {
  return (
    <div class="loading">
      <p class="muted">Loading…</p>
      <div class="skeleton" />
      <div class="skeleton" />
      <div class="skeleton" />
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

/** One fact of a list of facts (`<dl class="facts">`). */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Ago({ at, now }: { at: number; now: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)}>
      {ago(at, now)}
    </time>
  );
}

export function ProblemBox({ problem, title }: { problem: Problem; title?: string }) {
  const isSignedOut = problem.status === 401;
  return (
    <div class="problem" role="alert">
      <strong>{isSignedOut ? "You are signed out" : (title ?? "Something went wrong")}</strong>
      <p>
        {isSignedOut
          ? "Open the link that toolwright serve printed, or start it again for a new one."
          : problem.message}
      </p>
      {!isSignedOut && problem.hint !== "" ? <p class="hint">{problem.hint}</p> : null}
    </div>
  );
}

const STATES = {
  connecting: "Connecting…",
  live: "Live",
  reconnecting: "Reconnecting…",
  ended: "Not live",
} as const;

/** Announced when it changes. @param children what else is live, such as the status of the run */
export function LiveState({
  live,
  children,
}: {
  live: Pick<Live<unknown>, "state">;
  children?: ComponentChildren;
}) {
  return (
    <div role="status" class="line">
      {children}
      <span class={`live-state ${live.state}`}>{STATES[live.state]}</span>
    </div>
  );
}

export function Command({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const code = useRef<HTMLElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2_000);
    } catch {
      // Without TLS, browsers allow it on this machine only. The command can still be selected.
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
    }
  };
  return (
    <span class="command">
      <code ref={code}>{text}</code>
      <button type="button" class="quiet" onClick={() => void copy()}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </span>
  );
}
