/** Of this package; the service decides by it which components it can send. */
export const VERSION = '1.0.0';
