import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { MessageAttachment } from '../domain/attachment.js';
import type { HistoryEntry } from '../domain/message.js';
import { base64BytesOf, charactersOf, roomBeside, sum, withChosenAttachments } from './choose-attachments.js';
import { REQUEST_ATTACHMENTS, REQUEST_BASE64_BYTES } from './limits.js';

const file = (kind: MessageAttachment['kind'], size: number): MessageAttachment => ({
  fileId: 'f',
  name: 'a file',
  contentType: 'x/y',
  kind,
  size,
  url: null,
});

const said = (...attached: MessageAttachment[]): HistoryEntry => ({ role: 'user', text: 'Hi', attached });

function attachedIn(entries: readonly HistoryEntry[]): (readonly MessageAttachment[])[] {
  return entries.map((entry) => (entry.role === 'user' ? (entry.attached ?? []) : []));
}

const files = fc
  .record({ kind: fc.constantFrom('image', 'pdf', 'text'), size: fc.nat({ max: 20 * 1024 * 1024 }) })
  .map(({ kind, size }) => file(kind, size));

describe('the attachments of earlier messages', () => {
  it('never take more room than there is, and a note replaces each omitted one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(files, { maxLength: 6 }), { maxLength: 12 }),
        fc.array(files, { maxLength: 5 }),
        (earlier, newest) => {
          const room = roomBeside(newest, 600_000);
          const chosen = withChosenAttachments(
            earlier.map((attached) => said(...attached)),
            room,
          );
          const kept = attachedIn(chosen).flat();
          expect(kept.length + newest.length).toBeLessThanOrEqual(REQUEST_ATTACHMENTS);
          if (kept.some(({ kind }) => kind !== 'text')) {
            expect(sum([...kept, ...newest].map(base64BytesOf))).toBeLessThanOrEqual(REQUEST_BASE64_BYTES);
          }
          expect(sum(kept.map(charactersOf))).toBeLessThanOrEqual(300_000);
          const notes = chosen.map((entry) => (entry.role === 'user' ? entry.text.split('[The file').length - 1 : 0));
          expect(sum(notes) + kept.length).toBe(earlier.flat().length);
        },
      ),
    );
  });

  it('are the newest', () => {
    const room = { count: 2, base64Bytes: 1_000, characters: 1_000_000 };
    const [oldest, older, newer] = [file('image', 1), file('image', 2), file('image', 3)];
    expect(attachedIn(withChosenAttachments([said(oldest), said(older), said(newer)], room))).toEqual([
      [],
      [older],
      [newer],
    ]);
  });

  it('leave messages without attachments unchanged', () => {
    const entries: HistoryEntry[] = [
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'Ho', toolCalls: [] },
    ];
    expect(withChosenAttachments(entries, roomBeside([], 100))).toEqual(entries);
  });
});
