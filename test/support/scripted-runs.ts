import { Injectable, Module } from '@nestjs/common';
import type { TestExtensions } from './harness.js';
import {
  type OfferedTool,
  PromptSource,
  type PromptVerdict,
  type StopVerdict,
  type ToolCallVerdict,
  type ToolResult,
  ToolSource,
  type RunContext,
  RunHooks,
} from '../../src/conversations/index.js';

/** What takes part in the turns of one thread, besides the service's own. */
export interface TurnParts {
  readonly tools?: readonly OfferedTool[];
  readonly prompt?: readonly string[];
  readonly hooks?: Partial<Pick<RunHooks, 'beforePrompt' | 'beforeToolCall' | 'afterToolCall' | 'beforeStop'>>;
}

/** By thread, because a file's tests share one service. */
const scripted = new Map<string, TurnParts>();

/** From the thread's next turn on. */
export function during(threadId: string, parts: TurnParts): void {
  scripted.set(threadId, parts);
}

/** A tool without parameters of its own. */
export function tool(
  name: string,
  call: OfferedTool['call'],
  effect: OfferedTool['effect'] = 'changes_resources',
): OfferedTool {
  const definition = { name, description: `The tool ${name}.`, inputSchema: { type: 'object' } };
  return { definition, step: 'tool', effect, call };
}

/** A tool `slow` that never answers. */
export function endlessTool(effect?: OfferedTool['effect']): {
  readonly offered: OfferedTool;
  readonly called: Promise<AbortSignal>;
} {
  let begin: (signal: AbortSignal) => void = () => undefined;
  const called = new Promise<AbortSignal>((resolve) => (begin = resolve));
  const call: OfferedTool['call'] = (_input, signal) => {
    begin(signal);
    return new Promise(() => undefined);
  };
  return { offered: tool('slow', call, effect), called };
}

/** What a tool that worked answers. */
export function output(text: string): Promise<ToolResult> {
  return Promise.resolve({ output: text, isError: false });
}

@Injectable()
class ScriptedTools extends ToolSource {
  offer({ threadId }: RunContext): Promise<readonly OfferedTool[]> {
    return Promise.resolve(scripted.get(threadId)?.tools ?? []);
  }
}

@Injectable()
class ScriptedPrompt extends PromptSource {
  readonly scope = 'conversation';

  parts({ threadId }: RunContext): Promise<readonly string[]> {
    return Promise.resolve(scripted.get(threadId)?.prompt ?? []);
  }
}

@Injectable()
class ScriptedHooks extends RunHooks {
  override beforePrompt(...question: Parameters<RunHooks['beforePrompt']>): Promise<PromptVerdict> {
    return this.of(question[0]).beforePrompt?.(...question) ?? super.beforePrompt(...question);
  }

  override beforeToolCall(...question: Parameters<RunHooks['beforeToolCall']>): Promise<ToolCallVerdict> {
    return this.of(question[0]).beforeToolCall?.(...question) ?? super.beforeToolCall(...question);
  }

  override afterToolCall(...question: Parameters<RunHooks['afterToolCall']>): Promise<readonly string[]> {
    return this.of(question[0]).afterToolCall?.(...question) ?? super.afterToolCall(...question);
  }

  override beforeStop(...question: Parameters<RunHooks['beforeStop']>): Promise<StopVerdict> {
    return this.of(question[0]).beforeStop?.(...question) ?? super.beforeStop(...question);
  }

  private of({ threadId }: RunContext): NonNullable<TurnParts['hooks']> {
    return scripted.get(threadId)?.hooks ?? {};
  }
}

@Module({
  providers: [ScriptedTools, ScriptedPrompt, ScriptedHooks],
  exports: [ScriptedTools, ScriptedPrompt, ScriptedHooks],
})
class ScriptedRunsModule {}

/** Extensions of a service whose runs the tests script. */
export const scriptedRuns = {
  imports: [ScriptedRunsModule],
  toolSources: [ScriptedTools],
  promptSources: [ScriptedPrompt],
  hooks: [ScriptedHooks],
} satisfies TestExtensions;
