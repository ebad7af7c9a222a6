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
  /** Not refused for earlier failures; see `RestartBackoff.turn`. */
  readonly anew: boolean;
  /** Nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/**
 * The local servers of this process: how many there may be, when one that failed is started again, and the folders that
 * they keep over restarts. Each is one integration's alone.
 */
@Injectable()
export class LocalServers implements OnApplicationShutdown {
  private readonly servers = new Set<LocalServer>();
  private readonly backoff: RestartBackoff;
  private readonly folders: PrivateFolders;
  private readonly maxServers: number;
  private stopping = false;

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
   * Makes room for a server, which is to be connected to. Where there is none, the one that has been idle for longest is
   * ended.
   * @throws McpFailure `process` when it failed a short while ago, or all others are busy; the signal's reason
   */
  async admit(endpoint: ProcessEndpoint, { anew, signal }: Admission): Promise<LocalServer> {
    const { integrationId } = endpoint;
    const version = versionOf(endpoint);
    if (anew) await this.backoff.turn(integrationId, version, signal);
    const refusal = anew ? undefined : this.backoff.refusal(integrationId, version);
    if (refusal !== undefined) throw new McpFailure('process', refusal);
    for (;;) {
      if (this.stopping) throw new McpFailure('process', 'The service is stopping.');
      const rivals = this.rivalsOf(endpoint);
      if (!rivals) return this.add(endpoint);
      const leaving = rivals.find(({ ending }) => ending) ?? leastRecentlyUsed(rivals.filter(({ idle }) => idle));
      if (!leaving) throw new McpFailure('process', 'Too many local servers are in use. Try again later.');
      await leaving.end();
    }
  }

  /** The integration is deleted: its server is ended, and all that it kept is removed. Never rejects. */
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
    this.stopping = true;
    await Promise.all([...this.servers].map((server) => server.end()));
  }

  /** Those of whom one has to leave; undefined where there is room. */
  private rivalsOf({ organizationId }: ProcessEndpoint): readonly LocalServer[] | undefined {
    const all = [...this.servers];
    const own = all.filter(({ endpoint }) => endpoint.organizationId === organizationId);
    if (own.length >= MAX_SERVERS_PER_ORGANIZATION) return own;
    return all.length >= this.maxServers ? all : undefined;
  }

  private add(endpoint: ProcessEndpoint): LocalServer {
    const server = new LocalServer({
      endpoint,
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
      const known = error instanceof ProcessNotStarted ? error.message : 'Its folder cannot be made';
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

function leastRecentlyUsed(servers: readonly LocalServer[]): LocalServer | undefined {
  return servers.reduce<LocalServer | undefined>(
    (oldest, server) => (oldest && oldest.lastUsed <= server.lastUsed ? oldest : server),
    undefined,
  );
}

/** Differs as soon as anything differs that a server is started with; tells nothing of it. */
function versionOf({ command, args, env }: ProcessEndpoint): string {
  return createHash('sha256')
    .update(JSON.stringify([command, args, env]))
    .digest('base64');
}
