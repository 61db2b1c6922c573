/** When something happened within its run. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

interface TimeBarProps {
  readonly span: Span;
  readonly startedAtMs: number;
  readonly ms: number;
  /** The color and pattern; its text is next to the bar. */
  readonly status: string;
}

/** An entry without an end may have begun at the end of the span, and must still be visible. */
const OPEN: ReadonlySet<string> = new Set(["pending", "waiting", "interrupted", "unknown"]);

export function TimeBar({ span, startedAtMs, ms, status }: TimeBarProps) {
  const whole = span.to - span.from;
  const narrowest = OPEN.has(status) ? 6 : 1;
  const left = Math.min(100 - narrowest, Math.max(0, ((startedAtMs - span.from) / whole) * 100));
  const width = Math.max(narrowest, Math.min(100 - left, (ms / whole) * 100));
  return (
    <span class="timeline" aria-hidden="true">
      <span class={`span ${status}`} style={{ left: `${left}%`, width: `${width}%` }} />
    </span>
  );
}
