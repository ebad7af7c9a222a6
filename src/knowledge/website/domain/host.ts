/** As `HostSlots` names it: `example.com:443`. */
export function hostOf({ protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
