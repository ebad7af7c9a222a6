import { EgressRefused } from './egress.errors.js';
import { type EgressPurpose, type EgressRequest, type EgressResponse, SafeHttp } from './safe-http.js';
import { type Exemptions, isExempt } from './target.js';

/**
 * The way to the hosts that the operator's settings name, which may be private. It is a client of its own: connections of
 * `SafeHttp` are reused without a new check, so one that was opened for the operator would serve a customer's URL too.
 */
export class OperatorHttp extends SafeHttp {
  constructor(
    /** Shares no connection with other clients; exempts exactly `hosts`. */
    private readonly http: SafeHttp,
    private readonly hosts: Exemptions,
  ) {
    super();
  }

  check(url: string, purpose: EgressPurpose): void {
    this.http.check(url, purpose);
  }

  async request(url: string | URL, request: EgressRequest): Promise<EgressResponse> {
    const target = URL.parse(String(url));
    if (!target || !isExempt(target, this.hosts)) {
      throw new EgressRefused('address', { detail: 'no host of the settings' });
    }
    return this.http.request(target, { ...request, redirects: 'none' });
  }
}
