import {
  Client,
  type jsonSchemaValidator,
  type JsonSchemaValidator,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock/index.js';
import { ConfidentialTexts } from '../../platform/vault/index.js';
import type { ListedTool } from '../domain/tool-list.js';
import { CALL_MS } from '../limits.js';
import type { BoundedTransport } from './bounded-transport.js';
import { mcpFailureOf, sessionLost } from './failure-of.js';
import { listTools } from './list-tools.js';
import type { ConnectOptions, McpConnection, McpToolCall, McpToolResult } from './mcp-connection.js';
import { McpFailure } from './mcp-failure.js';
import { CHANGES_WITHIN_MS, CLOSE_MS, MAX_PAGES, SDK_TIMEOUT_MS } from './mcp-limits.js';
import { rawResultOf } from './raw-result.js';
import { toToolResult } from './tool-result.js';
import { withinTime } from './within-time.js';

const CLIENT_INFO = { name: 'agent-service', version: '1.0.0' };

/** Compiles nothing: a schema of a stranger, with its patterns, could keep the process busy. */
class NoValidation implements jsonSchemaValidator {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined });
  }
}

/** An SDK client that serves no requests of a server and answers no requests for input. */
export function createClient(versionNegotiation: VersionNegotiationOptions): Client {
  return new Client(CLIENT_INFO, {
    capabilities: {},
    jsonSchemaValidator: new NoValidation(),
    inputRequired: { autoFulfill: false },
    listMaxPages: MAX_PAGES,
    versionNegotiation,
  });
}

/** Whether the server sends notifications of changed tools. */
export function sendsToolChanges(client: Client): boolean {
  return client.getServerCapabilities()?.tools?.listChanged === true;
}

export interface ClientConnectionParts {
  readonly client: Client;
  readonly transport: BoundedTransport;
  readonly clock: Clock;
  /** Whether the server has ended the session, while the transport is still open. */
  readonly isSessionLost?: () => boolean;
  readonly onClosed?: () => void;
  /** Ends the server's session or process. */
  readonly endSession: () => Promise<void>;
  /** Values that are redacted in the server's errors, tools and results. */
  readonly secrets: () => readonly string[];
}

/** A connection over an SDK client, for every transport. */
export class ClientConnection implements McpConnection {
  private closing: Promise<void> | undefined;

  private constructor(private readonly parts: ClientConnectionParts) {}

  /** @throws what the SDK throws; the signal's reason */
  static async open(
    parts: ClientConnectionParts,
    { signal, onToolsChanged, onListenFailed }: ConnectOptions,
  ): Promise<ClientConnection> {
    const { client, transport, clock, onClosed, secrets } = parts;
    let cancelNotice: (() => void) | undefined;
    client.onclose = () => {
      cancelNotice?.();
      onClosed?.();
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      cancelNotice ??= clock.after(CHANGES_WITHIN_MS, () => {
        cancelNotice = undefined;
        if (!transport.closed) onToolsChanged();
      });
    });
    await client.connect(transport, { signal, timeout: SDK_TIMEOUT_MS });
    // Servers of the newer protocol send notifications only on request. The connection is usable without them.
    if (sendsToolChanges(client) && client.getProtocolEra() === 'modern') {
      void listen(client).catch((error: unknown) => {
        if (!transport.closed) onListenFailed?.(mcpFailureOf(error, secrets()));
      });
    }
    return new ClientConnection(parts);
  }

  get closed(): boolean {
    const { transport, isSessionLost } = this.parts;
    return this.closing !== undefined || transport.closed || isSessionLost?.() === true;
  }

  listTools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    return this.request(signal, (bounded) => listTools(this.parts.client, bounded, this.confidential()));
  }

  callTool({ name, input, meta }: McpToolCall, signal: AbortSignal): Promise<McpToolResult> {
    const params = { name, arguments: { ...input }, _meta: { ...meta } };
    return this.request(signal, async (bounded) => {
      const answer = await this.parts.client.callTool(params, { signal: bounded, timeout: SDK_TIMEOUT_MS });
      const result = toToolResult(rawResultOf(answer));
      return { ...result, output: this.confidential().redact(result.output) };
    });
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private confidential(): ConfidentialTexts {
    return new ConfidentialTexts(this.parts.secrets());
  }

  private async request<Result>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    if (this.closed) throw sessionLost();
    const { clock, transport, secrets } = this.parts;
    try {
      return await withinTime({ clock, ms: CALL_MS, signal }, work);
    } catch (error) {
      signal.throwIfAborted();
      throw transport.failure ?? mcpFailureOf(error, secrets());
    }
  }

  private async end(): Promise<void> {
    const { client, clock, endSession } = this.parts;
    const { signal } = new AbortController();
    // The server may be unreachable by now.
    await withinTime({ clock, ms: CLOSE_MS, signal }, endSession).catch(() => undefined);
    await client.close().catch(() => undefined);
  }
}

/** Never resolves. */
async function listen(client: Client): Promise<never> {
  const { closed } = await client.listen({ toolsListChanged: true }, { timeout: SDK_TIMEOUT_MS });
  await closed;
  throw new McpFailure('unreachable', 'The server ended the stream of notifications.');
}
