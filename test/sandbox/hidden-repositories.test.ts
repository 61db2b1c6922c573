/**
 * Attacks that hide a repository, or one of its settings, from the scan for programs that git would run: in folders whose
 * names resemble `.git`, behind pointers, links, hard links and permissions, and in syntax that only git reads. Each was a
 * hole. They run as root and as an ordinary user. The tests check whether the user's git runs the attacker's program.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { attackers, createAttackPlace, isConfinedOnly, type AttackPlace } from "./attack-harness.ts";
import { requireBubblewrap } from "./process-harness.ts";

beforeAll(requireBubblewrap);

const SLOW = { timeout: 120_000 };

/** A repository at `path` whose git folder is `git`, with a commit, and `evil` as its monitor. */
const repository = (path: string, git: string): string =>
  `mkdir -p ${path}; git init -q --separate-git-dir=${git} ${path}; git -C ${path} commit -q --allow-empty -m x; git -C ${path} config core.fsmonitor $PWD/evil; rm ${path}/.git`;
const monitor = (before: string): string => `printf '${before}\\tfsmonitor = %s/evil\\n' $PWD`;
/** An unfinished rebase of the user. */
const REBASE = `git branch b2; git checkout -q b2; echo y > y; git add y; git commit -qm y; git config advice.x y; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i HEAD~1 || true`;
/** Git runs git-merge-<strategy>, here git-merge-../../evil. */
const STRATEGY = `mkdir -p git-merge-..;`;
const INIT = `git init -q sub; git -C sub commit -q --allow-empty -m x`;

