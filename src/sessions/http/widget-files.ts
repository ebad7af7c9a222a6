import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { builtFile, builtFileNames } from '../../platform/files/index.js';

/** In the order of preference. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const FOLDER = 'widget';
const ENTRY = 'agent-chat.js';
const BANNER = /^\/\* agent-chat (\d+\.\d+\.\d+[\w.-]*) \*\//;
/** `widget-<name>-<hash>.js`: what the entry imports, statically or when it is needed. */
const CHUNK = /^widget-([\w-]+-[0-9A-Z]{8})\.js$/;

/** A script of the widget, compressed once per process and encoding. */
export class WidgetFile {
  /** Weak, because it is the same for all encodings of the file. */
  readonly etag: string;
  private readonly script: Buffer;
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();

  constructor(text: string) {
    this.script = Buffer.from(text);
    this.etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`;
  }

  in(encoding: Encoding): Promise<Buffer> {
    let script = this.encoded.get(encoding);
    if (!script) {
      script = compress(this.script, encoding);
      this.encoded.set(encoding, script);
    }
    return script;
  }
}

export interface WidgetFiles {
  /** The version of the widget's package. */
  readonly version: string;
  readonly entry: WidgetFile;
  /** By the middle of their paths `/widget-<middle>.js`: the entry by the version, each chunk by its name and hash. */
  readonly named: ReadonlyMap<string, WidgetFile>;
}

let read: WidgetFiles | undefined;

/**
 * Reads all files at the first call, so that they are of one build, and a name in a request never becomes a path on the disk.
 * @throws Error when they have not been built
 */
export function widgetFiles(): WidgetFiles {
  return (read ??= readFiles());
}

function readFiles(): WidgetFiles {
  const text = builtFile(`${FOLDER}/${ENTRY}`);
  const version = BANNER.exec(text)?.[1];
  if (version === undefined) throw new Error(`${ENTRY} does not start with its version`);
  const entry = new WidgetFile(text);
  const chunks = builtFileNames(FOLDER).flatMap((file) => {
    const name = CHUNK.exec(file)?.[1];
    return name === undefined ? [] : [[name, new WidgetFile(builtFile(`${FOLDER}/${file}`))] as const];
  });
  return { version, entry, named: new Map([[version, entry], ...chunks]) };
}

/** Outside of the event loop. */
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
