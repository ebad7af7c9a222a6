import { execFileSync } from 'node:child_process';

/**
 * By how many MiB the old generation of the heap grows while `work` is done, in a process of its own that collects no whole heap
 * meanwhile. What is kept of `setUp` is old by then. Both are code of one ES module.
 */
export function oldGenerationGrowth(setUp: string, work: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
    ${setUp}
    globalThis.gc();
    const before = size();
    ${work}
    console.log((size() - before) / 2 ** 20);
  `;
  // The large old generation puts off marking, which otherwise begins under way.
  const args = ['--expose-gc', '--max-semi-space-size=1', '--initial-old-space-size=400', '--input-type=module'];
  return Number(execFileSync(process.execPath, [...args, '-e', program], { encoding: 'utf8' }));
}
