import type { ModelToolCall } from '../../models/index.js';
import type { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import type { RunStep } from '../ports/index.js';
import type { OpenProviderCall, RunState } from './run-state.js';
import type { ToolCallMetrics } from './tool-call-metrics.js';

const NO_RESULT = 'The answer ended before this call had its result.';

/**
 * The calls in one answer of tools that the provider runs itself. They are shown and stored like other calls, but
 * without hooks and approvals. The provider's state, and not the transcript, gives them to the model again.
 */
export class ProviderToolCalls {
  readonly steps: RunStep[] = [];
  /** Whether the answer has such calls. */
  seen = false;

  constructor(
    /** Holds the calls without a result, since the result may come with a later answer of the run. */
    private readonly state: RunState,
    private readonly clock: Clock,
    private readonly metrics: ToolCallMetrics,
  ) {}

  begin(call: ModelToolCall): void {
    this.seen = true;
    this.state.startCall(call.id, call.name);
    this.state.endCall(call);
    this.open.set(call.id, { call, index: this.state.toolCalls.length, stopwatch: this.clock.stopwatch() });
    this.state.toolCalls.push({ ...call, status: 'running' });
  }

  end(id: string, given: string, isError: boolean): void {
    const begun = this.open.get(id);
    if (!begun) return;
    this.open.delete(id);
    const output = this.state.outputs.take(given);
    const latencyMs = this.note(begun, output, isError);
    this.metrics.count('tool', isError ? 'failed' : 'completed', latencyMs);
    this.state.settleCall(begun.index, { ...begun.call, output, status: isError ? 'failed' : 'completed' });
  }

  /** Call after the model's last answer: calls without a result get none any more. */
  close(): void {
    for (const id of [...this.open.keys()]) this.end(id, NO_RESULT, true);
  }

  /** Call when the answer has failed: the outcome of open calls is unknown. */
  abort(): void {
    for (const begun of this.open.values()) {
      this.note(begun, NO_RESULT, true);
      this.metrics.count('tool', 'unknown');
      this.state.toolCalls[begun.index] = { ...begun.call, status: 'unknown' };
    }
    this.open.clear();
  }

  private get open(): Map<string, OpenProviderCall> {
    return this.state.providerCalls;
  }

  private note({ call, stopwatch }: OpenProviderCall, output: string, isError: boolean): number {
    const latencyMs = stopwatch.elapsedMs();
    this.steps.push({
      id: newId(),
      type: 'tool',
      name: call.name,
      startedAt: stopwatch.startedAt,
      latencyMs,
      input: call.input,
      output,
      error: isError ? output : null,
    });
    return latencyMs;
  }
}
