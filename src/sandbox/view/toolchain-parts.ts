/**
 * The parts of a toolchain, by name. Data only. A name is listed because programs load it. A folder where users
 * keep settings or keys must not be listed.
 */

/** Folders that are meant for programs. */
export const PROGRAM_FOLDERS = new Set(["bin", "sbin", "shims", "condabin"]);

/** In these, other data or keys are next to the programs, so only the program folder is shown. */
export const SHARED_PARENTS = new Set([
  ".local",
  ".cargo",
  "local",
  "tmp",
  "home",
  "root",
  "run",
  "var",
  "opt",
  "Users",
  "",
]);

/** Shown next to the program folder of every toolchain. */
export const BESIDE_ITS_PROGRAMS = ["lib", "lib32", "lib64", "libexec", "include", "share"];

/** Not shown: no program needs it, and it is often most of a toolchain, which is searched for private files. */
export const DOCUMENTATION = /\/share\/(?:gtk-)?doc$/;

/** Filled by package managers, with tens of thousands of files. Looking at each would take seconds before a command. */
export const LIBRARIES =
  /\/(?:node_modules|site-packages|dist-packages|gems|lib\/(?:python[\d.]+t?|pypy[\d.]+|ruby|rustlib|R|jvm|erlang)|pkg\/mod)$/;

export interface ToolchainKind {
  /** A file or folder that identifies a toolchain of this kind. */
  readonly mark: string;
  readonly parts: readonly string[];
}

export const TOOLCHAIN_KINDS: readonly ToolchainKind[] = [
  // pyenv, rbenv, nodenv, asdf, mise: small programs that start the requested version.
  {
    mark: "shims",
    parts: ["bin", "shims", "versions", "installs", "plugins", "version"],
  },
  { mark: "pyvenv.cfg", parts: ["pyvenv.cfg"] },
  { mark: "conda-meta", parts: ["bin", "condabin", "conda-meta", "ssl", "etc"] },
  { mark: "lib/modules", parts: ["conf", "jmods", "legal", "release"] },
  { mark: "pkg/tool", parts: ["pkg", "src", "VERSION", "go.env"] },
  { mark: "tools/image", parts: ["tools"] },
  { mark: "Cellar", parts: ["Cellar", "opt", "Homebrew", "etc"] },
  { mark: "install/global", parts: ["install/global"] },
  { mark: "packages/flutter", parts: ["packages", "version"] },
];
