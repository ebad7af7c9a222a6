import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  AgentWrites,
  type Changed,
  type FieldChange,
  secretChange,
  type VersionedPart,
  VersionedParts,
  VersionNotRestorable,
  type WriteTarget,
  type Written,
} from '../../agents/index.js';
import { AppTools } from '../../integrations/index.js';
import { TimeSlice } from '../../platform/clock/index.js';
import type { Transaction } from '../../platform/database/index.js';
import { EgressRefused, SafeHttp } from '../../platform/egress/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { hasHeaders, headersIn, type HooksWithHeaders, resolveHeaders } from '../domain/header-values.js';
import { allHandlers, hooksDocument, type HooksDocument } from '../domain/hooks-document.js';
import { HOOK_EVENTS, type HookEvent } from '../domain/hook-event.js';
import { matcherFault } from '../domain/matcher.js';
import { readDocument } from '../domain/read-document.js';
import { AgentHooksRepository, type HooksOwner, NO_HOOKS } from '../persistence/agent-hooks.repository.js';
import { HookSecretStore } from './hook-secrets.js';

/** Compiling a matcher takes milliseconds, so checking matchers yields to other work after this time. */
const SLICE_MS = 5;

const EMPTY: HooksWithHeaders = { document: {}, headers: {} };

/**
 * Replaces the hooks document. Each write that changes something creates one version of the agent, which stores the document
 * without secrets.
 */
@Injectable()
export class ChangeHooks implements VersionedPart<typeof hooksDocument> {
  readonly field = 'hooks';
  readonly stored = hooksDocument;

  constructor(
    private readonly writes: AgentWrites,
    private readonly settings: AgentHooksRepository,
    private readonly secrets: HookSecretStore,
    private readonly tools: AppTools,
    private readonly http: SafeHttp,
    parts: VersionedParts,
  ) {
    parts.register(this);
  }

  /**
   * Stores nothing when it throws.
   * @param sent the unchecked document of the request
   * @returns the stored document, without the values of headers
   * @throws ValidationFailed naming the path; AgentNotFound, VersionConflict
   */
  async replace(target: WriteTarget, sent: unknown): Promise<Changed<HooksDocument>> {
    const wanted = readDocument(sent, (url) => this.urlFault(url));
    await requireMatchers(wanted.document);
    return this.write(target, wanted);
  }

  /** @throws AgentNotFound, VersionConflict */
  remove(target: WriteTarget): Promise<Changed<HooksDocument>> {
    return this.write(target, EMPTY);
  }

  async snapshot(source: Transaction, organizationId: string, agentId: string): Promise<HooksDocument> {
    return (await this.settings.find(source, { organizationId, agentId }))?.document ?? {};
  }

  /** @throws VersionNotRestorable when a header's value or a server no longer exists: its guard could not be called */
  async restore(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    snapshot: HooksDocument | null,
  ): Promise<readonly FieldChange[]> {
    const owner = { organizationId, agentId };
    const document = snapshot ?? {};
    const changes = await this.put(transaction, owner, { document, headers: headersIn(document) }, missingInVersion);
    if (changes.length === 0) return [];
    const missing = await this.missingServer(transaction, owner, document);
    if (!missing) return changes;
    throw new VersionNotRestorable(
      `its ${missing.path} calls the tool integration '${missing.server}', which the agent no longer has; add it first, then restore.`,
    );
  }

  /** Writes only when something differs. @returns the differences */
  private async put(
    transaction: Transaction,
    owner: HooksOwner,
    wanted: HooksWithHeaders,
    refuseMissing: (path: string) => never,
  ): Promise<FieldChange[]> {
    const current = (await this.settings.find(transaction, owner)) ?? NO_HOOKS;
    const stored = {
      document: current.document,
      headers: await this.secrets.readableHeaders(owner, current.headers, transaction),
    };
    const headers = resolveHeaders(wanted, stored, refuseMissing);
    const { document } = wanted;
    const changes = changesBetween(stored, { document, headers });
    if (changes.length === 0) return [];
    const values = hasHeaders(document) ? headers : undefined;
    const storedHeaders = await this.secrets.storeHeaders(transaction, owner, current.headers, values);
    await this.settings.store(transaction, owner, { ...current, document, headers: storedHeaders });
    return changes;
  }

  /** The first handler whose server the agent does not have; undefined when there is none. */
  private async missingServer(
    transaction: Transaction,
    { organizationId, agentId }: HooksOwner,
    document: HooksDocument,
  ): Promise<{ path: string; server: string } | undefined> {
    const servers = allHandlers(document).flatMap(({ handler, path }) =>
      handler.type === 'mcp_tool' ? [{ path, server: handler.server }] : [],
    );
    if (servers.length === 0) return undefined;
    const apps = await this.tools.appsOf(transaction, organizationId, agentId);
    return servers.find(({ server }) => !apps.has(server));
  }

  private async write(target: WriteTarget, wanted: HooksWithHeaders): Promise<Changed<HooksDocument>> {
    return this.writes.change(target, async (transaction): Promise<Written<HooksDocument>> => {
      const missing = await this.missingServer(transaction, target, wanted.document);
      if (missing) {
        throw new ValidationFailed(
          `${missing.path}.server must be the app of one of the agent's custom-mcp integrations, and '${missing.server}' is not`,
        );
      }
      return { result: wanted.document, changes: await this.put(transaction, target, wanted, missingInRequest) };
    });
  }

  private urlFault(url: string): string | undefined {
    try {
      this.http.check(url, 'hook');
      return undefined;
    } catch (error) {
      if (error instanceof EgressRefused) return error.message;
      throw error;
    }
  }
}

function missingInRequest(path: string): never {
  throw new ValidationFailed(`${path} has no stored value for this URL: send the value itself`);
}

function missingInVersion(path: string): never {
  throw new VersionNotRestorable(
    `the value of its ${path} is no longer stored; set the hooks with that value first, then restore.`,
  );
}

async function requireMatchers(document: HooksDocument): Promise<void> {
  const slice = new TimeSlice(SLICE_MS);
  for (const event of HOOK_EVENTS) {
    for (const [index, { matcher }] of (document[event] ?? []).entries()) {
      const fault = matcher === undefined ? undefined : matcherFault(matcher);
      if (fault !== undefined) throw new ValidationFailed(`hooks.${event}[${index}].matcher ${fault}`);
      await slice.rest();
    }
  }
}

/** One change for each event whose groups differ, or else whose header values differ. */
function changesBetween(before: HooksWithHeaders, after: HooksWithHeaders): FieldChange[] {
  return HOOK_EVENTS.flatMap((event): FieldChange[] => {
    const [from, to] = [before.document[event] ?? null, after.document[event] ?? null];
    if (!isDeepStrictEqual(from, to)) return [{ field: `hooks.${event}`, before: from, after: to }];
    const hasSameValues = isDeepStrictEqual(valuesOf(before, event), valuesOf(after, event));
    return hasSameValues ? [] : [secretChange(`hooks.${event}.headers`)];
  });
}

/** Handlers without headers are left out: for an event without any headers nothing is stored. */
function valuesOf({ headers }: HooksWithHeaders, event: HookEvent): readonly unknown[] {
  return (headers[event] ?? []).flatMap((values, index) =>
    Object.keys(values ?? {}).length === 0 ? [] : [[index, values]],
  );
}
