/**
 * The order of the test files. Slow ones come first, so that no worker is left with one at the end. A worker keeps its
 * process only for files of one project. Those on PostgreSQL wait most, so they come first, beside the checks of `npm test`.
 */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

export const SLOW = [
  /^test\/fuzz\//,
  /^test\/sandbox\/(agent-attacks-in-unshare|code-attacks|files-race)\./,
  /^test\/crash\//,
  /\/(killed|owners|conformance|random-policies)\.test\./,
  /^test\/(project\/examples|cli\/(init|interrupted-calls|stopped-runs)|commander\/project)\./,
  /^test\/docs\/(blocks|start)\./,
  /^(src|test)\/snapshot\//,
  /^test\/(sandbox|cli)\//,
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort().toReversed();
    const slowness = ({ moduleId }: TestSpecification): number => {
      const path = relative(this.ctx.config.root, moduleId);
      const place = SLOW.findIndex((pattern) => pattern.test(path));
      return place < 0 ? SLOW.length : place;
    };
    return sorted.toSorted(
      (one, other) =>
        projects.indexOf(one.project.name) - projects.indexOf(other.project.name) ||
        slowness(one) - slowness(other),
    );
  }
}
