import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type MessageExtraInfo,
  SseError,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock/index.js';
import { currentExchange, Exchange } from './exchange.js';
import { connectionLost, sessionLost } from './failure-of.js';
import { McpFailure } from './mcp-failure.js';
import { MAX_REPLIES, MAX_REPLIES_PER_SECOND, STREAM_END_MS } from './mcp-limits.js';
import { MessageRate } from './message-rate.js';
import { repairedAnswer } from './repaired-answer.js';

type RequestId = Extract<JSONRPCMessage, { id: unknown; method: string }>['id'];

/** The others tell what nobody here asked for, such as progress and log lines. */
const USED_NOTIFICATIONS = [
  'notifications/tools/list_changed',
  'notifications/subscriptions/acknowledged',
  'notifications/cancelled',
];

/**
 * An SDK transport whose requests always end: with the answer, with what broke, or when they are aborted, and with them the
 * HTTP request under way. Alone, the SDK's transports let a request wait for its time limit when its answer breaks off.
 */
export class BoundedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  private readonly exchanges = new Map<RequestId, Exchange>();
  /** The one that the SSE transport receives everything on. */
  private readonly stream = new Exchange('GET');
  /** Answered, while their streams are still open. */
  private readonly ending = new Set<Exchange>();
  private started = false;
  private isClosed = false;
  private broken: McpFailure | undefined;
  private replies = 0;
  private readonly asked: MessageRate;

  constructor(
    private readonly inner: Transport,
    private readonly clock: Clock,
  ) {
    this.asked = new MessageRate(clock, { messages: MAX_REPLIES_PER_SECOND, bytes: Infinity });
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** Why it was broken off. What waits for it may be told of its end first, which does not say why. */
  get failure(): McpFailure | undefined {
    return this.broken;
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.inner.hasPerRequestStream === true;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.inner.onmessage = (message, extra) => this.receive(message, extra);
    this.inner.onerror = (error) => this.interrupted(error);
    this.inner.onclose = () => this.ended();
    const starting = currentExchange.run(this.stream, () => this.inner.start());
    await Promise.race([failureOf(this.stream), starting]);
    this.started = true;
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.isClosed) throw sessionLost();
    if (isJSONRPCRequest(message)) await this.request(message, options);
    else if (isJSONRPCNotification(message)) await this.notify(message, options);
    else await this.reply(message, options);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.inner.close();
    this.stream.end();
    for (const exchange of [...this.exchanges.values(), ...this.ending]) exchange.end();
  }

  /** Ends the connection, and everything that waits for it with `failure`. */
  breakOff(failure: McpFailure): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.broken = failure;
    for (const exchange of [this.stream, ...this.exchanges.values()]) exchange.fail(failure);
    this.close().catch(() => undefined);
  }

  private async request(
    message: Extract<JSONRPCMessage, { method: string; id: unknown }>,
    options: TransportSendOptions = {},
  ): Promise<void> {
    const exchange = new Exchange(message.method);
    this.exchanges.set(message.id, exchange);
    const abort = (): void => exchange.end();
    options.requestSignal?.addEventListener('abort', abort, { once: true });
    const onRequestStreamEnd = (): void => {
      options.onRequestStreamEnd?.();
      // Of no effect where the answer came before.
      exchange.fail(exchange.interruption ?? connectionLost());
    };
    try {
      const sending = currentExchange.run(exchange, () =>
        this.inner.send(message, { ...options, requestSignal: exchange.ended.signal, onRequestStreamEnd }),
      );
      await Promise.race([failureOf(exchange), sending]);
      await exchange.settled;
    } finally {
      this.exchanges.delete(message.id);
      options.requestSignal?.removeEventListener('abort', abort);
    }
  }

  /** The server is told that nobody waits any more, and the request that did is broken off. */
  private async notify(
    message: Extract<JSONRPCMessage, { method: string }>,
    options: TransportSendOptions | undefined,
  ): Promise<void> {
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined;
    const sent = currentExchange.run(new Exchange(), () => this.inner.send(message, options));
    if (cancelled !== undefined) this.exchanges.get(cancelled as RequestId)?.end();
    await sent;
  }

  /** A server that asks faster than it takes the answers would have them pile up here. */
  private async reply(message: JSONRPCMessage, options: TransportSendOptions | undefined): Promise<void> {
    if (this.replies >= MAX_REPLIES) throw new McpFailure('protocol', 'The server asks for too much at once.');
    this.replies += 1;
    try {
      await currentExchange.run(new Exchange(), () => this.inner.send(message, options));
    } finally {
      this.replies -= 1;
    }
  }

  private receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (isJSONRPCNotification(message)) {
      if (USED_NOTIFICATIONS.includes(message.method)) this.onmessage?.(message, extra);
    } else if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      const exchange = message.id === undefined ? undefined : this.exchanges.get(message.id);
      // To what nobody asked, or an answer that comes too late.
      if (!exchange?.method) return;
      this.onmessage?.(repairedAnswer(exchange.method, message), extra);
      this.finish(exchange);
    } else if (this.replies < MAX_REPLIES && !this.asked.exceededBy(1, 0)) {
      // A server that asks for more is not answered: each answer is a request to it.
      this.onmessage?.(message, extra);
    }
  }

  private finish(exchange: Exchange): void {
    exchange.answered();
    if (!exchange.streams || this.isClosed) return;
    this.ending.add(exchange);
    const cancel = this.clock.after(STREAM_END_MS, () => exchange.end());
    const ended = (): void => {
      this.ending.delete(exchange);
      cancel();
    };
    exchange.ended.signal.addEventListener('abort', ended, { once: true });
  }

  /** The event source would connect anew, to a session that knows nothing of the requests under way. */
  private interrupted(error: Error): void {
    if (!this.started || this.isClosed || !(error instanceof SseError)) return;
    const failure = this.stream.interruption ?? connectionLost(error);
    for (const exchange of this.exchanges.values()) exchange.fail(failure);
    this.isClosed = true;
    // Closed while it tells of the error, the event source would still wait for its next attempt.
    queueMicrotask(() => void this.close());
  }

  private ended(): void {
    this.isClosed = true;
    this.onclose?.();
  }
}

/** Rejects when the exchange fails, and never resolves. */
async function failureOf(exchange: Exchange): Promise<never> {
  await exchange.settled;
  return new Promise<never>(() => undefined);
}
