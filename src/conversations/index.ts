import type { Context } from '../platform/context/index.js';
import { ConversationsModule } from './conversations.module.js';
import { conversationsSchema } from './persistence/conversations.schema.js';

export const conversationsContext = {
  name: 'conversations',
  modules: [ConversationsModule],
  schema: conversationsSchema,
} satisfies Context;

export { ConversationsModule, conversationsSchema };
export { type RunExtensions, RunExtensionsModule } from './run-extensions.module.js';
export { type ReactionCount, ReadReactions } from './application/read-reactions.js';
export type { Reactions } from './engine/presenters.js';
export { type ThreadDataHolder, ThreadDataHolders } from './application/thread-data-holders.js';
export { WidgetConversations } from './application/widget-conversations.js';
export { UserColumns } from './application/user-columns.js';
export { UserKeys } from './application/user-keys.js';
export { isBareUser, MAX_USER_ID } from './domain/user-key.js';
export { UserKeysModule } from './user-keys.module.js';
export * from './ports/index.js';
export type { FailureCause } from './domain/failure-cause.js';
export { REACTION_NAMES, type ReactionName } from './domain/message.js';
export type { Message, ToolCallRecord } from './domain/message.js';
export {
  type Run,
  RUN_ERROR_CODES,
  runError,
  type RunError,
  type RunErrorCode,
  type RunStatus,
  type RunUsage,
} from './domain/run.js';
export type { Channel } from './domain/thread.js';
