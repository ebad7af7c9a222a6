/**
 * The ids in the examples of the OpenAPI document, by resource. The demo creates a resource under each id, so that the
 * examples work there unchanged. A resource that one example deletes is used by no other.
 */
export const EXAMPLE_IDS = {
  agent: exampleId(1),
  /** Has its own provider key, a tool server and a session-start hook. */
  hookedAgent: exampleId(2),
  /** For examples that delete something of which an agent can have only one. */
  spareAgent: exampleId(3),
  deletedAgent: exampleId(4),
  section: exampleId(11),
  deletedSection: exampleId(12),
  thread: exampleId(21),
  deletedThread: exampleId(22),
  /** The first run of `thread`, which has ended, and is a trace too. */
  run: exampleId(31),
  /** The reply of `run`. */
  message: exampleId(32),
  /** Of no interrupt, because an interrupt is open only until it is answered. */
  interrupt: exampleId(33),
  integration: exampleId(41),
  deletedIntegration: exampleId(42),
  knowledgeFile: exampleId(51),
  /** Of no service account, because the demo has no drive. */
  serviceAccount: exampleId(52),
  apiKey: exampleId(61),
  webhook: exampleId(71),
  deletedWebhook: exampleId(72),
  /** Of no delivery, because the demo's webhooks receive none. */
  delivery: exampleId(73),
} as const;

/** A UUID of version 7 with the first moment of 2026 (UTC) as its time. */
function exampleId(number: number): string {
  return `019b76da-a800-7000-8000-${String(number).padStart(12, '0')}`;
}
