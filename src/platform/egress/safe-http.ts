/** The purpose of a request; hooks and tool servers have stricter rules. */
export type EgressPurpose = 'hook' | 'mcp' | 'crawl' | 'attachment' | 'oauth' | 'drive';

export interface FollowRedirects {
  readonly max: number;
  /** Called with each URL before it is requested; false ends the request with `EgressFailed`. */
  readonly check?: (url: URL) => boolean | Promise<boolean>;
}

/** A response before its body is read. */
export interface EgressAnswer {
  readonly status: number;
  /** As in `EgressResponse`. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface EgressRequest {
  readonly purpose: EgressPurpose;
  /** GET by default. */
  readonly method?: string;
  /**
   * Sent to the origin of the first URL; another origin receives only `accept`, `accept-language` and `user-agent`. Headers of the
   * connection are ignored.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Limit of the decompressed body, above which the request ends with `EgressFailed`; a function returns it for each response. */
  readonly maxBytes: number | ((answer: EgressAnswer) => number);
  /** Limit of the whole request: resolving, connecting, redirects and the body. */
  readonly timeoutMs: number;
  /** Limit for the headers of each response; `timeoutMs` by default. */
  readonly headersTimeoutMs?: number;
  /** Always `none` for hooks and tool servers. */
  readonly redirects: 'none' | FollowRedirects;
  readonly signal?: AbortSignal;
}

/** A decompressed body with limits, which can be read once. */
export interface EgressBody extends AsyncIterable<Buffer> {
  buffer(): Promise<Buffer>;
  /** As UTF-8; invalid bytes become U+FFFD. */
  text(): Promise<string>;
  /** Discards the rest. The caller reads every body to its end or discards it. */
  discard(): void;
}

export interface EgressResponse {
  /** After redirects. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case; repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: EgressBody;
}

/**
 * The client for all requests to targets in a customer's data. It resolves the name once, requires every address to be public
 * unicast, and connects to one of those. `EGRESS_ALLOW` exempts the operator's services.
 */
export abstract class SafeHttp {
  /** Checks the URL without resolving its name. @throws EgressRefused */
  abstract check(url: string, purpose: EgressPurpose): void;

  /**
   * @returns the response, including errors, after the redirects that are followed
   * @throws EgressRefused before anything is sent; EgressFailed; the reason of `signal` if it aborts
   */
  abstract request(url: string | URL, request: EgressRequest): Promise<EgressResponse>;
}
