/**
 * The part of the Perl launcher that builds a root in new namespaces. Everything is mounted by descriptor: each
 * source is opened once, without following links inside the sandbox root, and exactly that object is mounted.
 *
 * The working directory is the sandbox root when this starts. A descriptor would belong to the old mounts; the
 * working directory moves along into the new mount namespace.
 */
export const NAMESPACES_PART = String.raw`
my ($RDONLY, $NOSUID, $NODEV) = (1, 2, 4);
my ($NEW_ROOT, $old_root, $sandbox_root, $empty, $nothing);
my @guarded;

sub mount_at {
  my ($type, $path, $flags, $options) = @_;
  sys($MOUNT, $type, $path, $type, $flags, $options) == 0 or fail("mount of $path: $!");
}
# A copy of what lies at one descriptor, with all that is mounted below it, put on top of another.
sub attach {
  my ($from, $to, $attributes, $name) = @_;
  my $tree = sys(428, $from + 0, "", 1 | $CLOEXEC | 0x1000 | 0x8000);
  $tree >= 0 or fail("$name cannot be bound: $!");
  sys(442, $tree, "", 0x1000 | 0x8000, pack("QQQQ", $attributes, 0, 0, 0), 32) == 0 or fail("$name, mount_setattr: $!");
  sys(429, $tree, "", $to + 0, "", 0x44) == 0 or fail("$name cannot be mounted: $!");
  return $tree;
}
# Makes the place for a mount, which lies outside the sandbox root, and opens it.
sub place {
  my ($path, $is_folder) = @_;
  my $so_far = "";
  my @names = grep { length } split("/", $path);
  my $last = pop @names;
  mkdir($so_far .= "/$_", 0755) for @names;
  if ($is_folder) { mkdir("$so_far/$last", 0755) }
  elsif (!lstat("$so_far/$last")) { open(my $made, ">", "$so_far/$last") }
  my $fd = open_at($NEW_ROOT, substr($path, 1), 0, $IN_ROOT);
  $fd >= 0 or fail("$path cannot be made: $!");
  return $fd;
}
sub bind_host {
  my ($source, $target, $attributes) = @_;
  my $from = open_at($old_root, substr($source, 1), 0, $IN_ROOT);
  return 0 if $from < 0;
  my $to = place($target, is_folder((identity($from))[2]));
  attach($from, $to, $attributes, $target);
  return 1;
}

my %STEPS = (
  # Folders of the system and toolchains, read-only. One that is gone by now is left out.
  show => [1, sub { bind_host($_[0], $_[0], $RDONLY | $NOSUID | $NODEV) }],
  device => [1, sub { bind_host($_[0], $_[0], $NOSUID) }],
  folder => [1, sub { place($_[0], 1) }],
  link => [2, sub { place($1, 1) if $_[1] =~ m{^(/.+)/}; symlink($_[0], $_[1]) or fail("$_[1]: $!") }],
  memory => [3, sub { place($_[0], 1); mount_at("tmpfs", $_[0], $NOSUID | $NODEV, "mode=$_[1],size=$_[2]") }],
  proc => [0, sub { place("/proc", 1); mount_at("proc", "/proc", $NOSUID | $NODEV | 8, "") }],
  terminals => [0, sub {
    mkdir("/dev/pts", 0755);
    sys($MOUNT, "devpts", "/dev/pts", "devpts", $NOSUID | 8, "newinstance,ptmxmode=0666,mode=620") == 0
      and symlink("pts/ptmx", "/dev/ptmx");
  }],
  # Again, read-only: a place that is mounted already.
  seal => [1, sub {
    sys(442, -100, $_[0], 0, pack("QQQQ", $RDONLY, 0, 0, 0), 32) == 0 or fail("$_[0], read-only: $!");
  }],
  freeze => [1, sub {
    my $at = open_at($NEW_ROOT, substr($_[0], 1), 0, $IN_ROOT);
    attach($at, $at, $RDONLY, $_[0]) if $at >= 0;
  }],
  # Outside the sandbox root: nothing to see in its place. What is gone needs no mask.
  mask => [1, sub {
    my $at = open_at($NEW_ROOT, substr($_[0], 1), 0, $IN_ROOT);
    attach(is_folder((identity($at))[2]) ? $empty : $nothing, $at, $RDONLY | $NODEV, $_[0]) if $at >= 0;
  }],
  root => [2, sub {
    my $to = place($_[0], 1);
    my $from = open_at(-100, ".", $O_DIRECTORY, 0);
    $from >= 0 or fail("the root: $!");
    $sandbox_root = attach($from, $to, $NOSUID | $NODEV | ($_[1] eq "ro" ? $RDONLY : 0), "the root");
  }],
  # In the sandbox root: a name, as it is now, and no link on the way to it.
  guard => [3, sub {
    my ($kind, $path, $expected) = @_;
    my $at = open_at($sandbox_root, $path, $O_NOFOLLOW, $INSIDE);
    $at >= 0 or mismatch("$path is no longer there");
    my ($device, $inode, $mode) = identity($at);
    "$device:$inode" eq $expected or mismatch("$path was replaced");
    my $from = $kind eq "hide" ? (is_folder($mode) ? $empty : $nothing) : $at;
    ($device, $inode) = identity($from);
    # Without NODEV the null device could be opened, and writing to what is hidden would seem to work.
    attach($from, $at, $kind eq "pin" ? 0 : $kind eq "hide" ? $RDONLY | $NODEV : $RDONLY, $path);
    push @guarded, [$path, $device, $inode];
  }],
  loopback => [0, sub {
    socket(my $any, 2, 2, 0) or fail("loopback: $!");
    my $request = pack("a16 s x22", "lo", 1);
    ioctl($any, 0x8914, $request) or fail("loopback: $!");
  }],
);
# Another command may have renamed something between the look and the mount.
sub verify_guarded {
  for (@guarded) {
    my ($path, $device, $inode) = @$_;
    my $at = open_at($sandbox_root, $path, $O_NOFOLLOW, $INSIDE);
    my @found = $at < 0 ? () : identity($at);
    @found && $found[0] == $device && $found[1] == $inode
      or mismatch("$path was replaced");
  }
}

sub build_root {
  mount_at("tmpfs", "/usr", $NOSUID | $NODEV, "mode=0755,size=4194304");
  mkdir("/usr/.host", 0700);
  sys($PIVOT_ROOT, "/usr", "/usr/.host") == 0 or fail("pivot_root: $!");
  ($NEW_ROOT, $old_root) = map { open_at(-100, $_, $O_DIRECTORY, 0) } "/", "/.host";
  $NEW_ROOT >= 0 && $old_root >= 0 or fail("the new root: $!");
  mkdir("/.empty", 0555);
  mount_at("tmpfs", "/.empty", $NOSUID | $NODEV, "mode=0555,size=4096");
  $empty = open_at(-100, "/.empty", $O_DIRECTORY, 0);
  $nothing = open_at($old_root, "dev/null", 0, $IN_ROOT);
  while (@steps) {
    my $name = shift @steps;
    my ($count, $run) = @{ $STEPS{$name} || fail("unknown step $name") };
    $run->(splice(@steps, 0, $count));
  }
  verify_guarded();
  # What was mounted from these two stays; their own places go.
  sys($UMOUNT2, "/.empty", 2) == 0 && rmdir("/.empty") or fail("the empty folder: $!");
  sys($UMOUNT2, "/.host", 2) == 0 && rmdir("/.host") or fail("the host's files: $!");
  sys(442, -100, "/", 0, pack("QQQQ", $RDONLY, 0, 0, 0), 32) == 0 or fail("read-only root: $!");
  chdir($cwd) or fail("the working directory: $!");
}

sub write_map {
  open(my $file, ">", "/proc/self/$_[0]") or fail("$_[0]: $!");
  syswrite($file, $_[1]) or fail("$_[0]: $!");
}
my $own_network = shift(@steps) eq "own";
my ($user, $group) = ($>, $) + 0);
# NEWUSER, NEWNS, NEWPID, NEWIPC, NEWUTS, NEWCGROUP, and NEWNET.
my $new = 0x10000000 | 0x20000 | 0x20000000 | 0x08000000 | 0x04000000 | 0x02000000;
sys($UNSHARE, $new | ($own_network ? 0x40000000 : 0)) == 0 or fail("new namespaces: $!");
write_map("setgroups", "deny");
write_map("uid_map", "$user $user 1");
write_map("gid_map", "$group $group 1");
sys($MOUNT, "none", "/", "none", 0x44000, "") == 0 or fail("private mounts: $!");

my $first = fork();
defined $first or fail("fork: $!");
if (!$first) {
  # The first process of the namespace: when it ends, everything in it ends.
  die_with_parent();
  close($life);
  build_root();
  give_up_rights();
  set_filter();
  # close_range: nothing of the host stays open behind the new root.
  sys(436, 6, 0xffffffff, 0) == 0 or fail("close_range: $!");
  hide_memory();
  my $child = fork();
  defined $child or fail("fork: $!");
  run_command() if !$child;
  report(qq("child-pid": $child));
  while ((my $pid = waitpid(-1, 0)) > 0) {
    next if $pid != $child;
    report(sprintf(qq("exit-code": %d), code_of($?)));
    quit(code_of($?));
  }
  quit(125);
}
my $ended = sys(434, $first, 0);
$ended >= 0 or fail("pidfd: $!");
my $bits = ""; vec($bits, 3, 1) = 1; vec($bits, $ended, 1) = 1;
select($bits, undef, undef, undef);
kill("KILL", $first) if !vec($bits, $ended, 1);
waitpid($first, 0);
quit(code_of($?));
`;
