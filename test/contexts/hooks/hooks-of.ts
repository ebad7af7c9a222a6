import type { Answer, TestOrganization, TestService } from '../../support/harness.js';

export interface HooksView {
  readonly hooks: Readonly<Record<string, readonly object[]>>;
  readonly message: string;
}

export interface Version {
  readonly version: number;
  readonly changes: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
}

interface As {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests about the hooks of one agent, in a separate organization. */
export class HooksOf {
  private constructor(
    private readonly service: TestService,
    readonly organization: TestOrganization,
    readonly agentId: string,
  ) {}

  static async start(service: TestService, agent: Readonly<Record<string, unknown>> = {}): Promise<HooksOf> {
    const organization = await service.organization();
    return new HooksOf(service, organization, await service.agent(organization.key, agent));
  }

  get key(): string {
    return this.organization.key;
  }

  read(as?: As): Promise<Answer<HooksView>> {
    return this.ask('GET', 'hooks', as);
  }

  put(hooks: unknown, as?: As): Promise<Answer<HooksView>> {
    return this.ask('PUT', 'hooks', as, { hooks });
  }

  /** Replaces the document and expects success. */
  async set(hooks: unknown): Promise<HooksView['hooks']> {
    const { status, body, text } = await this.put(hooks);
    if (status !== 200) throw new Error(`hooks: ${status} ${text}`);
    return body.hooks;
  }

  remove(as?: As): Promise<Answer<HooksView>> {
    return this.ask('DELETE', 'hooks', as);
  }

  rotate(as?: As): Promise<Answer<{ secret: string; createdAt: string }>> {
    return this.ask('POST', 'hooks/secret', as);
  }

  test<Body = { results: readonly Readonly<Record<string, unknown>>[] }>(body: object, as?: As): Promise<Answer<Body>> {
    return this.ask('POST', 'hooks/test', as, body);
  }

  readSessionStart(as?: As): Promise<Answer> {
    return this.ask('GET', 'session-start-hook', as);
  }

  putSessionStart(body: unknown, as?: As): Promise<Answer> {
    return this.ask('PUT', 'session-start-hook', as, body);
  }

  removeSessionStart(as?: As): Promise<Answer> {
    return this.ask('DELETE', 'session-start-hook', as);
  }

  /** Adds a tool integration without a running server to the agent. */
  async attach(app: string): Promise<void> {
    const address = { url: 'http://127.0.0.1:9/mcp', transportType: 'streamableHttp', auth: { type: 'none' } };
    const { status, text } = await this.ask('POST', 'tool-integrations', {}, { type: 'custom-mcp', app, ...address });
    if (status !== 201) throw new Error(`integration: ${status} ${text}`);
  }

  restore(version: number): Promise<Answer<{ version: number; code?: string; message: string }>> {
    return this.ask('POST', `versions/${version}/restore`);
  }

  /** Newest first. */
  async versions(): Promise<readonly Version[]> {
    return (await this.ask<{ versions: Version[] }>('GET', 'versions')).body.versions;
  }

  async version(): Promise<number> {
    return (await this.versions())[0]?.version ?? 0;
  }

  ask<Body = Record<string, unknown>>(
    method: string,
    path: string,
    { key = this.key, headers }: As = {},
    body?: unknown,
  ): Promise<Answer<Body>> {
    const at = `/v1/agents/${this.agentId}/${path}`;
    return this.service.http<Body>(method, at, {
      key,
      ...(headers && { headers }),
      ...(body === undefined ? {} : { body }),
    });
  }

  /** The kinds of hook secrets in the vault for the agent: `headers`, `signing`. */
  async secrets(): Promise<readonly string[]> {
    const rows = await this.service.database.query<{ field: string }>(
      `select distinct split_part(field, '.', 2) as field from secrets where record_id = $1 and field like 'hooks.%' order by 1`,
      [this.agentId],
    );
    return rows.map(({ field }) => field);
  }
}

/** Every row of every table except the vault's, as text. */
export async function rowsOutsideVault(service: TestService): Promise<string> {
  const tables = await service.database.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name <> 'secrets'`,
  );
  const rows: unknown[] = [];
  for (const { name } of tables)
    rows.push(await service.database.query(`select to_jsonb(r)::text as row from "${name}" r`));
  return JSON.stringify(rows);
}
