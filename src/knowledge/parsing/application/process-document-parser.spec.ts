import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { documentOf } from '../../../../test/support/documents.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { docxOf, wordParagraph } from '../../../../test/support/office-files.js';
import { pdfOf } from '../../../../test/support/pdf-writer.js';
import { until } from '../../../../test/support/until.js';
import { readSettings } from '../../../platform/config/index.js';
import { type ChildProcess, ChildProcesses } from '../../../platform/processes/index.js';
import { FILE_LIMIT_MS, PAGE_LIMIT_MS, PARSER_IDLE_MS } from '../limits.js';
import { frameOf } from './pool/frames.js';
import { ParserPool } from './pool/parser-pool.js';
import { startParser } from './pool/start-parser.js';
import { parseWith } from './process-document-parser.js';

const { PATH = '' } = process.env;
const processes = new ChildProcesses(readSettings({ PATH }, { role: 'all', demo: false }));
const never = new AbortController().signal;
const URL_OF_PAGE = 'https://example.org/';
const MIB = 1024 * 1024;
/** A PDF whose page takes long to draw. */
const SLOW_PDF = pdfOf([[{ text: 'x', y: 1 }]], { stream: 'q\n'.repeat(2_000_000) });

let clock: ManualClock;
let started: ChildProcess[];
let pools: ParserPool[];
beforeEach(() => {
  clock = new ManualClock();
  started = [];
  pools = [];
});
afterEach(() => Promise.all(pools.map((pool) => pool.close())));

function poolOf(start: () => Promise<ChildProcess>, max = 1): ParserPool {
  const pool = new ParserPool(
    async () => {
      const child = await start();
      started.push(child);
      return child;
    },
    max,
    clock,
  );
  pools.push(pool);
  return pool;
}

const real = (max = 1): ParserPool => poolOf(() => startParser(processes), max);
/** A parser that says it is ready and then does this. */
const scripted = (script: string, max = 1): ParserPool =>
  poolOf(() => {
    const ready = frameOf({ kind: 'ready' }).toString('base64');
    return processes.start({ command: process.execPath, args: ['-e', `process.stdout.write(Buffer.from('${ready}', 'base64')); ${script}`], env: {}, folder: tmpdir() });
  }, max);
const HANGS = `process.stdin.resume(); process.stdin.once('data', () => { for (;;); })`;
const CRASHES = `process.stdin.once('data', () => process.exit(3))`;

describe('documents are read in another process', () => {
  it('that reads one after the other, and all parts of them', async () => {
    const pool = real();
    const paragraphs = Array.from({ length: 40 }, (_, index) => `Paragraph ${index} ${'word '.repeat(20_000)}`);
    const parsed = await parseWith(pool, documentOf(paragraphs.join('\n\n'), { name: 'long.txt' }), never);
    expect(parsed.blocks.map((block) => (block.kind === 'table' ? '' : block.text)).join(' ').split(/\s+/).filter((word) => word === 'word')).toHaveLength(40 * 20_000);
    expect((await parseWith(pool, documentOf('<title>T</title><p>x', { url: URL_OF_PAGE }), never)).title).toBe('T');
    await expect(parseWith(pool, documentOf('', { name: 'a.txt' }), never)).rejects.toMatchObject({ reason: 'empty' });
    expect((await parseWith(pool, documentOf(docxOf(wordParagraph('y'))), never)).format).toBe('docx');
    expect(started).toHaveLength(1);
  });

  it('several at once, each in a process of its own', async () => {
    const pool = real(2);
    const texts = Array.from({ length: 12 }, (_, index) => `text ${index}`);
    const parsed = await Promise.all(texts.map((text) => parseWith(pool, documentOf(text, { url: URL_OF_PAGE }), never)));
    expect(parsed.map(({ blocks }) => blocks)).toEqual(texts.map((text) => [{ kind: 'text', text }]));
    expect(started).toHaveLength(2);
  });

  it('of 50 MB are sent to the end, and refused by what they hold', async () => {
    let sent = 0;
    const content = async function* (): AsyncGenerator<Buffer> {
      for (; sent < 50 * MIB; sent += 64 * 1024) yield Buffer.alloc(64 * 1024, 'a b\n');
    };
    await expect(parseWith(real(), { ...documentOf('', { name: 'a.txt' }), content, size: 50 * MIB }, never)).rejects.toMatchObject({ reason: 'too_large' });
    expect(sent).toBe(50 * MIB);
  });

  it('no faster than it takes them: what does not fit into its pipe is not fetched', async () => {
    let sent = 0;
    const content = async function* (): AsyncGenerator<Buffer> {
      for (; sent < 50 * MIB; sent += 64 * 1024) yield Buffer.alloc(64 * 1024);
    };
    const stop = new AbortController();
    const pool = scripted('setInterval(() => undefined, 1_000)');
    const stopped = expect(parseWith(pool, { ...documentOf('x'), content, size: 50 * MIB }, stop.signal)).rejects.toThrow('enough');
    await until(() => sent > 0, 'it is being sent');
    for (let turn = 0; turn < 1_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('enough'));
    await stopped;
    expect(sent).toBeLessThan(2 * MIB);
  });
});

