/** The progress of a tool as text for one line on a terminal. */
export function progressText({
  message,
  data,
}: {
  readonly message: string;
  readonly data: unknown;
}): string {
  const { progress, total } = (typeof data === "object" && data !== null ? data : {}) as Record<
    string,
    unknown
  >;
  if (typeof progress !== "number" || message !== "") return message;
  return typeof total === "number" ? `${progress}/${total}` : String(progress);
}
