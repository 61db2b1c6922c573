/** A bar chart of one row as SVG. Readable on light and dark pages, and without the colours. */
import { barOf, formatNumber } from "./format-cell.ts";
import { type Comparison, ROWS, type RowId, systemsOf } from "./results.ts";

const WIDTH = 760;
const LABEL = 190;
const VALUE = 110;
const LINE = 26;
const TOP = 44;

/** The measure that the bars of a row show. */
export function captionOf(row: RowId): string {
  const { title, unit } = ROWS.find(({ id }) => id === row) ?? { title: "", unit: "" };
  if (unit === "effects")
    return `Orders repeated or lost after a kill in a call${row === "kill" ? "" : ", at a shop that takes keys"}`;
  if (row === "agent") return `${title}: µs per turn at the end`;
  return `${title}: ${unit}`;
}

export function renderChart(row: RowId, results: Comparison): string {
  const { cells } = results;
  const bars = systemsOf(results).map(({ id, name }) => ({ id, name, value: barOf(cells[row][id]) }));
  const longest = Math.max(...bars.map(({ value }) => value ?? 0), Number.MIN_VALUE);
  const height = TOP + bars.length * LINE + 12;
  const lines = bars.map(({ id, name, value }, index) => {
    const y = TOP + index * LINE;
    const length = value === undefined ? 0 : Math.round((value / longest) * (WIDTH - LABEL - VALUE));
    const colour = id.startsWith("toolwright") ? "#0969da" : "#8c959f";
    const text = value === undefined ? "–" : formatNumber(value);
    return [
      `  <text x="${LABEL - 10}" y="${y + 15}" text-anchor="end">${escape(name)}</text>`,
      `  <rect x="${LABEL}" y="${y + 2}" width="${length}" height="18" rx="2" fill="${colour}"/>`,
      `  <text x="${LABEL + length + 8}" y="${y + 15}">${text}</text>`,
    ].join("\n");
  });
  const caption = escape(captionOf(row));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${caption}" font-family="system-ui, sans-serif" font-size="13" fill="#1f2328">
  <title>${caption}</title>
  <rect width="${WIDTH}" height="${height}" rx="6" fill="#ffffff"/>
  <text x="16" y="26" font-size="15" font-weight="600">${caption}</text>
${lines.join("\n")}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
