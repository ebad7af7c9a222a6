export { createWidgetHandler } from './handler.js';
export { type NodeHandlerOptions, type NodeRequest, type NodeResponse, toNodeHandler } from './node.js';
export type { ConversationStore, StoredConversation, Visitor, WidgetServerOptions } from './options.js';
export type { WidgetServerLimits } from './limits.js';
export { WidgetServerError } from './problems.js';
