/** The kind of file system that a folder is on, if it matters for a store. */
import { statfsSync } from "node:fs";

/** Numbers of the Linux kernel. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB",
  0x517b: "SMB",
  0x01021997: "9p",
  0x65735546: "FUSE",
  0x00c36400: "Ceph",
  0x0bd00bd0: "Lustre",
  0x786f4256: "VirtualBox",
};
const TMPFS = 0x01021994;

export type FileSystem =
  | { readonly kind: "network"; readonly name: string }
  | { readonly kind: "memory" }
  | { readonly kind: "disk" };

export function fileSystemOf(folder: string): FileSystem {
  return fileSystemOfType(statfsSync(folder).type, process.platform);
}

/** Types have these numbers on Linux only. */
export function fileSystemOfType(type: number, platform: string): FileSystem {
  if (platform !== "linux") return { kind: "disk" };
  // Some Node versions report it as a signed number.
  const unsigned = type >>> 0;
  const name = NETWORK[unsigned];
  if (name !== undefined) return { kind: "network", name };
  return unsigned === TMPFS ? { kind: "memory" } : { kind: "disk" };
}
