/**
 * The command line for the tier below bubblewrap: namespaces by `unshare`, with the host's files as they are. It must
 * never be started without `setpriv --pdeathsig`: `unshare` itself would outlive a killed parent.
 */

export interface UnshareRequest {
  readonly setpriv: string;
  readonly unshare: string;
  readonly allowNetwork: boolean;
  /** Sets the filter where Perl is installed; without it only capabilities are dropped. */
  readonly launcher: readonly string[] | undefined;
}

/** The arguments that come before the command and its own. */
export function unshareCommand({ setpriv, unshare, allowNetwork, launcher }: UnshareRequest): string[] {
  return [
    setpriv,
    "--pdeathsig",
    "KILL",
    "--",
    unshare,
    "--user",
    "--map-current-user",
    "--mount",
    "--pid",
    "--ipc",
    "--uts",
    ...(allowNetwork ? [] : ["--net"]),
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--",
    ...(launcher ?? [
      setpriv,
      "--bounding-set=-all",
      "--inh-caps=-all",
      "--no-new-privs",
      "--",
      "/bin/sh",
      "-c",
      REPORT_AND_RUN,
      "sh",
    ]),
  ];
}

// Not `exec`: the first process of a namespace ignores signals and has to reap orphans, which a command does not expect.
const REPORT_AND_RUN = `printf '{ "child-pid": 1 }\\n' >&4; exec 3<&- 4>&-; "$@"; exit $?`;
