/** The size of one event stream. `MAX_MESSAGE_BYTES` limits each of its messages. */
export const MAX_STREAM_BYTES = 67_108_864;
/** A stream of notifications is open as long as its connection. The pool replaces connections before this age. */
export const STREAM_MS = 3_600_000;
/** The timeout of messages that wait for no tool: notifications, replies, the end of a session. */
export const NOTICE_MS = 10_000;
/** How long a stream may stay open after its answer. */
export const STREAM_END_MS = 1_000;
/** The timeout for ending a session. */
export const CLOSE_MS = 2_000;
/** The timeout of the SDK's own timers, which do not use the clock. It is so long that the clock's timers fire first. */
export const SDK_TIMEOUT_MS = 7_200_000;

/** The delay before an ended stream is resumed, whatever the server requests. */
export const MIN_RESUME_MS = 500;
export const MAX_RESUME_MS = 15_000;
/** Attempts to resume streams of one connection. */
export const MAX_RESUMES = 100;
/** Requests of a server, such as pings, that get a reply at the same time and within a second. Further ones get none. */
export const MAX_REPLIES = 8;
export const MAX_REPLIES_PER_SECOND = 20;
/** Messages of a server within a second, and their bytes. Reading more would block the event loop. */
export const MAX_MESSAGES_PER_SECOND = 1_000;
export const MAX_BYTES_PER_SECOND = 33_554_432;
/** The size of the steps in which a stream is processed. An event has at least two lines. */
export const MAX_STEP_LINES = 100;
export const MAX_STEP_BYTES = 16_384;
/** Messages in one answer. */
export const MAX_BATCH = 50;
/** Notifications of changed tools within this time count as one. */
export const CHANGES_WITHIN_MS = 500;

/** Pages of a tool list. */
export const MAX_PAGES = 50;
export const MAX_TOOLS = 500;
/** All tools of a server, as JSON. */
export const MAX_LIST_BYTES = 1_048_576;
export const MAX_TOOL_NAME = 128;
export const MAX_DESCRIPTION = 10_000;

/** Blocks of one result. A note replaces the rest. */
export const MAX_CONTENT_BLOCKS = 500;

/** Characters of a result's text and structured content up to which they are compared. */
export const MAX_COMPARED = 100_000;

/** How long checking a list may block the event loop. */
export const CHECK_SLICE_MS = 10;

/** Characters of a server's text in an error. */
export const MAX_ERROR_TEXT = 500;

/** An unused connection is closed after this time. */
export const IDLE_MS = 300_000;
/** New calls do not use an older connection. Less than `STREAM_MS`. */
export const MAX_AGE_MS = 2_700_000;
/** How long calls get the failure of the last attempt to connect. */
export const FAILURE_MS = 5_000;
/** Open connections of a process, and of one organization in it. */
export const MAX_CONNECTIONS = 500;
export const MAX_CONNECTIONS_PER_ORGANIZATION = 50;
