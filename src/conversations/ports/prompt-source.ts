import type { RunContext } from './run-context.js';

/**
 * Adds parts to the system prompt, after the agent's own prompt. The engine calls all sources once a run, in parallel,
 * and puts their parts in the order in which `app.module.ts` lists the sources.
 */
export abstract class PromptSource {
  /** @returns the parts to add, in order; an error ends the run as `internal` */
  abstract parts(run: RunContext): Promise<readonly string[]>;
}
