/** The version of this package, by which the service chooses the components that it sends. */
export const VERSION = '1.1.0';
