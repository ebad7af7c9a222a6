import type { RunContext } from './run-context.js';

/**
 * Adds to the system prompt, after the agent's own. Asked once a run, in parallel with the other
 * sources; what it answers is put in the order in which `app.module.ts` lists the sources.
 */
export abstract class PromptSource {
  /** @returns the parts to add, in order; an error ends the run as `internal` */
  abstract parts(run: RunContext): Promise<readonly string[]>;
}
