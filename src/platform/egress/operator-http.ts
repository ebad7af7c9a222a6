import { EgressRefused } from './egress.errors.js';
import { type EgressPurpose, type EgressRequest, type EgressResponse, SafeHttp } from './safe-http.js';
import { type Exemptions, isExempt } from './target.js';

/**
 * Requests to the hosts of the operator's settings, which may be private. A separate client: `SafeHttp` reuses connections without
 * a new check, so a connection that was opened for the operator would serve a customer's URL too.
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
