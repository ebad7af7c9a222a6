import type { ProviderType } from '../../models/index.js';
import type { ResumeInput } from '../domain/approval.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { UserContext } from '../ports/index.js';

/** The model that the run calls. Stored with the run, since the agent may change its model later. */
export interface RunModel {
  readonly provider: ProviderType;
  readonly model: string;
  readonly useOwnApiKey: boolean;
}

export interface NewRun {
  readonly id: string;
  readonly sessionId: string | null;
  readonly threadId: string;
  /** Id of the message that the run will write. */
  readonly messageId: string;
  /** Null for a run that begins with `resumeInput`. */
  readonly userMessage: {
    readonly id: string;
    readonly clientId?: string | undefined;
    readonly text: string;
    readonly attachments?: readonly MessageAttachment[];
  } | null;
  /** What becomes of the calls that the thread's last run waits for; without it a message declines them all. */
  readonly resumeInput?: Pick<ResumeInput, 'runId' | 'decisions'> | undefined;
  readonly userContext: UserContext | null;
  /** The key of the run's user; null when the request names none. */
  readonly userKey: string | null;
  readonly createdAt: Date;
  readonly model: RunModel;
  readonly idempotency?: IdempotentRequest;
}
