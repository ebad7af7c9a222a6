import { MAX_USER_ID } from '../../conversations/index.js';
import { IntegerField, ObjectField, StringField, TimestampField, UuidField } from '../../platform/http/index.js';
import type { TimedToken, SessionCredentials } from '../application/pass-tokens.js';

const END_USER =
  'Your own id of the visitor, the same each time; never an e-mail address. Only a keyed digest of it is stored (HMAC, with a key of your organization). It binds the resume ' +
  'token, gives the session a longer life, and owns the agent’s long-term memories.';

export class MintSessionBody {
  @UuidField({ description: 'The agent.' })
  readonly assistant_id!: string;
  @StringField({ optional: true, min: 1, max: MAX_USER_ID, description: END_USER })
  readonly endUser?: string;
  @UuidField({
    optional: true,
    description: 'A conversation of the agent to continue; without it a new one is opened.',
  })
  readonly thread_id?: string;
}

/** Resume tokens are far shorter. A text of up to this length gets the same answer as any other invalid token. */
const MAX_TOKEN = 1_000;

export class RefreshSessionBody {
  @StringField({ min: 1, max: MAX_TOKEN, description: 'As returned when the session was minted.' })
  readonly resumeToken!: string;
  @StringField({
    optional: true,
    min: 1,
    max: MAX_USER_ID,
    description: 'Exactly the value that the session was minted with, or none if it had none.',
  })
  readonly endUser?: string;
}

export class SessionResponse {
  @UuidField({ description: 'Id of the session.' })
  readonly id!: string;
  @UuidField({ description: 'The agent that the pass opens.' })
  readonly assistant_id!: string;
  @UuidField({ description: 'The one conversation that the pass opens.' })
  readonly thread_id!: string;
  @TimestampField({ description: 'The end of the session, which renewals do not change.' })
  readonly expiresAt!: string;
}

export class TimedTokenResponse {
  @StringField({ description: 'Opaque; send it unchanged.' })
  readonly token!: string;
  @TimestampField({ description: 'The token is refused from this time on.' })
  readonly expiresAt!: string;
  @IntegerField({ description: 'Measured by the service, so that the client’s clock does not matter.' })
  readonly expiresInSeconds!: number;
}

export class RefreshedSessionResponse {
  @ObjectField(() => SessionResponse, { description: 'What the pass is for.' })
  readonly session!: SessionResponse;
  @ObjectField(() => TimedTokenResponse, { description: 'The browser’s bearer credential.' })
  readonly pass!: TimedTokenResponse;
}

export class MintedSessionResponse extends RefreshedSessionResponse {
  @ObjectField(() => TimedTokenResponse, {
    description: 'For `POST /v1/sessions/refresh` only. It is returned only here.',
  })
  readonly resumeToken!: TimedTokenResponse;
}

export function toRefreshedSession({ session, pass }: SessionCredentials): RefreshedSessionResponse {
  const { id, agentId, threadId, expiresAt } = session;
  return {
    session: { id, assistant_id: agentId, thread_id: threadId, expiresAt: expiresAt.toISOString() },
    pass: toTimedToken(pass),
  };
}

export function toTimedToken({ token, expiresAt, expiresInSeconds }: TimedToken): TimedTokenResponse {
  return { token, expiresAt: expiresAt.toISOString(), expiresInSeconds };
}
