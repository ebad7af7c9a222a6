/** What became of one request for a page. Texts are public: customers read them as the crawl's last error. */
export type FetchedPage =
  | {
      readonly kind: 'content';
      /** Where it came from, after redirects inside the site. */
      readonly url: string;
      readonly contentType: string | null;
      readonly body: Buffer;
      readonly etag: string | null;
      readonly lastModified: string | null;
      /** `X-Robots-Tag` forbids to index it. */
      readonly noindex: boolean;
    }
  /** As it was when `etag` and `lastModified` were told. */
  | { readonly kind: 'not_modified' }
  /** The server says that there is no such page: 404 or 410. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** Whatever else is wrong for good: another 4xx, too large, a redirect loop, an address that is not public. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Another type, a redirect out of the site. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** It redirects to another page, at which it is not the host's turn to be asked for now. */
  | { readonly kind: 'moved'; readonly url: string }
  /** 429, 5xx, no answer: worth another try. */
  | { readonly kind: 'later'; readonly reason: string; /** As `Retry-After` says; null where nothing is said. */ readonly retryAfterMs: number | null; /** What the server sends is broken, which mostly stays so. */ readonly broken?: true };

export interface PageRequest {
  /** Of the last crawl, for a conditional request. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Also for the host's turn; `HostPaused` is thrown otherwise. */
  readonly waits?: boolean;
  /** Asked about each redirect's target: whether it is inside the site, allowed by its robots.txt and not excluded. */
  isWanted(url: URL): boolean | Promise<boolean>;
  /** Asked about a wanted target: whether it can be had later, as a page of its own. The host's turn is waited for otherwise. */
  isOther(url: URL): boolean;
}

/** Gets one page. Holds a slot of its host while it does (`HostSlots`). */
export abstract class PageFetcher {
  /** @throws HostPaused where it is not the host's turn; the reason of `signal` when it aborts; nothing else that a server could cause */
  abstract fetch(url: string, request: PageRequest, signal: AbortSignal): Promise<FetchedPage>;
}
