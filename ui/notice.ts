/** One sentence about the last action. It outlives the form that caused it, which leaves the page with its request. */
import { signal } from "@preact/signals";

export const notice = signal("");
