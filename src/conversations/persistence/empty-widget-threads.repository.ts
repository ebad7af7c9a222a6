import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';

/** Conversations that were opened for a widget and never begun. Of all organizations: for the service's own upkeep. */
@Injectable()
export class EmptyWidgetThreads {
  constructor(private readonly database: Database) {}

  /**
   * A message that is being stored holds the lock of its thread, which is skipped; one that came before shows when the
   * row is looked at again under the lock.
   */
  remove(before: Date, limit: number): Promise<{ organizationId: string; id: string }[]> {
    return this.database.query(
      `delete from threads where id = any(array(
         select id from threads
         where channel = 'widget' and last_message_at is null and deleted_at is null and created_at < $1::timestamptz
         order by created_at limit $2::integer for update skip locked
       ))
       returning organization_id::text as "organizationId", id::text as id`,
      [before.toISOString(), limit],
    );
  }
}
