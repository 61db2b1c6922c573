/** Resolves when `promise` settles or the signal is aborted, whichever is first. Never rejects. */
export async function untilAborted(
  promise: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const settled = promise.then(
    () => undefined,
    () => undefined,
  );
  if (signal === undefined) return settled;
  const aborted = Promise.withResolvers<void>();
  const stop = (): void => aborted.resolve();
  if (signal.aborted) return;
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([settled, aborted.promise]);
  signal.removeEventListener("abort", stop);
}
