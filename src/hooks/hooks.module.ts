import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { IntegrationsModule } from '../integrations/index.js';
import { AgentRunHooks } from './application/agent-hooks.run-hooks.js';
import { CallHttpHandler } from './application/call-http-handler.js';
import { CallSessionStartTool } from './application/call-session-start-tool.js';
import { CallToolHandler } from './application/call-tool-handler.js';
import { ChangeHooks } from './application/change-hooks.js';
import { ChangeSessionStartHook } from './application/change-session-start-hook.js';
import { HookMetrics } from './application/hook-metrics.js';
import { HookSecretStore } from './application/hook-secrets.js';
import { HooksOfAgents } from './application/hooks-of-agents.js';
import { HooksOfRuns } from './application/hooks-of-runs.js';
import { ReadHooks } from './application/read-hooks.js';
import { RotateSigningSecret } from './application/rotate-signing-secret.js';
import { RunHandlers } from './application/run-handlers.js';
import { SessionPromptSource } from './application/session.prompt-source.js';
import { SessionStartOutcomes } from './application/session-start-outcomes.js';
import { StartSession } from './application/start-session.js';
import { TestHooks } from './application/test-hooks.js';
import { HooksController } from './http/hooks.controller.js';
import { AgentHooksRepository } from './persistence/agent-hooks.repository.js';
import { ThreadSessionRepository } from './persistence/thread-session.repository.js';

const settings = [
  ...[AgentHooksRepository, HookSecretStore, ReadHooks, ChangeHooks],
  ...[ChangeSessionStartHook, RotateSigningSecret, TestHooks],
];

const calls = [CallHttpHandler, CallToolHandler, CallSessionStartTool, RunHandlers, HookMetrics];

const runs = [
  ...[HooksOfAgents, HooksOfRuns, AgentRunHooks],
  ...[ThreadSessionRepository, StartSession, SessionPromptSource, SessionStartOutcomes],
];

/** Calls customers' endpoints and tools at events of their agents' runs. */
@Module({
  imports: [AccessModule, AgentsModule, IntegrationsModule],
  controllers: [HooksController],
  providers: [...settings, ...calls, ...runs],
  exports: [AgentRunHooks, SessionPromptSource, SessionStartOutcomes],
})
export class HooksModule {}
