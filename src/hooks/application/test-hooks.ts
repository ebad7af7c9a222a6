import { Injectable } from '@nestjs/common';
import type { UserContext } from '../../conversations/index.js';
import type { JsonObject } from '../../models/index.js';
import { newId } from '../../platform/ids/index.js';
import type { HookCall } from '../domain/hook-call.js';
import { EVENT_RULES, type HookEvent, hookInput, SAMPLE_FIELDS } from '../domain/hook-event.js';
import type { HooksOwner } from '../persistence/agent-hooks.repository.js';
import { HooksOfAgents } from './hooks-of-agents.js';
import { RunHandlers } from './run-handlers.js';

/** Calls the stored handlers of an event with a sample input. Nothing is written to a thread or a trace. */
@Injectable()
export class TestHooks {
  constructor(
    private readonly hooksOfAgents: HooksOfAgents,
    private readonly handlers: RunHandlers,
  ) {}

  /**
   * @param sample fields of the input; missing ones come from `SAMPLE_FIELDS`. With the field that matchers are compared with,
   *   only the matching handlers are called, and otherwise all of them
   * @returns one call for each handler, in their order
   */
  async execute(owner: HooksOwner, event: HookEvent, sample: JsonObject, signal: AbortSignal): Promise<HookCall[]> {
    const hooks = await this.hooksOfAgents.load(owner);
    const base = { threadId: newId(), runId: newId(), agentId: owner.agentId, userContext: null };
    const input = { ...hookInput(base, SAMPLE_FIELDS[event]), ...sample, hook_event_name: event };
    const { matchedField } = EVENT_RULES[event];
    const isNamed = matchedField !== null && Object.hasOwn(sample, matchedField);
    const asked = isNamed ? await this.handlers.matching(hooks, event, input) : hooks.handlers[event];
    return this.handlers.execute(hooks, asked, { input, userContext: userContextIn(sample), signal });
  }
}

/** The sample's user context, passed to tools only when it is one that a caller of a run could send. */
function userContextIn({ user_context: given }: JsonObject): UserContext | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
  return Object.values(given).every(isScalar) ? (given as UserContext) : null;
}
