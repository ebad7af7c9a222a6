import { describe, expect, it } from '@jest/globals';
import { readSettings, type Settings } from './settings.js';

function otlp(environment: Record<string, string>): Settings['otlp'] {
  return readSettings(
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', ...environment },
    { role: 'all', demo: false },
  ).otlp;
}

describe('the settings of the OpenTelemetry backend', () => {
  it('name none without an endpoint, whatever else is set', () => {
    expect(otlp({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_CAPTURE_CONTENT: 'true' })).toBeUndefined();
  });

  it('have defaults, and contents are not captured', () => {
    expect(otlp({})).toEqual({
      tracesUrl: 'http://collector:4318/v1/traces',
      headers: {},
      timeoutMs: 10_000,
      serviceName: 'agent-service',
      captureContent: false,
    });
  });

  it('are read as OpenTelemetry writes them', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/base/',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi==, x-team = a%2Cb ,',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
      OTEL_SERVICE_NAME: 'agents-eu',
      OTEL_CAPTURE_CONTENT: 'true',
    };
    expect(otlp(environment)).toEqual({
      tracesUrl: 'https://otlp.example/base/v1/traces',
      headers: { authorization: 'Basic YTpi==', 'x-team': 'a,b' },
      timeoutMs: 2_500,
      serviceName: 'agents-eu',
      captureContent: true,
    });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318/canary'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://canary:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318?key=canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', '=canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'two words=canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=canary%'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=canary%0d%0ab: c'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Content-Type=canary'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=canary'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s canary'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '600001'],
    ['OTEL_SERVICE_NAME', 'canary'.repeat(50)],
    ['OTEL_CAPTURE_CONTENT', 'canary'],
  ])('stop the start in one line that names %s and not its value: %j', (name, value) => {
    expect(() => otlp({ [name]: value })).toThrow(new RegExp(`^${name}: [^\\n]*$`));
    expect(() => otlp({ [name]: value })).not.toThrow(/canary/);
  });
});
