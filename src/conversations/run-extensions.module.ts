import { type DynamicModule, Global, Module, type Provider, type Type } from '@nestjs/common';
import { RefuseRepeatedToolCalls } from './application/refuse-repeated-tool-calls.js';
import { PROMPT_SOURCES, RUN_ADMISSIONS, RUN_HOOKS, RUN_OBSERVERS, TOOL_SOURCES } from './engine/run-extensions.js';
import type { PromptSource, RunAdmission, RunHooks, RunObserver, ToolSource } from './ports/index.js';

/** What a context adds to every run: classes that its modules export, in the order in which they are asked. */
export interface RunExtensions {
  readonly admissions?: readonly Type<RunAdmission>[];
  readonly promptSources?: readonly Type<PromptSource>[];
  readonly toolSources?: readonly Type<ToolSource>[];
  readonly hooks?: readonly Type<RunHooks>[];
  readonly observers?: readonly Type<RunObserver>[];
}

/** A context with what it adds to runs. */
export interface RunContributor {
  readonly modules: readonly (Type | DynamicModule)[];
  readonly runs?: RunExtensions;
}

/**
 * Gives the engine what all contexts add to runs. Apart from the conversations and global, since the contributing
 * contexts stand on the conversations' public API, and not the other way round.
 */
@Global()
@Module({})
export class RunExtensionsModule {
  /** @param contributors in the order in which they are asked */
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
