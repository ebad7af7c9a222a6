/** Sites of one agent; a request with more is refused. */
export const MAX_ROOTS = 50;
/** Of one site, and of all sites of an agent: each is looked at before the request is answered; more are refused. */
export const MAX_EXCLUSIONS = 1_000;
export const MAX_EXCLUSIONS_OF_AGENT = 5_000;
/** Pages that one site's selection names; the command refuses more. */
export const MAX_SELECTED = 1_000;
/** Characters of a page's address; longer links are not followed. */
export const MAX_URL_CHARACTERS = 2_048;

/** An agent's sites are crawled again every day, at a time of day of its own. */
export const RECRAWL_MS = 24 * 3_600_000;
/** A site that was crawled less long before that time waits for the next day. */
export const MIN_RECRAWL_PAUSE_MS = 3_600_000;
/** Of the job that starts due crawls and takes up those that stand still. */
export const CHECK_EVERY_MINUTES = 1;
/** A crawl of which nothing was heard for so long has lost its jobs. */
export const STALLED_MS = 120_000;
/** Crawls that one run of that job starts or takes up. */
export const CHECK_BATCH = 200;

/** Requests to one host at a time, of the one process that has its lease. Contract, section 5. */
export const CONNECTIONS_PER_HOST = 4;
/** A host whose worker died is another's after this time. */
export const HOST_LEASE_MS = 60_000;
export const HOST_LEASE_RENEWAL_MS = 15_000;
/** A worker that could not renew its lease for so long stops, before another may begin. */
export const HOST_LEASE_LOST_MS = 45_000;
export const MAX_HOST_LENGTH = 300;
/** Rows of hosts that were not asked for this long are removed. */
export const HOST_FORGOTTEN_MS = 3_600_000;

/** Hosts that one process works on at a time; others wait until one of them has had its slice. */
export const HOSTS_AT_ONCE = 8;
/** After this time a worker begins no further page of its host, so that other hosts have their turn; those under way are finished. */
export const SLICE_MS = 2_000;
/**
 * Pages of one host that one statement claims, that are fetched and parsed at a time, and whose outcomes one statement notes. With those
 * that are being stored meanwhile there are twice as many, each of which may be as large as a page may be.
 */
export const PAGES_AT_ONCE = 6;
/** Of them, those of one crawl that are stored at a time: the text of one is split while the other is written. */
export const STORED_AT_ONCE = 2;
/** Coordinators of crawls that one process runs at a time; they wait for the database alone. */
export const STEPS_AT_ONCE = 4;

/** Times that one page is tried in a crawl; then it has failed. */
export const MAX_TRIES = 4;
/** Where its answer breaks off: a site of one such page would be waited for most of a minute. */
export const MAX_BROKEN_TRIES = 2;
/** A page that has to wait for longer counts as failed: a crawl must come to its end. */
export const MAX_PAUSE_MS = 15 * 60_000;
/** Until a sitemap on another host is tried again that another worker has the lease of, and how often. */
export const HOST_BUSY_MS = 1_000;
export const MAX_BUSY_TRIES = 60;

/** Pages of one site that are compared before any of them is indexed: what stands on most of them is boilerplate. */
export const SAMPLE_PAGES = 10;
/** Where so many were visited and fewer could be compared, these are enough: the others are unchanged, or have no text. */
export const SAMPLE_VISITS = 40;
/** A page with more characters than this is indexed without being compared, so that the sample stays small. */
export const MAX_HELD_CHARACTERS = 1024 * 1024;

/** What is kept of a page's links for a crawl that finds it unchanged; with more the page is fetched whole each time. */
export const MAX_KEPT_LINK_CHARACTERS = 256 * 1024;
/** Rows or documents removed at a time. */
export const REMOVE_BATCH = 100;
/** Characters of a page's reason that are kept. */
export const MAX_REASON_CHARACTERS = 500;
/** Milliseconds after which long computations leave the event loop to others. */
export const COMPUTE_SLICE_MS = 10;

/** The name by which robots.txt files and `X-Robots-Tag` headers address the crawler: that of its user agent. */
export const PRODUCT_TOKEN = 'agent-service';

/** One page with its redirects, without the waiting for a connection. */
export const PAGE_TIMEOUT_MS = 30_000;
export const PAGE_HEADERS_TIMEOUT_MS = 15_000;
export const MAX_PAGE_REDIRECTS = 10;
/** What a server may ask for in `Retry-After`; more counts as this. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
export const RETRY_DELAY_MS = { first: 2_000, last: 300_000 } as const;

/** What RFC 9309 wants to be read at least; the rest is ignored. */
export const MAX_ROBOTS_BYTES = 500 * 1024;
/** Bytes come in pieces of up to this size; the last one may end beyond what is read. */
export const ROBOTS_READ_AHEAD_BYTES = 256 * 1024;
export const ROBOTS_TIMEOUT_MS = 20_000;
export const MAX_ROBOTS_REDIRECTS = 5;
export const ROBOTS_CACHE_MS = 300_000;
/** A site that did not tell its rules is asked again sooner. */
export const CLOSED_CACHE_MS = 30_000;
export const ROBOTS_CACHED_ORIGINS = 1_000;
/** Contract, section 5; a longer one counts as this. */
export const MAX_CRAWL_DELAY_MS = 30_000;
/** Further ones are ignored. */
export const MAX_ROBOTS_SITEMAPS = 50;
/** Rules with wildcards that are compared one by one; each further one counts as its part before the first wildcard. */
export const MAX_WILDCARD_RULES = 5_000;

/** One file, after decompression; the rest is ignored. */
export const MAX_SITEMAP_BYTES = 10 * 1024 * 1024;
/** Files of one site; further ones are ignored. */
export const MAX_SITEMAP_FILES = 50;
/** Characters of a file's address, as the protocol has it: what is left to be read is kept with the crawl. */
export const MAX_SITEMAP_ADDRESS = 2_048;
/** Indexes in indexes. */
export const MAX_SITEMAP_DEPTH = 3;
export const MAX_SITEMAP_REDIRECTS = 5;
export const SITEMAP_TIMEOUT_MS = 30_000;
/** All files of a site together; those that are left then are not read. */
export const SITEMAPS_TIMEOUT_MS = 120_000;
export const MAX_LOCATION_LENGTH = 8_192;
export const MAX_XML_DEPTH = 64;
export const MAX_XML_ATTRIBUTES = 100;
export const MAX_XML_ERRORS = 100;
/** Parsed in one go, so that the rest of the process has its turn in between. */
export const SITEMAP_SLICE_CHARACTERS = 16_384;
