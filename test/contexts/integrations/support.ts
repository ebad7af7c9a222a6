import type { Answer, TestOrganization, TestService } from '../../support/harness.js';

export interface IntegrationView {
  readonly id: string;
  readonly type: string;
  readonly app?: string;
  readonly httpHeaders?: Readonly<Record<string, object>>;
  readonly excludedTools: readonly string[];
  readonly status: string;
  readonly error: string | null;
  readonly tools: readonly { readonly name: string; readonly excluded: boolean }[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type Body = Readonly<Record<string, unknown>>;

/** The connection is refused at once, without a DNS query. */
export const SERVER = 'http://127.0.0.1:9/mcp';
export const SECRET = 'canary-secret-value';

/** The body for a custom MCP server with a key, and the changes of a test. */
export function customMcp(changes: Body = {}): Body {
  return {
    type: 'custom-mcp',
    app: 'Tickets',
    url: SERVER,
    transportType: 'streamableHttp',
    auth: { type: 'static', headerKey: 'X-Key' },
    httpHeaders: { 'X-Key': { type: 'secret', value: SECRET }, 'X-Team': { type: 'plain_text', value: 'support' } },
    excludedTools: ['delete_ticket'],
    ...changes,
  };
}

export function workflow(changes: Body = {}): Body {
  return { type: 'workflow-platform', nameSlug: 'onboarding', authType: 'keys', ...changes };
}

/** Requests of an organization for the integrations of its agents. */
export class Integrations {
  private constructor(
    private readonly service: TestService,
    readonly organization: TestOrganization,
    readonly agentId: string,
    readonly otherAgentId: string,
  ) {}

  /** A new organization with two agents. */
  static async start(service: TestService): Promise<Integrations> {
    const organization = await service.organization();
    const [agentId, otherAgentId] = [await service.agent(organization.key), await service.agent(organization.key)];
    return new Integrations(service, organization, agentId, otherAgentId);
  }

  create(
    body: unknown,
    { agentId = this.agentId, key = this.organization.key }: As = {},
  ): Promise<Answer<IntegrationView>> {
    return this.service.http('POST', this.path(agentId), { key, body });
  }

  /** Fails the test if the request fails. */
  async created(body: unknown, as: As = {}): Promise<IntegrationView> {
    const answer = await this.create(body, as);
    if (answer.status !== 201) throw new Error(`integration: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  list({ agentId = this.agentId, key = this.organization.key }: As = {}): Promise<
    Answer<{ integrations: IntegrationView[] }>
  > {
    return this.service.http('GET', this.path(agentId), { key });
  }

  read(id: string, as: As = {}): Promise<Answer<IntegrationView>> {
    return this.one('GET', id, as);
  }

  put(id: string, body: unknown, as: As = {}): Promise<Answer<IntegrationView>> {
    return this.one('PUT', id, as, body);
  }

  remove(id: string, as: As = {}): Promise<Answer<IntegrationView>> {
    return this.one('DELETE', id, as);
  }

  test(id: string, as: As = {}): Promise<Answer> {
    return this.service.http('POST', `${this.path(as.agentId ?? this.agentId)}/${id}/test`, {
      key: as.key ?? this.organization.key,
    });
  }

  authorize(
    id: string,
    body: unknown,
    { agentId = this.agentId, key = this.organization.key }: As = {},
  ): Promise<Answer> {
    return this.service.http('POST', `${this.path(agentId)}/${id}/authorize`, { key, body });
  }

  /** The number of rows of the organization, by table. */
  async rows(): Promise<Readonly<Record<string, number>>> {
    const tables = ['tool_integrations', 'tool_integration_agents', 'tool_integration_states', 'secrets'];
    const counts = tables.map((table) => `(select count(*)::int from ${table} where organization_id = $1) as ${table}`);
    const [row] = await this.service.database.query<Record<string, number>>(`select ${counts.join(', ')}`, [
      this.organization.id,
    ]);
    return row ?? {};
  }

  private one(
    method: string,
    id: string,
    { agentId = this.agentId, key = this.organization.key }: As,
    body?: unknown,
  ): Promise<Answer<IntegrationView>> {
    return this.service.http(method, `${this.path(agentId)}/${id}`, { key, ...(body === undefined ? {} : { body }) });
  }

  private path(agentId: string): string {
    return `/v1/agents/${agentId}/tool-integrations`;
  }
}

interface As {
  readonly agentId?: string;
  readonly key?: string;
}

export const NO_ROWS = { tool_integrations: 0, tool_integration_agents: 0, tool_integration_states: 0, secrets: 0 };
