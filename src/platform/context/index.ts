import type { DynamicModule, Type } from '@nestjs/common';
import type { Settings } from '../config/index.js';
import type { ContextSchema } from '../database/index.js';
import type { HealthCheck } from '../http/index.js';

/**
 * One context as the composition root knows it: its `index.ts` exports one object of this type, and `app.module.ts`
 * has it in its list.
 * @typeParam Runs what a context may add to the runs of agents; the context that owns the runs says what that is
 */
export interface Context<Runs = never> {
  readonly name: string;
  /** What it is made of. Classes that other parts of the object name are exported by them. */
  readonly modules: readonly (Type | DynamicModule)[];
  /** Its tables, which `schemas.ts` has to list too; absent for a context without tables. */
  readonly schema?: ContextSchema;
  readonly runs?: Runs;
  /** Parts of it without which a process is not ready; each gets what it injects from `modules`. */
  readonly healthChecks?: readonly Type<HealthCheck>[];
  /** False where a process with these settings goes without it; its tables are there all the same. */
  readonly enabled?: (settings: Settings) => boolean;
}
