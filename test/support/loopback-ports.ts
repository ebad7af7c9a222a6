/** As exemptions from the rules for outbound requests: every port of this machine's own addresses. */
export class LoopbackPorts extends Set<string> {
  override has(target: string): boolean {
    return /^(127\.0\.0\.1|localhost|::1|\[::1\]):\d+$/.test(target);
  }
}
