/**
 * What belongs to a toolchain, by name. Data only. A name is here because programs load it; a folder in which people keep
 * settings or keys must not be.
 */

/** Folders that are made for programs. */
export const PROGRAM_FOLDERS = new Set(["bin", "sbin", "shims", "condabin"]);

/** Beside the programs in these lie other people's data or keys: nothing but the folder of programs comes back. */
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

/** Of every toolchain, beside its folder of programs. */
export const BESIDE_ITS_PROGRAMS = ["lib", "lib32", "lib64", "libexec", "include", "share"];

export interface ToolchainKind {
  /** What is there in a toolchain of this kind and hardly anywhere else. */
  readonly mark: string;
  readonly parts: readonly string[];
}

export const TOOLCHAIN_KINDS: readonly ToolchainKind[] = [
  // pyenv, rbenv, nodenv, asdf, mise: small programs that start the version which is wanted.
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
