import { type DynamicModule, Global, Module, type Provider, type Type } from '@nestjs/common';
import { RefuseRepeatedToolCalls } from './application/refuse-repeated-tool-calls.js';
import { PROMPT_SOURCES, RUN_ADMISSIONS, RUN_HOOKS, RUN_OBSERVERS, TOOL_SOURCES } from './engine/run-extensions.js';
import type { PromptSource, RunAdmission, RunHooks, RunObserver, ToolSource } from './ports/index.js';

/** Classes that a context adds to every run. Its modules export them; the engine calls them in this order. */
export interface RunExtensions {
  readonly admissions?: readonly Type<RunAdmission>[];
  readonly promptSources?: readonly Type<PromptSource>[];
  readonly toolSources?: readonly Type<ToolSource>[];
  readonly hooks?: readonly Type<RunHooks>[];
  readonly observers?: readonly Type<RunObserver>[];
}

export interface RunContributor {
  readonly modules: readonly (Type | DynamicModule)[];
  readonly runs?: RunExtensions;
}

/**
 * Provides the extensions of all contexts to the engine. A separate global module, since those contexts import the
 * public API of conversations, and conversations must not import them.
 */
@Global()
@Module({})
export class RunExtensionsModule {
  /** @param contributors in the order in which the engine calls their extensions */
  static forRoot(contributors: readonly RunContributor[]): DynamicModule {
    const contributing = contributors.filter(({ runs }) => runs !== undefined);
    const all = (role: keyof RunExtensions): readonly Type[] =>
      contributing.flatMap(({ runs }) => [...(runs?.[role] ?? [])]);
    return {
      module: RunExtensionsModule,
      imports: contributing.flatMap(({ modules }) => [...modules]),
      providers: [
        RefuseRepeatedToolCalls,
        list(RUN_ADMISSIONS, all('admissions')),
        list(PROMPT_SOURCES, all('promptSources')),
        list(TOOL_SOURCES, all('toolSources')),
        list(RUN_HOOKS, [RefuseRepeatedToolCalls, ...all('hooks')]),
        list(RUN_OBSERVERS, all('observers')),
      ],
      exports: [RUN_ADMISSIONS, PROMPT_SOURCES, TOOL_SOURCES, RUN_HOOKS, RUN_OBSERVERS],
    };
  }
}

function list(token: symbol, classes: readonly Type[]): Provider {
  return { provide: token, useFactory: (...instances: unknown[]) => instances, inject: [...classes] };
}
