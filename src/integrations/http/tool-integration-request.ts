import { ValidationFailed } from '../../platform/errors/index.js';
import { authFault, headerNamed } from '../domain/http-header.js';
import {
  environmentField,
  headerField,
  type IntegrationAuth,
  type IntegrationSettings,
  type StoredHeader,
} from '../domain/integration.js';
import type { IntegrationRequest, KeptHeader } from '../domain/integration-request.js';
import type {
  ManagedMcpBody,
  UpdateCustomMcpBody,
  UpdateToolIntegrationBody,
  WorkflowPlatformBody,
} from './tool-integration-request.dto.js';

type Parts = Omit<IntegrationRequest, 'excludedTools'>;

const NO_SECRETS = { newSecrets: new Map<string, string>(), keptHeaders: [], keepsEnvironment: false };

/** @throws ValidationFailed if two fields contradict each other */
export function toIntegrationRequest(body: UpdateToolIntegrationBody): IntegrationRequest {
  const excludedTools = [...new Set(body.excludedTools ?? [])].sort();
  return { ...partsByType(body), excludedTools };
}

function partsByType(body: UpdateToolIntegrationBody): Parts {
  switch (body.type) {
    case 'managed-mcp':
      return managed(body);
    case 'workflow-platform':
      return workflow(body);
    case 'custom-mcp':
      return custom(body);
    default:
      return body satisfies never;
  }
}

function managed({ app, secrets }: ManagedMcpBody): Parts {
  const variables = Object.entries(secrets?.envMap ?? {});
  return {
    ...NO_SECRETS,
    settings: { type: 'managed-mcp', app, envNames: variables.map(([name]) => name).sort() },
    newSecrets: new Map(variables.map(([name, value]) => [environmentField(name), value])),
    keepsEnvironment: secrets === undefined,
  };
}

function workflow({ nameSlug, authType }: WorkflowPlatformBody): Parts {
  return { ...NO_SECRETS, settings: { type: 'workflow-platform', nameSlug, authType } };
}

function custom({ app, url, transportType, auth, httpHeaders = {} }: UpdateCustomMcpBody): Parts {
  const names = Object.keys(httpHeaders);
  const fault = authFault(auth, names);
  if (fault !== undefined) throw new ValidationFailed(`body/${fault}`);
  const headers: [string, StoredHeader][] = [];
  const newSecrets = new Map<string, string>();
  const keptHeaders: KeptHeader[] = [];
  for (const [name, header] of Object.entries(httpHeaders)) {
    const isPlain = header.type === 'plain_text';
    headers.push([name, isPlain ? { type: 'plain_text', value: header.value } : { type: 'secret' }]);
    if (header.type === 'secret') newSecrets.set(headerField(name), header.value);
    if (header.type === 'vault') keptHeaders.push({ name, keyName: header.keyName });
  }
  const settings: IntegrationSettings = {
    ...{ type: 'custom-mcp', app, url, transportType },
    auth: authOf(auth, names),
    headers: Object.fromEntries(headers),
  };
  return { settings, newSecrets, keptHeaders, keepsEnvironment: false };
}

/** Plain data, with the header's name spelled as in httpHeaders. */
function authOf(auth: IntegrationAuth, names: readonly string[]): IntegrationAuth {
  if (auth.type !== 'static') return { type: auth.type };
  return { type: 'static', headerKey: headerNamed(auth.headerKey, names) ?? auth.headerKey };
}
