import { type Answer, type RunningService, type TestOrganization, until } from './harness.js';
import { keyFile } from './drive-server.js';

export interface DriveView {
  readonly files: readonly {
    readonly id: string;
    readonly name: string;
    readonly mimeType: string;
    readonly kind: string;
  }[];
  readonly integrationId: string;
  readonly sync: {
    readonly state: string;
    readonly lastSuccessfulSyncAt: string | null;
    readonly lastError: string | null;
    readonly startedAt: string | null;
  };
  readonly chunks: number;
  readonly bytes: number;
}

export type DriveSource = 'drive-service-account' | 'drive-oauth';

/** An organization with an agent that has drive knowledge. */
export class DriveKnowledge {
  private constructor(
    private readonly service: RunningService,
    readonly organization: TestOrganization,
    readonly agentId: string,
  ) {}

  static async start(service: RunningService): Promise<DriveKnowledge> {
    const organization = await service.organization();
    return new DriveKnowledge(service, organization, await service.agent(organization.key));
  }

  /** With a service account. */
  static async withAccount(service: RunningService): Promise<DriveKnowledge> {
    const knowledge = await DriveKnowledge.start(service);
    const answer = await knowledge.addAccount();
    if (answer.status !== 201) throw new Error(`account: ${answer.status} ${answer.text}`);
    return knowledge;
  }

  get key(): string {
    return this.organization.key;
  }

  addAccount(keyFileContent: unknown = keyFile(), key = this.key): Promise<Answer<{ id: string }>> {
    return this.service.http('POST', '/v1/integrations/drive/service-accounts', { key, body: { keyFileContent } });
  }

  accounts(): Promise<Answer<{ serviceAccounts: Record<string, unknown>[] }>> {
    return this.service.http('GET', '/v1/integrations/drive/service-accounts', { key: this.key });
  }

  removeAccount(id: string, key = this.key): Promise<Answer> {
    return this.service.http('DELETE', `/v1/integrations/drive/service-accounts/${id}`, { key });
  }

  put(
    fileIds: unknown,
    { integrationId, key = this.key }: { integrationId?: string; key?: string } = {},
  ): Promise<Answer<DriveView>> {
    return this.service.http('PUT', this.path('drive'), {
      key,
      body: { fileIds, ...(integrationId !== undefined && { integrationId }) },
    });
  }

  read(source: DriveSource = 'drive-service-account', key = this.key): Promise<Answer<DriveView>> {
    return this.service.http('GET', this.path(source), { key });
  }

  remove(source: DriveSource): Promise<Answer> {
    return this.service.http('DELETE', this.path(source), { key: this.key });
  }

  authorize(
    fileIds: readonly string[],
    redirectUrl = 'https://app.example/done',
  ): Promise<Answer<{ authorizationUrl: string }>> {
    return this.service.http('POST', `${this.path('drive-oauth')}/authorize`, {
      key: this.key,
      body: { fileIds, redirectUrl },
    });
  }

  /** Selects the files, and waits for the end of their sync. */
  async synced(fileIds: readonly string[]): Promise<DriveView> {
    const answer = await this.put(fileIds);
    if (answer.status !== 200) throw new Error(`put: ${answer.status} ${answer.text}`);
    return this.ended();
  }

  async ended(source: DriveSource = 'drive-service-account'): Promise<DriveView> {
    let view: DriveView | undefined;
    await until(async () => {
      view = (await this.read(source)).body;
      return view.sync.state !== 'IN_PROGRESS';
    }, 'the end of a sync');
    return view!;
  }

  private path(name: string): string {
    return `/v1/agents/${this.agentId}/knowledge-bases/${name}`;
  }
}
