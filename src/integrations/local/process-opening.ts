import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock/index.js';
import type { ChildProcess } from '../../platform/processes/index.js';
import { BoundedTransport } from '../mcp/bounded-transport.js';
import { ClientConnection } from '../mcp/client-connection.js';
import { mcpFailureOf } from '../mcp/failure-of.js';
import type { ConnectOptions, McpConnection } from '../mcp/mcp-connection.js';
import type { ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import type { McpFailure } from '../mcp/mcp-failure.js';
import { SDK_TIMEOUT_MS } from '../mcp/mcp-limits.js';
import { createClient, ToolChanges } from '../mcp/sdk-client.js';
import type { LocalServer } from './local-server.js';
import { PROBE_MS } from './limits.js';
import { ProcessTransport } from './process-transport.js';

export type ProtocolChoice = 'auto' | 'legacy';

/** A connection to a child while it is made. */
export class ProcessOpening {
  private readonly inner: ProcessTransport;
  private readonly transport: ProcessBoundedTransport;
  private client: Client | undefined;

  constructor(
    child: ChildProcess,
    private readonly clock: Clock,
    /** Of the endpoint. */
    private readonly secrets: readonly string[],
  ) {
    this.inner = new ProcessTransport(child, clock);
    this.transport = new ProcessBoundedTransport(this.inner, clock, child.pid);
  }

  /** Why the child was ended for what it wrote. */
  get refusal(): McpFailure | undefined {
    return this.inner.failure;
  }

  /** @throws what the SDK throws; the signal's reason */
  async connect(choice: ProtocolChoice, { signal, onToolsChanged, onListenFailed }: ConnectOptions): Promise<void> {
    const client = createClient({ mode: choice, probe: { timeoutMs: PROBE_MS } });
    const whileOpen = (tell: () => void): void => {
      if (!this.transport.closed) tell();
    };
    const listenFailed = (error: unknown): void => whileOpen(() => onListenFailed?.(mcpFailureOf(error, this.secrets)));
    const changes = new ToolChanges(this.clock, () => whileOpen(onToolsChanged), listenFailed);
    changes.watch(client);
    await client.connect(this.transport, { signal, timeout: SDK_TIMEOUT_MS });
    changes.listen(client);
    this.client = client;
  }

  /** Once it is connected. */
  connection(server: LocalServer): McpConnection {
    if (!this.client) throw new Error('Connect first');
    return new ClientConnection({
      client: this.client,
      clock: this.clock,
      isClosed: () => this.transport.closed,
      endSession: () => server.end(),
      secrets: () => this.secrets,
    });
  }
}

/** The SDK tells by these two fields that silence may be the answer of an older server. */
class ProcessBoundedTransport extends BoundedTransport {
  readonly stderr = null;

  constructor(
    transport: ProcessTransport,
    clock: Clock,
    readonly pid: number,
  ) {
    super(transport, clock);
  }
}

/** What a server was told, and must not be able to publish by repeating it in an error. */
export function secretsOf({ env, secrets = Object.values(env) }: ProcessEndpoint): readonly string[] {
  return secrets;
}
