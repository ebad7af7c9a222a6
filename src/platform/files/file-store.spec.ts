import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Canary } from '../../../test/support/canary.js';
import { until } from '../../../test/support/job-site.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { S3_CREDENTIALS, S3Server } from '../../../test/support/s3-server.js';
import { Clock } from '../clock/index.js';
import { type FilesBucket, readSettings, Settings } from '../config/index.js';
import { TelemetryModule } from '../telemetry/index.js';
import { type FileStore, FileStoreModule, FileStoreUnavailable, FileTooLarge, TempUploads } from './index.js';
import { DiskFileStore } from './disk-file-store.js';
import { S3FileStore } from './s3-file-store.js';

const MIB = 1024 * 1024;
const OPTIONS = { contentType: 'text/plain', maxBytes: 64 * MIB };

@Module({})
class Kernel {}

let folder: string;
let server: S3Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
  server = await S3Server.start();
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

function bucket(changes: Partial<FilesBucket> = {}): FilesBucket {
  return {
    endpoint: server.endpoint,
    region: 'us-east-1',
    bucket: server.bucket,
    credentials: S3_CREDENTIALS,
    ...changes,
  };
}

const stores: [string, () => FileStore][] = [
  ['on the disk', () => new DiskFileStore(join(folder, 'files'))],
  ['in a bucket', () => new S3FileStore(bucket())],
];

let keys = 0;
function newKey(): string {
  keys += 1;
  return `uploads/0000-${keys}/file_${keys}.bin`;
}

async function* parts(...contents: readonly (string | Buffer)[]): AsyncGenerator<Buffer, void, undefined> {
  for (const content of contents) yield Buffer.from(content);
}

async function read(store: FileStore, key: string): Promise<string | null> {
  const file = await store.get(key);
  if (!file) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of file.content as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe.each(stores)('a file %s', (_where, open) => {
  it('is read unchanged, part by part, and counted', async () => {
    const [store, key] = [open(), newKey()];
    expect(await store.put(key, parts('one ', '', 'two'), OPTIONS)).toEqual({ size: 7 });
    expect(await read(store, key)).toBe('one two');
    expect(await store.stat(key)).toEqual({ size: 7 });
    const file = await store.get(key);
    file?.content.destroy();
    expect(file?.size).toBe(7);
  });

  it('may be empty', async () => {
    const [store, key] = [open(), newKey()];
    expect(await store.put(key, parts(), OPTIONS)).toEqual({ size: 0 });
    expect(await read(store, key)).toBe('');
  });

  it('is replaced by a second put, and can be removed repeatedly', async () => {
    const [store, key] = [open(), newKey()];
    await store.put(key, parts('first'), OPTIONS);
    await store.put(key, parts('second'), OPTIONS);
    expect(await read(store, key)).toBe('second');
    await store.remove(key);
    await store.remove(key);
    expect(await store.get(key)).toBeNull();
    expect(await store.stat(key)).toBeNull();
  });

  it('of 20 MiB is stored in parts, with few of them in memory', async () => {
    const [store, key] = [open(), newKey()];
    const block = randomBytes(MIB);
    const expected = createHash('sha256');
    let given = 0;
    const source = async function* (): AsyncGenerator<Buffer, void, undefined> {
      for (; given < 20; given += 1) {
        expected.update(block);
        yield block;
      }
    };
    expect(await store.put(key, source(), OPTIONS)).toEqual({ size: 20 * MIB });
    const actual = createHash('sha256');
    const file = await store.get(key);
    let largest = 0;
    for await (const chunk of (file?.content ?? []) as AsyncIterable<Buffer>) {
      largest = Math.max(largest, chunk.length);
      actual.update(chunk);
    }
    expect(actual.digest('hex')).toBe(expected.digest('hex'));
    expect(largest).toBeLessThanOrEqual(MIB);
  });

  it('over its limit is refused, and an earlier file is unchanged', async () => {
    const [store, key] = [open(), newKey()];
    await store.put(key, parts('12345'), { ...OPTIONS, maxBytes: 5 });
    await expect(store.put(key, parts('123', '456'), { ...OPTIONS, maxBytes: 5 })).rejects.toThrow(FileTooLarge);
    expect(await read(store, key)).toBe('12345');
    const large = Buffer.alloc(6 * MIB);
    await expect(store.put(key, parts(large, large), { ...OPTIONS, maxBytes: 8 * MIB })).rejects.toThrow(FileTooLarge);
    expect(await read(store, key)).toBe('12345');
  });

  it("whose source fails is not stored, and the error is the source's", async () => {
    const [store, key] = [open(), newKey()];
    const reason = new Error('the client left');
    const broken = async function* (): AsyncGenerator<Buffer, void, undefined> {
      yield Buffer.alloc(6 * MIB);
      throw reason;
    };
    await expect(store.put(key, broken(), OPTIONS)).rejects.toBe(reason);
    expect(await store.get(key)).toBeNull();
  });

  it.each(['', '..', 'a/../b', '/etc/passwd', 'a//b', '.hidden', 'a\\b', 'A', 'a/', 'a\0b'])(
    'has a key that leads nowhere else (%j)',
    async (key) => {
      const store = open();
      await expect(store.put(key, parts('x'), OPTIONS)).rejects.toThrow('not valid');
      await expect(store.get(key)).rejects.toThrow('not valid');
      await expect(store.stat(key)).rejects.toThrow('not valid');
      await expect(store.remove(key)).rejects.toThrow('not valid');
    },
  );
});

describe('a store that does not work', () => {
  const broken: [string, () => FileStore][] = [
    ['a file where the folder should be', () => new DiskFileStore(join(folder, 'no-folder'))],
    ['a bucket that is not there', () => new S3FileStore(bucket({ bucket: 'no-such-bucket' }))],
    [
      'a key that it does not know',
      () => new S3FileStore(bucket({ credentials: { ...S3_CREDENTIALS, accessKeyId: 'unknown' } })),
    ],
    ['a closed port', () => new S3FileStore(bucket({ endpoint: 'http://127.0.0.1:1' }))],
  ];

  it.each(broken)('reports that it is unavailable, without the reason (%s)', async (_what, open) => {
    await writeFile(join(folder, 'no-folder'), '');
    const failed = await open()
      .put('a', parts('x'), OPTIONS)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(FileStoreUnavailable);
    expect(failed).toMatchObject({ kind: 'unavailable', message: 'Files cannot be stored or read at the moment.' });
  });
});

describe('a request to the bucket', () => {
  it('is signed with the secret key (Signature Version 4), which it does not contain', async () => {
    const recorder = await Canary.start((request, response) => {
      request.resume().on('end', () => response.writeHead(200, { etag: '"x"' }).end());
    });
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 'sk-canary' };
    const region = 'eu-test-1';
    const store = new S3FileStore(bucket({ endpoint: recorder.url, region, credentials }));
    try {
      await store.put('a/b', parts('hello'), OPTIONS);
      const [request] = recorder.requests;
      expect(request?.headers.authorization).toBe(signatureV4(request, { ...credentials, region }));
      expect(JSON.stringify(request?.rawHeaders)).not.toContain('sk-canary');
    } finally {
      store.onApplicationShutdown();
      await recorder.close();
    }
  });
});

