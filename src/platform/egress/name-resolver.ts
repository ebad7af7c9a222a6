import { lookup, Resolver } from 'node:dns/promises';

/** Turns a name into addresses, all of them in one answer. */
export abstract class NameResolver {
  /** A name that a customer chose. @returns IP literals; rejects when there are none */
  abstract resolvePublic(name: string): Promise<readonly string[]>;
  /** The name of one of the operator's own services. */
  abstract resolveOwn(name: string): Promise<readonly string[]>;
}

const TRY_MS = 2_000;
const TRIES = 2;

export class SystemNameResolver extends NameResolver {
  /**
   * Asks the name servers and not the system's look-up: that one knows the machine's own names, and runs on
   * the few threads that files and ciphers need, which a slow name server could keep busy.
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
