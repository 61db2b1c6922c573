/** Reserves stdout for the result of a command: sends output of user code to stderr meanwhile. */

/** @returns a function that restores stdout */
export function reserveStdout(): () => void {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return () => {
    stdout.write = write;
  };
}
