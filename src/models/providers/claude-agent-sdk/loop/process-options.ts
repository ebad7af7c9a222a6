import { join } from 'node:path';
import type { SdkProcess, SpawnRequest } from './installed-sdk.js';
import { NEVER_MS } from './limits.js';
import { TOOL } from './messages-call.js';

/**
 * The environment of a process, except its home. It contains no secret: the key is valid only for this process, at the loopback endpoint. The
 * proxy is the same endpoint, which refuses every connection.
 */
export function processEnvironment(folder: string, endpoint: string, key: string): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/bin:/bin',
    CLAUDE_CONFIG_DIR: join(folder, 'config'),
    ANTHROPIC_BASE_URL: endpoint,
    ANTHROPIC_API_KEY: key,
    HTTP_PROXY: endpoint,
    HTTPS_PROXY: endpoint,
    NO_PROXY: '127.0.0.1',
    API_TIMEOUT_MS: String(NEVER_MS),
    MCP_TOOL_TIMEOUT: String(NEVER_MS),
    // Otherwise the process continues its turn while a long tool call runs in the background.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    CLAUDE_CODE_DISABLE_MCP_TASK_BACKGROUND: '1',
    // Starts without hooks, plugins, memory files and other parts of an interactive session.
    CLAUDE_CODE_SIMPLE: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
    CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_BUG_COMMAND: '1',
    // A summary of earlier turns would be an additional model call.
    DISABLE_COMPACT: '1',
  };
}

export interface ProcessParts {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The MCP server in this process. */
  readonly server: unknown;
  readonly spawn: (request: SpawnRequest) => SdkProcess;
}

/** Options for the SDK's loop with one tool, and without the SDK's own tools and settings. */
export function sdkOptions({ folder, env, server, spawn }: ProcessParts): Readonly<Record<string, unknown>> {
  return {
    // Any model that the SDK knows: the engine calls the model of the run.
    model: 'claude-sonnet-5-5',
    systemPrompt: 'Call the tool as often as you are asked to.',
    cwd: folder,
    env,
    tools: [],
    mcpServers: { [TOOL.server]: server },
    strictMcpConfig: true,
    allowedTools: [TOOL.inRequests],
    permissionMode: 'dontAsk',
    settingSources: [],
    persistSession: false,
    spawnClaudeCodeProcess: spawn,
  };
}
