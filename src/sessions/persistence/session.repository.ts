import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { MAX_RENEWALS, type Session } from '../domain/session.js';
import { sessions } from './sessions.schema.js';
import {
  COUNT_RENEWAL,
  FIND_SESSION_FACTS,
  REMOVE_EXPIRED,
  REMOVE_USERS_OF_DELETED_AGENT,
  type SessionFactsRow,
} from './sessions.sql.js';

/** The facts of a session that a request with a pass needs. They never change. */
export interface SessionFacts {
  readonly apiKeyId: string;
  readonly userKey: string | null;
}

@Injectable()
export class SessionRepository {
  constructor(private readonly database: Database) {}

  async add(organizationId: string, session: Session, tokenDigest: string): Promise<void> {
    await this.database.write((em) => em.insert(sessions, { ...session, organizationId, tokenDigest, renewals: 0 }));
  }

  async findByToken(organizationId: string, tokenDigest: string): Promise<Session | null> {
    const stored = await this.database.read((em) => em.findOne(sessions, { organizationId, tokenDigest }));
    if (!stored) return null;
    const { id, agentId, threadId, apiKeyId, userKey, createdAt, expiresAt } = stored;
    return { id, organizationId, agentId, threadId, apiKeyId, userKey, createdAt, expiresAt };
  }

  /** Hot path: this process may not have cached the session of a message from a widget. */
  async facts(organizationId: string, id: string): Promise<SessionFacts | undefined> {
    const [row] = await FIND_SESSION_FACTS.run<SessionFactsRow>(this.database, { organizationId, id });
    return row && { apiKeyId: row.api_key_id, userKey: row.user_key };
  }

  /** @returns whether the session had a renewal left */
  async countRenewal(organizationId: string, id: string): Promise<boolean> {
    return (await COUNT_RENEWAL.run(this.database, { organizationId, id, max: MAX_RENEWALS })).length > 0;
  }

  /** Of all organizations. @returns whether there may be more */
  async removeSomeExpired(expiredBefore: Date, limit: number): Promise<boolean> {
    return (await REMOVE_EXPIRED.run(this.database, { expiredBefore, limit })).length === limit;
  }

  /** @returns whether there may be more */
  async removeSomeUsers({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    const changed = await REMOVE_USERS_OF_DELETED_AGENT.run(this.database, { organizationId, agentId, limit });
    return changed.length === limit;
  }
}
