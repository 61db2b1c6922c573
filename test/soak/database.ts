/** A database of a soak, and what is done to it. */
import type { PlannedFault, StoreName } from "./plan.ts";

export interface Database extends AsyncDisposable {
  readonly name: StoreName;
  /** For the processes: through whatever can be cut. */
  readonly address: string;
  /** For the soak itself. */
  readonly directAddress: string;
  /** No small disk could be mounted: processes limit the pages of their own connections. */
  readonly limitsPages: boolean;
  /** Resolves when the fault is over. Returns `false` if it was not possible here. */
  suffer(fault: PlannedFault): Promise<boolean>;
}