describe('the store on the disk', () => {
  it('gives access only to the owner, and removes drafts', async () => {
    const own = join(folder, 'own');
    const store = new DiskFileStore(own);
    await store.put('a/b', parts('x'), OPTIONS);
    await expect(store.put('a/c', parts('xx'), { ...OPTIONS, maxBytes: 1 })).rejects.toThrow(FileTooLarge);
    expect((await stat(join(own, 'a/b'))).mode & 0o777).toBe(0o600);
    expect((await stat(own)).mode & 0o777).toBe(0o700);
    expect(await readdir(join(own, '.drafts'))).toEqual([]);
    expect(await readdir(join(own, 'a'))).toEqual(['b']);
  });

  it('removes the drafts of killed processes after an hour, and not before', async () => {
    const spool = join(folder, 'spool');
    await mkdir(spool);
    const clock = new ManualClock('2026-11-20T12:00:00.000Z');
    for (const [name, minutes] of [
      ['old', 61],
      ['new', 59],
    ] as const) {
      await writeFile(join(spool, name), 'x');
      const time = new Date(clock.now().getTime() - minutes * 60_000);
      await utimes(join(spool, name), time, time);
    }
    await new TempUploads(spool).sweep(clock);
    expect(await readdir(spool)).toEqual(['new']);
    await new TempUploads(join(folder, 'never-used')).sweep(clock);
  });

  it('removes the files of killed processes from spool and store while the service runs', async () => {
    const dataDir = join(folder, 'swept');
    const clock = new ManualClock(new Date());
    const settings = readSettings({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' }, { role: 'all', demo: false });
    const provided = [
      { provide: Settings, useValue: settings },
      { provide: Clock, useValue: clock },
    ];
    const module = await Test.createTestingModule({
      imports: [
        { module: Kernel, global: true, providers: provided, exports: provided },
        TelemetryModule.forRoot(settings),
        FileStoreModule.forRoot(settings),
      ],
    }).compile();
    await module.init();
    const left = [join(dataDir, 'spool'), join(dataDir, 'files/.drafts')];
    for (const path of left) {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, 'left'), 'x');
    }
    const names = () => Promise.all(left.map((path) => readdir(path)));
    await clock.advance(3_600_000);
    expect(await names()).toEqual([['left'], ['left']]);
    await clock.advance(3_600_000);
    await until(async () => (await names()).flat().length === 0);
    await module.close();
    expect(clock.pending()).toBe(0);
  });

  it('reports an unwritable folder before anything is stored', async () => {
    const store = new DiskFileStore(join(folder, 'checked'));
    await store.check();
    await writeFile(join(folder, 'no-folder'), 'x');
    await expect(new DiskFileStore(join(folder, 'no-folder')).check()).rejects.toThrow(FileStoreUnavailable);
  });
});

describe('a spooled upload', () => {
  it('is on the disk until it is discarded, and can be read repeatedly', async () => {
    const spool = join(folder, 'waiting');
    const file = await new TempUploads(spool).take(parts('he', 'llo'), 5);
    expect({ size: file.size, head: file.head.toString() }).toEqual({ size: 5, head: 'hello' });
    for (const _time of [1, 2]) {
      const chunks: Buffer[] = [];
      for await (const chunk of file.open()) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString()).toBe('hello');
    }
    await file.discard();
    await file.discard();
    expect(await readdir(spool)).toEqual([]);
  });
});

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** The header that AWS's documentation on signing requires for this request. */
function signatureV4(
  request: IncomingMessage | undefined,
  { accessKeyId, secretAccessKey, region }: Credentials,
): string {
  const { method = '', url = '', headers = {} } = request ?? {};
  const [path = '', query = ''] = url.split('?');
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
  const canonicalHeaders = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonicalQuery = query.split('&').sort().join('&');
  const hash = String(headers['x-amz-content-sha256']);
  const canonical = [method, path, canonicalQuery, canonicalHeaders.join(''), names, hash].join('\n');
  const time = String(headers['x-amz-date']);
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const key = scope.split('/').reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, digest].join('\n')).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
