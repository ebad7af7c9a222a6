import { isRecord, isUuid } from './fields.js';
import { limitsOf, type WidgetServerLimits } from './limits.js';
import { logError, reporter } from './report.js';

/** Who asks, as the customer's site knows it. */
export interface Visitor {
  /** Your own id of the visitor, the same each time: 1 to 1,000 characters, never an e-mail address. */
  readonly id: string;
  /** Proxy mode: facts that the agent's tools get with every run, at most 63. `userId` is always the id above. */
  readonly userContext?: Readonly<Record<string, string | number | boolean>>;
}

export interface StoredConversation {
  readonly threadId: string;
  readonly title?: string | null;
  /** An ISO 8601 time. */
  readonly updatedAt?: string | null;
}

/** The customer's own list of the conversations of each visitor. */
export interface ConversationStore {
  /** The newest first, unless they have `updatedAt`. */
  readonly list: (visitorId: string) => Promise<readonly StoredConversation[]>;
  /** Called for each new conversation; again, if a request was repeated and another process answers it. */
  readonly add: (visitorId: string, threadId: string) => Promise<void>;
}

/** @typeParam Context what `visitor` gets besides the request, such as the framework's own request */
export interface WidgetServerOptions<Context> {
  /** URL of the service. */
  readonly serviceUrl: string;
  /** A key with the capability `chat`, best with no other and for this agent alone. */
  readonly apiKey: string;
  /** Id of the agent. */
  readonly assistantId: string;
  /** Where the handler is mounted, such as `/chat`; empty for the root. */
  readonly basePath: string;
  /** Who asks; null is answered with 401. It must not read the request's body. */
  readonly visitor: (request: Request, context: Context) => Visitor | null | Promise<Visitor | null>;
  /**
   * Signs which conversations and uploads belong to which visitor: at least 32 characters. By default the API key does, and
   * with another key visitors begin new conversations.
   */
  readonly secret?: string;
  /** Further origins whose pages may send requests, such as `https://www.example.com`. By default only the handler's own. */
  readonly allowedOrigins?: readonly string[];
  /** With it visitors have a list of their conversations. */
  readonly conversations?: ConversationStore;
  readonly limits?: Partial<WidgetServerLimits>;
  /** Called with failures that the visitor gets no details of; by default they are written to the console. */
  readonly onError?: (error: Error) => unknown;
  /** Sends the requests to the service; default the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface Settings {
  /** Without a slash at the end, like `basePath`. */
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly assistantId: string;
  readonly basePath: string;
  readonly secret: string;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly conversations: ConversationStore | null;
  readonly limits: WidgetServerLimits;
  readonly report: (error: Error) => void;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

const MIN_SECRET = 32;

/** @throws TypeError that names the option */
export function settingsOf<Context>(options: WidgetServerOptions<Context>): Settings {
  const { serviceUrl, apiKey, assistantId, basePath, secret = apiKey, allowedOrigins = [] } = options;
  const { conversations = null, limits = {}, onError = logError } = options;
  require(isServiceUrl(
    serviceUrl,
  ), 'serviceUrl must be the http or https URL of the service, without user, query and hash');
  require(isKey(apiKey), 'apiKey must be an API key of the service: visible ASCII characters');
  require(isUuid(assistantId), 'assistantId must be the id of the agent, a UUID');
  require(/^(\/[\w.~-]+)*\/?$/.test(basePath), 'basePath must be a path such as /chat');
  require(isRecord(limits), 'limits must be an object');
  require(typeof options.visitor === 'function', 'visitor must be a function');
  require(options.secret === undefined ||
    isSecret(secret), `secret must be a string of at least ${MIN_SECRET} characters`);
  for (const origin of allowedOrigins) {
    require(URL.canParse(origin) &&
      new URL(origin).origin === origin, 'allowedOrigins must be origins such as https://www.example.com');
  }
  return {
    ...{ serviceUrl: withoutSlash(serviceUrl), apiKey, basePath: withoutSlash(basePath), secret },
    assistantId: assistantId.toLowerCase(),
    ...{ allowedOrigins: new Set(allowedOrigins), conversations, limits: limitsOf(limits) },
    report: reporter(onError, apiKey),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  };
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && /^[!-~]+$/.test(value);
}

function isSecret(value: unknown): boolean {
  return typeof value === 'string' && value.length >= MIN_SECRET;
}

function isServiceUrl(value: string): boolean {
  // An empty query or hash is none for `URL`, and would end up before the path of each request.
  if (!URL.canParse(value) || /[?#\\\s]/.test(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function require(condition: boolean, message: string): void {
  if (!condition) throw new TypeError(`agent-chat-widget/server: ${message}`);
}
