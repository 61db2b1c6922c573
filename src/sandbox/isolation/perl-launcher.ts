/**
 * A launcher in Perl for the tiers below bubblewrap: it sets the seccomp filter, which no shell can, and stays as the
 * parent of everything the command starts: as the first process of a PID namespace, or in place of one. It must never run the command when the
 * filter could not be set.
 *
 * Descriptors: 3 brings the filter and then stays open, and its end means "kill everything"; 4 takes the status.
 */
import { SYSCALLS, type SeccompArchitecture } from "./seccomp-syscalls.ts";

export interface PerlLauncherOptions {
  readonly perl: string;
  readonly arch: SeccompArchitecture;
  readonly filterBytes: number;
}

/** The arguments that come before the command and its own. */
export function perlLauncher({ perl, arch, filterBytes }: PerlLauncherOptions): string[] {
  const numbers = [SYSCALLS[arch].prctl, filterBytes];
  return [perl, "-e", SCRIPT, "--", ...numbers.map(String)];
}

// PR_SET_NO_NEW_PRIVS 38, PR_SET_SECCOMP 22, PR_CAPBSET_DROP 24, PR_SET_CHILD_SUBREAPER 36. No modules: POSIX alone
// would triple the start. A number that Perl has read as text has to become one again before `syscall`.
const SCRIPT = `
my ($prctl, $length) = map { $_ + 0 } splice(@ARGV, 0, 2);
open(my $in, "<&=", 3) or exit 125;
open(my $status, ">&=", 4) or exit 125;
fcntl($in, 2, 1); fcntl($status, 2, 1);
sub report { syswrite($status, "{ $_[0] }\\n") }
sub fail { report(qq("failed": "$_[0]")); exit 125 }
my $filter = "";
while (length($filter) < $length) {
  sysread($in, $filter, $length - length($filter), length($filter)) or fail("no filter came");
}
sub confine {
  syscall($prctl, 24, $_, 0, 0, 0) for 0 .. 63;
  syscall($prctl, 38, 1, 0, 0, 0) == 0 or fail("no_new_privs: $!");
  my $program = pack("S x6 P", $length / 8, $filter);
  syscall($prctl, 22, 2, $program, 0, 0) == 0 or fail("seccomp: $!");
}
sub start {
  { no warnings; exec { $ARGV[0] } @ARGV; }
  report(sprintf(qq("exec-errno": %d), $! + 0));
  exit 127;
}
# Before the fork: a parent without the filter would be a way around it.
confine();
syscall($prctl, 36, 1, 0, 0, 0);
$SIG{$_} = "IGNORE" for qw(HUP INT TERM PIPE);
$SIG{CHLD} = sub {};
my $child = fork();
defined $child or fail("fork: $!");
if (!$child) { $SIG{$_} = "DEFAULT" for qw(HUP INT TERM PIPE CHLD); start(); }
report(qq("child-pid": $child));
my $result;
sub reap {
  while ((my $pid = waitpid(-1, 1)) > 0) { $result = $? if $pid == $child; }
}
sub parent_of {
  open(my $file, "<", "/proc/$_[0]/stat") or return 0;
  my $stat = join("", <$file>);
  return $stat =~ /^.*\\) \\S (\\d+)/s ? $1 : 0;
}
sub children {
  opendir(my $proc, "/proc") or return ();
  return grep { /^[0-9]+$/ && parent_of($_) == $$ } readdir($proc);
}
until (defined $result) {
  reap();
  last if defined $result;
  my $bits = ""; vec($bits, 3, 1) = 1;
  last if select($bits, undef, undef, 0.05) > 0 && !sysread($in, my $rest, 1);
}
# Orphans come to us: kill the children until none are left.
for (1 .. 1000) {
  my @left = children() or last;
  kill "KILL", @left;
  select(undef, undef, undef, 0.002);
  reap();
}
$result = 9 unless defined $result;
report(sprintf(qq("exit-code": %d), $result & 127 ? 128 + ($result & 127) : $result >> 8));
exit($result & 127 ? 128 + ($result & 127) : $result >> 8);
`;
