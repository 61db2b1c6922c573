/** Where stdout is for one answer: what the code of others prints there meanwhile goes to stderr. */

/** @returns how to end it */
export function keepOutputApart(): () => void {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return () => {
    stdout.write = write;
  };
}
