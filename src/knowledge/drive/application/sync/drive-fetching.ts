import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { DocumentIndex } from '../../../index/application/indexing/document-index.js';
import { MAX_UPLOAD_BYTES } from '../../../limits.js';
import { DocumentParser } from '../../../parsing/application/document-parser.js';
import { DOCUMENT_FORMATS, type ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import { UnreadableDocument } from '../../../parsing/domain/parsing.errors.js';
import { DriveFailure, isFailure } from '../../domain/drive-failure.js';
import { exportsOf, isReadable } from '../../domain/drive-file.js';
import { STEP_LEASE_MS } from '../../limits.js';
import type { DriveItem } from '../../persistence/drive.entities.js';
import { DriveItemRepository, type ItemOutcome } from '../../persistence/drive-item.repository.js';
import { type ClaimedSource, DriveSourceRepository, LeaseLost } from '../../persistence/drive-source.repository.js';
import { type DriveAccess, DriveApi } from '../drive-api.js';

const TOO_LARGE = `The file is larger than ${MAX_UPLOAD_BYTES / 1024 / 1024} MB.`;
const MISSING = 'It is no longer in the drive, or no longer shared with the account.';

/** One step of a sync: the source with its lease, and access to the drive. */
export interface SyncStep {
  readonly source: ClaimedSource;
  readonly access: DriveAccess;
  readonly signal: AbortSignal;
}

interface Content {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** Puts the text of files into the index, and removes it. */
@Injectable()
export class DriveFetching {
  constructor(
    private readonly api: DriveApi,
    private readonly parser: DocumentParser,
    private readonly index: DocumentIndex,
    private readonly items: DriveItemRepository,
    private readonly sources: DriveSourceRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws DriveFailure where a later request may succeed, or the drive refuses the account; LeaseLost */
  async fetch(step: SyncStep, item: DriveItem): Promise<void> {
    const { source } = step;
    try {
      const content = await this.load(step, item);
      await this.sources.update(source, { dueAt: new Date(this.clock.now().getTime() + STEP_LEASE_MS) });
      await this.put(source, item, await this.parse(step, item, content));
    } catch (error) {
      if (error instanceof UnreadableDocument) return this.fail(source, item, error.message, 'unreadable');
      if (!(error instanceof DriveFailure) || error.isTransient || error.reason === 'refused') throw error;
      if (error.reason === 'not_found') return this.markMissing(source, item);
      if (error.reason === 'too_large') return this.fail(source, item, TOO_LARGE, 'unreadable');
      await this.fail(source, item, error.message);
    }
  }

  async remove(source: ClaimedSource, item: DriveItem): Promise<void> {
    if (item.documentId !== null) await this.index.remove(source.organizationId, [item.documentId]);
    await this.sources.whileHeld(source, (transaction) => this.items.delete(transaction, source, item.fileId));
  }

  /** For an item that the account can no longer see. A selected item is kept, so that the sync reports it. */
  async markMissing(source: ClaimedSource, item: DriveItem): Promise<void> {
    if (item.via !== 'selected') return this.remove(source, item);
    if (item.documentId !== null) await this.index.remove(source.organizationId, [item.documentId]);
    await this.finish(source, item, { result: 'gone', error: MISSING, documentId: null });
  }

  /** Stores the error of an item. The document of an earlier sync stays in the index. */
  async fail(
    source: ClaimedSource,
    item: DriveItem,
    error: string,
    result: 'failed' | 'unreadable' = 'failed',
  ): Promise<void> {
    await this.finish(source, item, { result, error, documentId: item.documentId });
  }

  private async finish(source: ClaimedSource, { fileId }: DriveItem, outcome: ItemOutcome): Promise<void> {
    await this.sources.whileHeld(source, (transaction) => this.items.finish(transaction, source, fileId, outcome));
  }

  private async load({ access, signal }: SyncStep, item: DriveItem): Promise<Content> {
    if (!isReadable(item)) throw new UnreadableDocument('unsupported_type', 'Files of this type are not indexed.');
    if ((item.size ?? 0) > MAX_UPLOAD_BYTES) throw new UnreadableDocument('too_large', TOO_LARGE);
    const [first, ...others] = exportsOf(item);
    if (first === undefined)
      return { bytes: await this.api.download(access, item.fileId, signal), contentType: item.mimeType };
    let failure: unknown;
    for (const contentType of [first, ...others]) {
      try {
        return { bytes: await this.api.export(access, item.fileId, contentType, signal), contentType };
      } catch (error) {
        // Too large in this format, or the drive does not support the format.
        if (!isFailure(error, ['export_too_large', 'bad_request', 'too_large'])) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  private parse(
    { source, signal }: SyncStep,
    item: DriveItem,
    { bytes, contentType }: Content,
  ): Promise<ParsedDocument> {
    const type = contentType === 'application/octet-stream' ? null : contentType;
    // The name of an exported document does not tell the export format.
    const name = exportsOf(item).length > 0 ? null : item.name;
    const content = { content: () => [bytes], size: bytes.length, contentType: type, formats: DOCUMENT_FORMATS };
    return this.parser.parse({ organizationId: source.organizationId, name, url: null, ...content }, signal);
  }

  private async put(source: ClaimedSource, { fileId, name, url }: DriveItem, parsed: ParsedDocument): Promise<void> {
    const { organizationId, agentId, id } = source;
    const key = { organizationId, agentId, kind: 'drive', key: `${id}/${fileId}` } as const;
    const document = { ...key, title: name, url, scope: null };
    const indexed = await this.index.put(document, parsed, async (transaction, { documentId }) => {
      if (!(await this.sources.isHeld(transaction, source))) return false;
      return this.items.finish(transaction, source, fileId, { result: 'indexed', error: null, documentId });
    });
    if (!indexed) throw new LeaseLost();
  }
}
