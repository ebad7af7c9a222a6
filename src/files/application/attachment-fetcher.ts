import { Injectable } from '@nestjs/common';
import { type EgressBody, EgressFailed, EgressRefused, SafeHttp } from '../../platform/egress/index.js';
import {
  type AttachmentReference,
  classifyAttachment,
  type FetchedAttachment,
  refusedAttachment,
} from '../domain/attachment.js';
import { isDataUrl, readDataUrl } from '../domain/data-url.js';
import { ATTACHMENT_REDIRECTS, ATTACHMENT_TIMEOUT_MS, MAX_ATTACHMENT_BYTES } from '../limits.js';
import { memoryOf, memoryOfDataUrl, type MemoryReservation } from './attachment-memory.js';
import { type DirectoryFile, FileDirectory } from './file-directory.js';

const TOO_LARGE = refusedAttachment('too_large', `It is larger than ${MAX_ATTACHMENT_BYTES} bytes.`);
const UNREACHABLE = refusedAttachment('unreachable', 'It cannot be fetched.');

/** Loads the attachments of messages: uploads from the store, data URLs from their text, and other URLs over the network. */
@Injectable()
export class AttachmentFetcher {
  constructor(
    private readonly directory: FileDirectory,
    private readonly http: SafeHttp,
  ) {}

  /**
   * Loads images and PDFs of at most 20 MiB, and text of at most 1 MiB. External URLs are fetched without credentials, and only
   * from public addresses.
   * @param memory reserved before the file is read when its size is known, otherwise while it arrives
   * @returns a refusal for every error that the sender of the message can fix
   * @throws FileStoreUnavailable; AttachmentMemoryFull; the reason of `signal` when it aborts
   */
  async fetch(
    { url, contentType }: AttachmentReference,
    organizationId: string,
    memory: MemoryReservation,
    signal?: AbortSignal,
  ): Promise<FetchedAttachment> {
    if (isDataUrl(url)) return fromDataUrl(url, contentType, memory);
    return this.directory.isOwn(url)
      ? this.fromStore(await this.directory.open(organizationId, url), memory)
      : this.fromNetwork(url, contentType, memory, signal);
  }

  /** Loads a file of an earlier message, for which the caller has reserved the memory. @throws FileStoreUnavailable */
  async fetchStored(fileId: string, organizationId: string): Promise<FetchedAttachment> {
    return this.fromStore(await this.directory.find(organizationId, fileId));
  }

  /** Uses the content type of the upload, which was checked at the upload. */
  private async fromStore(file: DirectoryFile | null, memory?: MemoryReservation): Promise<FetchedAttachment> {
    if (!file) return refusedAttachment('unreachable', 'There is no such upload, or it has been removed.');
    if (file.size > MAX_ATTACHMENT_BYTES) return TOO_LARGE;
    memory?.demand(memoryOf(file.size));
    const data = await file.read();
    return data ? classifyAttachment(file.contentType, data) : UNREACHABLE;
  }

  private async fromNetwork(
    url: string,
    contentType: string,
    memory: MemoryReservation,
    signal?: AbortSignal,
  ): Promise<FetchedAttachment> {
    try {
      const { status, body } = await this.http.request(url, {
        purpose: 'attachment',
        maxBytes: MAX_ATTACHMENT_BYTES,
        timeoutMs: ATTACHMENT_TIMEOUT_MS,
        redirects: { max: ATTACHMENT_REDIRECTS },
        ...(signal && { signal }),
      });
      if (status === 200) return classifyAttachment(contentType, await received(body, memory));
      body.discard();
      return refusedAttachment('unreachable', `Its URL responds with the status ${status}.`);
    } catch (error) {
      if (error instanceof EgressRefused) return refusedAttachment('unreachable', error.message);
      if (!(error instanceof EgressFailed)) throw error;
      return error.reason === 'too_large' ? TOO_LARGE : refusedAttachment('unreachable', error.message);
    }
  }
}

async function received(body: EgressBody, memory: MemoryReservation): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) {
    memory.demand(memoryOf(chunk.length));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function fromDataUrl(url: string, declared: string, memory: MemoryReservation): FetchedAttachment {
  memory.demand(memoryOfDataUrl(url));
  const content = readDataUrl(url);
  if (!content) return refusedAttachment('unsupported', 'Its data URL cannot be read.');
  return content.data.length > MAX_ATTACHMENT_BYTES ? TOO_LARGE : classifyAttachment(declared, content.data);
}
