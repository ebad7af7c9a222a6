import { MAX_USER_ID } from '../../conversations/index.js';
import { IntegerField, ObjectField, StringField, TimestampField, UuidField } from '../../platform/http/index.js';
import type { TimedToken, SessionCredentials } from '../application/passes-of-session.js';

const END_USER =
  'Your own id of the visitor, the same each time; never an e-mail address. Kept as a keyed digest (HMAC, with a key of your organization) alone. It binds the resume ' +
  'token, gives the session a longer life, and is whom the agent’s long-term memory belongs to.';

export class MintSessionBody {
  @UuidField({ description: 'The agent.' })
  readonly assistant_id!: string;
  @StringField({ optional: true, min: 1, max: MAX_USER_ID, description: END_USER })
  readonly endUser?: string;
  @UuidField({
    optional: true,
    description: 'A conversation of the agent to go on with; without it a new one is opened.',
  })
  readonly thread_id?: string;
}

/** A resume token of this service is far shorter; the bound keeps the answer to a longer one the same. */
const MAX_TOKEN = 1_000;

export class RefreshSessionBody {
  @StringField({ min: 1, max: MAX_TOKEN, description: 'As the mint has answered it.' })
  readonly resumeToken!: string;
  @StringField({
    optional: true,
    min: 1,
    max: MAX_USER_ID,
    description: 'The same as at the mint, byte for byte; none where there was none.',
  })
  readonly endUser?: string;
}

export class SessionResponse {
  @UuidField({ description: 'Joins the requests of the session.' })
  readonly id!: string;
  @UuidField({ description: 'The agent that the pass opens.' })
  readonly assistant_id!: string;
  @UuidField({ description: 'The one conversation that the pass opens.' })
  readonly thread_id!: string;
  @TimestampField({ description: 'The end of the session, which no renewal moves.' })
  readonly expiresAt!: string;
}

export class TimedTokenResponse {
  @StringField({ description: 'Opaque; send it as it is.' })
  readonly token!: string;
  @TimestampField({ description: 'From then on it is refused.' })
  readonly expiresAt!: string;
  @IntegerField({ description: 'As the service measures it; a client needs no clock that agrees.' })
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
    description: 'For `POST /v1/sessions/refresh`; it is given this once and can never chat.',
  })
  readonly resumeToken!: TimedTokenResponse;
}

export function refreshedView({ session, pass }: SessionCredentials): RefreshedSessionResponse {
  const { id, agentId, threadId, expiresAt } = session;
  return {
    session: { id, assistant_id: agentId, thread_id: threadId, expiresAt: expiresAt.toISOString() },
    pass: tokenView(pass),
  };
}

export function tokenView({ token, expiresAt, expiresInSeconds }: TimedToken): TimedTokenResponse {
  return { token, expiresAt: expiresAt.toISOString(), expiresInSeconds };
}
