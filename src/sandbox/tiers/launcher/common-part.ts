/**
 * The part of the Perl launcher that every tier shares: its descriptors, its report, its syscall numbers, and how a
 * process drops its privileges. It loads no module and no locale: POSIX alone would triple the start time, and even
 * `no warnings` loads a file.
 *
 * Descriptors: 3 stays open as long as the agent lives, 4 receives the status, 5 delivers the plan.
 */
import { SYSCALLS, type SeccompArchitecture } from "../seccomp-syscalls.ts";

/** Numbers that differ between architectures. The newer calls (from 424 on) have the same number everywhere. */
export function numbersPart(arch: SeccompArchitecture): string {
  const { prctl, mount, umount2, pivotRoot, unshare, capset, fchdir, exitGroup } = SYSCALLS[arch];
  const [directory, noFollow] = arch === "x64" ? [0x1_0000, 0x2_0000] : [0x4000, 0x8000];
  return String.raw`
my ($PRCTL, $MOUNT, $UMOUNT2, $PIVOT_ROOT, $UNSHARE, $CAPSET, $FCHDIR, $EXIT_GROUP) =
  (${[prctl, mount, umount2, pivotRoot, unshare, capset, fchdir, exitGroup].join(", ")});
my ($O_DIRECTORY, $O_NOFOLLOW) = (${directory}, ${noFollow});
`;
}

/**
 * `sys` copies its arguments, because `syscall` needs strings that it may write to. A number that arrives as text has
 * to be converted first.
 */
export const COMMON_PART = String.raw`
my ($O_PATH, $CLOEXEC) = (0x200000, 0x80000);
# Of openat2: no magic links, no links at all, nothing above the folder, the folder as "/".
my ($NO_MAGIC, $NO_LINKS, $BENEATH, $IN_ROOT) = (2, 4, 8, 16);
my $INSIDE = $BENEATH | $NO_LINKS | $NO_MAGIC;
open(my $life, "<&=", 3) or exit 125;
open(my $status, ">&=", 4) or exit 125;
open(my $data, "<&=", 5) or exit 125;
fcntl($_, 2, 1) for $life, $status, $data;
sub sys { my ($number, @rest) = @_; return syscall($number, @rest) }
# Without the tidying up that Perl would do first.
sub quit { sys($EXIT_GROUP, $_[0] + 0) }
sub report { syswrite($status, "{ $_[0] }\n") }
sub give_up {
  my ($why, @words) = @_;
  my $words = join("", @words);
  $words =~ s/[^ -~]|["\\]/?/g;
  report(qq("$why": "$words"));
  quit(125);
}
sub fail { give_up("failed", @_) }
# The root is not what it was when the plan was made: another plan may do.
sub mismatch { give_up("mismatch", @_) }
my $plan = "";
while (sysread($data, $plan, 65536, length $plan)) {}
my ($filter, $cwd, $variables, @steps) = unpack("(N/a*)*", $plan);
my %environment = unpack("(N/a*)*", $variables);
close($data);

sub open_at {
  my ($folder, $path, $flags, $resolve) = @_;
  return sys(437, $folder + 0, $path, pack("QQQ", $flags | $O_PATH | $CLOEXEC, 0, $resolve), 24);
}
sub close_fd { open(my $handle, "<&=", $_[0]); close($handle) }
# Device, inode, mode.
sub identity {
  open(my $handle, "<&=", $_[0]) or return ();
  my @stat = stat($handle);
  # The handle must not close the descriptor, so it gives up a copy of its own.
  $kept{$_[0]} = $handle;
  return @stat[0, 1, 2];
}
sub is_folder { return ($_[0] & 0170000) == 0040000 }
sub is_file { return ($_[0] & 0170000) == 0100000 }

# All capability sets, then no_new_privs: PR_CAPBSET_DROP 24, PR_CAP_AMBIENT 47 (clear all 4), PR_SET_NO_NEW_PRIVS 38.
sub give_up_rights {
  sys($PRCTL, 24, $_, 0, 0, 0) for 0 .. 63;
  sys($PRCTL, 47, 4, 0, 0, 0);
  sys($CAPSET, pack("LL", 0x20080522, 0), "\0" x 24) == 0 or fail("capset: $!");
  sys($PRCTL, 38, 1, 0, 0, 0) == 0 or fail("no_new_privs: $!");
}
# PR_SET_SECCOMP 22, SECCOMP_MODE_FILTER 2. Never the command without the filter.
sub set_filter {
  length($filter) >= 8 or fail("no filter came");
  my $program = pack("S x6 P", length($filter) / 8, $filter);
  sys($PRCTL, 22, 2, $program, 0, 0) == 0 or fail("seccomp: $!");
}
# PR_SET_DUMPABLE 4: the command, which has the same user, must not look into the launcher.
sub hide_memory { sys($PRCTL, 4, 0, 0, 0, 0) }
# PR_SET_PDEATHSIG 1.
sub die_with_parent { sys($PRCTL, 1, 9, 0, 0, 0) == 0 or fail("pdeathsig: $!") }

sub run_command {
  $SIG{$_} = "DEFAULT" for qw(HUP INT TERM PIPE CHLD);
  %ENV = %environment;
  exec { $ARGV[0] } @ARGV;
  report(sprintf(qq("exec-errno": %d), $! + 0));
  quit(127);
}
sub code_of { return $_[0] & 127 ? 128 + ($_[0] & 127) : $_[0] >> 8 }
$SIG{$_} = "IGNORE" for qw(HUP INT TERM PIPE);
`;
