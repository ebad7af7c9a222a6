import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { MasterKeys } from '../../platform/vault/index.js';
import { FileUrlExpired, FileUrlInvalid } from '../domain/files.errors.js';
import { URL_LIFETIME_MS } from '../limits.js';

const OWN_PATH = /\/v1\/files\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\/content$/i;

export interface UrlSignature {
  /** Unix time in seconds, as text. */
  readonly expires: string;
  readonly signature: string;
}

/** Signed URLs of uploaded files. A client with such a URL may read the file until the URL expires. */
@Injectable()
export class FileUrls {
  constructor(
    private readonly masterKeys: MasterKeys,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @param origin under which the client reached the service; used when `PUBLIC_URL` is not set */
  sign(fileId: string, origin: string): string {
    const expires = String(Math.ceil((this.clock.now().getTime() + URL_LIFETIME_MS) / 1000));
    const [key] = this.masterKeys.derive('file urls');
    const query = new URLSearchParams({ expires, signature: signatureOf(key, fileId, expires) });
    return `${this.settings.publicUrl ?? origin}/v1/files/${fileId}/content?${query.toString()}`;
  }

  /** @returns the seconds until the URL expires @throws FileUrlInvalid, FileUrlExpired */
  verify(fileId: string, { expires, signature }: UrlSignature): number {
    if (!this.isGenuine(fileId, { expires, signature })) throw new FileUrlInvalid();
    const left = Math.floor(Number(expires) - this.clock.now().getTime() / 1000);
    if (left < 0) throw new FileUrlExpired();
    return left;
  }

  /** Recognizes a URL that this service signed, even an expired one or with another host. @returns `forged` for a wrong signature, undefined for other URLs */
  recognize(url: string): { readonly fileId: string } | 'forged' | undefined {
    const parsed = URL.parse(url);
    const fileId = OWN_PATH.exec(parsed?.pathname ?? '')?.[1]?.toLowerCase();
    if (!parsed || fileId === undefined) return undefined;
    const { searchParams: query } = parsed;
    const signed = { expires: query.get('expires') ?? '', signature: query.get('signature') ?? '' };
    if (this.isGenuine(fileId, signed)) return { fileId };
    const { publicUrl = '' } = this.settings;
    return URL.parse(publicUrl)?.origin === parsed.origin ? 'forged' : undefined;
  }

  private isGenuine(fileId: string, { expires, signature }: UrlSignature): boolean {
    const sign = (key: Buffer): Buffer => Buffer.from(signatureOf(key, fileId, expires));
    return this.masterKeys.verifies('file urls', Buffer.from(signature), sign);
  }
}

function signatureOf(key: Buffer, fileId: string, expires: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([fileId, expires]))
    .digest('base64url');
}
