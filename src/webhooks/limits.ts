const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Endpoints of an organization. Contract, section 15. */
export const MAX_ENDPOINTS = 20;
/** Agents that one endpoint may be limited to, and characters of its description and URL. */
export const MAX_AGENTS = 1_000;
export const MAX_DESCRIPTION = 500;
export const MAX_URL = 2_048;

/** Time in which an endpoint responds. Contract, section 15. */
export const ATTEMPT_MS = 10 * SECOND_MS;
/** Pauses before the attempts after the first; after the last attempt the delivery has failed. Contract, section 15. */
export const PAUSES_MS = [
  ...[5 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS],
] as const;
/** A longer `Retry-After` is ignored. Contract, section 15. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;
/** An endpoint without a delivery for this long since a failure is switched off. Contract, section 15. */
export const FAILING_MS = 5 * DAY_MS;

/** The response body is read only to keep the connection; of a larger one the connection is closed. */
export const MAX_RESPONSE_BYTES = 64 * 1_024;
/** The newest attempts of a delivery that are kept: a delivery that is sent again by hand adds up to eight each time. */
export const KEPT_ATTEMPTS = 20;
export const RETENTION_MS = 30 * DAY_MS;
/** Deliveries per page. */
export const DELIVERIES = { default: 20, max: 100 } as const;

/** How often a process looks for due deliveries: an idle one costs one statement. */
export const POLL_MS = SECOND_MS;
/** An endpoint whose process has died is served by another one after this time. */
export const LEASE_SECONDS = 15;
export const RENEW_MS = 5 * SECOND_MS;
/** After this time a process gives an endpoint back, so that those that no process serves have their turn. */
export const TURN_MS = 30 * SECOND_MS;
/** Endpoints that one process serves at a time: most wait for responses, which costs little. */
export const SERVED_ENDPOINTS = 1_000;

/**
 * Requests under way at a time. With 32 an endpoint that takes 9 seconds still receives more than 10,000 events an hour. A failing one
 * gets few, so that many of them leave room. An organization's limit is a fraction of the process's: some organizations whose endpoints
 * hang do not delay the others.
 */
export const CONCURRENT = { perEndpoint: 32, perFailingEndpoint: 4, perOrganization: 64, perProcess: 1_024 } as const;

/** How often a process reads which organizations have endpoints, and for how long it uses the result. */
export const LOOK_MS = 300;
export const KNOWN_FOR_MS = 700;

/** Deliveries that one statement reads. */
export const LOAD_BATCH = 500;
/** What is read and not begun within this time is read again, so that a change of the endpoint takes effect. */
export const LOADED_FOR_MS = 2 * SECOND_MS;
/** Results that one statement stores, and how long the first one waits for others. */
export const STORE_BATCH = 200;
export const STORE_AFTER_MS = 20;

/** Deliveries that one statement of a poll, of the purge or of a removal changes. */
export const FAIL_BATCH = 2_000;
export const PURGE_BATCH = 500;
export const PURGE_EVERY_MINUTES = 60;
export const SWITCH_OFF_EVERY_MINUTES = 5;

/** How long the age of the oldest due delivery is cached, because anyone may request the metrics at any rate. */
export const AGE_KEPT_MS = 5 * SECOND_MS;
