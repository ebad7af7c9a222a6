import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SDK_VERSION } from '../../src/models/providers/claude-agent-sdk/loop/installed-sdk.js';
import { until } from './until.js';

/** What a process of the fake package does wrong. */
export type AgentFault =
  | 'none'
  | 'exits'
  | 'never_starts'
  | 'silent'
  | 'deaf'
  | 'garbage'
  | 'memory'
  | 'asks_twice'
  | 'unknown_calls'
  | 'ends_unasked'
  | 'ends_early'
  | 'dies_in_call'
  | 'never_ends';

interface FakePackage {
  readonly faults: AgentFault[];
  readonly started: AgentFault[];
  readonly hanging: { readonly count: number };
}

const SOURCE = new URL('./fake-claude-agent/', import.meta.url);

/** A folder as `npm run install:claude-agent` fills it, with a package whose real processes go wrong in a chosen way. */
export class FakeClaudeAgent {
  /** For `CLAUDE_AGENT_DIR`. */
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'fake-claude-agent-')));
  private readonly package = join(this.folder, 'node_modules/@anthropic-ai/claude-agent-sdk');

  constructor() {
    mkdirSync(this.package, { recursive: true });
    writeFileSync(join(this.folder, 'package.json'), '{}');
    const description = {
      name: '@anthropic-ai/claude-agent-sdk',
      version: SDK_VERSION,
      type: 'module',
      main: 'sdk.mjs',
    };
    writeFileSync(join(this.package, 'package.json'), JSON.stringify(description));
    for (const name of ['sdk.mjs', 'process.mjs']) copyFileSync(new URL(name, SOURCE), join(this.package, name));
  }

  /** What the next processes do wrong, one each; those after them do nothing wrong. */
  async meets(...faults: AgentFault[]): Promise<void> {
    const loaded = await this.load();
    loaded.faults.splice(0, Infinity, ...faults);
    loaded.started.length = 0;
  }

  /** What each process does wrong that was started since `meets`. */
  async started(): Promise<readonly AgentFault[]> {
    return (await this.load()).started;
  }

  /** Resolves when the process that it is about has come to where it hangs, after `begin`. */
  async untilHanging(begin: () => unknown): Promise<void> {
    const { hanging } = await this.load();
    const { count } = hanging;
    begin();
    await until(() => hanging.count > count, 'a process hangs');
  }

  /** Processes that run, what watches over them included. */
  running(fault?: AgentFault): number {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && this.isOwn(name, fault)).length;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private isOwn(pid: string, fault: AgentFault | undefined): boolean {
    try {
      const line = readFileSync(join('/proc', pid, 'cmdline'), 'utf8');
      return line.includes(`${join(this.package, 'process.mjs')}\0${fault === undefined ? '' : `${fault}\0`}`);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  }

  /** The module that the service loads, too. */
  private async load(): Promise<FakePackage> {
    return (await import(pathToFileURL(join(this.package, 'sdk.mjs')).href)) as FakePackage;
  }
}
