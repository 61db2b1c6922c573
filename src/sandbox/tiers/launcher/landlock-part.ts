/**
 * The part of the Perl launcher that confines files with Landlock, where namespaces are not available. The command is
 * confined, its parent is not: Landlock stops confined processes from tracing, and from its sixth version on from
 * signalling, processes outside.
 *
 * The working directory is the sandbox root when this starts. Step paths without a leading slash are relative to it.
 */
export const LANDLOCK_PART = String.raw`
my ($READ, $WRITE) = (0x000d, 0x77b2);
# The subset of the rights that applies to files.
my $ON_FILES = 0xc007;
my $version = sys(444, 0, 0, 1);
$version >= 1 or fail("this kernel has no Landlock");
my $handled = $version >= 5 ? 0xffff : $version >= 3 ? 0x7fff : $version == 2 ? 0x3fff : 0x1fff;
# From version 4 on the second field is for TCP ports, which the filter closes; from 6 on: abstract sockets and signals.
my $ruleset = sys(444, pack($version >= 6 ? "QQQ" : "Q", $handled, 0, 3), $version >= 6 ? 24 : 8, 0);
$ruleset >= 0 or fail("landlock_create_ruleset: $!");

sub allow_fd {
  my ($fd, $rights, $name) = @_;
  my $mode = (identity($fd))[2];
  $rights &= $handled;
  $rights &= $ON_FILES if !is_folder($mode);
  sys(445, $ruleset, 1, pack("Ql", $rights, $fd), 0) == 0 or fail("landlock_add_rule, $name: $!");
}
sub rights_of {
  return ($_[0] =~ /r/ ? $READ : 0) | ($_[0] =~ /w/ ? $WRITE : 0) | ($_[0] =~ /l/ ? 0x8 : 0);
}
sub open_step {
  my $path = $_[0];
  return $path =~ m{^/} ? open_at(-100, $path, 0, 0) : open_at(-100, $path, $O_NOFOLLOW, $INSIDE);
}
# What is protected, and the folders on the way to it, by device and inode: a name may have been swapped since the plan.
my %known;
sub carve {
  my ($own, $rights, $path, $left_out, $expected) = @_;
  my $folder = open_step($path);
  $folder >= 0 or mismatch("$path is no longer there");
  $expected eq "" or join(":", (identity($folder))[0, 1]) eq $expected or mismatch("$path was replaced");
  allow_fd($folder, rights_of($own), $path) if rights_of($own);
  my %left_out = map { $_ => 1 } ".", "..", split("/", $left_out);
  opendir(my $list, "/proc/self/fd/$folder") or fail("$path cannot be listed: $!");
  for my $name (grep { !$left_out{$_} } readdir($list)) {
    my $entry = open_at($folder, $name, $O_NOFOLLOW, $INSIDE);
    next if $entry < 0;
    my ($device, $inode, $mode) = identity($entry);
    my $is_known = $known{"$device:$inode"};
    $is_known && is_folder($mode) and mismatch("$path/$name was replaced");
    # A file that is protected under another name stays closed under this one.
    allow_fd($entry, rights_of($rights), "$path/$name") if !$is_known && (is_folder($mode) || is_file($mode));
    delete $kept{$entry};
  }
}
my %STEPS = (
  # What is not there needs no rule.
  allow => [2, sub {
    my $fd = open_step($_[1]);
    allow_fd($fd, rights_of($_[0]), $_[1]) if $fd >= 0;
  }],
  carve => [5, \&carve],
  known => [1, sub { $known{$_} = 1 for split(" ", $_[0]) }],
);

my $child = fork();
defined $child or fail("fork: $!");
if (!$child) {
  die_with_parent();
  close($life);
  while (@steps) {
    my $name = shift @steps;
    my ($count, $run) = @{ $STEPS{$name} || fail("unknown step $name") };
    $run->(splice(@steps, 0, $count));
  }
  # The streams are open already; programs open them once more, as /dev/stderr.
  for my $stream (1, 2) {
    my $mode = (identity($stream))[2];
    sys(445, $ruleset, 1, pack("Ql", 0x2, $stream), 0) if ($mode & 0170000) == 0010000;
  }
  my $folder = open_at(-100, $cwd, $O_DIRECTORY, $cwd eq "." ? 0 : $INSIDE);
  $folder >= 0 && sys($FCHDIR, $folder) == 0 or fail("the working directory: $!");
  give_up_rights();
  sys(446, $ruleset, 0) == 0 or fail("landlock_restrict_self: $!");
  set_filter();
  run_command();
}
hide_memory();
supervise($child);
`;
