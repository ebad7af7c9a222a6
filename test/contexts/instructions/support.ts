import { newId } from '../../../src/platform/ids/index.js';
import type { Answer, TestOrganization, TestService } from '../../support/harness.js';

export interface SectionBody {
  readonly id: string;
  readonly name: string;
  readonly content: string;
  readonly position: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface SectionsBody {
  readonly sections: readonly SectionBody[];
}

export interface ErrorBody {
  readonly statusCode: number;
  readonly code?: string;
  readonly error: string;
  readonly message: string;
  readonly names?: readonly string[];
}

export interface Text {
  readonly name: string;
  readonly content: string;
}

export interface Sender {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An agent for one test, and requests about its sections. */
export class Sections {
  private constructor(
    private readonly service: TestService,
    readonly organization: TestOrganization,
    readonly agentId: string,
  ) {}

  static async start(
    service: TestService,
    agent: Readonly<Record<string, unknown>> = {},
    ...organization: string[]
  ): Promise<Sections> {
    const owner = await service.organization(...organization);
    return new Sections(service, owner, await service.agent(owner.key, agent));
  }

  get path(): string {
    return `/v1/agents/${this.agentId}/sections`;
  }

  get key(): string {
    return this.organization.key;
  }

  get<Body = SectionsBody>({ key = this.key, headers }: Sender = {}): Promise<Answer<Body>> {
    return this.service.http<Body>('GET', this.path, { key, headers });
  }

  put<Body = SectionsBody>(sections: unknown, { key = this.key, headers }: Sender = {}): Promise<Answer<Body>> {
    return this.service.http<Body>('PUT', this.path, { key, body: { sections }, headers });
  }

  post<Body = SectionBody>(body: unknown, { key = this.key, headers }: Sender = {}): Promise<Answer<Body>> {
    return this.service.http<Body>('POST', this.path, { key, body, headers });
  }

  patch<Body = SectionBody>(
    id: string,
    body: unknown,
    { key = this.key, headers }: Sender = {},
  ): Promise<Answer<Body>> {
    return this.service.http<Body>('PATCH', `${this.path}/${id}`, { key, body, headers });
  }

  delete<Body = ErrorBody>(id: string, { key = this.key, headers }: Sender = {}): Promise<Answer<Body>> {
    return this.service.http<Body>('DELETE', `${this.path}/${id}`, { key, headers });
  }

  async list(): Promise<readonly SectionBody[]> {
    return (await this.get()).body.sections;
  }

  /** Replaces the list, with contents made from the names, and returns it. */
  async filled(...names: string[]): Promise<readonly SectionBody[]> {
    const answer = await this.put(names.map(about));
    if (answer.status !== 200) throw new Error(`sections: ${answer.status} ${answer.text}`);
    return answer.body.sections;
  }

  /** The version in the response of the agent's route. */
  async version(): Promise<number> {
    const { body } = await this.service.http<{ version: number }>('GET', `/v1/agents/${this.agentId}`, {
      key: this.key,
    });
    return body.version;
  }

  /** Inserts a row past the interface. */
  async insert(name: string, position: number): Promise<string> {
    const id = newId();
    await this.service.database.query(
      `insert into sections (id, organization_id, agent_id, name, content, position, created_at, updated_at)
       values ($1, $2, $3, $4, 'From elsewhere', $5, now(), now())`,
      [id, this.organization.id, this.agentId, name, position],
    );
    return id;
  }

  async setType(type: 'classic' | 'claude-agent-sdk'): Promise<void> {
    await this.service.database.query('update agents set type = $2 where id = $1', [this.agentId, type]);
  }
}

export function about(name: string): Text {
  return { name, content: `About ${name}.` };
}

export function namesOf(sections: readonly SectionBody[]): string[] {
  return sections.map(({ name }) => name);
}

/** Status and body of a response, for one comparison. */
export function outcome({ status, body }: Answer<unknown>): [number, unknown] {
  return [status, body];
}
