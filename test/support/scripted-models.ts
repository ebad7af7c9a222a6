import type { ProviderType } from '../../src/models/index.js';
import { type Exchange, FakeUpstream, type RecordedRequest } from './fake-upstream.js';
import { anthropicWire, geminiWire, openaiWire, type ProviderWire, type WireAnswer } from './provider-wire.js';
import type { WireUsage } from './wire.js';

/** What a scripted model does with one request; the wire is that of the provider it was sent to. */
export type ModelScript = (exchange: Exchange, wire: ProviderWire) => void | Promise<void>;

/**
 * All three providers on one real HTTP server. Each request takes the next script; a request that no
 * script expects is refused and fails the test that looks (`unexpected`).
 */
export class ScriptedModels {
  readonly unexpected: RecordedRequest[] = [];
  private scripts: ModelScript[] = [];
  private fallback: ModelScript | undefined;

  private constructor(readonly upstream: FakeUpstream) {}

  static async start(): Promise<ScriptedModels> {
    const upstream = await FakeUpstream.start();
    const models = new ScriptedModels(upstream);
    upstream.respond((exchange) => models.answer(exchange));
    return models;
  }

  /** The environment that sends all three providers here, with managed keys. */
  get environment(): Record<string, string> {
    return {
      ANTHROPIC_API_KEY: 'managed-anthropic-key',
      ANTHROPIC_BASE_URL: anthropicWire.baseUrl(this.upstream.url),
      OPENAI_API_KEY: 'managed-openai-key',
      OPENAI_BASE_URL: openaiWire.baseUrl(this.upstream.url),
      GEMINI_API_KEY: 'managed-gemini-key',
      GEMINI_BASE_URL: geminiWire.baseUrl(this.upstream.url),
    };
  }

  get requests(): readonly RecordedRequest[] {
    return this.upstream.requests;
  }

  /** For the next requests, one each. */
  next(...scripts: ModelScript[]): void {
    this.scripts.push(...scripts);
  }

  /** For every request that no `next` is left for. */
  always(script: ModelScript): void {
    this.fallback = script;
  }

  reset(): void {
    this.scripts = [];
    this.fallback = undefined;
    this.unexpected.length = 0;
    this.upstream.requests.length = 0;
  }

  close(): Promise<void> {
    return this.upstream.close();
  }

  private async answer(exchange: Exchange): Promise<void> {
    const script = this.scripts.shift() ?? this.fallback;
    if (!script) {
      this.unexpected.push(exchange.request);
      exchange.refuse(400, { error: { type: 'invalid_request_error', message: 'no script expects this request' } });
      return;
    }
    await script(exchange, wireOf(exchange.request.path));
  }
}

/** Says the parts one after the other and stops. */
export function says(...parts: string[]): ModelScript {
  return (exchange, wire) => exchange.sendAll(wire.text(parts, { input: 11, output: 7 }));
}

/** Sends one whole answer of any parts. */
export function answers(parts: WireAnswer): ModelScript {
  return (exchange, wire) => exchange.sendAll(wire.answer(parts));
}

/** Calls one tool. */
export function calls(name: string, input: object = {}, id = `call_${name}`): ModelScript {
  return (exchange, wire) => exchange.sendAll(wire.toolCall({ id, name, inputParts: [JSON.stringify(input)] }));
}

/** Refuses with a status before a byte of an answer. */
export function refuses(status: number, headers: Record<string, string> = {}): ModelScript {
  return (exchange) => {
    exchange.refuse(status, { error: { type: 'api_error', message: 'scripted refusal' } }, headers);
  };
}

/** Says the parts, then breaks the connection off. */
export function breaksOffAfter(...parts: string[]): ModelScript {
  return async (exchange, wire) => {
    const frames = wire.text([...parts, 'never sent']);
    const cut = frames.findIndex((frame) => frame.includes('never sent'));
    for (const frame of frames.slice(0, cut)) await exchange.send(frame);
    exchange.reset();
  };
}

/** A reply that the test lets go on step by step. */
export class HeldReply {
  private release: () => void = () => undefined;
  private arrived: (exchange: Exchange) => void = () => undefined;
  private readonly released = new Promise<void>((resolve) => (this.release = resolve));
  /** Resolves when the model has received the request and sent the first parts. */
  readonly asked = new Promise<Exchange>((resolve) => (this.arrived = resolve));

  constructor(
    readonly before: readonly string[],
    private readonly after: readonly string[] = ['.'],
    private readonly usage?: WireUsage,
  ) {}

  readonly script: ModelScript = async (exchange, wire) => {
    const frames = wire.text([...this.before, ...this.after], this.usage);
    const cut = frames.findIndex((frame) => frame.includes(JSON.stringify(this.after[0])));
    for (const frame of frames.slice(0, cut)) await exchange.send(frame);
    this.arrived(exchange);
    await this.released;
    await exchange.sendAll(frames.slice(cut));
  };

  finish(): void {
    this.release();
  }
}

function wireOf(path: string): ProviderWire {
  const provider: ProviderType = path.includes('/responses')
    ? 'openai-responses'
    : path.includes('generateContent') || path.includes('GenerateContent')
      ? 'gemini'
      : 'anthropic';
  switch (provider) {
    case 'openai-responses':
      return openaiWire;
    case 'gemini':
      return geminiWire;
    case 'anthropic':
      return anthropicWire;
    default:
      return provider satisfies never;
  }
}
