import { providerOf } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import type { AgentChange, NewAgent } from '../domain/agent.js';
import type { GatewayRequest } from '../domain/agent-gateway.js';
import { readComponentsChange } from '../domain/response-components.js';
import type { AgentGatewayBody, ChangeAgentBody, CreateAgentBody } from './agent-request.dto.js';

const GATEWAY_FIELDS = ['edgeAccountId', 'gatewayName', 'edgeApiToken'] as const;

export function readNewAgent({ aiGateway, ...body }: CreateAgentBody): NewAgent {
  return { ...body, aiGateway: aiGateway && readGatewayRequest(aiGateway) };
}

export function readAgentChange({ aiGateway, responseComponents, provider, ...body }: ChangeAgentBody): AgentChange {
  if (provider) providerOf(provider.type).ownKey.change(provider);
  return {
    ...body,
    provider,
    aiGateway: aiGateway && readGatewayRequest(aiGateway),
    responseComponents: responseComponents === undefined ? undefined : readComponentsChange(responseComponents),
  };
}

function readGatewayRequest(body: AgentGatewayBody): GatewayRequest {
  const { edgeAccountId, gatewayName, edgeApiToken } = body;
  if (body.enabled) {
    const missing = GATEWAY_FIELDS.find((field) => body[field] === undefined);
    if (edgeAccountId === undefined || gatewayName === undefined || edgeApiToken === undefined) {
      throw new ValidationFailed(`body/aiGateway/${missing ?? ''} is required when enabled is true`);
    }
    return { enabled: true, edgeAccountId, gatewayName, edgeApiToken };
  }
  const surplus = GATEWAY_FIELDS.find((field) => body[field] !== undefined);
  if (surplus) throw new ValidationFailed(`body/aiGateway/${surplus} is not allowed when enabled is false`);
  return { enabled: false };
}
