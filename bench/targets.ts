import { userText, type ReplyScript } from './script.ts';

/** The upstream, the minimal server in front of it, and the service. */
export type TargetKind = 'direct' | 'bare' | 'service';
export type RunForm = 'waiting' | 'streamed';

export interface Target {
  readonly kind: TargetKind;
  readonly origin: string;
  /** The process whose processor time is measured. */
  readonly pid: number;
  readonly key: string;
  /** Threads for runs; each has at most one active run. */
  readonly threads: readonly string[];
  /** The user in the runs on the service. */
  readonly userId?: string;
  /** How many tools of the caller each run offers. */
  readonly clientTools?: number;
  /** Session passes by thread, which replace the key. */
  readonly passes?: Readonly<Record<string, string>>;
}

export interface RunRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function runRequest(target: Target, form: RunForm, thread: string, script: ReplyScript): RunRequest {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${target.passes?.[thread] ?? target.key}`,
  };
  const content = userText(script);
  if (target.kind === 'direct') {
    const messages = [{ role: 'user', content }];
    const body = JSON.stringify({ model: 'bench', max_tokens: 1024, stream: true, messages });
    return { path: '/v1/messages', headers, body };
  }
  const config = target.userId === undefined ? undefined : { userContext: { userId: target.userId } };
  const path = `/v1/threads/${thread}/runs${form === 'streamed' ? '/stream' : ''}`;
  const tools = target.clientTools === undefined ? undefined : clientTools(target.clientTools);
  return { path, headers, body: JSON.stringify({ message: { role: 'user', content }, tools, config }) };
}

function clientTools(count: number): object[] {
  const city = { type: 'string', description: 'The name of a city.' };
  const parameters = { type: 'object', properties: { city, days: { type: 'integer' } }, required: ['city'] };
  return Array.from({ length: count }, (_, index) => ({
    ...{ name: `forecast_${index}`, description: 'The weather of the next days.', parameters },
  }));
}

/** The text of the first token in a response, and a text that only a complete response has. */
export interface Marks {
  readonly firstToken: string;
  readonly end: string;
}

export function marksOf(kind: TargetKind, form: RunForm): Marks {
  if (kind === 'service') {
    return form === 'streamed'
      ? { firstToken: '"TEXT_MESSAGE_CONTENT"', end: '"RUN_FINISHED"' }
      : { firstToken: '"content"', end: '"status":"completed"' };
  }
  return form === 'streamed' || kind === 'direct'
    ? { firstToken: '"content_block_delta"', end: '"message_stop"' }
    : { firstToken: '"content"', end: '"role":"assistant"' };
}