/** The setup by the user, and the commands of the agent, one call each. */
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    "settings of a repository next to a folder with a similar name",
    `true`,
    [`mkdir .git. .GIT '.git '`, `git config core.fsmonitor $PWD/evil`],
  ],
  [
    "hooks of a repository next to a folder with a similar name",
    `true`,
    [`mkdir .git. .GIT '.git '`, `cp evil .git/hooks/pre-commit`],
  ],
  [
    "a repository in a folder whose name resembles .git",
    `true`,
    [
      `d=$(printf '.g\\342\\200\\214it'); mkdir $d; git init -q $d/sub; git -C $d/sub commit -q --allow-empty -m x; git -C $d/sub config core.fsmonitor $PWD/evil; git add $d/sub`,
    ],
  ],
  // Renamed into place as the last step: the command may be stopped as soon as the name exists.
  ...[".toolwright", "toolwright.config.d"].map(
    (name) =>
      [
        `a repository in the folder ${name}`,
        `true`,
        [
          `mkdir x; git init -q x/sub; git -C x/sub commit -q --allow-empty -m x; git -C x/sub config core.fsmonitor $PWD/evil; git update-index --add --cacheinfo 160000,$(git -C x/sub rev-parse HEAD),${name}/sub; mv x ${name}`,
        ],
      ] as const,
  ),
  [
    "a link .git to a folder inside the repository",
    `true`,
    [`${repository("sub", "$PWD/.git/other")}; ln -s ../.git/other sub/.git; git add sub`],
  ],
  [
    "a link .git to a file that names a folder inside the repository",
    `true`,
    [
      `${repository("sub", "$PWD/.git/other")}; echo "gitdir: $PWD/.git/other" > pointer; ln -s ../pointer sub/.git; git add sub`,
    ],
  ],
  [
    "a file .git that names a link into the repository",
    `true`,
    [
      `${repository("sub", "$PWD/.git/other")}; ln -s .git/other link; echo "gitdir: ../link" > sub/.git; git add sub`,
    ],
  ],
  [
    "a file .git that names a folder behind a link",
    `true`,
    [
      `${repository("sub", "$PWD/.git/other/x")}; ln -s .git/other link; echo "gitdir: ../link/x" > sub/.git; git add sub`,
    ],
  ],
  [
    "a git folder that one command makes and another fills",
    `true`,
    [`mkdir -p sub/.git`, `${INIT}; git add sub; git -C sub config core.fsmonitor $PWD/evil`],
  ],
  [
    "a symbolic ref to the file that names another git folder",
    `git reset -q`,
    [
      `h=$(git rev-parse HEAD); cp -r .git /tmp/copy; mv /tmp/copy .git/$h; ${monitor("[core]\\n\\trepositoryformatversion = 0\\n")} > .git/$h/config; echo "ref: commondir" > .git/ORIG_HEAD`,
    ],
  ],
  [
    "a file .git that is longer than a path",
    `true`,
    [
      `${repository("sub", "$PWD/.git/other")}; (echo "gitdir: ../.git/other"; yes '' | head -20000) > sub/.git; git add sub`,
    ],
  ],
  [
    "a file .git with a zero byte",
    `true`,
    [`${repository("sub", "$PWD/.git/other")}; printf 'gitdir: ../.git/other\\0x' > sub/.git; git add sub`],
  ],
  [
    "a commondir that names a link into the repository",
    `true`,
    [
      `${repository("sub", "$PWD/.git/other")}; ln -s .git/other link; mkdir sub/.git; cp .git/other/HEAD sub/.git/; echo ../../link > sub/.git/commondir; git add sub`,
    ],
  ],
  [
    "a repository in a folder that cannot be listed",
    `true`,
    [`${INIT}; git add sub; git -C sub config core.fsmonitor $PWD/evil; chmod 311 sub`],
  ],
  [
    "a git folder that cannot be listed",
    `true`,
    [`${INIT}; git add sub; git -C sub config core.fsmonitor $PWD/evil; chmod 311 sub/.git sub/.git/hooks`],
  ],
  [
    "a repository in a folder whose name is not text",
    `true`,
    [
      `d=$(printf 'a\\377'); git init -q $d/sub; git -C $d/sub commit -q --allow-empty -m x; git -C $d/sub config core.fsmonitor $PWD/evil; git add $d/sub`,
    ],
  ],
  [
    "settings of a repository in a folder whose name is not text",
    `d=$(printf 'a\\377'); git init -q $d/sub; git -C $d/sub commit -q --allow-empty -m x; git add $d/sub`,
    [`d=$(printf 'a\\377'); git -C $d/sub config core.fsmonitor $PWD/evil`],
  ],
  [
    "a file .git that names a folder whose name is not text",
    `true`,
    [
      `d=$(printf '.git/a\\377'); ${repository("sub", "$PWD/$d")}; echo "gitdir: ../$d" > sub/.git; git add sub`,
    ],
  ],
  [
    "a git folder that cannot be changed",
    `true`,
    [
      `${INIT}; git add sub; git -C sub config core.fsmonitor $PWD/evil; cp evil sub/.git/hooks/pre-commit; chmod 555 sub sub/.git sub/.git/hooks`,
    ],
  ],
  [
    "settings with another name of the same file",
    `true`,
    [`${INIT}; git add sub; ln sub/.git/config copy`, `${monitor("[core]\\n")} >> copy`],
  ],
  [
    "settings that cannot be read, with another name",
    `true`,
    [
      `${INIT}; git add sub; git -C sub config core.fsmonitor $PWD/evil; ln sub/.git/config copy; chmod 0 copy`,
      `chmod 644 copy`,
    ],
  ],
  [
    "a hook with another name of the same file",
    `true`,
    [
      `${INIT}; git add sub; cp evil copy; chmod -x copy; for h in post-index-change pre-commit post-commit; do ln copy sub/.git/hooks/$h; done`,
      `chmod +x copy`,
    ],
  ],
  ...[
    ["after a comment behind a section", `[core] # \\\\\\n`],
    ["after a comment behind a value", `[core]\\n\\tbare = false # \\\\\\n`],
    ["after a comment in a continued line", `[core]\\n\\tbare = false \\\\\\n # \\\\\\n`],
    ["after a semicolon behind a value", `[core]\\n\\tbare = "false" ; "\\\\\\n`],
  ].map(
    ([where = "", before = ""]) =>
      [`a setting ${where}`, `true`, [`${INIT}; git add sub; ${monitor(before)} > sub/.git/config`]] as const,
  ),
  [
    "the hooks that husky starts",
    `mkdir -p .husky/_; printf '#!/bin/sh\\n. "$(dirname "$0")/h"\\n' > .husky/_/pre-commit; chmod +x .husky/_/pre-commit; printf 's=$(dirname "$(dirname "$0")")/$(basename "$0"); [ ! -f "$s" ] || sh -e "$s"\\n' > .husky/_/h; printf 'true\\n' > .husky/pre-commit; git config core.hooksPath .husky/_`,
    [`cp evil .husky/pre-commit`],
  ],
  [
    "core.hooksPath with .. behind a link",
    `mkdir -p a/b; ln -s a/b l; git config core.hooksPath l/../hooks`,
    [`mkdir -p a/hooks hooks; cp evil a/hooks/pre-commit; cp evil hooks/pre-commit`],
  ],
  [
    "the target of a hook in a hooks folder that is a link",
    `mkdir scripts tools; cp -r .git/hooks/. scripts; rm -r .git/hooks; ln -s ../scripts .git/hooks; printf '#!/bin/sh\\n' > tools/hook; chmod +x tools/hook; ln -s ../tools/hook scripts/pre-commit`,
    [`cp evil tools/hook`, `cp evil new; mv -f new tools/hook`],
  ],
  [
    "a filter's program that is started in another folder",
    `mkdir tools; printf '#!/bin/sh\\ncat\\n' > tools/clean; chmod +x tools/clean; git config filter.f.clean 'cd tools && ./clean'; echo '* filter=f' > .gitattributes`,
    [`cp evil tools/clean`],
  ],
  [
    "a filter's program in a folder whose name has a space",
    `mkdir 'a b'; printf '#!/bin/sh\\ncat\\n' > 'a b/clean.sh'; chmod +x 'a b/clean.sh'; git config filter.f.clean '"./a b/clean.sh" %f'; echo '* filter=f' > .gitattributes`,
    [`cp evil 'a b/clean.sh'`],
  ],
  [
    "a filter's program that is named from the top of the work tree",
    `mkdir tools; printf '#!/bin/sh\\ncat\\n' > tools/clean.sh; chmod +x tools/clean.sh; git config filter.f.clean '"$(git rev-parse --show-toplevel)/tools/clean.sh" %f'; echo '* filter=f' > .gitattributes`,
    [`cp evil tools/clean.sh`],
  ],
  [
    "the program that a remote is asked with",
    `printf '#!/bin/sh\\nexec git-upload-pack "$@"\\n' > up.sh; chmod +x up.sh; git config remote.origin.url .; git config remote.origin.uploadpack "$PWD/up.sh"`,
    [`cp evil up.sh`],
  ],
  [
    "a missing program that a remote is asked with",
    `git config remote.origin.url .; git config remote.origin.uploadpack ./tools/up.sh`,
    [`mkdir tools; cp evil tools/up.sh`],
  ],
  [
    "the program that a remote of a new repository is asked with",
    `true`,
    [
      `${INIT}; git -C sub config remote.origin.url $PWD; git -C sub config remote.origin.uploadpack $PWD/evil`,
    ],
  ],
  [
    "a command in the list of a rebase",
    REBASE,
    [`printf 'exec %s/evil\\n' $PWD >> .git/rebase-merge/git-rebase-todo`],
  ],
  ...[
    [
      "a link to a list",
      `l=.git/rebase-merge/git-rebase-todo; (cat $l; echo "exec $PWD/evil") > list; rm -f $l; ln -s $PWD/list $l`,
    ],
    [
      "a link to the folder of a list",
      `cp -r .git/rebase-merge folder; echo "exec $PWD/evil" >> folder/git-rebase-todo; rm -r .git/rebase-merge; ln -s ../folder .git/rebase-merge`,
    ],
    [
      "a long list",
      `l=.git/rebase-merge/git-rebase-todo; echo "exec $PWD/evil" >> $l; (printf '# '; head -c 5000000 /dev/zero | tr '\\0' x) >> $l`,
    ],
    ["a merge strategy", `${STRATEGY} printf ../../evil > .git/rebase-merge/strategy`],
    [
      "the refs to update at the end",
      `h=$(git rev-parse HEAD); cp -r .git /tmp/copy; mv /tmp/copy .git/$h; ${monitor("[core]\\n\\trepositoryformatversion = 0\\n")} > .git/$h/config; printf 'commondir\\n%s\\n%s\\n' ${"0".repeat(40)} $h > .git/rebase-merge/update-refs`,
    ],
  ].map(([what = "", text = ""]) => [`${what} of a rebase`, REBASE, [text]] as const),
  [
    "a merge strategy of a cherry-pick",
    `${REBASE}; git rebase --abort; git checkout -q --detach HEAD~1; echo z > y; git add y; git commit -qm z; git cherry-pick b2~1 b2 || true`,
    [
      `${STRATEGY} mkdir -p .git/sequencer; printf '[Options]\\n\\tStrategy = "../../evil"\\n' > .git/sequencer/opts`,
    ],
  ],
];

