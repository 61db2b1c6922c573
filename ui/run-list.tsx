/** The list of runs: filters in the address, live on the first page, older runs page by page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";
import { count, kindAndName } from "./format.ts";
import { type Live, useLive } from "./live.ts";
import { Ago, Badge, Empty, LiveState, Loading, ProblemBox, RunLink, Title, useNow } from "./parts.tsx";
import { address, go, onLink, withQuery } from "./router.ts";
import { RUN_KINDS, RUN_STATES, type RunPage, type RunSummary } from "./types.ts";

const FILTERS = ["status", "kind", "workflow", "label", "q"] as const;
const LIMIT = "50";

type ListPatch = RunPage & { readonly removed?: readonly string[] };

/** Changed rows replace the old ones; the newest are first, as the server orders them. */
function mergeRuns(list: RunPage, patch: Partial<ListPatch>): RunPage {
  const changed = new Map((patch.runs ?? []).map((run) => [run.runId, run]));
  const gone = new Set(patch.removed ?? []);
  const known = new Set(list.runs.map(({ runId }) => runId));
  const added = (patch.runs ?? []).filter(({ runId }) => !known.has(runId));
  const rest = list.runs.filter(({ runId }) => !gone.has(runId)).map((run) => changed.get(run.runId) ?? run);
  const runs = [...added, ...rest].toSorted((one, other) => other.createdAtMs - one.createdAtMs);
  return { runs, next: patch.next === undefined ? list.next : patch.next };
}

export function RunList() {
  const { query } = address.value;
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const before = query.get("before") ?? "";
  return (
    <main>
      <Title document="Runs">Runs</Title>
      <Filters />
      {before === "" ? <FirstPage filter={filter} /> : <OlderPage filter={filter} before={before} />}
    </main>
  );
}

function FirstPage({ filter }: { filter: Readonly<Record<string, string>> }) {
  const live = useLive<RunPage>({ ...filter, limit: LIMIT }, mergeRuns);
  return <Page live={live} isFirst />;
}

/** Older pages do not change on their own while someone reads them. */
function OlderPage({ filter, before }: { filter: Readonly<Record<string, string>>; before: string }) {
  const [page, setPage] = useState<RunPage>();
  const [problem, setProblem] = useState<Problem>();
  const key = JSON.stringify([filter, before]);
  useEffect(() => {
    const abort = new AbortController();
    setPage(undefined);
    setProblem(undefined);
    get<RunPage>("runs", { ...filter, before, limit: LIMIT }, abort.signal).then(
      setPage,
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(error));
      },
    );
    return () => abort.abort();
  }, [key]);
  return <Page live={{ data: page, problem, state: "ended" }} isFirst={false} />;
}

function Page({ live, isFirst }: { live: Live<RunPage>; isFirst: boolean }) {
  const now = useNow();
  const { data, problem } = live;
  return (
    <>
      <div class="bar">
        <LiveState live={live} />
        {data === undefined ? null : (
          <span class="muted small">{count(data.runs.length, "run")} on this page</span>
        )}
      </div>
      {problem === undefined ? null : <ProblemBox problem={problem} title="The list cannot be read" />}
      {data === undefined ? (
        problem === undefined ? (
          <Loading />
        ) : null
      ) : data.runs.length === 0 ? (
        <NoRuns />
      ) : (
        <ul class="runs" aria-label="Runs">
          {data.runs.map((run) => (
            <Row key={run.runId} run={run} now={now} />
          ))}
        </ul>
      )}
      <nav class="pages" aria-label="Pages">
        {isFirst ? null : (
          <a href={`?${withQuery({ before: "" }).toString()}`} onClick={onLink}>
            Newest runs
          </a>
        )}
        {data?.next == null ? null : (
          <a href={`?${withQuery({ before: data.next }).toString()}`} onClick={onLink} rel="next">
            Older runs
          </a>
        )}
      </nav>
    </>
  );
}

function Row({ run, now }: { run: RunSummary; now: number }) {
  return (
    <li>
      <div class="state">
        <Badge status={run.interrupted ? "interrupted" : run.status} />
      </div>
      <div class="what">
        <div class="line">
          <RunLink runId={run.runId} />
          <span class="muted">{kindAndName(run)}</span>
        </div>
        <p class="why">{run.why}</p>
        {Object.keys(run.labels).length === 0 ? null : (
          <div class="line small">
            {Object.entries(run.labels).map(([name, value]) => (
              <a
                class="label"
                key={name}
                href={`?${withQuery({ label: `${name}=${value}`, before: "" }).toString()}`}
                onClick={onLink}
              >
                {name}={value}
              </a>
            ))}
          </div>
        )}
      </div>
      <div class="numbers muted small">
        <Ago at={run.createdAtMs} now={now} />
        <span>
          {run.kind === "workflow" ? `${count(run.tasks, "task")} · ` : ""}
          {count(run.calls, "call")}
        </span>
        {run.pendingApprovals > 1 ? <span>{count(run.pendingApprovals, "approval")} pending</span> : null}
      </div>
    </li>
  );
}

function NoRuns() {
  const isFiltered = FILTERS.some((name) => address.value.query.has(name));
  return isFiltered ? (
    <Empty title="No run matches these filters." />
  ) : (
    <Empty title="There are no runs yet.">
      <p>
        Start one with a program, or with <code>toolwright up &lt;file&gt;</code>. It appears here
        immediately.
      </p>
    </Empty>
  );
}

function Filters() {
  const { query } = address.value;
  return (
    <form class="filters" role="search" aria-label="Filter runs" onSubmit={(event) => event.preventDefault()}>
      <TextFilter name="q" label="Search" placeholder="Run id or name" />
      <label>
        <span>Status</span>
        <select
          value={query.get("status") ?? ""}
          onChange={(event) => setFilter("status", event.currentTarget.value)}
        >
          <option value="">Any</option>
          {[...RUN_STATES, "interrupted"].map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
      </label>
      <label>
        <span>Kind</span>
        <select
          value={query.get("kind") ?? ""}
          onChange={(event) => setFilter("kind", event.currentTarget.value)}
        >
          <option value="">Any</option>
          {RUN_KINDS.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </select>
      </label>
      <TextFilter name="workflow" label="Workflow" placeholder="Name" />
      <TextFilter name="label" label="Label" placeholder="key=value" />
      {FILTERS.some((name) => query.has(name)) ? (
        <button type="button" class="quiet" onClick={() => go("", new URLSearchParams(), "replace")}>
          Clear filters
        </button>
      ) : null}
    </form>
  );
}

const TYPING_MS = 200;

/** Applied shortly after the last key, or immediately with Enter. */
function TextFilter({ name, label, placeholder }: { name: string; label: string; placeholder: string }) {
  const current = address.value.query.get(name) ?? "";
  const [text, setText] = useState(current);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(current), [current]);
  const apply = (value: string): void => {
    clearTimeout(timer.current);
    // A label without "=" is not complete yet.
    if (name === "label" && value !== "" && !/^[^=]+=/.test(value)) return;
    setFilter(name, value);
  };
  return (
    <label class={`filter-${name}`}>
      <span>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={placeholder}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => apply(value), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") apply(event.currentTarget.value);
        }}
      />
    </label>
  );
}

function setFilter(name: string, value: string): void {
  go("", withQuery({ [name]: value, before: "" }), "replace");
}
