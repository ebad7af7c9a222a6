import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Settings } from '../../../platform/config/index.js';
import { MAX_UPLOAD_BYTES } from '../../limits.js';
import { DriveFailure } from '../domain/drive-failure.js';
import type { DriveFile } from '../domain/drive-file.js';
import { DOWNLOAD_MS, MAX_RESPONSE_BYTES, PAGE_SIZE, REQUEST_MS } from '../limits.js';
import {
  changesResponse,
  type ChangesPage,
  FILE_FIELDS,
  fileResponse,
  folderResponse,
  type FolderPage,
  startTokenResponse,
} from './drive-responses.js';
import { DriveHttp, type DriveResponse, parseJson, readJson } from './drive-http.js';

/** The bearer tokens of a service account, or of a person's sign-in. */
export interface DriveAccess {
  /** @throws DriveFailure */
  token(): Promise<string>;
  /** A new token in place of one that the drive refused. @throws DriveFailure */
  replace(refused: string): Promise<string>;
}

type Query = Readonly<Record<string, string>>;

const ALL_DRIVES = { supportsAllDrives: 'true' };
const OF_ALL_DRIVES = { ...ALL_DRIVES, includeItemsFromAllDrives: 'true', pageSize: String(PAGE_SIZE) };

/** Reasons for refusing the account. Other reasons are about one file. */
const ACCOUNT_REFUSALS = [
  'accessNotConfigured',
  'authError',
  'insufficientPermissions',
  'domainPolicy',
  'accountDisabled',
  'SERVICE_DISABLED',
];
const RATE_LIMITS = [
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'dailyLimitExceeded',
  'sharingRateLimitExceeded',
  'quotaExceeded',
];

const reasons = z.array(z.object({ reason: z.string() })).max(20);
const errorBody = z.object({ error: z.object({ errors: reasons.optional() }) });

/** Requests to the drive's API (v3). Every method throws `DriveFailure`, or the reason of `signal`. */
@Injectable()
export class DriveApi {
  constructor(
    private readonly http: DriveHttp,
    private readonly settings: Settings,
  ) {}

  /** Throws if the account may not use the API. */
  async check(access: DriveAccess): Promise<void> {
    await this.json(z.object({ user: z.unknown() }), access, 'about', { fields: 'user' });
  }

  file(access: DriveAccess, id: string, signal: AbortSignal): Promise<DriveFile> {
    return this.json(fileResponse, access, pathOf(id), { fields: FILE_FIELDS, ...ALL_DRIVES }, signal);
  }

  folder(access: DriveAccess, id: string, pageToken: string | null, signal: AbortSignal): Promise<FolderPage> {
    const q = `'${id.replaceAll(/[\\']/g, '\\$&')}' in parents and trashed = false`;
    const query = {
      q,
      fields: `nextPageToken,files(${FILE_FIELDS})`,
      ...OF_ALL_DRIVES,
      ...(pageToken !== null && { pageToken }),
    };
    return this.json(folderResponse, access, 'files', query, signal);
  }

  async startPageToken(access: DriveAccess, signal: AbortSignal): Promise<string> {
    return (await this.json(startTokenResponse, access, 'changes/startPageToken', ALL_DRIVES, signal)).startPageToken;
  }

  changes(access: DriveAccess, pageToken: string, signal: AbortSignal): Promise<ChangesPage> {
    const fields = `nextPageToken,newStartPageToken,changes(fileId,removed,file(${FILE_FIELDS}))`;
    const query = { pageToken, fields, includeRemoved: 'true', ...OF_ALL_DRIVES };
    return this.json(changesResponse, access, 'changes', query, signal);
  }

  download(access: DriveAccess, id: string, signal: AbortSignal): Promise<Buffer> {
    return this.content(access, pathOf(id), { alt: 'media', ...ALL_DRIVES }, signal);
  }

  export(access: DriveAccess, id: string, mimeType: string, signal: AbortSignal): Promise<Buffer> {
    return this.content(access, `${pathOf(id)}/export`, { mimeType }, signal);
  }

  private async json<Schema extends z.ZodType>(
    schema: Schema,
    access: DriveAccess,
    path: string,
    query: Query,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    const limits = { maxBytes: MAX_RESPONSE_BYTES, timeoutMs: REQUEST_MS, ...(signal && { signal }) };
    return readJson(schema, await this.get(access, path, query, limits));
  }

  private content(access: DriveAccess, path: string, query: Query, signal: AbortSignal): Promise<Buffer> {
    return this.get(access, path, query, { maxBytes: MAX_UPLOAD_BYTES, timeoutMs: DOWNLOAD_MS, signal });
  }

  /** Repeats the request once with a new token if the drive refuses the token. */
  private async get(
    access: DriveAccess,
    path: string,
    query: Query,
    { maxBytes, ...limits }: { maxBytes: number; timeoutMs: number; signal?: AbortSignal },
  ): Promise<Buffer> {
    const url = new URL(`${new URL(this.settings.drive.apiBaseUrl).origin}/drive/v3/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const send = (token: string): Promise<DriveResponse> =>
      this.http.request(url.href, {
        headers: { authorization: `Bearer ${token}`, accept: '*/*' },
        maxBytes: ({ status }) => (status === 200 ? maxBytes : MAX_RESPONSE_BYTES),
        ...limits,
      });
    const token = await access.token();
    const first = await send(token);
    const response = first.status === 401 ? await send(await access.replace(token)) : first;
    if (response.status !== 200) throw toFailure(response);
    return response.body;
  }
}

function pathOf(id: string): string {
  return `files/${encodeURIComponent(id)}`;
}

function toFailure({ status, body, retryAfterMs }: DriveResponse): DriveFailure {
  const reasons = reasonsIn(body);
  const has = (...known: readonly string[]): boolean => reasons.some((reason) => known.includes(reason));
  if (status === 429 || (status === 403 && has(...RATE_LIMITS))) {
    return new DriveFailure('busy', 'The drive limits the rate of requests; try again later.', { retryAfterMs });
  }
  if (status < 400) {
    const redirect = status >= 300 ? '; redirects are not followed' : '';
    return new DriveFailure('answer', `The drive answered with an unexpected status (${status})${redirect}.`);
  }
  if (status === 401) return new DriveFailure('refused', 'The drive no longer accepts the credentials (401).');
  if (status >= 500)
    return new DriveFailure('unreachable', `The drive is not available (${status}).`, { retryAfterMs });
  if (status === 403 && has('exportSizeLimitExceeded'))
    return new DriveFailure('export_too_large', 'The document is too large for the drive to export.');
  if (status === 403 && has(...ACCOUNT_REFUSALS))
    return new DriveFailure('refused', `The drive refuses access to this account (${String(reasons[0])}).`);
  if (status === 403) return new DriveFailure('forbidden', 'The drive does not allow reading the file (403).');
  if (status === 404 || status === 410)
    return new DriveFailure('not_found', `The drive has no such file, or it is not shared (${status}).`);
  return new DriveFailure('bad_request', `The drive rejected the request (${status}).`);
}

/** Only reasons that look like names of the API, because they are shown to customers. */
function reasonsIn(body: Buffer): string[] {
  const errors = parseJson(errorBody, body)?.error.errors ?? [];
  return errors.map(({ reason }) => reason).filter((reason) => /^\w{1,60}$/.test(reason));
}
