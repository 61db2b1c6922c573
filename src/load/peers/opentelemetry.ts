/** Imported before the peer, so that a planted one does not run. */
import { refusePlanted } from "../code-paths.ts";

refusePlanted("@opentelemetry/api");
