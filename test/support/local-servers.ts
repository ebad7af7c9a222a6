import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { LocalServers } from '../../src/integrations/local/local-servers.js';
import { ProcessMcpConnector } from '../../src/integrations/local/process-mcp-connector.js';
import type { McpConnection } from '../../src/integrations/mcp/mcp-connection.js';
import type { ProcessEndpoint } from '../../src/integrations/mcp/mcp-endpoint.js';
import type { Clock } from '../../src/platform/clock/index.js';
import { readSettings } from '../../src/platform/config/index.js';
import { newId } from '../../src/platform/ids/index.js';
import { ChildProcesses } from '../../src/platform/processes/index.js';
import { Logger } from '../../src/platform/telemetry/index.js';
import { ManualClock } from './manual-clock.js';

export const SERVER = resolve('test/support/stdio-server.mjs');

/** Keeps what is logged. */
class TestLogger extends Logger {
  readonly lines: string[] = [];
  private readonly note = (fields: object, message: string): void =>
    void this.lines.push(JSON.stringify({ ...fields, message }));
  debug = this.note;
  info = this.note;
  warn = this.note;
  error = this.note;
}

/** The local servers of one process of the service. */
export class TestLocalServers {
  readonly logger = new TestLogger();
  readonly servers: LocalServers;
  readonly connector: ProcessMcpConnector;

  constructor(
    readonly dataDir: string,
    readonly clock: Clock,
    environment: Readonly<Record<string, string>>,
  ) {
    const { PATH = '' } = process.env;
    const settings = readSettings({ DATA_DIR: dataDir, PATH, ...environment }, { role: 'all', demo: false });
    this.servers = new LocalServers(new ChildProcesses(settings), clock, this.logger, settings);
    this.connector = new ProcessMcpConnector(this.servers, clock);
  }

  connect(to: ProcessEndpoint = endpoint(), onToolsChanged = (): void => undefined): Promise<McpConnection> {
    return this.connector.connect(to, { signal, onToolsChanged });
  }

  /** Connects as for a user who asks for a new attempt. */
  connectAnew(to: ProcessEndpoint): Promise<McpConnection> {
    return this.connector.connect(to, { signal, onToolsChanged: () => undefined, ignoresBackoff: true });
  }

  /** Contains the folders of the servers. */
  get folders(): string {
    return join(this.dataDir, 'integrations');
  }
}

/** New servers for each test, which end after it. */
export function useLocalServers(): {
  begin(clock?: Clock, environment?: Readonly<Record<string, string>>): TestLocalServers;
} {
  const begun: TestLocalServers[] = [];
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'local-servers-'));
  });
  afterEach(async () => {
    await Promise.all(begun.splice(0).map(({ servers }) => servers.onApplicationShutdown()));
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    // A clock that tests advance, because on a busy machine even a good server may be slow.
    begin: (clock = new ManualClock(), environment = {}) => {
      const local = new TestLocalServers(dataDir, clock, environment);
      begun.push(local);
      return local;
    },
  };
}

/** Never aborted. */
export const signal = new AbortController().signal;

/** The endpoint of a local server. @param behaviour a name in `stdio-server.mjs` */
export function endpoint(behaviour = 'good', changes: Partial<ProcessEndpoint> = {}): ProcessEndpoint {
  const args = ['--max-old-space-size=2048', SERVER, behaviour];
  return {
    kind: 'process',
    organizationId: newId(),
    integrationId: newId(),
    command: process.execPath,
    args,
    env: {},
    ...changes,
  };
}

export async function callTool(
  connection: McpConnection,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return (await connection.callTool({ name, input, meta: {} }, signal)).output;
}

export function failure(reason: string, message: unknown = expect.anything()): unknown {
  return expect.objectContaining({ reason, message });
}
