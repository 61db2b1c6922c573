/** The tasks of a run as a tree that the arrow keys move through. */
import { useRef, useState } from "preact/hooks";
import { duration, taskName } from "./format.ts";
import { Badge } from "./parts.tsx";
import { TaskPanel } from "./task-panel.tsx";
import { type Span, TimeBar } from "./time-bar.tsx";
import type { RunNode } from "./types.ts";

interface Item {
  readonly id: string;
  readonly node: RunNode;
  readonly level: number;
  readonly parent: string | undefined;
}

/** A workflow may have thousands of tasks. */
const MOST_ITEMS = 300;

interface RunTreeProps {
  readonly runId: string;
  readonly nodes: readonly RunNode[];
  readonly span: Span;
  readonly now: number;
}

export function RunTree({ runId, nodes, span, now }: RunTreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const [openId, setOpen] = useState<string>();
  const tree = useRef<HTMLUListElement>(null);
  const [isWhole, setWhole] = useState(false);
  const all = flatten(nodes, closed);
  const items = isWhole ? all : all.slice(0, MOST_ITEMS);
  const open = all.find(({ id }) => id === openId);
  const active = items.some(({ id }) => id === current) ? current : items[0]?.id;
  const focus = (id: string | undefined): void => {
    if (id === undefined) return;
    setCurrent(id);
    tree.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  };
  const toggle = (id: string, isClosed: boolean): void => {
    const next = new Set(closed);
    if (isClosed) next.add(id);
    else next.delete(id);
    setClosed(next);
  };
  const press = ({ id, node }: Item): void => {
    if (node.children.length > 0) toggle(id, !closed.has(id));
    else setOpen(id === openId ? undefined : id);
  };
  const close = (): void => {
    setOpen(undefined);
    focus(openId);
  };
  const onKey = (event: KeyboardEvent): void => {
    const index = items.findIndex(({ id }) => id === active);
    const item = items[index];
    if (item === undefined) return;
    const isGroup = item.node.children.length > 0;
    const moves: Readonly<Record<string, () => void>> = {
      Enter: () => press(item),
      " ": () => press(item),
      ArrowDown: () => focus(items[index + 1]?.id),
      ArrowUp: () => focus(items[index - 1]?.id),
      Home: () => focus(items[0]?.id),
      End: () => focus(items.at(-1)?.id),
      ArrowRight: () =>
        isGroup && closed.has(item.id) ? toggle(item.id, false) : focus(items[index + 1]?.id),
      ArrowLeft: () => (isGroup && !closed.has(item.id) ? toggle(item.id, true) : focus(item.parent)),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };
  return (
    <>
      <ul role="tree" aria-label="Tasks" class="tree" ref={tree} onKeyDown={onKey}>
        {items.map(({ id, node, level, parent }) => (
          <li
            key={id}
            role="treeitem"
            data-id={id}
            aria-level={level}
            aria-selected={id === active}
            {...(node.children.length > 0 ? { "aria-expanded": !closed.has(id) } : {})}
            tabIndex={id === active ? 0 : -1}
            class={`level-${Math.min(level, 8)}${id === openId ? " open" : ""}`}
            onFocus={() => setCurrent(id)}
            onClick={() => press({ id, node, level, parent })}
          >
            <NodeRow node={node} isClosed={closed.has(id)} span={span} now={now} />
          </li>
        ))}
      </ul>
      {items.length === all.length ? null : (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {all.length.toLocaleString("en")} tasks
        </button>
      )}
      {open === undefined ? null : <TaskPanel key={open.id} runId={runId} node={open.node} onClose={close} />}
    </>
  );
}

interface NodeRowProps {
  readonly node: RunNode;
  readonly isClosed: boolean;
  readonly span: Span;
  readonly now: number;
}

function NodeRow({ node, isClosed, span, now }: NodeRowProps) {
  const isGroup = node.children.length > 0;
  const ms = timeOf(node, now);
  const leaves = isGroup ? leavesOf(node.children) : [];
  const done = leaves.filter(({ status }) => status === "finished" || status === "skipped").length;
  return (
    <>
      <span class="name">
        <span class="twist" aria-hidden="true">
          {isGroup ? (isClosed ? "▸" : "▾") : ""}
        </span>
        <span class={isGroup ? "group" : "id"}>{taskName(node)}</span>
        {isGroup ? (
          <span class="muted small">
            {done} of {leaves.length}
          </span>
        ) : null}
        {node.attempt !== null && node.attempt > 1 ? (
          <span class="muted small">attempt {node.attempt}</span>
        ) : null}
      </span>
      <Badge status={node.status} />
      {node.startedAtMs === null ? (
        <span class="timeline" aria-hidden="true" />
      ) : (
        <TimeBar span={span} startedAtMs={node.startedAtMs} ms={ms ?? 0} status={node.status} />
      )}
      <span class="took muted small">{ms === undefined ? "" : duration(ms)}</span>
      {node.error?.message === undefined ? null : <span class="error small">{node.error.message}</span>}
    </>
  );
}

/** How long it has taken so far. Unknown for a task whose process is gone. */
function timeOf({ startedAtMs, finishedAtMs, status }: RunNode, now: number): number | undefined {
  const end = finishedAtMs ?? (status === "interrupted" ? null : now);
  return startedAtMs === null || end === null ? undefined : end - startedAtMs;
}

/** The tasks of a tree, without its groups. */
export function leavesOf(nodes: readonly RunNode[]): readonly RunNode[] {
  return nodes.flatMap((node) => (node.children.length === 0 ? [node] : leavesOf(node.children)));
}

function flatten(nodes: readonly RunNode[], closed: ReadonlySet<string>, level = 1, parent?: string): Item[] {
  return nodes.flatMap((node) => {
    const id = `${node.kind}/${node.path}/${node.nodeId}`;
    const children = closed.has(id) ? [] : flatten(node.children, closed, level + 1, id);
    return [{ id, node, level, parent }, ...children];
  });
}
