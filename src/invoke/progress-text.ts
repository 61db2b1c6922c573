/** What a tool reported of its progress, in words, for a line on a terminal. */
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
