import { filePart, multipart, type Part } from './files.js';
import type { Answer, RunningService } from './harness.js';
import { until } from './harness.js';

/** Whose knowledge it is. */
export interface Owner {
  readonly key: string;
  readonly agentId: string;
}

export interface KnowledgeFile {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly status: 'processing' | 'ready' | 'failed';
  readonly error: string | null;
  readonly createdAt: string;
  readonly scope: Readonly<Record<string, unknown>> | null;
  readonly chunks: number;
  readonly bytes: number;
}

export interface FoundPassage {
  readonly sourceId: string;
  readonly kind: string;
  readonly title: string;
  readonly url: string | null;
  readonly text: string;
  readonly score: number;
}

export function filesPath({ agentId }: Pick<Owner, 'agentId'>): string {
  return `/v1/agents/${agentId}/knowledge-bases/uploaded-files`;
}

/** Sends any form. */
export async function postKnowledge<Body = KnowledgeFile>(
  service: RunningService,
  { key, agentId }: { readonly key?: string; readonly agentId: string },
  ...parts: readonly Part[]
): Promise<Answer<Body>> {
  const { body, contentType } = multipart(parts);
  const response = await fetch(`${service.baseUrl}${filesPath({ agentId })}`, {
    method: 'POST',
    headers: { 'content-type': contentType, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Body };
}

export interface FileToUpload {
  readonly content: string | Buffer;
  readonly name?: string;
  readonly contentType?: string;
  readonly scope?: Readonly<Record<string, unknown>>;
}

/** Uploads a file, which is then being processed. */
export async function addFile(
  service: RunningService,
  owner: Owner,
  file: FileToUpload | string,
): Promise<KnowledgeFile> {
  const {
    content,
    name = 'notes.txt',
    contentType = 'text/plain',
    scope,
  } = typeof file === 'string' ? { content: file } : file;
  const scopes = scope === undefined ? [] : [{ name: 'scope', value: JSON.stringify(scope) }];
  const answer = await postKnowledge(service, owner, filePart(content, contentType, name), ...scopes);
  if (answer.status !== 201) throw new Error(`upload: ${answer.status} ${answer.text}`);
  return answer.body;
}

export async function listFiles(service: RunningService, owner: Owner): Promise<readonly KnowledgeFile[]> {
  const answer = await service.http<{ files: KnowledgeFile[] }>('GET', filesPath(owner), { key: owner.key });
  if (answer.status !== 200) throw new Error(`list: ${answer.status} ${answer.text}`);
  return answer.body.files;
}

/** Waits until nothing of the agent is processed any more. */
export async function settledFiles(service: RunningService, owner: Owner): Promise<readonly KnowledgeFile[]> {
  let files: readonly KnowledgeFile[] = [];
  const settled = async (): Promise<boolean> => {
    files = await listFiles(service, owner);
    return files.every(({ status }) => status !== 'processing');
  };
  await until(settled, 'the files to be processed');
  return files;
}

/** Uploads files and waits until the agent can find them. */
export async function learn(
  service: RunningService,
  owner: Owner,
  ...files: readonly (FileToUpload | string)[]
): Promise<readonly KnowledgeFile[]> {
  for (const file of files) await addFile(service, owner, file);
  const settled = await settledFiles(service, owner);
  const failed = settled.find(({ status }) => status === 'failed');
  if (failed) throw new Error(`${failed.name}: ${failed.error ?? ''}`);
  return settled;
}

/** By the route. */
export async function searchKnowledge(
  service: RunningService,
  owner: Owner,
  query: string,
  more: object = {},
): Promise<readonly FoundPassage[]> {
  const path = `/v1/agents/${owner.agentId}/knowledge-bases/search`;
  const answer = await service.http<{ results: FoundPassage[] }>('POST', path, {
    key: owner.key,
    body: { query, scoreThreshold: 0, ...more },
  });
  if (answer.status !== 200) throw new Error(`search: ${answer.status} ${answer.text}`);
  return answer.body.results;
}
