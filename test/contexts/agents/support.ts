import type { Answer, TestOrganization, TestService } from '../../support/harness.js';

export interface AgentBody {
  readonly id: string;
  readonly name: string;
  readonly systemPrompt: string;
  readonly provider: Readonly<Record<string, unknown>> & { readonly type: string; readonly model: string };
  readonly responseComponents: { readonly frequency: string; readonly components: Readonly<Record<string, boolean>> };
  readonly aiGateway: Readonly<Record<string, unknown>> | null;
  readonly timeoutMinutes: number;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ErrorBody {
  readonly statusCode?: number;
  readonly code?: string;
  readonly error: string;
  readonly message: string;
}

/** The smallest body that creates an agent, with the fields of a test. */
export function agentRequest(extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { name: 'Ada', provider: { type: 'anthropic' }, ...extra };
}

export async function createAgent(
  service: TestService,
  { key }: TestOrganization,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<AgentBody> {
  const made = await service.http<AgentBody>('POST', '/v1/agents', { key, body: agentRequest(extra) });
  if (made.status !== 201) throw new Error(`agent: ${made.status} ${made.text}`);
  return made.body;
}

/** Status and body of a response, for one comparison. */
export function outcome({ status, body }: Answer<unknown>): [number, unknown] {
  return [status, body];
}
