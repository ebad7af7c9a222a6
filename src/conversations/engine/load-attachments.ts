import { Injectable } from '@nestjs/common';
import { AttachmentFetcher, memoryOf } from '../../files/index.js';
import type { ModelMessage } from '../../models/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { attachmentNote, type MessageAttachment } from '../domain/attachment.js';
import { type HistoryEntry, type UserEntry, withNotes } from '../domain/message.js';
import type { RunContext } from '../ports/index.js';
import type { AttachedFile } from './attached-files.js';
import { toModelAttachment } from './model-attachments.js';

/**
 * Reads the files of earlier messages from their stored copies, in parallel. A note replaces a file that cannot be read
 * or for which there is no memory; it never fails a run.
 */
@Injectable()
export class LoadAttachments {
  constructor(
    private readonly files: AttachmentFetcher,
    private readonly logger: Logger,
  ) {}

  /** @param exchanges with no more attachments than a request may have */
  async run(
    context: RunContext,
    exchanges: readonly (readonly HistoryEntry[])[],
  ): Promise<(readonly ModelMessage[])[]> {
    // The newest reserve memory first.
    const loaded = exchanges.toReversed().map((entries) => this.loadExchange(context, entries));
    return (await Promise.all(loaded)).reverse();
  }

  private async loadExchange(context: RunContext, entries: readonly HistoryEntry[]): Promise<readonly ModelMessage[]> {
    // Fast path: most exchanges have no files.
    if (!entries.some(hasFiles)) return entries;
    return Promise.all(entries.map((entry) => this.loadAttachments(context, entry)));
  }

  private async loadAttachments(context: RunContext, entry: HistoryEntry): Promise<ModelMessage> {
    if (!hasFiles(entry)) return entry;
    const read = await Promise.all(entry.attached.map((file) => this.read(context, file)));
    return withFiles(entry.text, read);
  }

  private async read({ organizationId, runId, attached }: RunContext, file: MessageAttachment): Promise<AttachedFile> {
    if (!attached.memory.add(memoryOf(file.size))) {
      this.logger.warn({ runId, fileId: file.fileId }, 'There was no memory for a file of an earlier message');
      return attachmentNote(file, 'no_room');
    }
    try {
      const content = await this.files.fetchStored(file.fileId, organizationId);
      if (content.kind === 'refused') return attachmentNote(file, 'unreadable');
      return content.data.length === 0 ? attachmentNote(file, 'empty') : toModelAttachment(file.name, content);
    } catch (error) {
      this.logger.warn({ err: error, fileId: file.fileId }, 'A file of an earlier message could not be read');
      return attachmentNote(file, 'unreadable');
    }
  }
}

function hasFiles(entry: HistoryEntry): entry is Required<UserEntry> {
  return entry.role === 'user' && entry.attached !== undefined;
}

/** A user's message with its files, and notes that replace some of them. */
export function withFiles(text: string, files: readonly AttachedFile[]): ModelMessage {
  const attachments = files.filter((file) => typeof file !== 'string');
  const notes = files.filter((file) => typeof file === 'string');
  return { role: 'user', text: withNotes(text, notes), ...(attachments.length === 0 ? {} : { attachments }) };
}
