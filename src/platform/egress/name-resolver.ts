import { lookup, Resolver } from 'node:dns/promises';

export abstract class NameResolver {
  /** Resolves a name that a customer chose. @returns IP literals; rejects if there are none */
  abstract resolvePublic(name: string): Promise<readonly string[]>;
  abstract resolveOwn(name: string): Promise<readonly string[]>;
}

const TRY_MS = 2_000;
const TRIES = 2;

export class SystemNameResolver extends NameResolver {
  /**
   * Queries the name servers instead of the system's lookup, which also resolves the machine's own names, and uses the few threads
   * of files and ciphers, which a slow name server could block.
   */
  async resolvePublic(name: string): Promise<readonly string[]> {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [failed] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
    if (addresses.length === 0) throw failed ?? new Error('The name has no address');
    return addresses;
  }

  async resolveOwn(name: string): Promise<readonly string[]> {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  }
}
