import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { builtFile } from '../../platform/files/index.js';

/** In the order of preference. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The browser widget that the build made. */
export interface WidgetFile {
  readonly script: Buffer;
  /** The version of the widget's package, which is part of the immutable file's name. */
  readonly version: string;
  /** Weak, because it is the same for all encodings of the file. */
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
    if (version === undefined) throw new Error(`${FILE} does not start with its version`);
    const etag = `W/"${createHash('sha256').update(script).digest('base64url')}"`;
    read = { script: Buffer.from(script), version, etag };
  }
  return read;
}

/** Compresses once per process and encoding, outside of the event loop. */
export function widgetScript(encoding: Encoding): Promise<Buffer> {
  let script = encoded.get(encoding);
  if (!script) {
    script = compress(widgetFile().script, encoding);
    encoded.set(encoding, script);
  }
  return script;
}

function compress(script: Buffer, encoding: Encoding): Promise<Buffer> {
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
