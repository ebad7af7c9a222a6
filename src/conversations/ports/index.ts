export type { ApprovalDecision, ToolEffect } from '../domain/approval.js';
export { PromptSource } from './prompt-source.js';
export { ToolSource, type OfferedTool, type ToolResult, type ToolStepType } from './tool-source.js';
export type { TurnContext, UserContext } from './turn-context.js';
export { TurnHooks, type PromptVerdict, type StopVerdict, type ToolCallVerdict } from './turn-hooks.js';
export { TurnObserver, type FinishedTurn, type StepType, type TurnStep } from './turn-observer.js';
