/** The flat credentials that the customer's endpoint answers: what `POST /v1/sessions` gave it, without expiry instants. */
export interface SessionCredentials {
  /** `pass.token` */
  readonly pass: string;
  /** `session.thread_id` */
  readonly threadId: string;
  /** `session.id` */
  readonly sessionId: string;
  /** `pass.expiresInSeconds` */
  readonly expiresIn: number;
  /** `resumeToken.token`; absent on a renewal. */
  readonly resumeToken?: string;
}

/** What the customer's endpoint is asked for: a renewal where there is a resume token, else a new session. */
export interface CredentialsRequest {
  readonly resumeToken?: string;
  /** The conversation that a new session is to go on with. */
  readonly threadId?: string;
}

export type CredentialsSource = (request: CredentialsRequest) => Promise<SessionCredentials>;

export type ReactionKind = 'thumbs_up' | 'thumbs_down';

/** A thumb of the visitor, for the customer's server: a session pass cannot store it. */
export interface ReactionRequest {
  readonly sessionId: string;
  readonly threadId: string;
  readonly messageId: string;
  readonly reaction: ReactionKind | null;
}

export type ReactionTarget = (request: ReactionRequest) => Promise<void>;

interface CommonOptions {
  /** Where the conversation is remembered over a reload of the page: for the tab (the default), or not at all. */
  readonly remember?: 'tab' | 'never';
  /** Tells conversations of several widgets on one page apart; `default` unless set. */
  readonly storageKey?: string;
}

/** The browser talks to the service with a short-lived pass that the customer's server has minted. */
export interface SessionOptions extends CommonOptions {
  readonly mode: 'session';
  /** A function, or the URL of an endpoint that takes a `CredentialsRequest` by POST and answers `SessionCredentials`. */
  readonly credentials: CredentialsSource | string;
  /** Origin of the service; where the module was loaded from unless set. */
  readonly baseUrl?: string;
  /** Without it there are no thumbs. A URL gets the `ReactionRequest` by POST. */
  readonly reactions?: ReactionTarget | string;
}

/** The customer's server relays `/v1/*` below `baseUrl` and attaches the key. */
export interface ProxyOptions extends CommonOptions {
  readonly mode: 'proxy';
  readonly baseUrl: string;
  readonly assistantId: string;
  /** Sent as `config.userContext` of every run. */
  readonly userContext?: Readonly<Record<string, string | number | boolean>>;
  /** Sent with every request to the relay, such as a CSRF token. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An API key in the browser: for development on a local page alone. */
export interface DirectOptions extends CommonOptions {
  readonly mode: 'direct';
  readonly apiKey: string;
  readonly assistantId: string;
  readonly baseUrl?: string;
  readonly userContext?: Readonly<Record<string, string | number | boolean>>;
}

export type ChatOptions = SessionOptions | ProxyOptions | DirectOptions;
