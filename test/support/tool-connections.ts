import type { Clock } from '../../src/platform/clock/index.js';
import { OperatorHttp, type SafeHttp, UndiciSafeHttp } from '../../src/platform/egress/index.js';
import type { ConnectOptions, McpConnection } from '../../src/integrations/mcp/mcp-connection.js';
import type { HttpEndpoint } from '../../src/integrations/mcp/mcp-endpoint.js';
import { HttpMcpConnector } from '../../src/integrations/mcp/http-mcp-connector.js';
import { ScriptedResolver } from './egress-bench.js';
import { ManualClock } from './manual-clock.js';

type Partly = Partial<HttpEndpoint> & Pick<HttpEndpoint, 'url'>;

export interface Connecting {
  /** By default one that tests advance, because on a busy machine even a good server may be slow. */
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly onToolsChanged?: () => void;
  readonly onListenFailed?: ConnectOptions['onListenFailed'];
}

/** Connects to servers of a test like to customers' servers, except that the hosts of the URLs are exempt. */
export class ToolConnections {
  private readonly clients: UndiciSafeHttp[] = [];
  private readonly connections: McpConnection[] = [];

  async open(
    partly: Partly,
    { clock = new ManualClock(), signal, onToolsChanged, onListenFailed }: Connecting = {},
  ): Promise<McpConnection> {
    const connection = await this.connector(partly.url, clock).connect(endpoint(partly), {
      signal: signal ?? new AbortController().signal,
      onToolsChanged: onToolsChanged ?? (() => undefined),
      ...(onListenFailed && { onListenFailed }),
    });
    this.connections.push(connection);
    return connection;
  }

  connector(url: string, clock: Clock = new ManualClock()): HttpMcpConnector {
    const none = this.client([], clock);
    return new HttpMcpConnector(clock, this.client([new URL(url).host], clock), new OperatorHttp(none, new Set()));
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.splice(0).map((connection) => connection.close()));
    await Promise.all(this.clients.splice(0).map((client) => client.close()));
  }

  private client(allow: readonly string[], clock: Clock): SafeHttp {
    const client = new UndiciSafeHttp({ exemptions: new Set(allow), resolver: new ScriptedResolver(() => []), clock });
    this.clients.push(client);
    return client;
  }
}

export function endpoint(partly: Partly): HttpEndpoint {
  return { kind: 'http', transport: 'streamableHttp', headers: {}, chosenBy: 'customer', ...partly };
}
