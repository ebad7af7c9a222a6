import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { documentOf } from '../../../../test/support/documents.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { docxOf, wordParagraph } from '../../../../test/support/office-files.js';
import { nestedFormsPdf } from '../../../../test/support/nested-forms-pdf.js';
import { until } from '../../../../test/support/until.js';
import { type Clock, SystemClock } from '../../../platform/clock/index.js';
import { readSettings } from '../../../platform/config/index.js';
import { type ChildProcess, ChildProcesses } from '../../../platform/processes/index.js';
import {
  CONTENT_STALL_MS,
  ELAPSED_PER_PROCESSOR_TIME,
  PARSER_IDLE_MS,
  PROCESSOR_MS,
  QUICK_PROCESSOR_MS,
  TIME_CHECK_MS,
} from '../limits.js';
import { frameOf } from './pool/frames.js';
import { ParserPool } from './pool/parser-pool.js';
import { startParser } from './pool/start-parser.js';
import { parseWith } from './document-parser.js';

const { PATH = '' } = process.env;
const processes = new ChildProcesses(readSettings({ PATH }, { role: 'all', demo: false }));
const never = new AbortController().signal;
const URL_OF_PAGE = 'https://example.org/';
const MIB = 1024 * 1024;
/** Drawing it takes exponential time. */
const SLOW_PDF = nestedFormsPdf();

let clock: ManualClock;
let started: ChildProcess[];
let pools: ParserPool[];
/** The last measured processor time of each child. */
let usedMs: Map<ChildProcess, number>;
beforeEach(() => {
  clock = new ManualClock();
  started = [];
  pools = [];
  usedMs = new Map();
});
afterEach(() => Promise.all(pools.map((pool) => pool.close())));

function noted(child: ChildProcess, used: number | undefined): number | undefined {
  if (used !== undefined) usedMs.set(child, used);
  return used;
}

/** Lets the child appear to have used this much processor time for its document. */
function useTime(child: ChildProcess, ms: number): void {
  jest.spyOn(child, 'processorTimeMs').mockReturnValue((usedMs.get(child) ?? 0) + ms);
}

function poolOf(start: () => Promise<ChildProcess>, max = 1, time: Clock = clock): ParserPool {
  const pool = new ParserPool(
    async () => {
      const child = await start();
      started.push(child);
      const measure = child.processorTimeMs.bind(child);
      jest.spyOn(child, 'processorTimeMs').mockImplementation(() => noted(child, measure()));
      return child;
    },
    max,
    time,
  );
  pools.push(pool);
  return pool;
}

const real = (max = 1): ParserPool => poolOf(() => startParser(processes), max);
/** In real time. */
const fair = (max: number): ParserPool => poolOf(() => startParser(processes), max, new SystemClock());
/** A process that sends `ready` and then runs the script. */
const scripted = (script: string, max = 1): ParserPool =>
  poolOf(() => {
    const ready = frameOf({ kind: 'ready' }).toString('base64');
    return processes.start({
      command: process.execPath,
      args: ['-e', `process.stdout.write(Buffer.from('${ready}', 'base64')); ${script}`],
      env: {},
      folder: tmpdir(),
    });
  }, max);
const HANGS = `process.stdin.resume(); process.stdin.once('data', () => { for (;;); })`;
const CRASHES = `process.stdin.once('data', () => process.exit(3))`;

