import { storableJson } from '../../platform/database/index.js';
import { type ApprovalDecision, DECLINED_BY_MESSAGE, declinedOutput, type ResumeInput } from '../domain/approval.js';
import type { ToolCallRecord } from '../domain/message.js';

type Answered = Pick<ToolCallRecord, 'status' | 'output'>;

/**
 * The calls that wait in the message of the run that this one answers: the first takes the first of $18, and so
 * on; those beyond are declined. Where no run waits, it finds nothing to do.
 */
export const ANSWER_CALLS = `answered as (
    update messages set tool_calls = (
      select jsonb_agg(case when waits then call || coalesce($18::jsonb -> (nth - 1), $19::jsonb) else call end
                       order by position)
      from (
        select call, position, call ->> 'status' = 'awaiting_approval' as waits,
               (count(*) filter (where call ->> 'status' = 'awaiting_approval') over (order by position))::int as nth
        from jsonb_array_elements(messages.tool_calls) with ordinality as calls(call, position)
      ) numbered
    )
    from run join runs asked on asked.id = run.answers_run_id
    where messages.id = asked.message_id
  )`;

/** The parameters $18 and $19: without a resumption every call that waits is declined. */
export function answeredCalls(resumption: ResumeInput | undefined): string[] {
  return [storableJson(resumption?.decisions.map(answeredCall) ?? []), storableJson(DECLINED)];
}

/** What a call that waited is from now on; what came of an approved one stands in the message of the run that makes it. */
function answeredCall(decision: ApprovalDecision): Answered {
  return decision.approved ? { status: 'approved' } : { status: 'denied', output: declinedOutput(decision) };
}

const DECLINED: Answered = { status: 'denied', output: DECLINED_BY_MESSAGE };
