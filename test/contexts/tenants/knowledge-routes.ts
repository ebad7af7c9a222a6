import { keyFile } from '../../support/drive-server.js';
import type { RequestOf, RouteCase } from './route-case.js';
import { websiteOf } from './world.js';

const agent: RequestOf = ({ agentId }) => ({ params: { agentId } });
const nothing: RequestOf = () => ({});

/** Routes of the agents' knowledge: websites, uploads, drive files, and the search in them. */
export const KNOWLEDGE_ROUTES: Readonly<Record<string, RouteCase>> = {
  'GET /v1/agents/:agentId/knowledge-bases/website': { requests: [agent], status: 200 },
  'PUT /v1/agents/:agentId/knowledge-bases/website': {
    requests: [(world) => ({ ...agent(world), body: { configs: [websiteOf(world.canary)] } })],
    status: 200,
  },

  'GET /v1/agents/:agentId/knowledge-bases/uploaded-files': { requests: [agent], status: 200 },
  'POST /v1/agents/:agentId/knowledge-bases/uploaded-files': {
    requests: [
      ({ agentId }) => ({
        params: { agentId },
        form: { file: new File(['hello'], 'a.txt', { type: 'text/plain' }), scope: '{"plan":"free"}' },
      }),
    ],
    status: 201,
  },
  'DELETE /v1/agents/:agentId/knowledge-bases/uploaded-files/:fileId': {
    requests: [({ agentId, knowledgeFileId }) => ({ params: { agentId, fileId: knowledgeFileId } })],
    status: 204,
    spoils: true,
  },
  'POST /v1/agents/:agentId/knowledge-bases/search': {
    requests: [
      ({ agentId, canary }) => ({
        params: { agentId },
        body: { query: canary, maxResults: 3, scoreThreshold: 0, semanticWeight: 0.5 },
      }),
    ],
    status: 200,
  },

  'GET /v1/integrations/drive/service-accounts': { requests: [nothing], status: 200 },
  'POST /v1/integrations/drive/service-accounts': {
    requests: [
      ({ canary }) => ({ body: { keyFileContent: keyFile({ client_email: `another-${canary}@project.example` }) } }),
    ],
    status: 201,
  },
  'DELETE /v1/integrations/drive/service-accounts/:id': {
    requests: [({ serviceAccountId }) => ({ params: { id: serviceAccountId } })],
    status: 200,
    spoils: true,
  },
  'PUT /v1/agents/:agentId/knowledge-bases/drive': {
    requests: [
      ({ agentId, serviceAccountId, driveFileId }) => ({
        params: { agentId },
        body: { integrationId: serviceAccountId, fileIds: [driveFileId] },
      }),
    ],
    status: 200,
  },
  'GET /v1/agents/:agentId/knowledge-bases/drive-service-account': { requests: [agent], status: 200 },
  'DELETE /v1/agents/:agentId/knowledge-bases/drive-service-account': { requests: [agent], status: 204, spoils: true },
  'GET /v1/agents/:agentId/knowledge-bases/drive-oauth': { requests: [agent], status: 200 },
  'DELETE /v1/agents/:agentId/knowledge-bases/drive-oauth': { requests: [agent], status: 204, spoils: true },
  'POST /v1/agents/:agentId/knowledge-bases/drive-oauth/authorize': {
    requests: [
      ({ agentId, driveFileId }) => ({
        params: { agentId },
        body: { fileIds: [driveFileId], redirectUrl: 'https://app.example/done' },
      }),
    ],
    status: 200,
  },
  'GET /v1/oauth/drive/callback': {
    requests: [() => ({ query: { state: 'state-of-nobody', code: 'code' } })],
    status: 400,
    access: 'public',
    refusesWithPage: true,
  },
};
