import { ConfidentialTexts } from '../../platform/vault/index.js';
import type { HookOutput } from '../domain/hook-output.js';

/**
 * What an endpoint said without what it was sent in confidence: people and models read it. The arguments that it puts in
 * place of a call's are a tool's alone and stay as they are.
 */
export function withoutSecrets(output: HookOutput, secrets: readonly string[]): HookOutput {
  if (secrets.length === 0) return output;
  const confidential = new ConfidentialTexts(secrets);
  const { reason, permissionDecisionReason, additionalContext, ...rest } = output;
  return {
    ...rest,
    ...(reason === undefined ? {} : { reason: confidential.leftOut(reason) }),
    ...(permissionDecisionReason === undefined ? {} : { permissionDecisionReason: confidential.leftOut(permissionDecisionReason) }),
    ...(additionalContext === undefined ? {} : { additionalContext: additionalContext.map((text) => confidential.leftOut(text)) }),
  };
}