const IDENTITY = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a`;
const FIRST_COMMIT = `git init -q . && echo x > tracked && git add tracked && git commit -qm first`;
const makeEvil = (mark: string): string =>
  `printf '#!/bin/sh\\ntouch ${mark}\\ncat 2>/dev/null\\n' > evil; chmod +x evil`;
/** The user's git, in a repository whose new repositories are in `folder`. */
const useGit = (folder: string): string =>
  `exec </dev/null; git status; git diff; echo x >> tracked; git add tracked; git commit -qm x; git submodule status; timeout 5 git fetch -q; GIT_EDITOR=true git rebase --continue; GIT_EDITOR=true git cherry-pick --continue; git reset -q; git status; (cd ${folder}/sub && git status && git commit --allow-empty -qm x; timeout 5 git fetch -q); true`;

/** `git init` and `git config` need chmod, which Landlock's filter denies: an attacker writes the same files. */
const GIT_WITHOUT_CHMOD = `git() {
  d=.; [ "$1" = -C ] && { d=$2; shift 2; }
  case "$1" in
    init) shift; g=; for a; do case $a in -q) ;; --separate-git-dir=*) g=\${a#*=};; *) t=$a;; esac; done
      mkdir -p "$t"; if [ -n "$g" ]; then echo "gitdir: $g" > "$t/.git"; else g=$t/.git; fi
      mkdir -p "$g/objects" "$g/refs/heads" "$g/hooks"; echo "ref: refs/heads/master" > "$g/HEAD"
      printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n' > "$g/config";;
    config) g=$(cd "$d" && command git rev-parse --absolute-git-dir)
      printf '[%s]\\n\\t%s = %s\\n' "\${2%.*}" "\${2##*.}" "$3" >> "$g/config";;
    *) command git -C "$d" "$@";;
  esac; }`;

/**
 * Under Landlock nothing can be added next to a `.git`, so new repositories are made one folder below, by a program that
 * the user has made executable. All cases share one agent, each in its own repository.
 */
describe.runIf(isConfinedOnly()).each(attackers(1))("in one root, as %s", (user) => {
  let place: AttackPlace;
  const folders = CASES.map(([, prepare], index) => [
    `case${index}`,
    prepare === "true" ? `case${index}/work` : `case${index}`,
  ]);
  const markOf = (index: number): string => join(place.base, `PWNED-${index}`);

  beforeAll(async () => {
    place = createAttackPlace(user);
    for (const [index, [, prepare]] of CASES.entries()) {
      const [repository = "", folder = ""] = folders[index] ?? [];
      place.person(
        `mkdir -p ${folder}; (cd ${repository}; ${FIRST_COMMIT}; ${prepare}); cd ${folder}; ${makeEvil(markOf(index))}; rm -f ${markOf(index)}`,
      );
    }
    const steps = CASES.flatMap(([, , commands], index) =>
      commands.map((text) => ({
        bash: `cd ${folders[index]?.[1]}; ${IDENTITY}; ${GIT_WITHOUT_CHMOD}\n${text}; true`,
      })),
    );
    const ended = await place.run(...steps);
    // A command that was refused before it started would have attacked nothing.
    expect(ended.filter(({ code }) => code !== undefined && code !== "TOOL_PATH_PROTECTED")).toEqual([]);
    for (const [repository = "", folder = ""] of folders)
      place.person(`cd ${repository}; git add -A; ${useGit(folder === repository ? "." : "work")}`);
    return () => place.remove();
  }, 300_000);

  test.each(CASES.map(([name], index) => [name, index] as const))("%s cannot be planted", (_, index) => {
    expect(existsSync(markOf(index))).toBe(false);
  });
});

describe.runIf(!isConfinedOnly()).each(attackers(1))("as %s", (user) => {
  let place: AttackPlace;
  beforeEach(() => {
    place = createAttackPlace(user);
    return () => place.remove();
  });

  test.each(CASES)("%s cannot be planted", SLOW, async (_, prepare, commands) => {
    place.person(`${FIRST_COMMIT}; ${prepare}; rm -f ../PWNED`);
    const start = `${makeEvil(join(place.base, "PWNED"))}; ${IDENTITY}; `;
    await place.run(...commands.map((text) => ({ bash: `${start}${text}; true` })));
    place.person(useGit("."));
    expect(place.isPwned()).toBe(false);
  });

  test.each([
    ["that cannot be entered", `mkdir -p a/b/c; chmod 600 a`],
    ["whose path is too long", `perl -e 'for (1 .. 50) { mkdir("d" x 200); chdir("d" x 200) } mkdir("x")'`],
    [
      "whose path is almost too long, with many protected paths in it",
      `perl -e 'my $left = 4020 - length($ENV{PWD}); while ($left > 0) { my $n = "d" x ($left > 200 ? 199 : $left); mkdir($n); chdir($n); $left -= 200 } mkdir(".git"); chdir(".git"); mkdir($_) for qw(objects refs hooks); for (qw(HEAD config)) { open(my $f, ">", $_); print $f "ref: refs/heads/x" if /HEAD/ }'; git -c core.longpaths=true status; true`,
    ],
    [
      "with pipes that git would read",
      `git init -q .; git init -q sub; rm sub/.git/config; for f in .git/config.worktree .git/commondir .git/rebase-merge sub/.git/config sub/.git/commondir toolwright.db x.sqlite; do mkfifo $f; done; mkdir a; mkfifo a/.git`,
    ],
  ])("a folder %s breaks neither the agent nor its later commands", SLOW, async (_, text) => {
    const [, later] = await place.run({ bash: `${text}; sleep 0.5` }, { bash: `echo works` });
    expect(later).toEqual({ ok: true, text: "works\n" });
    place.person(`chmod -R u+rwx .; rm -rf a d*`);
  });
});
