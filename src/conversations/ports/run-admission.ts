import type { RunnableAgent } from '../../agents/index.js';

/** Who is to pay for a call of the agent's model. */
export interface AdmissionRequest {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
}

/** Is asked whether the agent's model may be called at all. */
export abstract class RunAdmission {
  /**
   * Asked before each run and each request for suggestions, in the order in which `app.module.ts` lists them: nothing has
   * been stored by then, no file fetched and no model called. The repeat of a request that was admitted is answered the
   * first one's result, whatever is said to it here.
   * @throws DomainError where it may not; its message is public. `unprocessable` with `error: 'unprocessable_entity'` and
   * `bare` is the body that all these routes document
   */
  abstract admit(request: AdmissionRequest): Promise<void>;
}
