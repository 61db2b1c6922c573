/** `docs/comparison.md`, made from the results of one run. Nothing on the page is written by hand. */
import { formatLong, formatShort } from "./format-cell.ts";
import { captionOf } from "./render-chart.ts";
import { type Comparison, ROWS, systemsOf } from "./results.ts";

export function renderPage(results: Comparison): string {
  const { columns, cells, command, date, node, machine } = results;
  const systems = systemsOf(results);
  const summary = table(
    ["", ...ROWS.map(({ title }) => title)],
    systems.map(({ id, name }) => [name, ...ROWS.map((row) => formatShort(row.id, cells[row.id][id]))]),
  );
  const sections = ROWS.map(
    (row) => `## ${row.title}

${wrap(row.about)}

![${captionOf(row.id)}](images/comparison-${row.id}.svg)

${table(
  ["system", "result"],
  systems.map(({ id, name }) => [name, formatLong(row.id, cells[row.id][id])]),
)}`,
  );
  const uses = table(
    ["system", "versions", "how it is used"],
    systems.map(({ id, name }) => {
      const { setup, versions } = columns[id] ?? { setup: "It failed in every row.", versions: {} };
      const list = Object.entries(versions).map(([key, version]) => `${key} ${version}`);
      return [name, list.join(", "), setup];
    }),
  );
  return `# Comparison with other systems

<!-- Written by \`npm run bench -- peers\`. Do not edit: run the command again. -->

${wrap(
  `Each system does the same work in its own processes on one machine. \`${command}\` in the repository installs the systems, ` +
    "measures, and writes this page, its charts, and the numbers in `docs/comparison.json`.",
)}

| measured | |
| --- | --- |
| date | ${date} |
| machine | ${machine} |
| Node | ${node} |

Times depend on the machine; compare the lines of one table. Less is better everywhere. "–" means that a system does not do this; its
section says why. "*" means that it was stopped.

${summary}

${sections.join("\n\n")}

## How each system is used

PostgreSQL runs on the same machine with its default durability (\`fsync\` on). SQLite files are in WAL mode.

${uses}

The code is in \`bench/peers/\` and \`bench/comparison/\`. If you know a better way to use one of these systems, please open an issue.
`;
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...lines.map(line)].join("\n");
}

/** At most 140 columns. */
function wrap(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last.length + word.length + 1 > 140) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join("\n");
}
