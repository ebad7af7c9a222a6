import type { DynamicModule, Type } from '@nestjs/common';
import type { Settings } from '../config/index.js';
import type { ContextSchema } from '../database/index.js';
import type { HealthCheck } from '../http/index.js';

/**
 * One context for the composition root: its `index.ts` exports one object of this type, and `app.module.ts` lists it.
 * @typeParam Runs what a context may add to the runs of agents; the context that owns the runs defines it
 */
export interface Context<Runs = never> {
  readonly name: string;
  /** Its modules, which export the classes that other parts of the object name. */
  readonly modules: readonly (Type | DynamicModule)[];
  /** Its tables, which `schemas.ts` must list too; absent for a context without tables. */
  readonly schema?: ContextSchema;
  readonly runs?: Runs;
  /** Checks without which a process is not ready; `modules` provide their dependencies. */
  readonly healthChecks?: readonly Type<HealthCheck>[];
  /** False when a process with these settings does not load it; its tables exist anyway. */
  readonly enabled?: (settings: Settings) => boolean;
}
