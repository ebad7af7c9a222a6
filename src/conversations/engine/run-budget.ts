import type { RunLimits } from '../../agents/index.js';
import { creditsFor, findModel, type ModelUsage } from '../../models/index.js';
import type { RunError } from '../domain/run.js';
import type { RequestedLimits, RunConsumption } from '../domain/run-options.js';
import type { RunContext } from '../ports/index.js';

/** A limit of a run and of the runs that it resumes, taken together. */
export interface RunLimit {
  readonly unit: keyof RunConsumption;
  readonly most: number;
  /** The field that sets it. */
  readonly field: string;
}

/** The part of a run's state that its limits depend on. */
interface BudgetedRun {
  readonly context: Pick<RunContext, 'agent' | 'usedBefore'>;
  readonly limits: readonly RunLimit[];
  readonly modelCalls: number;
  readonly chargedUsage: ModelUsage;
}

const NO_LIMITS: readonly RunLimit[] = [];

/** For each unit the lower limit of the two. */
export function limitsOf(requested: RequestedLimits | undefined, ofAgent: RunLimits): readonly RunLimit[] {
  if (!requested && ofAgent.maxSteps === null && ofAgent.maxCredits === null) return NO_LIMITS;
  return [
    ...lowest('steps', requested?.maxSteps, ofAgent.maxSteps, 'maxSteps'),
    ...lowest('credits', requested?.maxCredits, ofAgent.maxCredits, 'maxCredits'),
  ];
}

function lowest(
  unit: RunLimit['unit'],
  requested: number | undefined,
  ofAgent: number | null,
  name: keyof RunLimits,
): RunLimit[] {
  if (requested !== undefined && (ofAgent === null || requested <= ofAgent)) {
    return [{ unit, most: requested, field: `limits.${name}` }];
  }
  return ofAgent === null ? [] : [{ unit, most: ofAgent, field: `the agent's runLimits.${name}` }];
}

/** @returns why the model may not be called again; undefined while it may */
export function reachedLimit(run: BudgetedRun): RunError | undefined {
  if (run.limits.length === 0) return undefined;
  const used = usedSoFar(run);
  const reached = run.limits.find(({ unit, most }) => used[unit] >= most);
  if (!reached) return undefined;
  const { unit, most, field } = reached;
  const amount = `${most} ${most === 1 ? unit.slice(0, -1) : unit}`;
  return { code: 'run_limit_reached', message: `The run has reached its limit of ${amount} (${field}).` };
}

/** What the run and the runs that it resumes have used. */
export function usedSoFar(run: Omit<BudgetedRun, 'limits'>): RunConsumption {
  const { usedBefore } = run.context;
  return {
    steps: usedBefore.steps + run.modelCalls,
    // Credits have four decimals; a sum of floating-point numbers may be a little below the limit that it has reached.
    credits: Math.round((usedBefore.credits + creditsOf(run)) * 10_000) / 10_000,
  };
}

/** What the run has cost without those that it resumes, in credits. The agent's own key and unknown models cost none. */
export function creditsOf({ context, chargedUsage }: Pick<BudgetedRun, 'context' | 'chargedUsage'>): number {
  const { provider } = context.agent;
  const model = provider.useOwnApiKey ? undefined : findModel(provider.type, provider.model);
  return model ? creditsFor(model, chargedUsage) : 0;
}
