import { describe, expect, it } from '@jest/globals';
import type { Block } from '../../parsing/domain/parsed-document.js';
import { type Chunk, chunksOf } from './chunker.js';
import { CHUNK_SIZE, sizeOf } from './split-text.js';

const chunk = (...blocks: Block[]): Chunk[] => [...chunksOf({ blocks })];
const text = (content: string): Block => ({ kind: 'text', text: content });
const heading = (level: number, content: string): Block => ({ kind: 'heading', level, text: content });
const sentence = 'The quick brown fox jumps over the lazy dog. ';
const withoutSpace = (value: string): string => value.replace(/\s+/g, '');

describe('chunksOf', () => {
  it('names the headings above a chunk, and cuts between texts under different headings', () => {
    const chunks = chunk(
      heading(1, 'Manual'),
      heading(2, 'Setup'),
      text(sentence.repeat(20)),
      heading(2, 'Use'),
      text(sentence.repeat(20)),
    );
    expect(chunks.map((one) => one.heading)).toEqual(['Manual › Setup', 'Manual › Use']);
  });

  it('keeps headings without text below them as content', () => {
    expect(
      chunk(heading(1, 'First'), heading(1, 'Second'))
        .map((one) => one.text)
        .join('\n'),
    ).toMatch(/First[^]*Second/);
  });

  it('repeats the header of a table in each of its parts', () => {
    const rows = Array.from({ length: 200 }, (_, row) => [`item ${row}`, 'some description of it', String(row * 7)]);
    const chunks = chunk({ kind: 'table', rows: [['Name', 'Description', 'Price'], ...rows] });
    expect(chunks.length).toBeGreaterThan(3);
    for (const one of chunks) {
      expect(one.text.startsWith('Name | Description | Price\n')).toBe(true);
      expect(sizeOf(one.text)).toBeLessThanOrEqual(CHUNK_SIZE.max);
    }
    for (const [name] of rows) expect(chunks.some((one) => one.text.includes(`\n${name} |`))).toBe(true);
  });

  it('repeats a title above the header of a table, which is not the header itself', () => {
    const rows = Array.from({ length: 100 }, (_, row) => [`item ${row}`, 'some description of it']);
    const chunks = chunk({ kind: 'table', rows: [['Prices 2026', ''], ['Name', 'Description'], ...rows] });
    expect(chunks.length).toBeGreaterThan(1);
    for (const one of chunks) expect(one.text.startsWith('Prices 2026\nName | Description\nitem ')).toBe(true);
  });

  it('keeps the line that introduces a list with the list', () => {
    const list = Array.from(
      { length: 12 },
      (_, index) => `- entry ${index} of the list, with some words more to it`,
    ).join('\n');
    const chunks = chunk(heading(1, 'Top'), text(sentence.repeat(20)), text('These are the entries:'), text(list));
    expect(chunks.map((one) => one.text.startsWith('These are the entries:\n\n- entry 0'))).toEqual([false, true]);
  });

  it('puts a term above its description, in each of its chunks', () => {
    const chunks = chunk(
      heading(1, 'Options'),
      { ...text(sentence.repeat(20)), term: '--all' },
      { ...text(sentence.repeat(20)), term: '--all' },
      { ...text('Short.'), term: '--one' },
    );
    expect(chunks.map((one) => `${one.heading ?? ''} ${one.text}`.match(/--\w+/g))).toEqual([
      ['--all'],
      ['--all', '--one'],
    ]);
  });

  it('cuts no sentence that fits into one chunk', () => {
    const [short, long] = [200, 1_100].map((length) => `The ${'word '.repeat(length / 5)}end. `);
    for (const one of chunk(text(`${short}${long}`.repeat(5)))) expect(one.text).toMatch(/^The [^]*end\.$/);
  });

  it('gives a chunk the anchor nearest to its start', () => {
    expect(
      chunk({ ...heading(1, 'A'), anchor: 'a' }, { ...text('x'), anchor: 'a' }, { ...text('y'), anchor: 'b' }).map(
        ({ anchor }) => anchor,
      ),
    ).toEqual(['a']);
    expect(chunk(text('x')).map(({ anchor }) => anchor)).toEqual([null]);
  });

  it('cuts code between its lines', () => {
    const lines = Array.from({ length: 150 }, (_, line) => `  const value${line} = compute(${line});`);
    const chunks = chunk({ kind: 'code', text: lines.join('\n') });
    const found = chunks
      .flatMap((one) => one.text.split('\n'))
      .map((line) => line.trim())
      .filter((line) => line !== '');
    expect(found).toEqual(lines.map((line) => line.trim()));
  });

  it.each([
    ['Chinese', '退款申请将在七个工作日内处理。请保留收据'],
    ['Thai', 'การคืนเงินจะดำเนินการภายในเจ็ดวันทำการ'],
    ['no words at all', 'x'],
    ['letters of two units', '😀'],
  ])('cuts a line of 100,000 characters of %s into chunks within the limit, and loses nothing', (_script, unit) => {
    const line = unit.repeat(Math.ceil(100_000 / unit.length));
    const chunks = chunk(text(line));
    for (const one of chunks) {
      expect(sizeOf(one.text)).toBeLessThanOrEqual(CHUNK_SIZE.max);
      expect(one.text.isWellFormed()).toBe(true);
    }
    expect(chunks.map((one) => withoutSpace(one.text)).join('')).toBe(line);
  });

  it('combines a thousand tiny blocks into few chunks', () => {
    const chunks = chunk(...Array.from({ length: 1_000 }, (_, index) => text(`item ${index}`)));
    expect(chunks.length).toBeLessThan(20);
    expect(chunks.flatMap((one) => one.text.split('\n\n'))).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `item ${index}`),
    );
  });
});
