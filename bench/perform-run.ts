import type { Dispatcher, Pool } from 'undici';
import type { ReplyScript } from './script.ts';
import { marksOf, type Target, type RunForm, runRequest } from './targets.ts';

/** A target with its connections and its free threads. */
export interface Open {
  readonly target: Target;
  readonly client: Pool;
  readonly free: string[];
}

/** The least recently used thread; the caller returns it. */
export function takeThread({ free, target }: Open): string {
  if (target.kind === 'direct') return '';
  const thread = free.shift();
  if (thread === undefined) throw new Error(`More runs at once on ${target.kind} than it has threads`);
  return thread;
}

/** Milliseconds from the start of the request. */
export interface RunTimes {
  readonly firstToken: number;
  readonly whole: number;
}

/**
 * Makes one run and reads its response to the end.
 * @throws Error for any status but 200, and for a response without its last event
 */
export async function performRun(
  client: Dispatcher,
  target: Target,
  run: { readonly form: RunForm; readonly thread: string; readonly script: ReplyScript },
  onFirstToken?: () => void,
): Promise<RunTimes> {
  const { path, headers, body } = runRequest(target, run.form, run.thread, run.script);
  const marks = marksOf(target.kind, run.form);
  const began = performance.now();
  const answer = await client.request({ path, method: 'POST', headers, body });
  let text = '';
  let firstToken: number | undefined;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1');
    if (firstToken === undefined && text.includes(marks.firstToken)) {
      firstToken = performance.now() - began;
      onFirstToken?.();
    }
  }
  const whole = performance.now() - began;
  if (answer.statusCode !== 200) throw new Error(`${target.kind} answered ${answer.statusCode}: ${text.slice(0, 200)}`);
  if (firstToken === undefined || !text.includes(marks.end)) {
    throw new Error(`${target.kind} ended without its last event: ${text.slice(-200)}`);
  }
  return { firstToken, whole };
}
