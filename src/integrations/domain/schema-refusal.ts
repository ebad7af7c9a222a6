/** What a provider has said of a schema. */
interface Refusal {
  /** Whether it said that it is this tool's. */
  readonly isNamed: boolean;
  readonly reason: string;
}

const UNNAMED = 'a tool, without saying which';

/** What people read of an integration that works, and of which a provider does not take all. */
export function refusalError(provider: string, tool: string, { isNamed, reason }: Refusal): string {
  const offered = isNamed ? 'The tool is' : 'Tools are';
  const said = reason === '' ? '' : ` It said: ${reason}.`;
  return (
    `${refused(provider, isNamed ? `the tool ${JSON.stringify(tool)}` : UNNAMED)}.${said} ${offered} offered with any object as ` +
    'input until the server has been checked again or a request with the schema goes well.'
  );
}

/** Whether the error is such a one, and of this tool or of none by name. */
export function isSaidOf(error: string, provider: string, tool: string): boolean {
  return [`the tool ${JSON.stringify(tool)}`, UNNAMED].some((what) => error.startsWith(`${refused(provider, what)}.`));
}

function refused(provider: string, what: string): string {
  return `The model provider (${provider}) refused the schema of ${what}`;
}
