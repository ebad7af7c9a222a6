import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import type { Clock } from '../../../../platform/clock/index.js';
import { newId } from '../../../../platform/ids/index.js';
import type { ChildProcess, ChildProcesses, PrivateFolders } from '../../../../platform/processes/index.js';
import { AgentLoopFailure } from '../../../domain/agent-loop.js';
import {
  type ClaudeAgentSdk,
  type SdkProcess,
  type SdkQuery,
  type SpawnRequest,
  type ToolResult,
  toolUseIdOf,
} from './installed-sdk.js';
import { STOP_MS } from './limits.js';
import { TOOL } from './messages-call.js';
import { type MessagesEndpoint, promptOf } from './messages-endpoint.js';
import { processEnvironment, sdkOptions } from './process-options.js';
import { Turn, UNKNOWN_CALL } from './turn.js';

export interface ProcessHost {
  readonly sdk: ClaudeAgentSdk;
  readonly processes: ChildProcesses;
  readonly folders: PrivateFolders;
  readonly endpoint: MessagesEndpoint;
  readonly clock: Clock;
}

/**
 * A process of the SDK, which serves one run after another. It never sees the conversation: it knows a run by a random token, and a
 * tool call by its number. It can be killed at any time.
 */
export class AgentProcess {
  runs = 0;
  private readonly id = newId();
  private readonly prompts = new Readable({ objectMode: true, read: () => undefined });
  private readonly key: string;
  private child: ChildProcess | undefined;
  private query: SdkQuery | undefined;
  private turn: Turn | undefined;
  private turnEnded: (() => void) | undefined;
  private ending: Promise<void> | undefined;
  private readonly end = Promise.withResolvers<undefined>();

  private constructor(
    private readonly host: ProcessHost,
    readonly organizationId: string,
  ) {
    this.key = host.endpoint.register((token, call) => {
      // A request of an earlier run has no receiver.
      if (this.turn?.token === token) this.turn.onModelCall(call);
      else call.answerWithEnd();
    });
  }

  /** Does not wait until the process is ready, because it accepts a prompt before. @throws AgentLoopFailure, after it has removed what was started */
  static async start(host: ProcessHost, organizationId: string): Promise<AgentProcess> {
    const process = new AgentProcess(host, organizationId);
    try {
      await process.open();
    } catch (error) {
      await process.kill('it could not be started');
      throw new AgentLoopFailure('A process of the agent SDK could not be started', { cause: error });
    }
    return process;
  }

  /** Resolves when the process has ended, for whatever reason. Never rejects. */
  get ended(): Promise<unknown> {
    return this.end.promise;
  }

  get hasEnded(): boolean {
    return this.ending !== undefined;
  }

  /** Begins the turn of a run, after the one before has ended. */
  begin(): Turn {
    this.runs += 1;
    const turn = new Turn(this.host.clock);
    this.turn = turn;
    if (this.hasEnded) turn.fail(new AgentLoopFailure('The process has ended'));
    else {
      const message = { role: 'user', content: promptOf(turn.token) };
      this.prompts.push({ type: 'user', message, parent_tool_use_id: null, session_id: '' });
    }
    return turn;
  }

  /** Resolves when the process has ended its turn and is ready for another run, or has ended itself. */
  async finish(turn: Turn): Promise<void> {
    turn.finish();
    if (this.turn !== turn) return;
    const cancel = this.host.clock.after(STOP_MS, () => void this.kill('it did not end its turn'));
    await Promise.race([this.ended, new Promise<void>((resolve) => (this.turnEnded = resolve))]);
    cancel();
  }

  /** Kills the process and its descendants, and removes its folder. Never rejects. */
  kill(reason: string): Promise<void> {
    this.ending ??= this.stop(reason);
    return this.ending;
  }

  private async open(): Promise<void> {
    const { sdk, folders, endpoint } = this.host;
    const folder = await folders.open(this.id);
    const env = processEnvironment(folder, await endpoint.open(), this.key);
    const call = sdk.tool(TOOL.name, 'Makes a tool call of the run.', {}, (_, extra) => this.onToolCall(extra), {
      // Otherwise the SDK makes the calls of one response one after the other.
      annotations: { readOnlyHint: true },
    });
    const server = sdk.createSdkMcpServer({ name: TOOL.server, version: '1.0.0', tools: [call] });
    const spawn = (request: SpawnRequest): SdkProcess => this.spawn(request, folder);
    const query = sdk.query({
      prompt: this.prompts,
      options: sdkOptions({ folder, env, server, spawn }),
    });
    this.query = query;
    void this.listen(query);
  }

  private spawn({ command, args, env }: SpawnRequest, folder: string): SdkProcess {
    const present = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const child = this.host.processes.startNow({ command, args, env: Object.fromEntries(present), folder });
    this.child = child;
    // The service must be able to stop while the process is idle. Runs wait for it by other means.
    child.keepsOwner(false);
    const process = Object.assign(new EventEmitter(), {
      ...{ stdin: child.input, stdout: child.output, killed: false, exitCode: null },
      kill: () => {
        void child.kill();
        return true;
      },
    });
    void child.ended.then(({ exitCode, excess, signal = null }) => {
      Object.assign(process, { killed: true, exitCode });
      void this.kill(excess === null ? 'it ended by itself' : `it exceeded a limit: ${excess}`);
      process.emit('exit', exitCode, signal);
    });
    return process;
  }

  private async listen(query: SdkQuery): Promise<void> {
    try {
      for await (const { type } of query) if (type === 'result') this.onTurnEnded();
    } catch {
      // The SDK may also report the end of the process as an error.
    }
    await this.kill('it ended its output');
  }

  private onTurnEnded(): void {
    // A process may end its turn only after `finish`.
    this.turn?.fail(new AgentLoopFailure('The process ended its turn before the run was over'));
    this.turn = undefined;
    this.turnEnded?.();
  }

  private async onToolCall(extra: unknown): Promise<ToolResult> {
    return (await this.turn?.onToolCall(toolUseIdOf(extra))) ?? UNKNOWN_CALL;
  }

  private async stop(reason: string): Promise<void> {
    const { endpoint, folders } = this.host;
    endpoint.forget(this.key);
    this.turn?.fail(new AgentLoopFailure(`A process of the agent SDK has ended: ${reason}`));
    this.prompts.push(null);
    await this.child?.kill();
    this.query?.close();
    this.end.resolve(undefined);
    // If this fails, `removeOldFolders` removes the folder later.
    await folders.remove(this.id).catch(() => undefined);
  }
}
