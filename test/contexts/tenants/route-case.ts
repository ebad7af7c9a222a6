import type { World } from './world.js';

/** The content of one request; the name of the route has its method and path. */
export interface RouteRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Sent as `multipart/form-data` instead of `body`; a `File` is a file. */
  readonly form?: Readonly<Record<string, string | File>>;
  /** Sent unchanged as `application/json` instead of the body. */
  readonly unreadable?: string | Buffer<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type RequestOf = (world: World) => RouteRequest;

export interface RouteCase {
  /**
   * Valid requests with the resources of an organization. Every place for an id has one in at least one of them. With ids of another
   * organization, the response must be the same as with ids that do not exist.
   */
  readonly requests: readonly [RequestOf, ...RequestOf[]];
  /** The status of a valid request. */
  readonly status: number;
  /** A valid request removes something that other routes need. */
  readonly spoils?: true;
  /**
   * For routes without a check by the guard: `public` needs no credential; `filtered` names no resource, so the route itself applies
   * the key's allowlist.
   */
  readonly access?: 'public' | 'filtered';
  /** For people at a browser: the refusals of the route are pages. */
  readonly refusesWithPage?: true;
  /** The route ignores unknown fields. */
  readonly openBody?: true;
}
