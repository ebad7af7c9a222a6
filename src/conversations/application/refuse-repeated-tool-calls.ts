import { Injectable } from '@nestjs/common';
import type { ModelToolCall } from '../../models/index.js';
import { AttachedValue } from '../../platform/heap/index.js';
import { type ToolCallVerdict, type RunContext, RunHooks } from '../ports/index.js';

/** Further ones in a row are denied until the model makes a different call. */
export const SAME_CALLS_IN_A_ROW = 5;

const REFUSAL =
  'This tool was already called several times in a row with exactly this input. Use the results you have, or make another call first.';

/** The newest call of a run, and how many answers in a row have made it. */
interface Streak {
  readonly call: string;
  /** The id of that answer's trace step. */
  readonly answer: string | undefined;
  readonly count: number;
}

/**
 * Stops a model that repeats one call, which costs time and money. Polling, paging and re-reading after a change have
 * other calls in between, so they are not affected. Equal calls in one answer count once.
 */
@Injectable()
export class RefuseRepeatedToolCalls extends RunHooks {
  private readonly streaks = new AttachedValue<RunContext, Streak>();

  override beforeToolCall(run: RunContext, { name, input }: ModelToolCall): Promise<ToolCallVerdict> {
    const call = `${name} ${JSON.stringify(input)}`;
    const answer = run.steps.findLast(({ type }) => type === 'model')?.id;
    const last = this.streaks.get(run);
    const count = last?.call !== call ? 1 : last.answer === answer ? last.count : last.count + 1;
    this.streaks.set(run, { call, answer, count });
    return Promise.resolve(count > SAME_CALLS_IN_A_ROW ? { decision: 'deny', reason: REFUSAL } : { decision: 'allow' });
  }
}
