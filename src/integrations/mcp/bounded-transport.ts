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
import { withRawResult } from './raw-result.js';

type RequestId = Extract<JSONRPCMessage, { id: unknown; method: string }>['id'];

/** Other notifications, such as progress and log lines, are dropped. */
const USED_NOTIFICATIONS = [
  'notifications/tools/list_changed',
  'notifications/subscriptions/acknowledged',
  'notifications/cancelled',
];

/**
 * An SDK transport whose requests always end, together with their HTTP request: with the answer, with the failure, or when they are
 * aborted. The SDK's own transports let a request wait for its timeout when its answer is interrupted.
 */
export class BoundedTransport implements Transport {
  closed = false;
  /** Why `breakOff` ended the connection. Callers may get an error without the reason, because the SDK reports the close first. */
  failure: McpFailure | undefined;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  private readonly exchanges = new Map<RequestId, Exchange>();
  /** The stream on which the SSE transport receives all messages. */
  private readonly stream = new Exchange('GET');
  /** Exchanges that are answered, but whose streams are still open. */
  private readonly ending = new Set<Exchange>();
  private started = false;
  private replies = 0;
  private readonly requestRate: MessageRate;

  constructor(
    private readonly inner: Transport,
    private readonly clock: Clock,
  ) {
    this.requestRate = new MessageRate(clock, MAX_REPLIES_PER_SECOND);
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
    if (this.closed) throw sessionLost();
    if (isJSONRPCRequest(message)) await this.request(message, options);
    else if (isJSONRPCNotification(message)) await this.notify(message, options);
    else await this.reply(message, options);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.inner.close();
    this.stream.end();
    for (const exchange of [...this.exchanges.values(), ...this.ending]) exchange.end();
  }

  /** Closes the connection and fails all its requests with `failure`. */
  breakOff(failure: McpFailure): void {
    if (this.closed) return;
    this.closed = true;
    this.failure = failure;
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
      // Has no effect if the answer has arrived.
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

  /** A cancellation also ends the HTTP request of the cancelled request. */
  private async notify(
    message: Extract<JSONRPCMessage, { method: string }>,
    options: TransportSendOptions | undefined,
  ): Promise<void> {
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined;
    const sent = currentExchange.run(new Exchange(), () => this.inner.send(message, options));
    if (cancelled !== undefined) this.exchanges.get(cancelled as RequestId)?.end();
    await sent;
  }

  /** The limit is for servers that send requests faster than they read the replies. */
  private async reply(message: JSONRPCMessage, options: TransportSendOptions | undefined): Promise<void> {
    if (this.replies >= MAX_REPLIES) throw new McpFailure('protocol', 'The server sent too many requests at once.');
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
      // A late answer, or one without a request.
      if (!exchange?.method) return;
      this.onmessage?.(withRawResult(exchange.method, message), extra);
      this.finish(exchange);
    } else if (this.replies < MAX_REPLIES && !this.requestRate.exceededBy(1, 0)) {
      // Further requests get no reply: each reply is a request to the server.
      this.onmessage?.(message, extra);
    }
  }

  private finish(exchange: Exchange): void {
    exchange.answered();
    if (!exchange.streams || this.closed) return;
    this.ending.add(exchange);
    const cancel = this.clock.after(STREAM_END_MS, () => exchange.end());
    const ended = (): void => {
      this.ending.delete(exchange);
      cancel();
    };
    exchange.ended.signal.addEventListener('abort', ended, { once: true });
  }

  /** The event source would reconnect, to a new session in which the requests under way do not exist. */
  private interrupted(error: Error): void {
    if (!this.started || this.closed || !(error instanceof SseError)) return;
    const failure = this.stream.interruption ?? connectionLost(error);
    for (const exchange of this.exchanges.values()) exchange.fail(failure);
    this.closed = true;
    // An event source that is closed within its error handler would still reconnect.
    queueMicrotask(() => void this.close());
  }

  private ended(): void {
    this.closed = true;
    this.onclose?.();
  }
}

/** Rejects when the exchange fails, and never resolves. */
async function failureOf(exchange: Exchange): Promise<never> {
  await exchange.settled;
  return new Promise<never>(() => undefined);
}
