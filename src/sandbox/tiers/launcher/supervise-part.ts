/**
 * The part of the Perl launcher for tiers without a PID namespace. It stays as the parent of everything that the
 * command starts, and kills all of it when the command has ended or the agent is gone.
 */
export const SUPERVISE_PART = String.raw`
sub parent_of {
  open(my $file, "<", "/proc/$_[0]/stat") or return 0;
  my $stat = join("", <$file>);
  return $stat =~ /^.*\) \S (\d+)/s ? $1 : 0;
}
# The kernel's own list, where it has one; else the parent of every process.
sub children {
  if (open(my $list, "<", "/proc/$$/task/$$/children")) { return split(" ", join("", <$list>)) }
  opendir(my $proc, "/proc") or return ();
  return grep { /^[0-9]+$/ && parent_of($_) == $$ } readdir($proc);
}
my $result;
sub reap {
  my $child = $_[0];
  while ((my $pid = waitpid(-1, 1)) > 0) { $result = $? if $pid == $child }
}
sub supervise {
  my $child = $_[0];
  report(qq("child-pid": $child));
  my $ended = sys(434, $child, 0);
  $ended >= 0 or fail("pidfd: $!");
  until (defined $result) {
    my $bits = ""; vec($bits, 3, 1) = 1; vec($bits, $ended, 1) = 1;
    # An orphan that ends interrupts the wait, and then the bits mean nothing.
    my $ready = select($bits, undef, undef, 1);
    reap($child);
    last if $ready > 0 && vec($bits, 3, 1);
  }
  # Orphans come here, so the children are killed until none are left.
  for (1 .. 1000) {
    my @left = children() or last;
    kill("KILL", @left);
    select(undef, undef, undef, 0.002);
    reap($child);
  }
  my $code = code_of(defined $result ? $result : 9);
  report(sprintf(qq("exit-code": %d), $code));
  quit($code);
}
# PR_SET_CHILD_SUBREAPER 36.
sys($PRCTL, 36, 1, 0, 0, 0);
$SIG{CHLD} = sub {};
`;

/** The filter alone. It is set before the fork: a parent without the filter would be a way around it. */
export const FILTER_PART = String.raw`
chdir($cwd) or fail("the working directory: $!");
give_up_rights();
set_filter();
hide_memory();
my $child = fork();
defined $child or fail("fork: $!");
run_command() if !$child;
supervise($child);
`;
