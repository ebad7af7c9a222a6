import { raw } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { MAX_RENEWALS, type Session } from '../domain/session.js';
import { FIND_SESSION_FACTS, type SessionFactsRow } from './session-facts.sql.js';
import type { SaltedEndUser } from './salted-end-users.js';
import { sessions, type StoredSession } from './sessions.schema.js';

/** What a request with a pass needs to know of its session; it never changes. */
export interface SessionFacts {
  readonly apiKeyId: string;
  readonly userKey: string | null;
}

@Injectable()
export class SessionRepository {
  constructor(private readonly database: Database) {}

  async add(
    organizationId: string,
    session: Session,
    secrets: SaltedEndUser & { readonly tokenDigest: string },
  ): Promise<void> {
    await this.database.write((em) => em.insert(sessions, { ...session, organizationId, ...secrets, renewals: 0 }));
  }

  async findByToken(organizationId: string, tokenDigest: string): Promise<Session | null> {
    const stored = await this.database.read((em) => em.findOne(sessions, { organizationId, tokenDigest }));
    return stored && toSession(stored);
  }

  /** Hot path: a message from a widget may be the first of its session in this process. */
  async facts(organizationId: string, id: string): Promise<SessionFacts | undefined> {
    const [row] = await FIND_SESSION_FACTS.run<SessionFactsRow>(this.database, { organizationId, id });
    return row && { apiKeyId: row.api_key_id, userKey: row.user_key };
  }

  /** Counts one renewal in the row itself, so that of many at once exactly as many succeed as are left. @returns whether one was left */
  async takeRenewal(organizationId: string, id: string): Promise<boolean> {
    const counted = await this.database.write((em) =>
      em.nativeUpdate(
        sessions,
        { organizationId, id, renewals: { $lt: MAX_RENEWALS } },
        { renewals: raw('renewals + 1') },
      ),
    );
    return counted > 0;
  }

  /** Of all organizations. @returns how many; fewer than `limit` when no more are left */
  async purge(expiredBefore: Date, limit: number): Promise<number> {
    const rows = await this.database.query(
      `delete from sessions where id = any(array(
         select id from sessions where expires_at < $1::timestamptz order by expires_at limit $2::integer for update skip locked
       )) returning 1`,
      [expiredBefore.toISOString(), limit],
    );
    return rows.length;
  }
}

function toSession({
  id,
  organizationId,
  agentId,
  threadId,
  apiKeyId,
  userKey,
  createdAt,
  expiresAt,
}: StoredSession): Session {
  return { id, organizationId, agentId, threadId, apiKeyId, userKey, createdAt, expiresAt };
}
