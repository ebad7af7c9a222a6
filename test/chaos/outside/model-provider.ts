import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { HttpServer } from './http-server.ts';
import { type Script, scriptsIn, wordsOf } from './script.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly source?: { readonly data?: string };
}
interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string }[];
}

/** What one call of the model was sent. */
export interface Asked {
  /** Of all messages in the history, in order. */
  readonly history: readonly Script[];
  readonly script: Script;
  /** Everything, to look for attachments. */
  readonly body: string;
}

function frame(data: { readonly type: string } & Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function head(block: object): string {
  const message = {
    id: 'msg_chaos',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'chaos',
    stop_reason: null,
  };
  return (
    frame({ type: 'message_start', message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } }) +
    frame({ type: 'content_block_start', index: 0, content_block: block })
  );
}

function tail(reason: string, tokens: number): string {
  return (
    frame({ type: 'content_block_stop', index: 0 }) +
    frame({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: tokens } }) +
    frame({ type: 'message_stop' })
  );
}

function delta(part: object): string {
  return frame({ type: 'content_block_delta', index: 0, delta: part });
}

/** Anthropic's Messages API over real HTTP: its replies follow from what the customer's message says. */
export class ModelProvider {
  calls = 0;
  private readonly asked: (asked: Asked) => void;
  private server: HttpServer | undefined;

  private constructor(asked: (asked: Asked) => void) {
    this.asked = asked;
  }

  static async start(asked: (asked: Asked) => void): Promise<ModelProvider> {
    const provider = new ModelProvider(asked);
    provider.server = await HttpServer.start((request, response) => provider.answer(request, response));
    return provider;
  }

  get environment(): Readonly<Record<string, string>> {
    return { ANTHROPIC_API_KEY: 'chaos', ANTHROPIC_BASE_URL: `http://${this.server?.host ?? ''}` };
  }

  async close(): Promise<void> {
    await this.server?.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const sent = JSON.parse(body) as Sent;
    this.calls += 1;
    const history = sent.messages
      .filter(({ role }) => role === 'user')
      .flatMap(({ content }) => scriptsIn(wholeText(content)));
    const script = history.at(-1);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (!script) {
      response.end(
        head({ type: 'text', text: '' }) + delta({ type: 'text_delta', text: 'Hello.' }) + tail('end_turn', 2),
      );
      return;
    }
    this.asked({ history, script, body });
    const tool = sent.tools?.find(({ name }) => name === script.call || name.endsWith(`__${script.call ?? '-'}`));
    const id = `toolu_${script.nonce}`;
    if (tool && !isAnswered(sent, id)) {
      const input = JSON.stringify({ nonce: script.nonce });
      const call = head({ type: 'tool_use', id, name: tool.name, input: {} });
      response.end(call + delta({ type: 'input_json_delta', partial_json: input }) + tail('tool_use', 5));
      return;
    }
    await this.say(script, response);
  }

  private async say(script: Script, response: ServerResponse): Promise<void> {
    response.write(head({ type: 'text', text: '' }));
    for (const word of wordsOf(script)) {
      response.write(delta({ type: 'text_delta', text: word }));
      if (script.everyMs > 0) await sleep(script.everyMs);
      if (response.destroyed) return;
    }
    response.end(tail('end_turn', script.words));
  }
}

function wholeText(content: string | readonly Block[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap(({ type, text: words }) => (type === 'text' ? (words ?? []) : [])).join('\n');
}

function isAnswered({ messages }: Sent, id: string): boolean {
  return messages.some(
    ({ content }) => typeof content !== 'string' && content.some(({ tool_use_id }) => tool_use_id === id),
  );
}
