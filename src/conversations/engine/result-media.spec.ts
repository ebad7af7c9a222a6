import { describe, expect, it } from '@jest/globals';
import { AttachmentMemory, memoryOf } from '../../files/index.js';
import type { ModelAttachment, ModelMedia, ModelMessage } from '../../models/index.js';
import type { ResultEntry } from '../domain/message.js';
import { KEPT_MEDIA_BASE64_BYTES, REQUEST_ATTACHMENTS, REQUEST_BASE64_BYTES } from './limits.js';
import { fitIntoRequest, releaseMedia, mediaOf, resultsToKeep, withReservedMedia } from './result-media.js';

function image(name: string, base64Bytes = 4): Extract<ModelAttachment, { kind: 'image' }> {
  return { kind: 'image', name, mediaType: 'image/png', data: 'A'.repeat(base64Bytes) };
}

function result(id: string, ...media: ModelMedia[]): ResultEntry {
  return { role: 'tool', toolCallId: id, toolName: 'show', output: `output ${id}`, isError: false, media };
}

function said(...attachments: ModelAttachment[]): ModelMessage {
  return { role: 'user', text: 'Hi', attachments };
}

const many = (count: number, of: string) => Array.from({ length: count }, (_, index) => image(`${of}${index}`));
const names = (entries: readonly ModelMessage[]) => mediaOf(entries).map(({ name }) => name);
const attachedTo = (entry: ModelMessage | undefined) =>
  entry?.role === 'user' ? (entry.attachments ?? []).map(({ name }) => name) : [];

describe('one request', () => {
  it('has room for so many files; the newest stay, and notes replace the others', () => {
    const history = [[said(image('old'))], [said(image('less-old'))]];
    const entries = [
      said(image('asked')),
      result('1', ...many(3, 'a')),
      result('2', ...many(REQUEST_ATTACHMENTS - 3, 'b')),
    ];

    const fitted = fitIntoRequest(history, entries);

    expect(attachedTo(fitted.entries[0])).toEqual(['asked']);
    expect(names(fitted.entries)).toEqual(['a0', 'a1', ...many(REQUEST_ATTACHMENTS - 3, 'b').map(({ name }) => name)]);
    expect(fitted.entries[1]).toMatchObject({
      output: expect.stringMatching(/^output 1\n\n\[The file "a2" \(image\/png\) .*not shown again/),
    });
    for (const [exchange] of fitted.history) {
      expect(attachedTo(exchange)).toEqual([]);
      expect(exchange).toMatchObject({ text: expect.stringMatching(/^Hi\n\n\[The file .*not shown again/) });
    }
  });

  it('has room for so many bytes, and smaller older files may still fit', () => {
    const half = REQUEST_BASE64_BYTES / 2;
    const history = [[said(image('old', half + 4))], [said(image('fits', 4))]];
    const entries = [result('1', image('first', half)), result('2', image('second', half - 4))];

    const fitted = fitIntoRequest(history, entries);

    expect(names(fitted.entries)).toEqual(['first', 'second']);
    expect(fitted.history.map(([exchange]) => attachedTo(exchange))).toEqual([[], ['fits']]);
    expect(names(fitIntoRequest([], [...entries, result('3', image('third', half))]).entries)).toEqual([
      'second',
      'third',
    ]);
  });

  it('is unchanged when no result has media', () => {
    const history = [[said(...many(REQUEST_ATTACHMENTS + 1, 'a'))]];
    const entries = [said(image('asked'))];
    expect(fitIntoRequest(history, entries)).toEqual({ history, entries });
  });
});

describe('the media of a result', () => {
  it('take memory until they are released; notes replace empty ones and those without memory', () => {
    const pool = new AttachmentMemory();
    const memory = pool.reserve();
    const others = pool.reserve();
    for (let bytes = 2 ** 40; bytes >= 1; bytes /= 2) while (others.add(bytes));
    others.giveBack(memoryOf(300));
    const taken = pool.bytes;
    const shown = result('1', image('one', 400), image('empty', 0), image('more', 4));

    const kept = withReservedMedia(shown, memory);

    expect(names([kept])).toEqual(['one']);
    expect(kept.output).toMatch(
      /^output 1\n\n\[The file "empty".* It is empty\.\]\n\n\[The file "more".*cannot be shown at the moment\.\]$/,
    );
    expect(pool.bytes).toBe(taken + memoryOf(300));
    releaseMedia(mediaOf([kept]), memory);
    expect(pool.bytes).toBe(taken);
  });

  it('are kept for the run that resumes this one, the newest up to a limit', () => {
    const whole = image('whole', KEPT_MEDIA_BASE64_BYTES);
    const entries = [
      said(image('asked')),
      result('1', image('first')),
      { ...result('2'), media: undefined } as ModelMessage,
      result('3', whole),
    ];
    expect(resultsToKeep(entries)).toEqual([result('3', whole)]);
    expect(names(resultsToKeep(entries.slice(0, 2)))).toEqual(['first']);
  });
});
