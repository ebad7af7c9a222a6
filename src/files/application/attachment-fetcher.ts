import { Injectable } from '@nestjs/common';
import { type EgressBody, EgressFailed, EgressRefused, SafeHttp } from '../../platform/egress/index.js';
import { type AttachmentReference, type FetchedAttachment, refusedAttachment } from '../domain/attachment.js';
import { asAttachment } from '../domain/attachment-kind.js';
import { isDataUrl, readDataUrl } from '../domain/data-url.js';
import { ATTACHMENT_REDIRECTS, ATTACHMENT_TIMEOUT_MS, MAX_ATTACHMENT_BYTES } from '../limits.js';
import { memoryOf, memoryOfDataUrl, type MemoryReservation } from './attachment-memory.js';
import { type DirectoryFile, FileDirectory } from './file-directory.js';

const TOO_LARGE = refusedAttachment('too_large', `It is larger than ${MAX_ATTACHMENT_BYTES} bytes.`);
const UNREACHABLE = refusedAttachment('unreachable', 'It cannot be fetched.');

/**
 * Turns what a message refers to into what a model takes: uploads from the store, data URLs from themselves, all
 * else over the network.
 */
@Injectable()
export class AttachmentFetcher {
  constructor(
    private readonly directory: FileDirectory,
    private readonly http: SafeHttp,
  ) {}

  /**
   * Images, PDFs and text of at most 20 MiB, text of at most 1 MiB. URLs elsewhere are fetched without any
   * credential, from public addresses alone.
   * @param memory grows by what the file takes, before it is read where its size is known, else as it arrives
   * @returns a refusal for everything that the caller of the message could mend
   * @throws FileStoreUnavailable; AttachmentMemoryFull; the reason of `signal` when it aborts
   */
  async fetch(
    { url, contentType }: AttachmentReference,
    organizationId: string,
    memory: MemoryReservation,
    signal?: AbortSignal,
  ): Promise<FetchedAttachment> {
    if (isDataUrl(url)) return fromItself(url, contentType, memory);
    return this.directory.isOwn(url)
      ? this.fromStore(await this.directory.open(organizationId, url), memory)
      : this.fromElsewhere(url, contentType, memory, signal);
  }

  /**
   * A file of the organization that a message keeps, by its id. Whoever knows the id knows the size, and has the
   * memory for it already.
   * @throws FileStoreUnavailable
   */
  async kept(fileId: string, organizationId: string): Promise<FetchedAttachment> {
    return this.fromStore(await this.directory.find(organizationId, fileId));
  }

  /** The upload's own type counts, which was checked when it came. */
  private async fromStore(file: DirectoryFile | null, memory?: MemoryReservation): Promise<FetchedAttachment> {
    if (!file) return refusedAttachment('unreachable', 'There is no such upload, or it has been removed.');
    if (file.size > MAX_ATTACHMENT_BYTES) return TOO_LARGE;
    memory?.demand(memoryOf(file.size));
    const data = await file.read();
    return data ? asAttachment(file.contentType, data) : UNREACHABLE;
  }

  private async fromElsewhere(
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
      if (status === 200) return asAttachment(contentType, await received(body, memory));
      body.discard();
      return refusedAttachment('unreachable', `Its URL answers with the status ${status}.`);
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

function fromItself(url: string, declared: string, memory: MemoryReservation): FetchedAttachment {
  memory.demand(memoryOfDataUrl(url));
  const content = readDataUrl(url);
  if (!content) return refusedAttachment('unsupported', 'Its data URL cannot be read.');
  return content.data.length > MAX_ATTACHMENT_BYTES ? TOO_LARGE : asAttachment(declared, content.data);
}
