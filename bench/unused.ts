/** What a run pays for what its agent does not use: contexts of the service, and tools that the model does not call. */
import type { Spread } from './figures.ts';
import type { Floor, WriteLine } from './passes.ts';
import type { UnusedPlan } from './plan.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';
import { table } from './table.ts';
import { measureUnusedContexts, type VariantFigures } from './unused-contexts.ts';
import { measureUnusedTools, type UnusedToolsFigures } from './unused-tools.ts';

export interface UnusedFigures {
  readonly contexts: readonly VariantFigures[];
  readonly tools: UnusedToolsFigures;
}

export async function runUnused(
  stage: Stage,
  floor: Floor,
  environment: ClusteredEnvironment,
  { contexts, tools }: UnusedPlan,
  writeLine: WriteLine,
): Promise<UnusedFigures> {
  const tell = (line: string): void => writeLine(`unused: ${line}`);
  return {
    contexts: await measureUnusedContexts(stage, floor, environment, contexts, tell),
    tools: await measureUnusedTools(stage, floor, environment, tools, tell),
  };
}

export function unusedText({ contexts, tools }: UnusedFigures, spread: (of: Spread) => string): string {
  const variants = table(
    ['Left out', 'CPU ms a run', 'With all contexts', 'With / without'],
    contexts.map(({ leftOut, processorMsPerRun, completeMsPerRun, ratio }) => [
      leftOut,
      processorMsPerRun.toFixed(2),
      completeMsPerRun.toFixed(2),
      spread(ratio),
    ]),
  );
  const { bareMs, withoutMs, offeredMs, addedMs, addedToBare } = tools;
  const offered = table(
    ['Run', 'CPU ms a run', 'Added', 'Added / the bare server'],
    [
      ['of the bare server', bareMs.toFixed(2), '', ''],
      ['of an agent without tools', withoutMs.toFixed(2), '', ''],
      ['with three tools, not called', offeredMs.toFixed(2), spread(addedMs), spread(addedToBare)],
    ],
  );
  return [variants, offered].join('\n\n');
}
