import { Injectable } from '@nestjs/common';
import type { ModelToolCall } from '../../models/index.js';
import { type ToolCallVerdict, type RunContext, RunHooks } from '../ports/index.js';

/** The same call with the same input is made this often in a row, then it is denied until another call comes between. */
export const SAME_CALLS_IN_A_ROW = 5;

const REFUSAL =
  'This tool was already called several times in a row with exactly this input. Use the results you have, or make another call first.';

/** The newest call of a run, and in how many answers of the model in a row it was asked for. */
interface Streak {
  readonly call: string;
  /** Of the newest such answer: its step in the trace. */
  readonly answer: string | undefined;
  readonly count: number;
}

/**
 * Stops a model that asks the same thing over and over before it has spent the user's time and money. Polling, paging and
 * looking again after a change have other calls in between; equal calls of one answer count once.
 */
@Injectable()
export class RefuseRepeatedToolCalls extends RunHooks {
  /** Kept with the run itself, so nothing has to be cleaned up after it. */
  private readonly streaks = new WeakMap<RunContext, Streak>();

  override beforeToolCall(run: RunContext, { name, input }: ModelToolCall): Promise<ToolCallVerdict> {
    const call = `${name} ${JSON.stringify(input)}`;
    const answer = run.steps.findLast(({ type }) => type === 'model')?.id;
    const last = this.streaks.get(run);
    const count = last?.call !== call ? 1 : last.answer === answer ? last.count : last.count + 1;
    this.streaks.set(run, { call, answer, count });
    return Promise.resolve(count > SAME_CALLS_IN_A_ROW ? { decision: 'deny', reason: REFUSAL } : { decision: 'allow' });
  }
}
