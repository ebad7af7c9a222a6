export { ConversationsModule, type RunExtensions } from './conversations.module.js';
export { type ThreadDataHolder, ThreadDataHolders } from './application/thread-data-holders.js';
export { ThreadDataModule } from './thread-data.module.js';
export { conversationsSchema } from './persistence/conversations.schema.js';
export * from './ports/index.js';
export type { Message, ToolCallRecord } from './domain/message.js';
export type { Run, RunError, RunStatus, RunUsage } from './domain/run.js';
export type { Channel } from './domain/thread.js';
