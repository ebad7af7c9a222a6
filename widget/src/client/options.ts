/** The flat credentials that the customer's endpoint returns: from the response of `POST /v1/sessions`, without expiry times. */
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
  /** Whether the conversation has no messages yet, so that none need to be loaded. */
  readonly isNew?: boolean;
}

/** The request to the customer's endpoint: for a renewal if there is a resume token, else for a new session. */
export interface CredentialsRequest {
  readonly resumeToken?: string;
  /** The conversation that a new session continues. */
  readonly threadId?: string;
  /** The visitor has asked for a new conversation, so a server that continues the last one by itself must not. */
  readonly newConversation?: true;
}

export type CredentialsSource = (request: CredentialsRequest) => Promise<SessionCredentials>;

export type ReactionKind = 'thumbs_up' | 'thumbs_down';

/** The visitor's rating, for the customer's server, because a session pass cannot store it. */
export interface ReactionRequest {
  readonly sessionId: string;
  readonly threadId: string;
  readonly messageId: string;
  readonly reaction: ReactionKind | null;
  readonly comment?: string;
}

export type ReactionTarget = (request: ReactionRequest) => Promise<void>;

/** A conversation of the visitor, as the customer's server lists it. */
export interface ConversationSummary {
  readonly threadId: string;
  readonly title: string | null;
  /** ISO 8601 */
  readonly updatedAt: string | null;
}

export type ConversationSource = () => Promise<readonly ConversationSummary[]>;

interface CommonOptions {
  /**
   * A function, or the URL of an endpoint that answers `{conversations: ConversationSummary[]}` to a GET. Absent: the widget has no list
   * of the visitor's conversations.
   */
  readonly conversations?: ConversationSource | string;
  /** Where the conversation is stored for a reload of the page: in the tab (the default) or nowhere. */
  readonly remember?: 'tab' | 'never';
  /** Identifies the conversation of one of several widgets on a page; default `default`. */
  readonly storageKey?: string;
}

/** The browser talks to the service with a short-lived pass that the customer's server has minted. */
export interface SessionOptions extends CommonOptions {
  readonly mode: 'session';
  /** A function, or the URL of an endpoint that accepts a `CredentialsRequest` by POST and returns `SessionCredentials`. */
  readonly credentials: CredentialsSource | string;
  /** Origin of the service; by default the origin that the module was loaded from. */
  readonly baseUrl?: string;
  /** A URL receives the `ReactionRequest` by POST. Absent: the widget shows no thumbs. */
  readonly reactions?: ReactionTarget | string;
}

/** The customer's server forwards `/v1/*` below `baseUrl` and adds the key. */
export interface ProxyOptions extends CommonOptions {
  readonly mode: 'proxy';
  readonly baseUrl: string;
  readonly assistantId: string;
  /** Sent as `config.userContext` of every run. */
  readonly userContext?: Readonly<Record<string, string | number | boolean>>;
  /** Sent with every request to the relay, such as a CSRF token. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An API key in the browser: only for development on a local page. */
export interface DirectOptions extends CommonOptions {
  readonly mode: 'direct';
  readonly apiKey: string;
  readonly assistantId: string;
  readonly baseUrl?: string;
  readonly userContext?: Readonly<Record<string, string | number | boolean>>;
}

export type ChatOptions = SessionOptions | ProxyOptions | DirectOptions;
