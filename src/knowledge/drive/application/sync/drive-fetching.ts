import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { onePart } from '../../../parsing/domain/one-part.js';
import { UnreadableDocument } from '../../../parsing/domain/parsing.errors.js';
import { DOCUMENT_FORMATS, type ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { exportsOf, isReadable } from '../../domain/drive-file.js';
import type { ClaimedSource, DriveItem } from '../../domain/drive-source.js';
import { DocumentIndex } from '../../../index/application/indexing/document-index.js';
import { MAX_UPLOAD_BYTES } from '../../../limits.js';
import { DocumentParser } from '../../../parsing/application/document-parser.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { DriveSourceRepository, LeaseLost } from '../../persistence/drive-source.repository.js';
import { DriveApi } from '../drive-api.js';
import type { DriveAccess } from '../drive-http.js';
import { STEP_LEASE_MS } from '../../limits.js';
import { DriveListing } from './drive-listing.js';

const TOO_LARGE = `The file is larger than ${MAX_UPLOAD_BYTES / 1024 / 1024} MB.`;

interface Content {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** Brings the text of files into the index, and takes it out again. */
@Injectable()
export class DriveFetching {
  constructor(
    private readonly api: DriveApi,
    private readonly parser: DocumentParser,
    private readonly index: DocumentIndex,
    private readonly items: DriveItemRepository,
    private readonly sources: DriveSourceRepository,
    private readonly listing: DriveListing,
    private readonly clock: Clock,
  ) {}

  /** @throws DriveFailure where the drive may answer later, or takes the account no more; LeaseLost */
  async fetch(source: ClaimedSource, access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<void> {
    const content = await this.content(source, access, item, signal);
    if (!content) return;
    await this.sources.update(source, { dueAt: new Date(this.clock.now().getTime() + STEP_LEASE_MS) });
    const parsed = await this.parsed(source, item, content, signal);
    if (parsed) await this.put(source, item, parsed);
  }

  async remove(source: ClaimedSource, item: DriveItem): Promise<void> {
    if (item.documentId !== null) await this.index.remove(source.organizationId, [item.documentId]);
    await this.sources.whileHeld(source, (transaction) => this.items.drop(transaction, source, item.fileId));
  }

  /** Notes that it could not be brought in; what was read of it before stays. */
  async fail(source: ClaimedSource, item: DriveItem, error: string, result: 'failed' | 'unreadable' = 'failed'): Promise<void> {
    const settled = { todo: null, result, error, documentId: item.documentId } as const;
    await this.sources.whileHeld(source, (transaction) => this.items.settle(transaction, source, item.fileId, settled));
  }

  private async content(source: ClaimedSource, access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<Content | null> {
    if (!isReadable(item)) {
      await this.fail(source, item, 'Files of this type are not read.', 'unreadable');
      return null;
    }
    if ((item.size ?? 0) > MAX_UPLOAD_BYTES) {
      await this.fail(source, item, TOO_LARGE, 'unreadable');
      return null;
    }
    try {
      return await this.load(access, item, signal);
    } catch (error) {
      if (!(error instanceof DriveFailure) || error.isPassing || error.reason === 'refused') throw error;
      if (error.reason === 'not_found') await this.listing.gone(source, item);
      else if (error.reason === 'too_large') await this.fail(source, item, TOO_LARGE, 'unreadable');
      else await this.fail(source, item, error.message);
      return null;
    }
  }

  private async load(access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<Content> {
    const [first, ...others] = exportsOf(item);
    if (first === undefined) return { bytes: await this.api.download(access, item.fileId, signal), contentType: item.mimeType };
    let failure: unknown;
    for (const contentType of [first, ...others]) {
      try {
        return { bytes: await this.api.export(access, item.fileId, contentType, signal), contentType };
      } catch (error) {
        // Too large in this form, or a form that this drive does not know.
        if (!(error instanceof DriveFailure) || !['export_too_large', 'bad_request', 'too_large'].includes(error.reason)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  private async parsed(source: ClaimedSource, item: DriveItem, { bytes, contentType }: Content, signal: AbortSignal): Promise<ParsedDocument | null> {
    const isExport = exportsOf(item).length > 0;
    const document = {
      organizationId: source.organizationId,
      content: () => onePart(bytes),
      size: bytes.length,
      contentType: contentType === 'application/octet-stream' ? null : contentType,
      // The name of a document of the drive itself says nothing about what it was exported as.
      name: isExport ? null : item.name,
      url: null,
      formats: DOCUMENT_FORMATS,
    };
    try {
      return await this.parser.parse(document, signal);
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      await this.fail(source, item, error.message, 'unreadable');
      return null;
    }
  }

  private async put(source: ClaimedSource, item: DriveItem, parsed: ParsedDocument): Promise<void> {
    const { organizationId, agentId, id } = source;
    const { fileId, name, url } = item;
    const indexed = await this.index.put(
      { organizationId, agentId, kind: 'drive', key: `${id}/${fileId}`, title: name, url, scope: null },
      parsed,
      async (transaction, { documentId }) =>
        (await this.sources.isHeld(transaction, source)) &&
        this.items.settle(transaction, source, fileId, { todo: null, result: 'indexed', error: null, documentId }),
    );
    if (!indexed) throw new LeaseLost();
  }
}
