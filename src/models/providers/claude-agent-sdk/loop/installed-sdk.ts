import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';

const PACKAGE = '@anthropic-ai/claude-agent-sdk';

const REMEDY = 'Its operator installs it with: npm run install:claude-agent';

const description = z.object({
  version: z.string(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

/** The version that the tests use; `claude-agent/package.json` pins it. */
export const SDK_VERSION = '0.3.329';

/** The interface of a process that the SDK expects. */
export interface SdkProcess extends Pick<EventEmitter, 'on' | 'once' | 'off'> {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  kill(): boolean;
}

export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SdkMessage {
  readonly type: string;
}

export interface SdkQuery extends AsyncIterable<SdkMessage> {
  close(): void;
}

const toolCall = z.object({ _meta: z.object({ 'claudecode/toolUseId': z.string() }) });

/** The id of the `tool_use` block that the call belongs to; undefined if the SDK does not pass it. */
export function toolUseIdOf(extra: unknown): string | undefined {
  return toolCall.safeParse(extra).data?._meta['claudecode/toolUseId'];
}

export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly isError?: boolean;
}

/** Declared here because the optional package may be missing. `sdk-package.claude-agent.embedded.full.test.ts` tests the installed one. */
export interface ClaudeAgentSdk {
  query(input: { readonly prompt: AsyncIterable<unknown>; readonly options: object }): SdkQuery;
  createSdkMcpServer(server: { readonly name: string; readonly version: string; readonly tools: unknown[] }): unknown;
  tool(
    name: string,
    description: string,
    schema: Readonly<Record<string, never>>,
    handler: (input: unknown, extra: unknown) => Promise<ToolResult>,
    extras: { readonly annotations: { readonly readOnlyHint: boolean } },
  ): unknown;
}

/** The package in a folder that `npm run install:claude-agent` fills. */
export class InstalledSdk {
  private readonly require: NodeJS.Require;

  constructor(folder: string) {
    this.require = createRequire(`${folder}/package.json`);
  }

  /** A sentence on what the operator has to do before the SDK can be used; null when it can. */
  get missing(): string | null {
    const { version, optionalDependencies } = this.description() ?? {};
    if (version === SDK_VERSION && this.hasProgram(Object.keys(optionalDependencies ?? {}))) return null;
    if (version === SDK_VERSION)
      return `The Claude Agent SDK is missing on this installation: its program for ${process.platform}-${process.arch} is not installed. ${REMEDY}`;
    const found =
      version === undefined
        ? 'it is not installed'
        : `version ${version} is installed and this release needs ${SDK_VERSION}`;
    return `The Claude Agent SDK is missing on this installation: ${found}. ${REMEDY}`;
  }

  async load(): Promise<ClaudeAgentSdk> {
    return (await import(pathToFileURL(this.require.resolve(PACKAGE)).href)) as ClaudeAgentSdk;
  }

  /** Whether the package with the program for this platform is installed: each package has the program of one platform. */
  private hasProgram(packages: readonly string[]): boolean {
    const own = packages.filter((name) => name.includes(`-${process.platform}-${process.arch}`));
    return packages.length === 0 || own.some((name) => this.resolves(`${name}/package.json`));
  }

  private resolves(name: string): boolean {
    try {
      this.require.resolve(name);
      return true;
    } catch {
      return false;
    }
  }

  private description(): z.output<typeof description> | undefined {
    try {
      const entry = this.require.resolve(PACKAGE);
      return description.safeParse(this.require(entry.replace(/[^/\\]+$/, 'package.json'))).data;
    } catch {
      return undefined;
    }
  }
}
