/** The tasks of a run as a tree that the arrow keys move through. */
import { useRef, useState } from "preact/hooks";
import { duration } from "./format.ts";
import { Badge } from "./parts.tsx";
import type { RunNode } from "./types.ts";

interface Item {
  readonly id: string;
  readonly node: RunNode;
  readonly level: number;
  readonly parent: string | undefined;
}

export function RunTree({ nodes, now }: { nodes: readonly RunNode[]; now: number }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const tree = useRef<HTMLUListElement>(null);
  const items = flatten(nodes, closed);
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
  const onKey = (event: KeyboardEvent): void => {
    const index = items.findIndex(({ id }) => id === active);
    const item = items[index];
    if (item === undefined) return;
    const isGroup = item.node.children.length > 0;
    const moves: Readonly<Record<string, () => void>> = {
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
    <ul role="tree" aria-label="Tasks" class="tree" ref={tree} onKeyDown={onKey}>
      {items.map(({ id, node, level }) => (
        <li
          key={id}
          role="treeitem"
          data-id={id}
          aria-level={level}
          aria-selected={id === active}
          {...(node.children.length > 0 ? { "aria-expanded": !closed.has(id) } : {})}
          tabIndex={id === active ? 0 : -1}
          class={`level-${Math.min(level, 8)}`}
          onFocus={() => setCurrent(id)}
          onClick={() => {
            if (node.children.length > 0) toggle(id, !closed.has(id));
          }}
        >
          <span class="twist" aria-hidden="true">
            {node.children.length === 0 ? "" : closed.has(id) ? "▸" : "▾"}
          </span>
          <span class="id">{node.nodeId}</span> <Badge status={node.status} />
          {node.kind === "task" ? null : <span class="muted small"> {node.kind}</span>}
          {node.attempt !== null && node.attempt > 1 ? (
            <span class="muted small"> attempt {node.attempt}</span>
          ) : null}
          {node.path === "" || node.path === "0" ? null : <span class="muted small"> pass {node.path}</span>}
          {node.startedAtMs === null ? null : (
            <span class="muted small"> {duration((node.finishedAtMs ?? now) - node.startedAtMs)}</span>
          )}
          {node.error?.message === undefined ? null : <span class="error small"> {node.error.message}</span>}
        </li>
      ))}
    </ul>
  );
}

function flatten(nodes: readonly RunNode[], closed: ReadonlySet<string>, level = 1, parent?: string): Item[] {
  return nodes.flatMap((node) => {
    const id = `${node.path}/${node.nodeId}`;
    const children = closed.has(id) ? [] : flatten(node.children, closed, level + 1, id);
    return [{ id, node, level, parent }, ...children];
  });
}
