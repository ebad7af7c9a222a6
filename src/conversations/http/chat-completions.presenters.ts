import type { Run, RunError } from '../domain/run.js';
import type { EndedRun } from '../engine/persist-run.js';
import type { ChatCompletionResponse, CompletionUsageResponse, FinishReason } from './chat-completions.dto.js';

/** What every object of one completion says of it. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly thread_id: string;
}

export interface ErrorChunk {
  readonly error: { readonly message: string; readonly type: string; readonly code: string };
}

interface Delta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly refusal?: null;
}

export function headOf(run: {
  readonly runId: string;
  readonly agentId: string;
  readonly threadId: string;
}): CompletionHead {
  return { id: `chatcmpl-${run.runId}`, created: secondsOf(run.runId), model: run.agentId, thread_id: run.threadId };
}

/** When an id of version 7 was made: its first 48 bits, in milliseconds. */
function secondsOf(id: string): number {
  return Math.floor(Number.parseInt(id.replace('-', '').slice(0, 12), 16) / 1_000);
}

/** `chat.completion`, of a run that did not fail. */
export function completion({ id, created, model, thread_id }: CompletionHead, ended: EndedRun): ChatCompletionResponse {
  const usage = usageOf(ended.run);
  const message = { role: 'assistant', content: ended.message?.content ?? '', refusal: null } as const;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(ended.run) }],
    ...(usage === null ? {} : { usage }),
    thread_id,
  };
}

/** `chat.completion.chunk` events; with `includeUsage` each but the last says that its usage is null. */
export class Chunks {
  constructor(
    private readonly head: CompletionHead,
    private readonly includeUsage: boolean,
  ) {}

  first(): object {
    return this.chunk({ role: 'assistant', content: '', refusal: null }, null);
  }

  text(content: string): object {
    return this.chunk({ content }, null);
  }

  /** What ends a run that did not fail. */
  end({ run }: EndedRun): object[] {
    const usage = this.includeUsage ? usageOf(run) : null;
    const last = this.chunk({}, finishReason(run));
    return usage === null ? [last] : [last, this.object([], usage)];
  }

  private chunk(delta: Delta, finish_reason: FinishReason | null): object {
    return this.object([{ index: 0, delta, logprobs: null, finish_reason }], null);
  }

  private object(choices: readonly object[], usage: CompletionUsageResponse | null): object {
    const { id, created, model, thread_id } = this.head;
    const object = 'chat.completion.chunk';
    return { id, object, created, model, choices, ...(this.includeUsage ? { usage } : {}), thread_id };
  }
}

/** What the stream says of a run that failed after it had begun. */
export function errorChunk({ code, message }: RunError): ErrorChunk {
  return { error: { message, type: errorType(code), code } };
}

/** The kinds of error that clients of the OpenAI API tell apart. */
function errorType(code: RunError['code']): string {
  switch (code) {
    case 'context_too_long':
      return 'invalid_request_error';
    case 'provider_rate_limited':
      return 'rate_limit_error';
    case 'provider_error':
    case 'provider_auth':
    case 'provider_overloaded':
    case 'run_timeout':
    case 'server_shutdown':
    case 'internal':
      return 'server_error';
    default:
      return code satisfies never;
  }
}

function finishReason({ status, stopReason }: Run): FinishReason {
  if (status === 'cancelled' || stopReason === 'max_tokens') return 'length';
  return stopReason === 'refusal' ? 'content_filter' : 'stop';
}

function usageOf({ usage: { inputTokens, outputTokens, totalTokens } }: Run): CompletionUsageResponse | null {
  if (inputTokens === null || outputTokens === null || totalTokens === null) return null;
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens };
}
