import { EventEmitter } from 'node:events';
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
  type UserMessage,
} from './installed-sdk.js';
import { STOP_MS } from './limits.js';
import { TOOL } from './messages-call.js';
import { type MessagesEndpoint, promptOf } from './messages-endpoint.js';
import { environmentOf, optionsOf } from './process-options.js';
import { Turn, UNKNOWN_CALL } from './turn.js';

/** What processes are made with. */
export interface ProcessHost {
  readonly sdk: ClaudeAgentSdk;
  readonly processes: ChildProcesses;
  readonly folders: PrivateFolders;
  readonly endpoint: MessagesEndpoint;
  readonly clock: Clock;
}

/**
 * A process of the SDK, kept open for one run after another. It reads nothing of a conversation: a run is a random token to it, and
 * a tool call the number of a call. It can be killed at any time.
 */
export class AgentProcess {
  /** Resolves when the process is gone, for whatever reason. Never rejects. */
  readonly ended: Promise<void>;
  runs = 0;
  private readonly id = newId();
  private readonly prompts = new Prompts();
  private readonly key: string;
  private child: ChildProcess | undefined;
  private query: SdkQuery | undefined;
  private turn: Turn | undefined;
  private turnEnded: (() => void) | undefined;
  private ending: Promise<void> | undefined;
  private markEnded: () => void = () => undefined;

  private constructor(
    private readonly host: ProcessHost,
    readonly organizationId: string,
  ) {
    this.ended = new Promise((resolve) => (this.markEnded = resolve));
    this.key = host.endpoint.register((token, call) => {
      // No run waits for a request of an earlier one.
      if (this.turn?.token === token) this.turn.onModelCall(call);
      else call.answerWithEnd();
    });
  }

  /**
   * Does not wait until the process is ready, which takes most of half a second: its first prompt can be sent before, and its first
   * step waits.
   * @throws AgentLoopFailure, and nothing is left of the process then
   */
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

  get hasEnded(): boolean {
    return this.ending !== undefined;
  }

  /** Begins the turn of a run; the one before has ended. */
  begin(): Turn {
    this.runs += 1;
    const turn = new Turn(this.host.clock);
    this.turn = turn;
    if (this.hasEnded) turn.fail(new AgentLoopFailure('The process has ended'));
    else this.prompts.push(promptOf(turn.token));
    return turn;
  }

  /** Resolves when the process has ended its turn, and is ready for another run, or is gone. */
  async finish(turn: Turn): Promise<void> {
    turn.finish();
    if (this.turn !== turn) return;
    const cancel = this.host.clock.after(STOP_MS, () => void this.kill('it did not end its turn'));
    await Promise.race([this.ended, new Promise<void>((resolve) => (this.turnEnded = resolve))]);
    cancel();
  }

  /** Ends it at once, with its descendants, and removes its folder. Never rejects. */
  kill(reason: string): Promise<void> {
    this.ending ??= this.end(reason);
    return this.ending;
  }

  private async open(): Promise<void> {
    const { sdk, folders, endpoint } = this.host;
    const folder = await folders.open(this.id);
    const env = environmentOf(folder, await endpoint.open(), this.key);
    const call = sdk.tool(TOOL.name, 'Makes a tool call of the run.', {}, (_, extra) => this.onToolCall(extra), {
      // Otherwise the calls of one answer come one after the other.
      annotations: { readOnlyHint: true },
    });
    const server = sdk.createSdkMcpServer({ name: TOOL.server, version: '1.0.0', tools: [call] });
    const spawn = (request: SpawnRequest): SdkProcess => this.spawn(request, folder);
    const query = sdk.query({ prompt: this.prompts, options: optionsOf({ folder, env, server, spawn }) });
    this.query = query;
    void this.listen(query);
  }

  private spawn({ command, args, env }: SpawnRequest, folder: string): SdkProcess {
    const present = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const child = this.host.processes.startNow({ command, args, env: Object.fromEntries(present), folder });
    this.child = child;
    // What it takes part in waits for it elsewhere; an idle one keeps no service from ending.
    child.keepsOwner(false);
    const events = new EventEmitter();
    let end: { readonly exitCode: number | null } | undefined;
    void child.ended.then((ended) => {
      end = ended;
      void this.kill(ended.excess === null ? 'it ended by itself' : `it took too much: ${ended.excess}`);
      events.emit('exit', ended.exitCode, ended.signal ?? null);
    });
    return {
      ...{ stdin: child.input, stdout: child.output },
      ...{ on: events.on.bind(events), once: events.once.bind(events), off: events.off.bind(events) },
      kill: () => {
        void child.kill();
        return true;
      },
      get killed() {
        return end !== undefined;
      },
      get exitCode() {
        return end?.exitCode ?? null;
      },
    };
  }

  private async listen(query: SdkQuery): Promise<void> {
    try {
      for await (const { type } of query) if (type === 'result') this.onTurnEnded();
    } catch {
      // It reports its end as an error, too.
    }
    await this.kill('it ended its output');
  }

  private onTurnEnded(): void {
    // Only a turn whose run is over may end.
    this.turn?.fail(new AgentLoopFailure('The process ended its turn before the run was over'));
    this.turn = undefined;
    this.turnEnded?.();
  }

  private async onToolCall(extra: unknown): Promise<ToolResult> {
    return (await this.turn?.onToolCall(toolUseIdOf(extra))) ?? UNKNOWN_CALL;
  }

  private async end(reason: string): Promise<void> {
    const { endpoint, folders } = this.host;
    endpoint.forget(this.key);
    this.turn?.fail(new AgentLoopFailure(`A process of the agent SDK is gone: ${reason}`));
    this.prompts.end();
    await this.child?.kill();
    this.query?.close();
    this.markEnded();
    // Another process may have taken the disk away; what is left is removed later.
    await folders.remove(this.id).catch(() => undefined);
  }
}

/** The prompts of a process as its input, for as long as it lives. */
class Prompts implements AsyncIterable<UserMessage> {
  private readonly waiting: UserMessage[] = [];
  private wake: (() => void) | undefined;
  private over = false;

  push(content: string): void {
    this.waiting.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' });
    this.wake?.();
  }

  end(): void {
    this.over = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<UserMessage> {
    for (;;) {
      yield* this.waiting.splice(0);
      if (this.over) return;
      if (this.waiting.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
