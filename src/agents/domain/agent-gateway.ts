import { z } from 'zod';
import { isRouted, type ProviderType, ROUTED_TYPES } from '../../models/index.js';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import type { AgentType } from './agent-type.js';
import { AgentRefused } from './agents.errors.js';

/** An agent's own gateway setting. The token is in the vault. */
export const agentGateway = z.discriminatedUnion('enabled', [
  storedObject({ enabled: z.literal(true), edgeAccountId: z.string(), gatewayName: z.string() }),
  storedObject({ enabled: z.literal(false) }),
]);
export type AgentGateway = Stored<typeof agentGateway>;

export type GatewayRequest =
  | {
      readonly enabled: true;
      readonly edgeAccountId: string;
      readonly gatewayName: string;
      readonly edgeApiToken: string;
    }
  | { readonly enabled: false };

/** @throws AgentRefused when agents of this type cannot use a gateway */
export function requestedGateway(type: AgentType, request: GatewayRequest): AgentGateway {
  if (!ROUTED_TYPES.some((routed) => routed === type)) {
    throw new AgentRefused(
      'ai_gateway_unsupported_provider',
      `aiGateway: only ${ROUTED_TYPES.join(' and ')} agents can use a gateway, and this agent is ${type}.`,
    );
  }
  if (!request.enabled) return { enabled: false };
  return { enabled: true, edgeAccountId: request.edgeAccountId, gatewayName: request.gatewayName };
}

/** Whether the organization's gateway setting applies. */
export function inheritsGateway(settings: {
  readonly aiGateway: AgentGateway | null;
  readonly provider: { readonly model: string; readonly options: { readonly type: ProviderType } };
}): boolean {
  return settings.aiGateway === null && isRouted(settings.provider.options.type, settings.provider.model);
}
