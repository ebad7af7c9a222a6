export type { ApprovalDecision, ToolEffect } from '../domain/approval.js';
export { type PromptScope, PromptSource } from './prompt-source.js';
export {
  ToolSource,
  type OfferedTool,
  type SchemaVerdict,
  type ShownComponent,
  type ToolResult,
  type ToolStepType,
} from './tool-source.js';
export { RunAdmission, type AdmissionRequest } from './run-admission.js';
export type { CallerSpan, EarlierCall, RunContext, Widget } from './run-context.js';
export { callerSpan } from './run-context.js';
export {
  RunHooks,
  type PromptVerdict,
  type StopVerdict,
  type SuggestionRequest,
  type ToolCallVerdict,
  type UserPrompt,
} from './run-hooks.js';
export { RunObserver, type FinishedRun, type RunRecord, type SuggestionUsage } from './run-observer.js';
export type { RunStep, StepType } from './run-step.js';
export type { UserContext } from '../domain/user-context.js';
