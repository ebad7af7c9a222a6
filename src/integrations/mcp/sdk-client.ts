import {
  Client,
  type jsonSchemaValidator,
  type JsonSchemaValidator,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock/index.js';
import { McpFailure } from './mcp-failure.js';
import { CHANGES_WITHIN_MS, MAX_PAGES, SDK_TIMEOUT_MS } from './mcp-limits.js';

const CLIENT_INFO = { name: 'agent-service', version: '1.0.0' };

/** Compiles nothing: a stranger's schema, with patterns in it, is a way to keep the process busy. */
class NoValidation implements jsonSchemaValidator {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined });
  }
}

/** An SDK client that serves no requests of a server, and answers none of its questions. */
export function createClient(versionNegotiation: VersionNegotiationOptions): Client {
  return new Client(CLIENT_INFO, {
    capabilities: {},
    jsonSchemaValidator: new NoValidation(),
    inputRequired: { autoFulfill: false },
    listMaxPages: MAX_PAGES,
    versionNegotiation,
  });
}

/** Whether the server tells when its tools are others. */
export function tellsOfChanges(client: Client): boolean {
  return client.getServerCapabilities()?.tools?.listChanged === true;
}

/** Tells, at most once within `CHANGES_WITHIN_MS`, that the tools of a server are others now. */
export class ToolChanges {
  private pending: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly onToolsChanged: () => void,
    /** Changes will not be told, or not any more. */
    private readonly onListenFailed: (error: unknown) => void,
  ) {}

  /** Before the client connects. */
  watch(client: Client): void {
    client.setNotificationHandler('notifications/tools/list_changed', () => this.announce());
  }

  /** Connections of the newer protocol tell of changes only where it is asked for; they are usable without. */
  listen(client: Client): void {
    if (!tellsOfChanges(client) || client.getProtocolEra() !== 'modern') return;
    client
      .listen({ toolsListChanged: true }, { timeout: SDK_TIMEOUT_MS })
      .then(({ closed }) => closed)
      .then(() =>
        this.onListenFailed(new McpFailure('unreachable', 'The server ended the stream on which it tells of them.')),
      )
      .catch(this.onListenFailed);
  }

  /** The connection is over: nothing more is told of it. */
  end(): void {
    this.pending?.();
  }

  private announce(): void {
    this.pending ??= this.clock.after(CHANGES_WITHIN_MS, () => {
      this.pending = undefined;
      this.onToolsChanged();
    });
  }
}