describe('a document is parsed in a child process', () => {
  it('that parses one document after the other and returns all blocks of each', async () => {
    const pool = real();
    const paragraphs = Array.from({ length: 40 }, (_, index) => `Paragraph ${index} ${'word '.repeat(20_000)}`);
    const parsed = await parseWith(pool, documentOf(paragraphs.join('\n\n'), { name: 'long.txt' }), never);
    expect(
      parsed.blocks
        .map((block) => (block.kind === 'table' ? '' : block.text))
        .join(' ')
        .split(/\s+/)
        .filter((word) => word === 'word'),
    ).toHaveLength(40 * 20_000);
    expect((await parseWith(pool, documentOf('<title>T</title><p>x', { url: URL_OF_PAGE }), never)).title).toBe('T');
    await expect(parseWith(pool, documentOf('', { name: 'a.txt' }), never)).rejects.toMatchObject({ reason: 'empty' });
    expect((await parseWith(pool, documentOf(docxOf(wordParagraph('y'))), never)).format).toBe('docx');
    expect(started).toHaveLength(1);
  });

  it('that returns a large table in parts, each with its caption and column names', async () => {
    const head = [
      ['Fares of 2024', '', ''],
      ['Route', 'Fare', 'Duration'],
    ];
    const rows = Array.from({ length: 20_000 }, (_, at) => [`Route ${at}`, `${at} EUR`, 'two hours']);
    const { blocks } = await parseWith(
      real(),
      documentOf([...head, ...rows].map((row) => row.join(',')).join('\n'), { name: 'fares.csv' }),
      never,
    );
    const parts = blocks.map((block) => (block.kind === 'table' ? block.rows : []));
    expect(parts.length).toBeGreaterThan(4);
    for (const part of parts) expect(part.slice(0, 2)).toEqual(head);
    expect(parts.flatMap((part) => part.slice(2))).toEqual(rows);
  });

  it('of its own while other documents are parsed', async () => {
    const pool = real(3);
    const texts = Array.from({ length: 12 }, (_, index) => `text ${index}`);
    const parsed = await Promise.all(
      texts.map((text) => parseWith(pool, documentOf(text, { url: URL_OF_PAGE }), never)),
    );
    expect(parsed.map(({ blocks }) => blocks)).toEqual(texts.map((text) => [{ kind: 'text', text }]));
    expect(started).toHaveLength(2);
  });

  it('that reads all 50 MB of a file before it refuses its content', async () => {
    let sent = 0;
    const content = async function* (): AsyncGenerator<Buffer> {
      for (; sent < 50 * MIB; sent += 64 * 1024) yield Buffer.alloc(64 * 1024, 'a b\n');
    };
    await expect(
      parseWith(real(), { ...documentOf('', { name: 'a.txt' }), content, size: 50 * MIB }, never),
    ).rejects.toMatchObject({ reason: 'too_large' });
    expect(sent).toBe(50 * MIB);
  });

  it('that gets content only as fast as it reads it', async () => {
    let sent = 0;
    const content = async function* (): AsyncGenerator<Buffer> {
      for (; sent < 50 * MIB; sent += 64 * 1024) yield Buffer.alloc(64 * 1024);
    };
    const stop = new AbortController();
    const pool = scripted('setInterval(() => undefined, 1_000)');
    const stopped = expect(
      parseWith(pool, { ...documentOf('x'), content, size: 50 * MIB }, stop.signal),
    ).rejects.toThrow('enough');
    await until(() => sent > 0, 'the first part to be sent');
    for (let round = 0; round < 1_000; round += 1) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('enough'));
    await stopped;
    expect(sent).toBeLessThan(2 * MIB);
  });
});

describe('a parser that', () => {
  it('uses no processor time is killed after the elapsed time limit', async () => {
    const pool = scripted('process.stdin.resume()');
    const failed = expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'too_slow' });
    await until(() => clock.nextIn() === TIME_CHECK_MS, 'the document to be sent');
    await clock.advance(PROCESSOR_MS * ELAPSED_PER_PROCESSOR_TIME - 1);
    expect(started[0]!.hasEnded).toBe(false);
    await clock.advance(TIME_CHECK_MS);
    await failed;
    expect((await started[0]!.ended).signal).toBe('SIGKILL');
  });

  it('has no measurable processor time is limited by elapsed time', async () => {
    const pool = scripted(HANGS);
    const failed = expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'too_slow' });
    await until(() => started.length === 1, 'the process to start');
    jest.spyOn(started[0]!, 'processorTimeMs').mockReturnValue(undefined);
    await until(() => clock.nextIn() === TIME_CHECK_MS, 'the document to be sent');
    await clock.advance(PROCESSOR_MS - 1);
    expect(started[0]!.hasEnded).toBe(false);
    await clock.advance(1);
    await failed;
  });

  it('is blocked by a PDF of 10 kB is killed after 10 s of processor time, and the next document is parsed', async () => {
    const pool = fair(1);
    await expect(parseWith(pool, documentOf(SLOW_PDF, { name: 'a.pdf' }), never)).rejects.toMatchObject({
      reason: 'too_slow',
    });
    expect(usedMs.get(started[0]!)).toBeGreaterThan(9_000);
    expect(usedMs.get(started[0]!)).toBeLessThan(12_000);
    expect((await parseWith(pool, documentOf('x', { name: 'a.txt' }), never)).format).toBe('text');
    expect(started).toHaveLength(2);
  });

  it('crashes is replaced once, and after a second crash the document is broken', async () => {
    const pool = scripted(CRASHES);
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'broken' });
    expect(started).toHaveLength(2);
  });

  it('crashes for another reason than the document is replaced, and the document is parsed', async () => {
    let isFirst = true;
    const pool = poolOf(() => {
      const first = isFirst;
      isFirst = false;
      if (!first) return startParser(processes);
      const ready = frameOf({ kind: 'ready' }).toString('base64');
      return processes.start({
        command: process.execPath,
        args: ['-e', `process.stdout.write(Buffer.from('${ready}', 'base64')); ${CRASHES}`],
        env: {},
        folder: tmpdir(),
      });
    });
    expect((await parseWith(pool, documentOf('x', { name: 'a.txt' }), never)).blocks).toEqual([
      { kind: 'text', text: 'x' },
    ]);
  });

  it('uses too much memory makes the document too large', async () => {
    const pool = scripted(
      `process.stdin.once('data', () => { const kept = []; for (;;) kept.push(new Array(1000).fill('x').map((x, i) => x + i)); })`,
    );
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'too_large' });
    expect(started).toHaveLength(1);
  });

  it('does not start fails with an error that is not the document’s', async () => {
    const pool = poolOf(() => processes.start({ command: 'false', args: [], env: {}, folder: tmpdir() }));
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toThrow('did not become ready');
  });

  it('writes an invalid message is killed', async () => {
    const pool = scripted(`process.stdin.once('data', () => process.stdout.write(Buffer.from([255, 255, 255, 255])))`);
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'broken' });
  });
});

