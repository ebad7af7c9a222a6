import { type MemoryReservation, memoryOf } from '../../files/index.js';
import type { ModelAttachment, ModelMedia, ModelMessage } from '../../models/index.js';
import { attachmentNote, type Omission, mediaNote } from '../domain/attachment.js';
import { type ResultEntry, withNotes } from '../domain/message.js';
import { type AttachmentRoom, sum } from './choose-attachments.js';
import { KEPT_MEDIA_BASE64_BYTES, REQUEST_ATTACHMENTS, REQUEST_BASE64_BYTES } from './limits.js';

type Room = Pick<AttachmentRoom, 'count' | 'base64Bytes'>;
type Exchanges = readonly (readonly ModelMessage[])[];

export function mediaOf(entries: readonly ModelMessage[]): ModelMedia[] {
  return entries.flatMap((entry) => (entry.role === 'tool' ? (entry.media ?? []) : []));
}

export function withoutMedia(entry: ModelMessage, why: Omission): ModelMessage {
  return entry.role === 'tool' ? keepOnly(entry, () => false, why) : entry;
}

/** The result with the media for which there is memory; notes replace the others. */
export function withReservedMedia(entry: ResultEntry, memory: MemoryReservation): ResultEntry {
  const filled = keepOnly(entry, (medium) => medium.data !== '', 'empty');
  return keepOnly(filled, (medium) => memory.add(memoryOfMedium(medium)), 'no_room');
}

/** Releases the memory of media that `withReservedMedia` has kept. */
export function releaseMedia(media: readonly ModelMedia[], memory: MemoryReservation): void {
  if (media.length > 0) memory.giveBack(sum(media.map(memoryOfMedium)));
}

/** The results with media, for the run that resumes this one: the transcript has no media. */
export function resultsToKeep(entries: readonly ModelMessage[]): ResultEntry[] {
  const room = { count: REQUEST_ATTACHMENTS, base64Bytes: KEPT_MEDIA_BASE64_BYTES };
  return withChosenMedia(entries, room)
    .filter((entry) => entry.role === 'tool')
    .filter(({ media }) => media !== undefined);
}

/**
 * The history and newer entries with the files for which one request has room, the newest first. Notes replace the
 * others.
 */
export function fitIntoRequest(
  history: Exchanges,
  entries: readonly ModelMessage[],
): { history: Exchanges; entries: readonly ModelMessage[] } {
  // Fast path: most results have no media, and the attachments were chosen when the history was loaded.
  if (mediaOf(entries).length === 0) return { history, entries };
  const given = entries.flatMap((entry) => (entry.role === 'user' ? (entry.attachments ?? []) : []));
  const room = {
    count: REQUEST_ATTACHMENTS - given.length,
    base64Bytes: REQUEST_BASE64_BYTES - sum(given.map(base64BytesOf)),
  };
  const chosen = withChosenMedia(entries, room);
  const exchanges = history.toReversed().map((exchange) =>
    exchange
      .toReversed()
      .map((entry) => chooseAttachments(entry, room))
      .reverse(),
  );
  return { history: exchanges.reverse(), entries: chosen };
}

/** @param room is reduced by the media that are kept */
function withChosenMedia(entries: readonly ModelMessage[], room: Room): ModelMessage[] {
  return entries
    .toReversed()
    .map((entry) => (entry.role === 'tool' ? keepOnly(entry, (medium) => take(medium, room), 'left_out') : entry))
    .reverse();
}

function chooseAttachments(entry: ModelMessage, room: Room): ModelMessage {
  if (entry.role !== 'user' || !entry.attachments) return entry;
  const kept = entry.attachments.filter((file) => take(file, room));
  if (kept.length === entry.attachments.length) return entry;
  const notes = entry.attachments
    .filter((file) => !kept.includes(file))
    .map(({ name, mediaType }) => attachmentNote({ name, contentType: mediaType }, 'left_out'));
  return { role: 'user', text: withNotes(entry.text, notes), ...(kept.length === 0 ? {} : { attachments: kept }) };
}

function keepOnly(entry: ResultEntry, choose: (medium: ModelMedia) => boolean, why: Omission): ResultEntry {
  const { media, ...rest } = entry;
  if (!media) return entry;
  const kept = media.filter((medium) => choose(medium));
  if (kept.length === media.length && kept.length > 0) return entry;
  const notes = media.filter((medium) => !kept.includes(medium)).map((medium) => mediaNote(medium, why));
  return { ...rest, output: withNotes(entry.output, notes), ...(kept.length === 0 ? {} : { media: kept }) };
}

function take(file: ModelAttachment | ModelMedia, room: Room): boolean {
  const base64Bytes = base64BytesOf(file);
  if (room.count < 1 || base64Bytes > room.base64Bytes) return false;
  room.count -= 1;
  room.base64Bytes -= base64Bytes;
  return true;
}

function base64BytesOf(file: ModelAttachment | ModelMedia): number {
  return file.kind === 'text' ? 0 : file.data.length;
}

function memoryOfMedium({ data }: ModelMedia): number {
  return memoryOf((data.length / 4) * 3);
}
