/** A provider's refusal of a schema. */
interface Refusal {
  /** Whether the provider named this tool. */
  readonly isNamed: boolean;
  readonly reason: string;
}

const UNNAMED = 'a tool, without saying which';

/** The `error` of a connected integration with a tool whose schema a provider refuses. */
export function refusalError(provider: string, tool: string, { isNamed, reason }: Refusal): string {
  const offered = isNamed ? 'The tool is' : 'Tools are';
  const detail = reason === '' ? '' : ` It said: ${reason}.`;
  return (
    `${refused(provider, isNamed ? `the tool ${JSON.stringify(tool)}` : UNNAMED)}.${detail} ${offered} offered with any object as ` +
    'input until the server has been checked again or a request with the schema succeeds.'
  );
}

/** Whether `refusalError` made the error for this provider, for this tool or an unnamed one. */
export function isRefusalOf(error: string, provider: string, tool: string): boolean {
  return [`the tool ${JSON.stringify(tool)}`, UNNAMED].some((what) => error.startsWith(`${refused(provider, what)}.`));
}

function refused(provider: string, what: string): string {
  return `The model provider (${provider}) refused the schema of ${what}`;
}
