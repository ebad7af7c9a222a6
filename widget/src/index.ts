import { ChatClient } from './client/chat-client.js';
import { AgentChatElement } from './element.js';

AgentChatElement.createChat = (options) => new ChatClient(options);

const NAME = 'agent-chat';
// A page may load the module twice, from two URLs.
if (!customElements.get(NAME)) customElements.define(NAME, AgentChatElement);

export { AgentChatElement, ChatClient };
export { VERSION } from './client/version.js';
export type * from './client/chat-state.js';
export type * from './client/options.js';
export type { WireAttachment, WireComponent } from './client/wire.js';
export type { AgentChatEventMap } from './element-events.js';
export { ENGLISH, type Strings } from './view/strings.js';
