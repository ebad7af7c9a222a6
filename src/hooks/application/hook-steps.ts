import type { RunStep } from '../../conversations/index.js';
import { newId } from '../../platform/ids/index.js';
import { type HookCall, outcomeOf, verdictOf } from '../domain/hook-call.js';
import type { PlacedHandler } from '../domain/hooks-document.js';

/** The calls of handlers as a trace shows them; nothing of headers is in it. @param about what the event is about */
export function stepsOf(calls: readonly HookCall[], about: Readonly<Record<string, unknown>> = {}): RunStep[] {
  return calls.map((call) => ({
    id: newId(),
    type: 'hook',
    name: call.placed.event,
    startedAt: call.startedAt,
    latencyMs: call.latencyMs,
    input: { handler: call.placed.index, ...calledBy(call.placed), ...about },
    output: { outcome: outcomeOf(call), verdict: verdictOf(call) },
    error: call.error,
  }));
}

/** Whom it calls. A query may hold what was not meant to be read in every trace. */
function calledBy({ handler }: PlacedHandler): Readonly<Record<string, unknown>> {
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
