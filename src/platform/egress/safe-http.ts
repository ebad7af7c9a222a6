/** What a request is for; hooks and tool servers have stricter rules than the rest. */
export type EgressPurpose = 'hook' | 'mcp' | 'crawl' | 'attachment' | 'oauth' | 'drive';

export interface FollowRedirects {
  /** Most redirects followed, one after the other. */
  readonly max: number;
  /** Asked about each address before it is requested; false ends the request as `EgressFailed`. */
  readonly check?: (url: URL) => boolean | Promise<boolean>;
}

/** What is known of an answer before its body. */
export interface EgressAnswer {
  readonly status: number;
  /** As in `EgressResponse`. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface EgressRequest {
  readonly purpose: EgressPurpose;
  /** GET unless said otherwise. */
  readonly method?: string;
  /**
   * Sent to the origin of the first URL. Across an origin only `accept`, `accept-language` and `user-agent`
   * go along, whatever the others hold. Headers that belong to the connection are left out.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Of the body after decompression; one byte more ends the request as `EgressFailed`. A function decides it for each kind of answer. */
  readonly maxBytes: number | ((answer: EgressAnswer) => number);
  /** For everything: resolving, connecting, redirects and the whole body. */
  readonly timeoutMs: number;
  /** For the answer's headers, each time a request is sent; as long as the whole by default. */
  readonly headersTimeoutMs?: number;
  /** Hooks and tool servers are followed nowhere, whatever is asked for here. */
  readonly redirects: 'none' | FollowRedirects;
  readonly signal?: AbortSignal;
}

/** A body on its way: decompressed, counted, and cut off at its limits. It is read once, in one of these ways. */
export interface EgressBody extends AsyncIterable<Buffer> {
  buffer(): Promise<Buffer>;
  /** As UTF-8; what is no UTF-8 becomes U+FFFD. */
  text(): Promise<string>;
  /** Gives up the rest. Every body is read to its end or discarded. */
  discard(): void;
}

export interface EgressResponse {
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case; a header given several times is joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: EgressBody;
}

/**
 * The way out for every request whose target a customer's data decides. The name is resolved once, every
 * address must be public unicast, and the connection goes to that answer. `EGRESS_ALLOW` exempts the
 * operator's own services.
 */
export abstract class SafeHttp {
  /** Whether the URL could be requested as far as it can be told without asking for its addresses. @throws EgressRefused */
  abstract check(url: string, purpose: EgressPurpose): void;

  /**
   * @returns whatever the server answers, errors too; only redirects that are followed are not shown
   * @throws EgressRefused before anything is sent; EgressFailed; the reason of `signal` when it aborts
   */
  abstract request(url: string | URL, request: EgressRequest): Promise<EgressResponse>;
}
