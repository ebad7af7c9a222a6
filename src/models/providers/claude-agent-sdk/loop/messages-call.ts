import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../../platform/clock/index.js';
import { PING_MS } from './limits.js';

/** The only tool of a process. Requests name it `mcp__<server>__<tool>`. */
export const TOOL = { server: 'agent', name: 'call', inRequests: 'mcp__agent__call' } as const;

const NO_TOKENS = { input_tokens: 0, output_tokens: 0 } as const;

/**
 * A process's request for a model call. It stays open until the engine knows whether the model's response ends with tool calls or ends
 * the turn. The process does not need the response itself, and does not get it.
 */
export class MessagesCall {
  private readonly stopPings: () => void;

  constructor(
    private readonly response: ServerResponse,
    clock: Clock,
  ) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    this.send('ping', {});
    this.stopPings = clock.every(PING_MS, () => this.send('ping', {}));
    response.once('close', this.stopPings);
    response.on('error', () => undefined);
  }

  /** @param ids of the calls, unique in the process */
  answerWithTools(ids: readonly string[]): void {
    const blocks = ids.map((id) => ({ type: 'tool_use', id, name: TOOL.inRequests, input: {} }));
    this.answer('tool_use', blocks, { type: 'input_json_delta', partial_json: '{}' });
  }

  answerWithEnd(): void {
    this.answer('end_turn', [{ type: 'text', text: '' }], { type: 'text_delta', text: 'Done.' });
  }

  private answer(stopReason: string, blocks: readonly object[], delta: object): void {
    this.stopPings();
    const message = { id: 'msg', type: 'message', role: 'assistant', model: 'model', content: [], usage: NO_TOKENS };
    this.send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
    for (const [index, content_block] of blocks.entries()) {
      this.send('content_block_start', { index, content_block });
      this.send('content_block_delta', { index, delta });
      this.send('content_block_stop', { index });
    }
    this.send('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage: NO_TOKENS });
    this.send('message_stop', {});
    this.response.end();
  }

  private send(type: string, data: object): void {
    if (!this.response.destroyed) this.response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  }
}