describe('a parser that', () => {
  it('hangs is killed when the time of a page or a file is over', async () => {
    for (const [said, limit] of [[{ url: URL_OF_PAGE }, PAGE_LIMIT_MS], [{ name: 'a.txt' }, FILE_LIMIT_MS + 1_000]] as const) {
      const pool = scripted(HANGS);
      const failed = expect(parseWith(pool, documentOf('x', said), never)).rejects.toMatchObject({ reason: 'too_slow' });
      await until(() => clock.nextIn() === limit, 'the document is sent');
      await clock.advance(limit);
      await failed;
      expect((await started.at(-1)!.ended).signal).toBe('SIGKILL');
    }
  });

  it('is held up by a PDF ends with it, and the next document is read', async () => {
    const pool = real();
    const limit = FILE_LIMIT_MS + Math.ceil(SLOW_PDF.length / MIB) * 1_000;
    const failed = expect(parseWith(pool, documentOf(SLOW_PDF, { name: 'a.pdf' }), never)).rejects.toMatchObject({ reason: 'too_slow' });
    await until(() => clock.nextIn() === limit, 'the document is sent', { everyMs: 0 });
    await clock.advance(limit);
    await failed;
    expect((await parseWith(pool, documentOf('x', { name: 'a.txt' }), never)).format).toBe('text');
  });

  it('ends is replaced once, and then the document is broken', async () => {
    const pool = scripted(CRASHES);
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'broken' });
    expect(started).toHaveLength(2);
  });

  it('was killed by somebody is replaced, and the document is read', async () => {
    let isFirst = true;
    const pool = poolOf(() => {
      const first = isFirst;
      isFirst = false;
      if (!first) return startParser(processes);
      const ready = frameOf({ kind: 'ready' }).toString('base64');
      return processes.start({ command: process.execPath, args: ['-e', `process.stdout.write(Buffer.from('${ready}', 'base64')); ${CRASHES}`], env: {}, folder: tmpdir() });
    });
    expect((await parseWith(pool, documentOf('x', { name: 'a.txt' }), never)).blocks).toEqual([{ kind: 'text', text: 'x' }]);
  });

  it('takes too much memory means that the document is too large', async () => {
    const pool = scripted(`process.stdin.once('data', () => { const kept = []; for (;;) kept.push(new Array(1000).fill('x').map((x, i) => x + i)); })`);
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'too_large' });
    expect(started).toHaveLength(1);
  });

  it('does not come up is nobody’s fault', async () => {
    const pool = poolOf(() => processes.start({ command: 'false', args: [], env: {}, folder: tmpdir() }));
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toThrow('has not come up');
  });

  it('says what is no message is not believed', async () => {
    const pool = scripted(`process.stdin.once('data', () => process.stdout.write(Buffer.from([255, 255, 255, 255])))`);
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'broken' });
  });
});

describe('the pool', () => {
  it('reads on with the next when one is given up, in mid-document or while waiting', async () => {
    const pool = scripted(HANGS);
    const [reading, waiting] = [new AbortController(), new AbortController()];
    const first = parseWith(pool, documentOf('x'), reading.signal);
    const second = parseWith(pool, documentOf('x'), waiting.signal);
    await until(() => pool.waiting === 1 && clock.pending() > 0, 'one is read');
    waiting.abort(new Error('given up waiting'));
    await expect(second).rejects.toThrow('given up waiting');
    reading.abort(new Error('given up reading'));
    await expect(first).rejects.toThrow('given up reading');
    expect((await started[0]!.ended).signal).toBe('SIGKILL');
    expect([pool.size, pool.waiting]).toEqual([0, 0]);
  });

  it('keeps a parser for pages while files are read', async () => {
    const pool = scripted(HANGS, 2);
    const files = Array.from({ length: 3 }, () => expect(parseWith(pool, documentOf('x', { name: 'a.txt' }), never)).rejects.toThrow('stopping'));
    const page = expect(parseWith(pool, documentOf('x', { url: URL_OF_PAGE }), never)).rejects.toThrow();
    await until(() => started.length === 2, 'the page has a parser');
    expect(pool.waiting).toBe(2);
    await pool.close().catch(() => undefined);
    await Promise.all([...files.slice(1), page]);
    await Promise.allSettled(files);
  });

  it('ends parsers that are not used for a while', async () => {
    const pool = real();
    await parseWith(pool, documentOf('x', { name: 'a.txt' }), never);
    await clock.advance(PARSER_IDLE_MS - 1);
    expect(pool.size).toBe(1);
    await clock.advance(1);
    expect(pool.size).toBe(0);
    expect((await started[0]!.ended).exitCode).toBe(0);
  });

  it('ends all of them when it is closed, and takes nothing more', async () => {
    const pool = real(2);
    await Promise.all([1, 2].map((number) => parseWith(pool, documentOf(`${number}`, { url: URL_OF_PAGE }), never)));
    await pool.close();
    for (const child of started) expect((await child.ended).exitCode).toBe(0);
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toThrow('stopping');
  });

  it('gives up on a document that does not come', async () => {
    const pool = real();
    const content = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    const failed = expect(parseWith(pool, { ...documentOf('x'), content, size: 2 * MIB }, never)).rejects.toThrow('has not come in time');
    await until(() => clock.nextIn() === 30_000 && pool.size === 1, 'it is waited for');
    await clock.advance(30_000);
    await failed;
  });
});
