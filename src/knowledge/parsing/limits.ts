/** Parser processes of one service, whatever its cores: they are shared out by who may use how many. One organization has at most all but one. */
export const MAX_PARSERS = 3;
/** Of these for documents that take long, one an organization; others wait. The rest is left to quick documents. */
export const MAX_SLOW_PARSERS = 2;
/** A larger document is taken for slow from the beginning. */
export const MAX_QUICK_BYTES = 1024 * 1024;
/** A document that takes more of processor time is slow: it goes on as such where there is room, and else begins again when it has its turn. */
export const QUICK_PROCESSOR_MS = 1_000;
/** An unused parser process ends after this. */
export const PARSER_IDLE_MS = 60_000;
/** Old and young objects of a parser's heap, in MiB. What is outside of it counts in the process's resident memory. */
export const PARSER_HEAP_MIB = 320;
/** Of 19; parsers leave the cores to whoever waits for an answer. */
export const PARSER_NICENESS = 10;
/** A fresh parser that does not even answer is stuck. */
export const PARSER_START_MS = 30_000;

/** Processor time of all attempts at a document, for each whole MiB that it has, and at most. It is unreadable then, as `too_slow`. */
export const PROCESSOR_MS = 10_000;
export const PROCESSOR_MS_PER_MIB = 1_000;
export const MAX_PROCESSOR_MS = 60_000;
/** An attempt ends as well after so many times that time has passed: its parser waits for something, or for its turn at a core. */
export const ELAPSED_PER_PROCESSOR_TIME = 4;
/** Between two looks at the time that a document has taken. */
export const TIME_CHECK_MS = 100;
/** For a document's next bytes to come from where it is kept. */
export const CONTENT_STALL_MS = 30_000;

/** One part of a document on its way to the parser. */
export const MAX_PART_BYTES = 256 * 1024;
/** What a parser holds of one document. Above the 50 MB of an upload. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/** One part of an answer: reading it must not hold up what else this process does. */
export const ANSWER_PART_CHARACTERS = 128 * 1024;
/** A frame of an answer; a block that is larger alone is split. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** A whole answer, on the wire. */
export const MAX_ANSWER_BYTES = 96 * 1024 * 1024;

/** The text of one document, in UTF-16 code units. */
export const MAX_TEXT_CHARACTERS = 20_000_000;
export const MAX_TITLE_CHARACTERS = 500;
/** Of one table cell. */
export const MAX_CELL_CHARACTERS = 32_768;
/** Of all tables of a document. */
export const MAX_CELLS = 2_000_000;
/** Of one table; wider ones are cut. */
export const MAX_COLUMNS = 500;

/** Members of an Office file's archive. */
export const MAX_ARCHIVE_MEMBERS = 20_000;
/** Of all members that are read of one archive, inflated. */
export const MAX_INFLATED_BYTES = 256 * 1024 * 1024;
/** Tags of deeper elements of HTML do not even reach the parser, and XML that is nested deeper is broken: to read it would take time with the square of its depth. */
export const MAX_OPEN_ELEMENTS = 1_000;
/** Tags and texts of one HTML document; all of them are held at once. */
export const MAX_HTML_PIECES = 1_000_000;
export const MAX_LINKS = 5_000;
export const MAX_LINK_CHARACTERS = 2_048;
export const MAX_PDF_PAGES = 5_000;
/** Of the path of a value in a JSON document. */
export const MAX_JSON_DEPTH = 32;
