import type { RunnableAgent } from '../../agents/index.js';

export interface AdmissionRequest {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
}

/** Decides whether an agent's model may be called at all. */
export abstract class RunAdmission {
  /**
   * Called before each run and each request for suggestions, in the order in which `app.module.ts` lists the
   * admissions, before the service stores anything, fetches a file or calls a model. A repeat of an admitted request
   * gets the first one's result even when it is refused here.
   * @throws DomainError to refuse; its message is public. All these routes document the body of `unprocessable` with
   * `error: 'unprocessable_entity'` and `bare`
   */
  abstract admit(request: AdmissionRequest): Promise<void>;
}
