/** What a piece of work costs this process: waiting for the machine, which others may keep busy, is not counted. */
export function startCpuClock(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
