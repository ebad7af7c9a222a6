import type { RunStep } from '../../conversations/index.js';
import { newId } from '../../platform/ids/index.js';
import { type HookCall, outcomeOf, verdictOf } from '../domain/hook-call.js';
import type { PlacedHandler } from '../domain/hooks-document.js';

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
