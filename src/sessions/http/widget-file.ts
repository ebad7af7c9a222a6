import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { builtFile } from '../../platform/files/index.js';

/** In the order of preference. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The browser widget as the build has made it. */
export interface WidgetFile {
  readonly script: Buffer;
  /** Of the widget's package; it is the name of the file that never changes. */
  readonly version: string;
  /** Weak: the same whatever the file is compressed with on its way. */
  readonly etag: string;
}

const FILE = 'widget/agent-chat.js';
const BANNER = /^\/\* agent-chat (\d+\.\d+\.\d+[\w.-]*) \*\//;

let read: WidgetFile | undefined;
const encoded = new Map<Encoding, Promise<Buffer>>();

/** @throws Error when it has not been built */
export function widgetFile(): WidgetFile {
  if (!read) {
    const script = builtFile(FILE);
    const version = BANNER.exec(script)?.[1];
    if (version === undefined) throw new Error(`${FILE} does not begin with its version`);
    const etag = `W/"${createHash('sha256').update(script).digest('base64url')}"`;
    read = { script: Buffer.from(script), version, etag };
  }
  return read;
}

/** Compressed once in the life of the process, beside the event loop. */
export function widgetScript(encoding: Encoding): Promise<Buffer> {
  let script = encoded.get(encoding);
  if (!script) {
    script = compressed(widgetFile().script, encoding);
    encoded.set(encoding, script);
  }
  return script;
}

function compressed(script: Buffer, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case 'br':
      return promisify(brotliCompress)(script);
    case 'gzip':
      return promisify(gzip)(script, { level: 9 });
    case 'identity':
      return Promise.resolve(script);
    default:
      return encoding satisfies never;
  }
}
