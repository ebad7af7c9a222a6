import { Injectable } from '@nestjs/common';
import { Database, statement, type Transaction } from '../../../platform/database/index.js';

/** A file whose turn it is to be parsed. */
export interface TurnOfUpload {
  readonly agentId: string;
  readonly fileId: string;
}

/** A lock of the database is a number; this keeps those of other contexts apart. */
const LOCK = 'knowledge.upload-turns:';

/** An array is made once; what stands after `in` may be looked up anew for each row, and would then find others than before. */
const takeNext = statement(
  { organizationId: 'uuid', turns: 'integer', now: 'timestamptz' },
  (p) => `update knowledge_uploads set turn = 'taken', changed_at = ${p.now}
    where organization_id = ${p.organizationId} and id = any(array(
      select id from knowledge_uploads waiting
       where organization_id = ${p.organizationId} and status = 'processing' and turn = 'waiting' order by size, id
       limit greatest(0, ${p.turns} - (select count(*) from knowledge_uploads taken
         where organization_id = ${p.organizationId} and status = 'processing' and turn = 'taken'))
       for update skip locked))
    returning agent_id::text as "agentId", id::text as "fileId"`,
);

const end = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `update knowledge_uploads set turn = 'over' where organization_id = ${p.organizationId} and id = ${p.id}`,
);

/** Which of an organization's files have a job: a few at a time, so that organizations take turns in the queue. */
@Injectable()
export class UploadTurnRepository {
  constructor(private readonly database: Database) {}

  /**
   * Gives their turn to the smallest files, of equal ones to those that have waited longest, as far as turns are free. The lock lasts until the
   * transaction ends: whoever comes at the same time sees what was given here.
   */
  async takeNext(transaction: Transaction, organizationId: string, turns: number, now: Date): Promise<TurnOfUpload[]> {
    await transaction.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [LOCK + organizationId]);
    return takeNext.run<TurnOfUpload>(transaction, { organizationId, turns, now });
  }

  /** The file makes no other one wait any more, whatever becomes of it. */
  async end(transaction: Transaction, organizationId: string, id: string): Promise<void> {
    await end.run(transaction, { organizationId, id });
  }

  /** Of all organizations, those with files that have waited for long. */
  async waitingSince(since: Date): Promise<string[]> {
    const rows = await this.database.query<{ organizationId: string }>(
      `select distinct organization_id::text as "organizationId" from knowledge_uploads
        where status = 'processing' and turn = 'waiting' and changed_at < $1::timestamptz`,
      [since.toISOString()],
    );
    return rows.map(({ organizationId }) => organizationId);
  }
}
