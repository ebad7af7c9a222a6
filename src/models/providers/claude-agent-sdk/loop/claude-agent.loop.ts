import { join } from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { Settings } from '../../../../platform/config/index.js';
import { HealthFact } from '../../../../platform/http/index.js';
import { Metrics } from '../../../../platform/metrics/index.js';
import { ChildProcesses, PrivateFolders } from '../../../../platform/processes/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { AgentLoopFailure, type AgentLoops, type LoopedRun } from '../../../domain/agent-loop.js';
import { claudeAgentSdk } from '../claude-agent-sdk.provider.js';
import { AgentProcess } from './agent-process.js';
import { InstalledSdk } from './installed-sdk.js';
import { OLD_FOLDER_MS } from './limits.js';
import { MessagesEndpoint } from './messages-endpoint.js';
import { PooledRun } from './pooled-run.js';
import { ProcessPool } from './process-pool.js';

/** Runs agents on the Claude Agent SDK, whose processes are pooled. */
@Injectable()
export class ClaudeAgentLoop extends HealthFact implements AgentLoops, OnApplicationShutdown {
  readonly name = 'claudeAgentSdk';
  readonly values = ['installed', 'not_installed'];
  readonly description =
    'Whether agents of the type claude-agent-sdk can run: the Claude Agent SDK is an optional part of the installation (npm run install:claude-agent).';
  private readonly installed: InstalledSdk;
  private readonly whatIsMissing: string | null;
  private readonly endpoint: MessagesEndpoint;
  private readonly folders: PrivateFolders;
  private readonly pool: ProcessPool;
  private sdk: ReturnType<InstalledSdk['load']> | undefined;

  constructor(
    private readonly processes: ChildProcesses,
    private readonly clock: Clock,
    private readonly logger: Logger,
    metrics: Metrics,
    { dataDir, claudeAgent }: Settings,
  ) {
    super();
    this.installed = new InstalledSdk(claudeAgent.folder);
    this.whatIsMissing = this.installed.missing;
    this.endpoint = new MessagesEndpoint(clock);
    this.folders = new PrivateFolders(join(dataDir, 'claude-agent'));
    this.pool = new ProcessPool((organizationId) => this.start(organizationId), claudeAgent.processes, clock);
    const help = 'Processes of the Claude Agent SDK that serve a run or are idle, and runs that wait for a process.';
    const labels = { state: ['busy', 'idle', 'waiting'] } as const;
    metrics.gauge(
      { name: 'agent_service_claude_agent_processes', help, labels },
      ({ state }) => this.pool.counts[state],
    );
  }

  value(): string {
    return this.whatIsMissing === null ? 'installed' : 'not_installed';
  }

  missing(type: string): string | null {
    return type === claudeAgentSdk.type ? this.whatIsMissing : null;
  }

  begin(type: string, organizationId: string, signal: AbortSignal): LoopedRun | undefined {
    if (type !== claudeAgentSdk.type) return undefined;
    return new PooledRun(this.pool, organizationId, signal, (failure) => {
      this.logger.warn({ organizationId, err: failure }, 'A process of the Claude Agent SDK failed');
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
    this.endpoint.close();
  }

  private async start(organizationId: string): Promise<AgentProcess> {
    const { processes, folders, endpoint, clock } = this;
    if (this.sdk === undefined) void this.removeOldFolders();
    this.sdk ??= this.installed.load().catch((error: unknown) => {
      // The cause may be temporary, such as a lack of file descriptors, so the next run tries again.
      this.sdk = undefined;
      throw new AgentLoopFailure('The Claude Agent SDK could not be loaded', { cause: error });
    });
    return AgentProcess.start({ sdk: await this.sdk, processes, folders, endpoint, clock }, organizationId);
  }

  /** Removes the folders of killed services. Another service may share the data folder, so recent folders stay. */
  private async removeOldFolders(): Promise<void> {
    try {
      const old = new Date(this.clock.now().getTime() - OLD_FOLDER_MS);
      for await (const id of this.folders.unchangedSince(old)) await this.folders.remove(id);
    } catch (error) {
      this.logger.warn({ err: error }, 'Old folders of the Claude Agent SDK could not be removed');
    }
  }
}