describe('the pool', () => {
  it('frees the parser of an aborted document, and the place of one that waits', async () => {
    const pool = scripted(HANGS);
    const [reading, waiting] = [new AbortController(), new AbortController()];
    const first = parseWith(pool, documentOf('x'), reading.signal);
    const second = parseWith(pool, documentOf('x'), waiting.signal);
    await until(() => pool.waiting === 1 && clock.pending() > 0, 'the first document to be parsed');
    waiting.abort(new Error('aborted while waiting'));
    await expect(second).rejects.toThrow('aborted while waiting');
    reading.abort(new Error('aborted while parsing'));
    await expect(first).rejects.toThrow('aborted while parsing');
    expect((await started[0]!.ended).signal).toBe('SIGKILL');
    expect([pool.size, pool.waiting]).toEqual([0, 0]);
  });

  it('parses small texts of other organizations, and of the same one, while hostile files of one are parsed', async () => {
    const pool = fair(3);
    const stop = new AbortController();
    const hostile = Array.from({ length: 5 }, () =>
      parseWith(pool, documentOf(SLOW_PDF, { name: 'a.pdf', organizationId: 'a' }), stop.signal).catch(
        () => 'ended' as const,
      ),
    );
    await until(() => started.length === 2, 'two hostile files to have parsers');
    await parseWith(pool, documentOf('a text of another one', { name: 'a.txt', organizationId: 'b' }), never);
    // None of the five has ended, and none was postponed yet.
    expect([pool.waiting, started.length]).toEqual([3, 3]);
    await parseWith(pool, documentOf('a text of the same one', { name: 'a.txt', organizationId: 'a' }), never);
    expect(await Promise.race([...hostile, Promise.resolve('running')])).toBe('running');
    const postponed = started.filter(({ hasEnded }) => hasEnded).map((child) => usedMs.get(child) ?? 0);
    for (const used of postponed) expect(used).toBeLessThan(3 * QUICK_PROCESSOR_MS);
    expect(postponed).toHaveLength(4);
    stop.abort(new Error('the test ends'));
    await Promise.all(hostile);
  });

  it('counts the processor time of a postponed document over all attempts', async () => {
    const pool = scripted(HANGS, 3);
    const failed = [1, 2].map(() =>
      expect(parseWith(pool, documentOf('x'), never)).rejects.toMatchObject({ reason: 'too_slow' }),
    );
    await until(() => usedMs.size === 2, 'both documents to be sent');
    for (const child of started) useTime(child, 4_000);
    await clock.advance(TIME_CHECK_MS);
    await until(() => started.filter(({ hasEnded }) => hasEnded).length === 1, 'one document to be postponed');
    useTime(
      started.find(({ hasEnded }) => !hasEnded)!,
      PROCESSOR_MS,
    );
    await clock.advance(TIME_CHECK_MS);
    await until(() => usedMs.size === 3, 'the document to be sent again');
    useTime(started[2]!, PROCESSOR_MS - 4_000);
    await clock.advance(TIME_CHECK_MS);
    await Promise.all(failed);
  });

  it('ends idle processes', async () => {
    const pool = real();
    await parseWith(pool, documentOf('x', { name: 'a.txt' }), never);
    await clock.advance(PARSER_IDLE_MS - 1);
    expect(pool.size).toBe(1);
    await clock.advance(1);
    expect(pool.size).toBe(0);
    expect((await started[0]!.ended).exitCode).toBe(0);
  });

  it('ends all processes when it is closed, and refuses further documents', async () => {
    const pool = real(2);
    await Promise.all(['a', 'b'].map((organizationId) => parseWith(pool, documentOf('x', { organizationId }), never)));
    await pool.close();
    for (const child of started) expect((await child.ended).exitCode).toBe(0);
    await expect(parseWith(pool, documentOf('x'), never)).rejects.toThrow('stopping');
  });

  it('fails a document whose content does not arrive', async () => {
    const pool = real();
    const content = (): AsyncIterable<Buffer> => ({
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    });
    const failed = expect(parseWith(pool, { ...documentOf('x'), content, size: 2 * MIB }, never)).rejects.toThrow(
      'did not arrive in time',
    );
    await until(() => clock.nextIn() === CONTENT_STALL_MS && pool.size === 1, 'the pool to wait for content');
    await clock.advance(CONTENT_STALL_MS);
    await failed;
  });
});
