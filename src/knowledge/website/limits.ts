/** Sites of one agent. */
export const MAX_ROOTS = 50;
/** Of one site, and of all sites of an agent: each is looked at before the request is answered. */
export const MAX_EXCLUSIONS = 1_000;
export const MAX_EXCLUSIONS_OF_AGENT = 5_000;
/** Pages that one site's selection names. */
export const MAX_SELECTED = 1_000;
/** Characters of a page's address; longer links are not followed. */
export const MAX_URL_CHARACTERS = 2_048;

/** An agent's sites are crawled again every day, at a time of day of its own. */
export const RECRAWL_MS = 24 * 3_600_000;
/** A site that was crawled less long before that time waits for the next day. */
export const MIN_RECRAWL_PAUSE_MS = 3_600_000;
/** Of the job that starts due crawls and takes up those that stand still. */
export const CHECK_EVERY_MINUTES = 1;
/** A crawl of which nothing was heard for so long has lost its worker. */
export const STALLED_MS = 120_000;
/** Crawls that one run of that job starts or takes up. */
export const CHECK_BATCH = 200;

/** Steps of different crawls that one process runs at a time: a long crawl keeps no other from starting. */
export const STEPS_AT_ONCE = 8;
/** A step takes no further page after this time; those under way are finished. */
export const STEP_MS = 2_000;
/** Pages of one step that are fetched, parsed or stored at a time. Each may be as large as a page may be. */
export const PAGES_AT_ONCE = 8;
/** Of them, those that are stored at a time: the text of one is split while the other is written. */
export const STORED_AT_ONCE = 2;
/** Pages that one statement claims of each host. */
export const CLAIM_PER_HOST = 12;
/** Another worker may take a page whose claim was not renewed for this time. */
export const CLAIM_LEASE_MS = 60_000;
export const CLAIM_RENEWAL_MS = 15_000;
/** Sites whose robots.txt and sitemaps are read at a time, before pages are fetched. */
export const SITES_OPENED_AT_ONCE = 4;

/** Times that one page is tried in a crawl. */
export const MAX_TRIES = 4;
/** Where its answer breaks off: a site of one such page would be waited for most of a minute. */
export const MAX_BROKEN_TRIES = 2;
/** A page that has to wait for longer counts as failed: a crawl must come to its end. */
export const MAX_PAUSE_MS = 15 * 60_000;

/** Until a page is tried again whose host had another's request under way instead. */
export const HOST_BUSY_MS = 1_000;

/** What is kept of a page's links for a crawl that finds it unchanged; with more the page is fetched whole each time. */
export const MAX_KEPT_LINK_CHARACTERS = 256 * 1024;
/** Rows or documents removed at a time. */
export const REMOVE_BATCH = 100;
/** Characters of a page's reason that are kept. */
export const MAX_REASON_CHARACTERS = 500;
