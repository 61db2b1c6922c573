import { expect, test } from "vitest";
import { refuseSystemRoot } from "./system-root.ts";

test.each([
  "/",
  "/etc",
  "/usr",
  "/var",
  "/proc",
  "/proc/self",
  "/sys/kernel",
  "/dev",
  "/bin",
  "/usr/bin",
  "/usr/lib/x",
  "/usr/local",
])("%s is refused", (root) => {
  expect(() => refuseSystemRoot(root)).toThrow(/folder of the system/);
});

test.each([
  "/usr/src/app",
  "/opt/app",
  "/var/tmp/x",
  "/tmp/x",
  "/dev/shm/x",
  "/srv",
  "/projects",
  "/etcetera",
])("%s is not", (root) => {
  expect(() => refuseSystemRoot(root)).not.toThrow();
});
