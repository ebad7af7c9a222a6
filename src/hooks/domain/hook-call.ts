import type { RunStep } from '../../conversations/index.js';
import { newId } from '../../platform/ids/index.js';
import type { HookEvent } from './hook-event.js';
import type { HookOutput } from './hook-output.js';
import type { PlacedHandler } from './hooks-document.js';

export interface HookCall {
  readonly placed: PlacedHandler;
  readonly startedAt: Date;
  readonly latencyMs: number;
  /** Null when the call failed. */
  readonly output: HookOutput | null;
  /** Public text; null when the call succeeded. */
  readonly error: string | null;
}

export type HookOutcome = 'ok' | 'failed' | 'blocked';

export function outcomeOf(call: HookCall): HookOutcome {
  if (call.output === null) return 'failed';
  return isBlock(call.placed.event, call.output) ? 'blocked' : 'ok';
}

/** Whether the operation is blocked: by the handler's decision, or because it failed and has `failClosed`. */
export function isBlocking({ placed: { event, handler }, output }: HookCall): boolean {
  return output === null ? handler.failClosed === true : isBlock(event, output);
}

/** The handler's output, or a block when its failure blocks; null when the call has no effect. */
export function verdictOf(call: HookCall): HookOutput | null {
  return call.output ?? (isBlocking(call) ? { decision: 'block' } : null);
}

function isBlock(event: HookEvent, { decision, permissionDecision }: HookOutput): boolean {
  const isDenied = event === 'PreToolUse' && (permissionDecision === 'deny' || permissionDecision === 'ask');
  return isDenied || decision === 'block';
}

/** In handler order. */
export function contextsIn(calls: readonly HookCall[]): string[] {
  return calls.flatMap(({ output }) => output?.additionalContext ?? []);
}

/**
 * The reason of a block, from the first handler that gives one.
 * @returns null when the block has no reason, undefined when no handler blocks
 */
export function blockReason(calls: readonly HookCall[]): string | null | undefined {
  const blocking = calls.filter(isBlocking);
  if (blocking.length === 0) return undefined;
  return blocking.map(({ output }) => reasonIn(output)).find((reason) => reason !== null) ?? null;
}

export function reasonIn(output: HookOutput | null): string | null {
  const reasons = [output?.permissionDecisionReason, output?.reason];
  return reasons.find((text) => text !== undefined && text.trim() !== '') ?? null;
}

/** The calls of handlers as steps of a trace, without headers. @param about added to the input of each step */
export function hookSteps(calls: readonly HookCall[], about: Readonly<Record<string, unknown>> = {}): RunStep[] {
  return calls.map((call) => ({
    id: newId(),
    type: 'hook',
    name: call.placed.event,
    startedAt: call.startedAt,
    latencyMs: call.latencyMs,
    input: { handler: call.placed.index, ...targetOf(call.placed), ...about },
    output: { outcome: outcomeOf(call), verdict: verdictOf(call) },
    error: call.error,
  }));
}

/** What the handler calls. The URL lacks its query, which may hold a secret. */
function targetOf({ handler }: PlacedHandler): Readonly<Record<string, unknown>> {
  switch (handler.type) {
    case 'http': {
      const { origin, pathname } = new URL(handler.url);
      return { type: handler.type, url: `${origin}${pathname}` };
    }
    case 'mcp_tool':
      return { type: handler.type, server: handler.server, tool: handler.tool };
    default:
      return handler satisfies never;
  }
}
