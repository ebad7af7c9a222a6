import type { RunContext } from './run-context.js';

/**
 * `agent`: the parts are the same in all conversations of the agent on a channel, until someone changes the agent.
 * `conversation`: they may differ between users, conversations or runs.
 */
export type PromptScope = 'agent' | 'conversation';

/**
 * Adds parts to the system prompt, after the agent's own prompt. The engine calls all sources once a run, in parallel,
 * and puts their parts in the order in which `app.module.ts` lists the sources, those of the scope `agent` first: the
 * prompt caches of providers end at the first difference between two requests.
 */
export abstract class PromptSource {
  abstract readonly scope: PromptScope;
  /**
   * Called again after it rejected with `DatabaseUnavailable`, once the database is back.
   * @returns the parts to add, in order; any other error ends the run as `internal`
   */
  abstract parts(run: RunContext): Promise<readonly string[]>;
}
