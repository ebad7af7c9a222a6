import type { RequestOf, RouteCase } from './route-case.js';
import { hooksOf, sessionStartHookOf } from './world.js';

const agent: RequestOf = ({ agentId }) => ({ params: { agentId } });

/** Routes of the hooks that run at events of runs. */
export const HOOK_ROUTES: Readonly<Record<string, RouteCase>> = {
  'GET /v1/agents/:agentId/hooks': { requests: [agent], status: 200 },
  'PUT /v1/agents/:agentId/hooks': {
    requests: [
      (world) => ({ ...agent(world), body: { hooks: hooksOf(world.canary) } }),
      ({ agentId, canary }) => ({ params: { agentId }, body: { hooks: hooksOf(canary, '<redacted>') } }),
    ],
    status: 200,
  },
  'DELETE /v1/agents/:agentId/hooks': { requests: [agent], status: 204, spoils: true },
  'POST /v1/agents/:agentId/hooks/secret': { requests: [agent], status: 200 },
  'POST /v1/agents/:agentId/hooks/test': {
    requests: [
      ({ agentId }) => ({
        params: { agentId },
        body: { event: 'UserPromptSubmit', input: { prompt: 'Hello', user_context: { plan: 'free' } } },
      }),
    ],
    status: 200,
  },
  'GET /v1/agents/:agentId/session-start-hook': { requests: [agent], status: 200 },
  'PUT /v1/agents/:agentId/session-start-hook': {
    requests: [(world) => ({ ...agent(world), body: { ...sessionStartHookOf(world.canary), timeoutMs: 900 } })],
    status: 200,
  },
  'DELETE /v1/agents/:agentId/session-start-hook': { requests: [agent], status: 204, spoils: true },
};
