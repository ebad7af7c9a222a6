import type { HookEvent } from './hook-event.js';
import type { HookOutput } from './hook-output.js';
import type { PlacedHandler } from './hooks-document.js';

/** One handler's part in an event. */
export interface HookCall {
  readonly placed: PlacedHandler;
  readonly startedAt: Date;
  readonly latencyMs: number;
  /** What it said; null where it failed. */
  readonly output: HookOutput | null;
  /** Public text; null where it did not fail. */
  readonly error: string | null;
}

export type HookOutcome = 'ok' | 'failed' | 'blocked';

export function outcomeOf(call: HookCall): HookOutcome {
  if (call.output === null) return 'failed';
  return isBlock(call.placed.event, call.output) ? 'blocked' : 'ok';
}

/** Whether the event is not to go on: the handler says so, or failed and is to block then. */
export function blocks({ placed: { event, handler }, output }: HookCall): boolean {
  return output === null ? handler.failClosed === true : isBlock(event, output);
}

/** What comes of the call: what the handler said, or that it blocks by its failure; null where it changes nothing. */
export function verdictOf(call: HookCall): HookOutput | null {
  return call.output ?? (blocks(call) ? { decision: 'block' } : null);
}

function isBlock(event: HookEvent, { decision, permissionDecision }: HookOutput): boolean {
  const isDenied = event === 'PreToolUse' && (permissionDecision === 'deny' || permissionDecision === 'ask');
  return isDenied || decision === 'block';
}

/** In handler order. */
export function contextsOf(calls: readonly HookCall[]): string[] {
  return calls.flatMap(({ output }) => output?.additionalContext ?? []);
}

/**
 * Why the event does not go on, of the first in handler order that says why; null where nobody does, undefined where it goes
 * on.
 */
export function blockReason(calls: readonly HookCall[]): string | null | undefined {
  const blocking = calls.filter(blocks);
  if (blocking.length === 0) return undefined;
  return blocking.map(({ output }) => reasonOf(output)).find((reason) => reason !== null) ?? null;
}

/** What a block is said to be for. */
export function reasonOf(output: HookOutput | null): string | null {
  const said = [output?.permissionDecisionReason, output?.reason].find(
    (text) => text !== undefined && text.trim() !== '',
  );
  return said ?? null;
}
