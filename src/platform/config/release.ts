/** The version of `package.json`. A constant, because the built service is one file that may run without it. */
export const RELEASE = '1.0.0';
