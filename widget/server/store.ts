import { isRecord, isUuid } from './fields.js';
import type { Settings, Visitor } from './options.js';
import { WidgetServerError } from './problems.js';

/** A conversation of the customer's store, with an id in lower case. */
export interface Remembered {
  readonly threadId: string;
  readonly title: string | null;
  readonly updatedAt: string | null;
}

/**
 * What the store has of the visitor, without what is malformed: one wrong row must not cost the visitor the others.
 * @throws what the store's `list` throws
 */
export async function rememberedOf({ conversations, report }: Settings, { id }: Visitor): Promise<Remembered[]> {
  const given: unknown = await conversations?.list(id);
  const isList = Array.isArray(given);
  let malformed = isList || conversations === null ? 0 : 1;
  const remembered: Remembered[] = [];
  for (const entry of isList ? (given as readonly unknown[]) : []) {
    const { threadId, title = null, updatedAt = null } = isRecord(entry) ? entry : {};
    const isValid = isTextOrNull(title) && isTextOrNull(updatedAt);
    if (isUuid(threadId)) {
      const id = threadId.toLowerCase();
      remembered.push({ threadId: id, title: textOrNull(title), updatedAt: textOrNull(updatedAt) });
    }
    if (!isValid || !isUuid(threadId)) malformed += 1;
  }
  if (malformed > 0) {
    report(
      new WidgetServerError(
        `conversations.list must return a list of {threadId, title?, updatedAt?}; wrong: ${malformed}`,
      ),
    );
  }
  return remembered;
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
