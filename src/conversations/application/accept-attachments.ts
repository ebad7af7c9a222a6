import { Injectable } from '@nestjs/common';
import {
  AttachmentFetcher,
  AttachmentMemory,
  type AttachmentReference,
  type FetchedAttachment,
  FileDirectory,
  FileHolders,
  isDataUrl,
  memoryOf,
  type MemoryReservation,
} from '../../files/index.js';
import { type ProviderType, takesMediaType } from '../../models/index.js';
import { attachmentNote, type MessageAttachment } from '../domain/attachment.js';
import { attachmentRefused, attachmentsTooLarge, callerDisconnected } from '../domain/conversations.errors.js';
import type { NewThreadMessage } from '../domain/new-thread.js';
import { type AttachedFile, AttachedFiles } from '../engine/attached-files.js';
import { base64BytesOf, sum } from '../engine/choose-attachments.js';
import { type ReadAttachment, toModelAttachment } from '../engine/model-attachments.js';
import { REQUEST_BASE64_BYTES } from '../engine/limits.js';
import { MessageRepository } from '../persistence/message.repository.js';
import { inParallel } from './in-parallel.js';

/** Files fetched in parallel for one request: each may take the largest allowed size in memory. */
const FETCHED_AT_A_TIME = 3;

export interface AcceptCommand {
  readonly organizationId: string;
  readonly provider: { readonly type: ProviderType; readonly model: string };
  readonly attachments: readonly AttachmentReference[];
  readonly history: readonly NewThreadMessage<AttachmentReference>[];
  /** The signal aborts when the caller disconnects, which ends the work. */
  readonly disconnected: (() => AbortSignal) | undefined;
}

/** The attachments of a request, as its messages store them. */
export interface AcceptedAttachments {
  readonly message: readonly MessageAttachment[];
  /** A caller that starts no run with them must release them. */
  readonly files: AttachedFiles;
  readonly history: readonly NewThreadMessage<MessageAttachment>[];
  readonly copies: readonly string[];
}

interface Read {
  readonly reference: AttachmentReference;
  readonly content: ReadAttachment;
}

/**
 * Reads the attachments of a request and stores copies, so that later runs depend neither on other servers nor on
 * signed URLs. An upload needs no copy: the message stores its id.
 */
@Injectable()
export class AcceptAttachments {
  constructor(
    private readonly fetcher: AttachmentFetcher,
    private readonly directory: FileDirectory,
    private readonly memory: AttachmentMemory,
    holders: FileHolders,
    private readonly messages: MessageRepository,
  ) {
    // The clean-up of unused files keeps those that messages refer to.
    holders.register({ holds: (fileIds) => this.messages.referringTo(fileIds) });
  }

  /** @throws DomainError `unprocessable` naming the attachment, `unavailable` without memory; FileStoreUnavailable */
  async execute(command: AcceptCommand): Promise<AcceptedAttachments> {
    const { organizationId, history, attachments } = command;
    const earlier = history.flatMap((message) => message.attachments ?? []);
    const memory = this.memory.reserve();
    // Fast path: most requests have no attachments.
    if (earlier.length + attachments.length === 0) {
      const files = new AttachedFiles([], memory);
      return { message: [], files, history: withAttachments(history, []), copies: [] };
    }
    const copies: string[] = [];
    try {
      const read = await this.readAll(command, [...earlier, ...attachments], memory);
      const kept = await inParallel(read, FETCHED_AT_A_TIME, (file) => this.keep(organizationId, file, copies));
      const own = read.slice(earlier.length);
      memory.shrinkTo(memoryFor(read, own));
      return {
        message: kept.slice(earlier.length),
        files: new AttachedFiles(own.map(toAttachedFile), memory),
        history: withAttachments(history, kept.slice(0, earlier.length)),
        copies,
      };
    } catch (error) {
      memory.release();
      await this.discard(organizationId, copies);
      throw error;
    }
  }

  /** The clean-up of unused files deletes those that fail here. */
  async discard(organizationId: string, copies: readonly string[]): Promise<void> {
    await Promise.allSettled(copies.map((id) => this.directory.discard(organizationId, id)));
  }

  private async readAll(
    { organizationId, provider, disconnected: watch }: AcceptCommand,
    references: readonly AttachmentReference[],
    memory: MemoryReservation,
  ): Promise<Read[]> {
    const disconnected = watch?.();
    const refused = new AbortController();
    const signal = disconnected ? AbortSignal.any([disconnected, refused.signal]) : refused.signal;
    let base64Bytes = 0;
    try {
      return await inParallel(references, FETCHED_AT_A_TIME, async (reference) => {
        signal.throwIfAborted();
        const content = acceptable(
          reference,
          await this.fetcher.fetch(reference, organizationId, memory, signal),
          provider,
        );
        base64Bytes += base64BytesOf({ kind: content.kind, size: content.data.length });
        if (base64Bytes > REQUEST_BASE64_BYTES) throw attachmentsTooLarge(REQUEST_BASE64_BYTES);
        return { reference, content };
      });
    } catch (error) {
      // Ends the other fetches.
      refused.abort();
      throw disconnected?.aborted ? callerDisconnected() : error;
    }
  }

  private async keep(
    organizationId: string,
    { reference, content }: Read,
    copies: string[],
  ): Promise<MessageAttachment> {
    const { name, url } = reference;
    const { kind, mediaType: contentType, data } = content;
    const facts = { name, contentType, kind, size: data.length };
    const upload = this.directory.idOf(url);
    if (upload !== null) return { ...facts, fileId: upload, url: null };
    const fileId = await this.directory.store(organizationId, { name, contentType, data });
    copies.push(fileId);
    return { ...facts, fileId, url: isDataUrl(url) ? null : url };
  }
}

/** @throws DomainError `unprocessable` naming the attachment */
function acceptable(
  { name }: AttachmentReference,
  content: FetchedAttachment,
  { type, model }: AcceptCommand['provider'],
): ReadAttachment {
  if (content.kind === 'refused') throw attachmentRefused(name, content.message);
  if (takesMediaType(type, model, content.mediaType)) return content;
  throw attachmentRefused(name, `The model ${model} does not take ${content.mediaType}.`);
}

/** In use after the copies are stored: the new message's files, and the data URLs in the request's body. */
function memoryFor(read: readonly Read[], own: readonly Read[]): number {
  const inBody = read.map(({ reference: { url } }) => (isDataUrl(url) ? url.length : 0));
  return sum(inBody) + sum(own.map(({ content }) => memoryOf(content.data.length)));
}

function toAttachedFile({ reference: { name }, content }: Read): AttachedFile {
  if (content.data.length === 0) return attachmentNote({ name, contentType: content.mediaType }, 'empty');
  return toModelAttachment(name, content);
}

function withAttachments(
  history: readonly NewThreadMessage<AttachmentReference>[],
  kept: readonly MessageAttachment[],
): NewThreadMessage<MessageAttachment>[] {
  let next = 0;
  return history.map(({ attachments = [], ...message }) => {
    const own = kept.slice(next, next + attachments.length);
    next += own.length;
    return own.length === 0 ? message : { ...message, attachments: own };
  });
}
