/**
 * A separate process: the cost of sending a run's input. It builds the request from messages in memory, sends it with the provider's
 * official client, and reads the streamed response to its end.
 */
import Anthropic from '@anthropic-ai/sdk';
import { takeOrders } from './ordered-process.ts';
import type { SliceResult } from './load-orders.ts';
import type { HistoryMessage, SdkOrder, SdkReply } from './sdk-orders.ts';

const [baseURL = ''] = process.argv.slice(2);
const client = new Anthropic({ apiKey: 'bench', baseURL, maxRetries: 0, logLevel: 'off' });

async function ask(said: readonly HistoryMessage[]): Promise<number> {
  const messages = said.map(({ role, text }): Anthropic.MessageParam =>
    role === 'user' ? { role, content: text } : { role, content: [{ type: 'text', text }] },
  );
  const events = await client.messages.create({ model: 'bench', max_tokens: 1024, stream: true, messages });
  let firstToken = 0;
  let reply = '';
  let ended = false;
  for await (const event of events) {
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
      if (firstToken === 0) firstToken = performance.now();
      reply += event.delta.text;
    }
    ended = event.type === 'message_stop';
  }
  if (!ended || reply === '') throw new Error('The upstream ended without its last event');
  return firstToken;
}

async function send({ messages, concurrency, seconds, maxRuns }: SdkOrder): Promise<SliceResult> {
  const latencies: number[] = [];
  const firstTokens: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1000;
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started < maxRuns && performance.now() < until) {
      started += 1;
      const asked = performance.now();
      firstTokens.push((await ask(messages)) - asked);
      latencies.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { seconds: (performance.now() - began) / 1000, latencies, firstTokens };
}

takeOrders(async (order: SdkOrder): Promise<SdkReply> => ({ kind: 'sent', result: await send(order) }));
