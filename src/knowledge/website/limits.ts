/** Sites of one agent. A request with more is refused. */
export const MAX_ROOTS = 50;
/** Excluded addresses of one site, and of all sites of an agent. More are refused: the request checks each. */
export const MAX_EXCLUSIONS = 1_000;
export const MAX_EXCLUSIONS_OF_AGENT = 5_000;
/** Selected pages of one site. The command refuses more. */
export const MAX_SELECTED = 1_000;
/** Characters of a page's address; longer links are not followed. */
export const MAX_URL_CHARACTERS = 2_048;

/** An agent's sites are crawled again every day, at a time that follows from its id. */
export const RECRAWL_MS = 24 * 3_600_000;
/** Shortest time between the end of a crawl and the next one. */
export const MIN_RECRAWL_PAUSE_MS = 3_600_000;
/** Interval of the job that starts due crawls and resumes stalled ones. */
export const CHECK_EVERY_MINUTES = 1;
/** A crawl without progress for this long has lost its jobs. */
export const STALLED_MS = 120_000;
/** Crawls that one run of that job starts or resumes. */
export const CHECK_BATCH = 200;

/** Concurrent requests to one host, by the one process that has its lease. Contract, section 5. */
export const CONNECTIONS_PER_HOST = 4;
/** When a worker dies, another can take its host after this time. */
export const HOST_LEASE_MS = 60_000;
export const HOST_LEASE_RENEWAL_MS = 15_000;
/** A worker that cannot renew its lease for this long stops, before another can take the host. */
export const HOST_LEASE_LOST_MS = 45_000;
export const MAX_HOST_LENGTH = 300;
/** Rows of hosts without a request for this long are deleted. */
export const HOST_IDLE_MS = 3_600_000;

/** Hosts that one process works on at a time. The others wait for the end of a slice. */
export const HOSTS_AT_ONCE = 8;
/** After this time a worker begins no further page of its host, so that other hosts have their turn. It finishes the pages in progress. */
export const SLICE_MS = 2_000;
/**
 * Pages of one host that are claimed, fetched and recorded together. As many of the batch before may still be being stored, so
 * memory must hold twice as many pages of the largest size.
 */
export const PAGES_AT_ONCE = 6;
/** Pages of one crawl that are stored at a time: the text of one is split while the other is written. */
export const STORED_AT_ONCE = 2;
/** Steps of crawls that one process runs at a time. They wait only for the database. */
export const STEPS_AT_ONCE = 4;

/** Visits of one page in a crawl before it counts as failed. */
export const MAX_TRIES = 4;
/** The same for a page whose response is cut off or invalid, which a retry seldom changes. */
export const MAX_BROKEN_TRIES = 2;
/** A page that must wait for longer counts as failed, so that the crawl ends. */
export const MAX_PAUSE_MS = 15 * 60_000;
/** Pause between attempts to read a sitemap on a host that another worker has leased, and their number. */
export const HOST_BUSY_MS = 1_000;
export const MAX_BUSY_TRIES = 60;

/** Pages of one origin that are compared before any of them is indexed: blocks on most of them are boilerplate. */
export const SAMPLE_PAGES = 10;
/** After this many visits the pages held so far are compared: the others are unchanged, or have no text. */
export const SAMPLE_VISITS = 40;
/** A page with more characters is indexed without being compared, so that held pages stay small. */
export const MAX_HELD_CHARACTERS = 1024 * 1024;

/** Stored links of a page, for a crawl that finds it unchanged. A page with more is always fetched whole. */
export const MAX_KEPT_LINK_CHARACTERS = 256 * 1024;
/** Rows or documents that one statement removes. */
export const REMOVE_BATCH = 100;
/** Characters of a page's reason that are stored. */
export const MAX_REASON_CHARACTERS = 500;
/** Milliseconds after which a long computation yields to the event loop. */
export const COMPUTE_SLICE_MS = 10;

/** The crawler's name in robots.txt files and `X-Robots-Tag` headers, as in its user agent. */
export const PRODUCT_TOKEN = 'agent-service';

/** One page with its redirects. Waiting for a connection does not count. */
export const PAGE_TIMEOUT_MS = 30_000;
export const PAGE_HEADERS_TIMEOUT_MS = 15_000;
export const MAX_PAGE_REDIRECTS = 10;
/** Longest `Retry-After`. A longer one counts as this. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
export const RETRY_DELAY_MS = { first: 2_000, last: 300_000 } as const;

/** The minimum of RFC 9309. The rest of a file is ignored. */
export const MAX_ROBOTS_BYTES = 500 * 1024;
/** Largest piece in which bytes arrive: the last one may go beyond the limit by this much. */
export const ROBOTS_READ_AHEAD_BYTES = 256 * 1024;
export const ROBOTS_TIMEOUT_MS = 20_000;
export const MAX_ROBOTS_REDIRECTS = 5;
export const ROBOTS_CACHE_MS = 300_000;
/** The same where the server did not send its rules. */
export const CLOSED_CACHE_MS = 30_000;
export const ROBOTS_CACHED_ORIGINS = 1_000;
/** Contract, section 5; a longer one counts as this. */
export const MAX_CRAWL_DELAY_MS = 30_000;
/** Further ones are ignored. */
export const MAX_ROBOTS_SITEMAPS = 50;
/** Rules with wildcards that are compared one by one. Of each further one the part before the first wildcard counts. */
export const MAX_WILDCARD_RULES = 5_000;

/** Of one file, after decompression. The rest is ignored. */
export const MAX_SITEMAP_BYTES = 10 * 1024 * 1024;
/** Files of one site; further ones are ignored. */
export const MAX_SITEMAP_FILES = 50;
/** Characters of a file's address, as in the protocol. Addresses of unread files are stored with the crawl. */
export const MAX_SITEMAP_ADDRESS = 2_048;
/** Nesting of indexes. */
export const MAX_SITEMAP_DEPTH = 3;
export const MAX_SITEMAP_REDIRECTS = 5;
export const SITEMAP_TIMEOUT_MS = 30_000;
/** All files of a site together. The files that are left then are not read. */
export const SITEMAPS_TIMEOUT_MS = 120_000;
export const MAX_LOCATION_LENGTH = 8_192;
export const MAX_XML_DEPTH = 64;
export const MAX_XML_ATTRIBUTES = 100;
/** Characters that are parsed before the computation may yield to the event loop. */
export const SITEMAP_SLICE_CHARACTERS = 16_384;
