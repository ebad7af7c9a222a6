import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { messageOf } from '../../platform/errors/index.js';
import {
  type ChildProcess,
  ChildProcesses,
  PrivateFolders,
  ProcessNotStarted,
} from '../../platform/processes/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { MAX_SERVERS_PER_ORGANIZATION } from './limits.js';
import { LocalServer } from './local-server.js';
import { RestartBackoff } from './restart-backoff.js';

const STATE_FILE = 'state';

export interface Admission {
  /** Waits as `RestartBackoff.waitForAttempt` does, instead of being refused for earlier failures. */
  readonly ignoresBackoff: boolean;
  readonly signal: AbortSignal;
}

/** Starts and limits the local servers of this process, one per integration. Their folders survive restarts. */
@Injectable()
export class LocalServers implements OnApplicationShutdown {
  private readonly servers = new Set<LocalServer>();
  private readonly backoff: RestartBackoff;
  private readonly folders: PrivateFolders;
  private readonly maxServers: number;
  private isStopping = false;

  constructor(
    private readonly processes: ChildProcesses,
    private readonly clock: Clock,
    private readonly logger: Logger,
    { dataDir, mcpLocalServers }: Settings,
  ) {
    this.backoff = new RestartBackoff(clock);
    this.folders = new PrivateFolders(join(dataDir, 'integrations'));
    this.maxServers = mcpLocalServers;
  }

  /**
   * Admits a server, which the caller then starts. At the limit it first ends the least recently used idle server.
   * @throws McpFailure `process` if the server failed recently, or if all others are busy; the signal's reason
   */
  async admit(endpoint: ProcessEndpoint, { ignoresBackoff, signal }: Admission): Promise<LocalServer> {
    const { integrationId } = endpoint;
    const version = versionOf(endpoint);
    if (ignoresBackoff) await this.backoff.waitForAttempt(integrationId, version, signal);
    const refusal = ignoresBackoff ? undefined : this.backoff.refusal(integrationId, version);
    if (refusal !== undefined) throw new McpFailure('process', refusal);
    for (;;) {
      if (this.isStopping) throw new McpFailure('process', 'The service is stopping.');
      const rivals = this.rivalsOf(endpoint);
      if (!rivals) return this.add(endpoint);
      const idle = rivals.filter(({ isIdle }) => isIdle).sort((one, other) => one.lastUsed - other.lastUsed);
      const leaving = rivals.find(({ isEnding }) => isEnding) ?? idle[0];
      if (!leaving) throw new McpFailure('process', 'Too many local servers are in use. Try again later.');
      await leaving.end();
    }
  }

  /** Call when the integration is deleted: ends its server and removes its folder. Never rejects. */
  async forget(integrationId: string): Promise<void> {
    this.backoff.forget(integrationId);
    const own = [...this.servers].filter(({ endpoint }) => endpoint.integrationId === integrationId);
    await Promise.all(own.map((server) => server.end()));
    try {
      await this.folders.remove(integrationId);
    } catch (error) {
      this.logger.error({ integrationId, err: error }, 'The folder of a deleted integration could not be removed');
    }
  }

  /** The ids of integrations with a folder on this machine's disk that was not changed for this time. */
  foldersUnchangedFor(ms: number): AsyncIterable<string> {
    return this.folders.unchangedSince(new Date(this.clock.now().getTime() - ms));
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.servers].map((server) => server.end()));
  }

  /** The servers of which one has to end first; undefined below the limits. */
  private rivalsOf({ organizationId }: ProcessEndpoint): readonly LocalServer[] | undefined {
    const all = [...this.servers];
    const own = all.filter(({ endpoint }) => endpoint.organizationId === organizationId);
    if (own.length >= MAX_SERVERS_PER_ORGANIZATION) return own;
    return all.length >= this.maxServers ? all : undefined;
  }

  private add(endpoint: ProcessEndpoint): LocalServer {
    const server = new LocalServer(endpoint, {
      clock: this.clock,
      spawn: () => this.spawn(endpoint),
      onGone: (gone) => this.servers.delete(gone),
      onReady: () => this.backoff.started(endpoint.integrationId),
      onFailure: (failed, failure, ranMs) => this.noteFailure(failed, failure, ranMs),
    });
    this.servers.add(server);
    return server;
  }

  private async spawn({ integrationId, command, args, env, stateFile }: ProcessEndpoint): Promise<ChildProcess> {
    try {
      const folder = await this.folders.open(integrationId);
      const state = stateFile === undefined ? {} : { [stateFile]: join(folder, STATE_FILE) };
      return await this.processes.start({ command, args, env: { ...env, ...state }, folder });
    } catch (error) {
      const known = error instanceof ProcessNotStarted ? error.message : 'Its folder cannot be created';
      throw new McpFailure('process', `The local server cannot be started: ${known}.`, {
        detail: messageOf(error),
        cause: error,
      });
    }
  }

  private noteFailure({ endpoint }: LocalServer, { message, detail }: McpFailure, ranMs: number): void {
    const { organizationId, integrationId } = endpoint;
    this.backoff.failed(integrationId, versionOf(endpoint), { message, ranMs });
    this.logger.warn({ organizationId, integrationId, reason: message, detail, ranMs }, 'A local tool server failed');
  }
}

/** A digest of everything that a server is started with. */
function versionOf({ command, args, env }: ProcessEndpoint): string {
  return createHash('sha256')
    .update(JSON.stringify([command, args, env]))
    .digest('base64');
}
