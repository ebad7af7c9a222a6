/** What is known of a request by the time it is logged. Ids that the service has found, never as a caller wrote them. */
export interface RequestFacts {
  readonly organizationId?: string;
  readonly agentId?: string;
  readonly runId?: string;
}

const factsByRequest = new WeakMap<object, RequestFacts>();

/** Adds to the line that the log will have of the request. */
export function noteOn(request: object, facts: RequestFacts): void {
  factsByRequest.set(request, { ...factsByRequest.get(request), ...facts });
}

export function factsOf(request: object): RequestFacts | undefined {
  return factsByRequest.get(request);
}
