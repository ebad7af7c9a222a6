import { VERSION } from '../../../widget/src/client/version.js';
import { HOOK_ROUTES } from './hook-routes.js';
import { KNOWLEDGE_ROUTES } from './knowledge-routes.js';
import type { RequestOf, RouteCase } from './route-case.js';
import { WEBHOOK_ROUTES } from './webhook-routes.js';
import { questionOf, serverOf, VISITOR } from './world.js';

const agent: RequestOf = ({ agentId }) => ({ params: { agentId } });
const thread: RequestOf = ({ threadId }) => ({ params: { threadId } });
const run: RequestOf = ({ threadId, runId }) => ({ params: { threadId, runId } });
const section: RequestOf = ({ agentId, sectionId }) => ({ params: { agentId, sectionId } });
const integration: RequestOf = ({ agentId, integrationId }) => ({ params: { agentId, integrationId } });
const nothing: RequestOf = () => ({});

const message = { role: 'user', content: 'Hello' };
const say: RequestOf = ({ threadId }) => ({
  params: { threadId },
  body: {
    message,
    config: { userContext: { plan: 'free' } },
    limits: { maxSteps: 5, maxCredits: 2.5 },
    onDisconnect: 'cancel',
  },
});
/** With an idempotency key that the organization has used for the same request, and another organization perhaps for another one. */
const repeat: RequestOf = ({ threadId, idempotencyKey, canary }) => ({
  params: { threadId },
  body: questionOf(canary),
  headers: { 'idempotency-key': idempotencyKey },
});
const runInput = (threadId: string): Readonly<Record<string, unknown>> => ({
  threadId,
  runId: 'run-of-the-client',
  messages: [{ id: 'm', role: 'user', content: 'Hello' }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
});

/** Every route of the service. A test fails for a route that is missing here, and for one that exists only here. */
export const ROUTE_TABLE: Readonly<Record<string, RouteCase>> = {
  'GET /health/live': { requests: [nothing], status: 200, access: 'public' },
  'GET /health/ready': { requests: [nothing], status: 200, access: 'public' },
  'GET /metrics': { requests: [nothing], status: 200, access: 'public' },
  'GET /v1/openapi.json': { requests: [nothing], status: 200, access: 'public' },
  'GET /docs': { requests: [nothing], status: 200, access: 'public' },
  'GET /docs/assets/:name': { requests: [() => ({ params: { name: 'page.css' } })], status: 200, access: 'public' },

  'GET /widget.js': { requests: [nothing], status: 200, access: 'public' },
  'GET /widget-:name.js': { requests: [() => ({ params: { name: VERSION } })], status: 200, access: 'public' },

  'GET /v1/api-keys': { requests: [nothing], status: 200 },
  'POST /v1/api-keys': {
    requests: [
      ({ agentId, otherAgentId }) => ({
        body: {
          name: 'CI',
          capabilities: ['chat'],
          agentIds: [otherAgentId, agentId],
          expiresAt: '2999-01-01T00:00:00Z',
        },
      }),
    ],
    status: 201,
  },
  'DELETE /v1/api-keys/:id': { requests: [({ keyId }) => ({ params: { id: keyId } })], status: 204, spoils: true },

  'GET /v1/ai-gateway': { requests: [nothing], status: 200 },
  'PUT /v1/ai-gateway': {
    requests: [() => ({ body: { enabled: true, edgeAccountId: 'a', gatewayName: 'b', edgeApiToken: 'c' } })],
    status: 200,
  },
  'DELETE /v1/ai-gateway': { requests: [nothing], status: 200, spoils: true },

  'GET /v1/assistants': {
    requests: [nothing, () => ({ query: { name: 'canary' } })],
    status: 200,
    access: 'filtered',
  },
  'GET /v1/agents': {
    requests: [({ agentId, otherAgentId }) => ({ query: { ids: `${otherAgentId},${agentId}` } })],
    status: 200,
    access: 'filtered',
  },
  'POST /v1/agents': {
    requests: [
      () => ({
        body: {
          name: 'New',
          systemPrompt: 'Be kind.',
          provider: { type: 'anthropic', thinking: { type: 'enabled', effort: 'high' }, temperature: null },
          tools: { requireApprovalBeforeToolCalls: true, integrations: ['webSearch'] },
          longTermMemory: { enabled: false },
          toolProgress: { enabled: true },
          knowledgeSearch: { maxResults: 3, scoreThreshold: 0.2, semanticWeight: 0.5 },
          aiGateway: { enabled: true, edgeAccountId: 'a', gatewayName: 'b', edgeApiToken: 'c' },
          timeoutMinutes: 3,
          runLimits: { maxSteps: 50, maxCredits: 2.5 },
        },
      }),
    ],
    status: 201,
  },
  'GET /v1/agents/:agentId': { requests: [agent], status: 200 },
  'PATCH /v1/agents/:agentId': {
    requests: [
      ({ agentId }) => ({
        params: { agentId },
        body: {
          systemPrompt: 'Be brief.',
          provider: { type: 'anthropic', thinking: { type: 'disabled' }, webSearch: false, temperature: 0.5 },
          tools: { requireApprovalForResourceChanges: true },
          longTermMemory: { enabled: true },
          toolProgress: { enabled: false },
          knowledgeSearch: { maxResults: 2 },
          aiGateway: { enabled: false },
          responseComponents: { frequency: 'low', components: { list: true } },
          timeoutMinutes: 4,
          runLimits: { maxSteps: null, maxCredits: 5 },
        },
      }),
    ],
    status: 200,
  },
  'DELETE /v1/agents/:agentId': { requests: [agent], status: 200, spoils: true },
  'PUT /v1/agents/:agentId/provider-key': {
    requests: [({ agentId }) => ({ params: { agentId }, body: { apiKey: 'another-key' } })],
    status: 200,
  },
  'GET /v1/agents/:agentId/versions': {
    requests: [({ agentId }) => ({ params: { agentId }, query: { before: '9', limit: '5' } })],
    status: 200,
  },
  'POST /v1/agents/:agentId/versions/:version/restore': {
    requests: [({ agentId }) => ({ params: { agentId, version: '1' } })],
    status: 200,
    spoils: true,
  },

  'GET /v1/agents/:agentId/sections': { requests: [agent], status: 200 },
  'PUT /v1/agents/:agentId/sections': {
    requests: [
      ({ agentId }) => ({
        params: { agentId },
        body: {
          sections: [
            { name: 'Tone', content: 'Kind.' },
            { name: 'Aim', content: 'Help.' },
          ],
        },
      }),
    ],
    status: 200,
  },
  'POST /v1/agents/:agentId/sections': {
    requests: [({ agentId }) => ({ params: { agentId }, body: { name: 'Limits', content: 'None.' } })],
    status: 201,
  },
  'PATCH /v1/agents/:agentId/sections/:sectionId': {
    requests: [(world) => ({ ...section(world), body: { name: 'Voice', content: 'Low.' } })],
    status: 200,
    spoils: true,
  },
  'DELETE /v1/agents/:agentId/sections/:sectionId': { requests: [section], status: 204, spoils: true },

  'GET /v1/agents/:agentId/tool-integrations': { requests: [agent], status: 200 },
  'POST /v1/agents/:agentId/tool-integrations': {
    requests: [
      ({ agentId, canary }) => ({ params: { agentId }, body: { ...serverOf(canary), app: 'Tickets' } }),
      ({ agentId }) => ({
        params: { agentId },
        body: { type: 'workflow-platform', nameSlug: 'onboarding', authType: 'keys', excludedTools: ['x'] },
      }),
    ],
    status: 201,
  },
  'GET /v1/agents/:agentId/tool-integrations/:integrationId': { requests: [integration], status: 200 },
  'PUT /v1/agents/:agentId/tool-integrations/:integrationId': {
    requests: [
      (world) => ({
        ...integration(world),
        body: {
          ...serverOf(world.canary),
          transportType: 'sse',
          httpHeaders: { 'X-Key': { type: 'vault', keyName: 'header.x-key' } },
        },
      }),
    ],
    status: 200,
  },
  'DELETE /v1/agents/:agentId/tool-integrations/:integrationId': { requests: [integration], status: 204, spoils: true },
  'POST /v1/agents/:agentId/tool-integrations/:integrationId/test': { requests: [integration], status: 200 },
  'POST /v1/agents/:agentId/tool-integrations/:integrationId/authorize': {
    requests: [(world) => ({ ...integration(world), body: { redirectUrl: 'https://app.example/done' } })],
    // The integration authenticates with a key, so there is no sign-in.
    status: 422,
  },

  ...KNOWLEDGE_ROUTES,
  ...HOOK_ROUTES,
  ...WEBHOOK_ROUTES,

  'GET /v1/integrations/apps': { requests: [nothing], status: 200, access: 'filtered' },
  'GET /v1/oauth/mcp/callback': {
    requests: [() => ({ query: { state: 'state-of-nobody', code: 'code' } })],
    status: 400,
    access: 'public',
    refusesWithPage: true,
  },
  // Only a service with a public https URL serves the document.
  'GET /v1/oauth/mcp/client-metadata': { requests: [nothing], status: 404, access: 'public' },

  'GET /v1/threads': {
    requests: [
      ({ agentId }) => ({ query: { assistant_id: agentId, limit: '10' } }),
      ({ cursor }) => ({ query: { cursor, limit: '1' } }),
    ],
    status: 200,
    access: 'filtered',
  },
  'POST /v1/threads': {
    requests: [({ agentId }) => ({ body: { assistant_id: agentId, metadata: { note: 'x' } } })],
    status: 200,
  },
  'GET /v1/threads/:threadId': { requests: [thread], status: 200 },
  'DELETE /v1/threads/:threadId': { requests: [thread], status: 200, spoils: true },
  'GET /v1/threads/:threadId/messages': { requests: [thread], status: 200 },
  'PUT /v1/threads/:threadId/messages/:messageId/reaction': {
    requests: [
      ({ threadId, messageId }) => ({
        params: { threadId, messageId },
        body: { reaction: 'thumbs_up', comment: 'Thank you' },
      }),
    ],
    status: 200,
  },

  'GET /v1/runs': {
    requests: [
      ({ agentId }) => ({ query: { assistant_id: agentId, status: 'completed,failed', limit: '10' } }),
      () => ({ query: { open: 'true', createdAfter: '2026-01-01T00:00:00Z' } }),
    ],
    status: 200,
    access: 'filtered',
  },
  'GET /v1/threads/:threadId/runs': {
    requests: [(world) => ({ ...thread(world), query: { status: 'completed', open: 'false', limit: '10' } })],
    status: 200,
  },
  'POST /v1/threads/:threadId/runs': { requests: [say, repeat], status: 200 },
  'POST /v1/threads/:threadId/runs/stream': {
    requests: [
      (world) => ({ ...say(world), query: { reasoning: 'true' } }),
      repeat,
      ({ threadId, runId }) => ({ params: { threadId }, body: { rejoin: { runId, startingAfter: 0 } } }),
      ({ threadId, runId }) => ({ params: { threadId }, body: { cancel: { runId, startingAfter: 0 } } }),
    ],
    status: 200,
  },
  'GET /v1/threads/:threadId/runs/:runId': { requests: [run], status: 200 },
  'POST /v1/threads/:threadId/runs/:runId/cancel': { requests: [run], status: 200 },
  'GET /v1/threads/:threadId/runs/:runId/stream': {
    requests: [(world) => ({ ...run(world), query: { starting_after: '0' } })],
    status: 200,
  },

  'POST /v1/chat/completions': {
    requests: [
      ({ agentId, threadId }) => ({ body: { assistant_id: agentId, thread_id: threadId, messages: [message] } }),
      ({ agentId, threadId }) => ({ body: { model: agentId, thread_id: threadId, messages: [message], stream: true } }),
    ],
    status: 200,
    openBody: true,
  },
  'POST /v1/chat/suggestions': {
    requests: [({ agentId }) => ({ body: { assistant_id: agentId, messages: [message] } })],
    status: 200,
  },
  'POST /v1/sessions': {
    requests: [
      ({ agentId }) => ({ body: { assistant_id: agentId, endUser: VISITOR } }),
      ({ agentId, threadId }) => ({ body: { assistant_id: agentId, thread_id: threadId } }),
    ],
    status: 201,
  },
  'POST /v1/sessions/refresh': {
    requests: [({ resumeToken }) => ({ body: { resumeToken, endUser: VISITOR } })],
    status: 200,
    access: 'filtered',
  },

  'GET /v1/provider-models': { requests: [nothing], status: 200, access: 'filtered' },
  'GET /v1/models': { requests: [nothing], status: 200, access: 'filtered' },
  'GET /v1/models/:model': { requests: [({ agentId }) => ({ params: { model: agentId } })], status: 200 },
  'POST /v1/agents/:agentId/ag-ui': {
    requests: [({ agentId, threadId }) => ({ params: { agentId }, body: runInput(threadId) })],
    status: 200,
    openBody: true,
  },

  'GET /v1/agents/:agentId/traces': {
    requests: [({ agentId, threadId }) => ({ params: { agentId }, query: { sessionId: threadId, limit: '5' } })],
    status: 200,
  },
  'GET /v1/agents/:agentId/traces/export': {
    requests: [({ agentId }) => ({ params: { agentId }, query: { fromTimestamp: '2026-01-01T00:00:00Z' } })],
    status: 200,
  },
  'GET /v1/agents/:agentId/memories': {
    requests: [({ agentId }) => ({ params: { agentId }, query: { userId: VISITOR } })],
    status: 200,
  },
  'DELETE /v1/agents/:agentId/memories': {
    requests: [({ agentId }) => ({ params: { agentId }, query: { userId: VISITOR } })],
    status: 200,
    spoils: true,
  },
  'GET /v1/agents/:agentId/analytics/feedback': {
    requests: [({ agentId }) => ({ params: { agentId }, query: { from: '2026-01-01' } })],
    status: 200,
  },
  'GET /v1/agents/:agentId/analytics/usage': {
    requests: [({ agentId }) => ({ params: { agentId }, query: { bucket: 'hour' } })],
    status: 200,
  },
  'GET /v1/agents/:agentId/traces/:traceId': {
    requests: [({ agentId, traceId }) => ({ params: { agentId, traceId } })],
    status: 200,
  },
  'GET /v1/agents/:agentId/messages/:messageId/trace': {
    requests: [({ agentId, messageId }) => ({ params: { agentId, messageId } })],
    status: 200,
  },

  'GET /v1/credits/usage/periods': { requests: [() => ({ query: { limit: '12' } })], status: 200 },
  'GET /v1/credits/usage/entries': {
    requests: [nothing, ({ creditPeriodId }) => ({ query: { periodId: creditPeriodId, limit: '1' } })],
    status: 200,
  },

  'POST /v1/files/upload': {
    requests: [
      ({ agentId }) => ({
        form: { assistant_id: agentId, file: new File(['hello'], 'a.txt', { type: 'text/plain' }) },
      }),
    ],
    status: 200,
  },
  'GET /v1/files/:fileId/content': {
    requests: [
      ({ fileId, fileExpires, fileSignature }) => ({
        params: { fileId },
        query: { expires: fileExpires, signature: fileSignature },
      }),
    ],
    status: 200,
    access: 'public',
  },
};

/** The most bytes of a JSON body of the route; more for conversations and instructions. */
export function bodyLimitOf(name: string): number {
  const takesLarge = /\/(sections|runs|ag-ui)\b|\/v1\/chat\//.test(name);
  return (takesLarge ? 10 : 4) * 1024 * 1024;
}

/** The routes with this access. The guard checks those without one in the table. */
export function routesWith(access: RouteCase['access']): string[] {
  return Object.entries(ROUTE_TABLE).flatMap(([name, route]) => (route.access === access ? [name] : []));
}

/** @throws Error with what to do about a route that is missing in the table */
export function routeCase(name: string): RouteCase {
  const found = ROUTE_TABLE[name];
  if (found) return found;
  throw new Error(
    `ROUTE_TABLE does not know '${name}'. Say there (${import.meta.filename}) what a valid request to it carries: ` +
      'each id that stands in its path, query or body, taken from the world; and what it is answered. A new kind of ' +
      'resource also goes into `Ids` and `createWorld`.',
  );
}
