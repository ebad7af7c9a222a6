import type { RequestOf, RouteCase } from './route-case.js';

const webhook: RequestOf = ({ webhookId }) => ({ params: { id: webhookId } });

/** The routes of webhooks; part of `ROUTE_TABLE`. */
export const WEBHOOK_ROUTES: Readonly<Record<string, RouteCase>> = {
  'GET /v1/webhooks': { requests: [() => ({})], status: 200 },
  'POST /v1/webhooks': {
    requests: [
      ({ agentId, otherAgentId }) => ({
        body: {
          url: 'https://events.invalid/',
          events: ['run.failed', 'credits.exhausted'],
          assistant_ids: [otherAgentId, agentId],
        },
      }),
    ],
    status: 201,
  },
  'GET /v1/webhooks/:id': { requests: [webhook], status: 200 },
  'PATCH /v1/webhooks/:id': {
    requests: [
      ({ webhookId, agentId, otherAgentId }) => ({
        params: { id: webhookId },
        body: { events: ['run.completed'], assistant_ids: [otherAgentId, agentId], enabled: true },
      }),
    ],
    status: 200,
  },
  'DELETE /v1/webhooks/:id': { requests: [webhook], status: 204, spoils: true },
  'POST /v1/webhooks/:id/secret': { requests: [webhook], status: 200 },
  'POST /v1/webhooks/:id/test': { requests: [webhook], status: 200 },
  'GET /v1/webhooks/:id/deliveries': {
    requests: [({ webhookId }) => ({ params: { id: webhookId }, query: { limit: '5' } })],
    status: 200,
  },
  'POST /v1/webhooks/:id/deliveries/:deliveryId/redeliver': {
    requests: [({ webhookId, deliveryId }) => ({ params: { id: webhookId, deliveryId } })],
    status: 202,
  },
};
