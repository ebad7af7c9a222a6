import { Injectable } from '@nestjs/common';
import type { ModelToolCall } from '../../models/index.js';
import { type ToolCallVerdict, type RunContext, RunHooks } from '../ports/index.js';

/** The same call with the same input is made this often in one run, then no more. */
export const SAME_CALLS_PER_RUN = 5;

const REFUSAL =
  'This tool was already called several times with exactly this input in this reply. Use the results you have, or change the input.';

/** Stops a model that asks the same thing over and over before it has spent the user's time and money. */
@Injectable()
export class RefuseRepeatedToolCalls extends RunHooks {
  /** Kept with the run itself, so nothing has to be cleaned up after it. */
  private readonly seen = new WeakMap<RunContext, Map<string, number>>();

  override beforeToolCall(run: RunContext, call: ModelToolCall): Promise<ToolCallVerdict> {
    const counts = this.seen.get(run) ?? new Map<string, number>();
    this.seen.set(run, counts);
    const key = `${call.name} ${JSON.stringify(call.input)}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return Promise.resolve(
      count > SAME_CALLS_PER_RUN ? { decision: 'deny', reason: REFUSAL } : { decision: 'allow' },
    );
  }
}
