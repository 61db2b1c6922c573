/** The page of `toolwright serve`: runs, one run, approvals, schedules, workers. Everything that runs, tools and models produced is text here. */
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { ApprovalList } from "./approval-list.tsx";
import { notice } from "./notice.ts";
import { Title } from "./parts.tsx";
import { usePolled } from "./polled.ts";
import { address, onLink } from "./router.ts";
import { RunList } from "./run-list.tsx";
import { RunView } from "./run.tsx";
import { ScheduleList } from "./schedule-list.tsx";
import { WorkerList } from "./worker-list.tsx";
import { readSession, session } from "./session.ts";
import { escapeTexts } from "./safe-text.ts";

function View() {
  const { path } = address.value;
  if (path === "" || path === "runs") return <RunList />;
  if (path === "approvals") return <ApprovalList />;
  if (path === "schedules") return <ScheduleList />;
  if (path === "workers") return <WorkerList />;
  const runId = /^runs\/([^/]+)$/.exec(path)?.[1];
  const decoded = runId === undefined ? undefined : decode(runId);
  if (decoded !== undefined) return <RunView key={decoded} runId={decoded} />;
  return (
    <main>
      <Title document="Not found">This page does not exist</Title>
      <p>
        <a href="." onClick={onLink}>
          All runs
        </a>
      </p>
    </main>
  );
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function App() {
  const { path } = address.value;
  const current = (name: string): { "aria-current"?: "page" } =>
    path === name || (name === "" && path.startsWith("runs")) ? { "aria-current": "page" } : {};
  useEffect(() => void readSession(), []);
  return (
    <>
      <a class="skip" href="#view">
        Skip to the content
      </a>
      <header>
        <strong class="brand">Toolwright</strong>
        <nav aria-label="Views">
          <a href="." onClick={onLink} {...current("")}>
            Runs
          </a>
          <a href="approvals" onClick={onLink} {...current("approvals")}>
            Approvals
            <PendingCount />
          </a>
          <a href="schedules" onClick={onLink} {...current("schedules")}>
            Schedules
          </a>
          <a href="workers" onClick={onLink} {...current("workers")}>
            Workers
          </a>
        </nav>
        <SignedIn />
      </header>
      <p class="notice" aria-live="polite">
        {notice.value}
      </p>
      <div id="view">
        <View />
      </div>
    </>
  );
}

const COUNT_EVERY_MS = 4_000;

/** How many requests wait for a decision, on every view. */
function PendingCount() {
  const { data } = usePolled<{ total: number }>("approvals?status=pending&limit=1", COUNT_EVERY_MS);
  if (data === undefined || data.total === 0) return null;
  return (
    <span class="count">
      {data.total.toLocaleString("en")}
      <span class="spoken"> pending</span>
    </span>
  );
}

function SignedIn() {
  if (session.value === undefined) return null;
  const { name, readOnly, scopes } = session.value;
  const isReader = readOnly || !(scopes.includes("decide") || scopes.includes("operate"));
  return (
    <span class="signed-in muted small">
      {isReader ? <span class="tag">read-only</span> : null}
      <span class="wide">
        Signed in as <strong>{name}</strong>
      </span>
    </span>
  );
}

escapeTexts();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
