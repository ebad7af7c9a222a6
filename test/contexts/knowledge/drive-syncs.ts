import type { TestService } from '../../support/harness.js';
import type { DriveKnowledge, DriveView } from '../../support/drive-knowledge.js';
import type { DriveServer } from '../../support/drive-server.js';
import { ScheduleDriveSyncs } from '../../../src/knowledge/drive/jobs/sync-drives.job.js';

/** Syncs of agents of one service with one drive. */
export class DriveSyncs {
  constructor(
    private readonly service: TestService,
    private readonly drive: DriveServer,
  ) {}

  /** The documents of an agent: text by title. */
  async documents({ agentId }: DriveKnowledge): Promise<Record<string, string>> {
    const rows = await this.service.database.query<{ title: string; text: string }>(
      `select d.title, string_agg(c.text, ' ' order by c.position) as text from knowledge_documents d
         left join knowledge_chunks c on c.document_id = d.id where d.agent_id = $1::uuid group by d.id order by d.title`,
      [agentId],
    );
    return Object.fromEntries(rows.map(({ title, text }) => [title, text]));
  }

  async sourceOf({ agentId }: DriveKnowledge): Promise<{ organizationId: string; id: string }> {
    const [row] = await this.service.database.query<{ organizationId: string; id: string }>(
      'select id::text as id, organization_id::text as "organizationId" from drive_sources where agent_id = $1::uuid and removed_at is null',
      [agentId],
    );
    return row!;
  }

  async schedule(): Promise<void> {
    await this.service.app.get(ScheduleDriveSyncs, { strict: false }).process();
  }

  /** Makes the next sync due, and waits for its end. */
  async repeat(knowledge: DriveKnowledge): Promise<DriveView> {
    this.drive.requests.length = 0;
    const { id } = await this.sourceOf(knowledge);
    await this.service.database.query(
      "update drive_sources set next_sync_at = '2020-01-01T00:00:00Z' where id = $1::uuid",
      [id],
    );
    await this.schedule();
    return knowledge.ended();
  }

  /** Holds the first matching request until it is released. */
  hold(isMeant: (path: string, query: URLSearchParams) => boolean): {
    reached: () => boolean;
    answered: () => boolean;
    release: () => void;
  } {
    let [isReached, isAnswered] = [false, false];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.drive.before = async ({ path, query }, response) => {
      if (isReached || !isMeant(path, query)) return false;
      isReached = true;
      response.on('close', () => (isAnswered = true));
      await released;
      return false;
    };
    return { reached: () => isReached, answered: () => isAnswered, release };
  }
}
