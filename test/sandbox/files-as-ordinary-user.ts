/**
 * Runs a test without root's power to bypass permissions. Must always restore the rights of the process.
 */
const NOBODY = 65_534;

export async function asOrdinaryUser(test: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return test();
  const group = process.getegid?.() ?? 0;
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    await test();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(group);
  }
}
