import type { ResponseFormat, StopReason } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { checkJsonLimits } from '../../platform/json/index.js';
import { JsonSchema } from '../../platform/json-schema/index.js';
import type { RunErrorCode, RunOutcome } from './run.js';

/** Characters of what was wrong, in the note for the model and in the run's error. */
const MAX_PROBLEM = 1_000;

/**
 * Why the model's final answer is not a document of the format; undefined for one that is.
 * Takes at most about 100 ms, whatever the schema and the text are.
 */
export function documentProblem(
  format: ResponseFormat,
  text: string,
  stopReason: StopReason | undefined,
): string | undefined {
  if (stopReason === 'refusal') return 'the model refused';
  if (stopReason === 'max_tokens') return 'it was cut off at the most tokens that the model writes in one answer';
  let document: unknown;
  try {
    // Parsing many different names would block everything else.
    checkJsonLimits(text, { place: 'it' });
    document = JSON.parse(text);
  } catch (error) {
    return error instanceof ValidationFailed ? bounded(error.message) : 'it is not JSON, or has other text around it';
  }
  switch (format.type) {
    case 'json_object':
      return typeof document === 'object' && document !== null && !Array.isArray(document)
        ? undefined
        : 'it is not a JSON object';
    case 'json_schema': {
      const problems = JsonSchema.read(format.schema).problemsOf(document);
      return problems.length === 0 ? undefined : bounded(problems.map((problem) => `it ${problem}`).join('; '));
    }
    default:
      return format satisfies never;
  }
}

/** The note for the model after an answer that is not a document of the format. */
export function mendingNote(problem: string): string {
  return `Your last answer was not sent, since it does not have the required format: ${problem}. Answer again with the whole document and nothing else.`;
}

export function refusedAnswer(): RunOutcome {
  return failed('invalid_structured_output', 'The model refused to answer in the response format.');
}

/** @param problem as of `documentProblem` */
export function invalidAnswer(problem: string): RunOutcome {
  const message = `The model's answer does not have the response format, even after it was asked once more: ${problem}.`;
  return failed('invalid_structured_output', message);
}

/** The run has no final answer, since its rounds of tool calls are used up. */
export function missingAnswer(): RunOutcome {
  return failed('invalid_structured_output', 'The model called tools until the end, and gave no final answer.');
}

/** @param reason the provider's message, without secrets: only it says which part of the schema is not accepted */
export function refusedFormat(reason: string): RunOutcome {
  const quoted = reason === '' ? 'without a reason' : `with these words: ${reason}`;
  return failed('invalid_response_format', `The model provider refused the response format, ${quoted}`);
}

function failed(code: RunErrorCode, message: string): RunOutcome {
  return { status: 'failed', error: { code, message }, facts: { ownKey: false } };
}

function bounded(problem: string): string {
  return (problem.length > MAX_PROBLEM ? `${problem.slice(0, MAX_PROBLEM)}...` : problem).toWellFormed();
}
