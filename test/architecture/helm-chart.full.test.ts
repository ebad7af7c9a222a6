import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';

const CHART = 'ops/helm/agent-service';
const SPRIG = '/usr/share/gocode/src/github.com/Masterminds/sprig';
const GO = ['/usr/lib/go-1.19/bin/go', '/usr/bin/go'].find((path) => existsSync(path));
/** Debian's packages golang-go and golang-github-masterminds-sprig-dev render a chart where there is no Helm. */
const CAN_RENDER = GO !== undefined && existsSync(SPRIG);
const VALUES = readdirSync(join(CHART, 'ci'));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}
type Values = Record<string, unknown>;
type Model = new (data: object) => { validate(): void };

const yamlOf = (path: string): Values => parse(readFileSync(join(CHART, path), 'utf8')) as Values;
const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As Helm merges the values of an operator into the chart's. */
function merged(base: Values, over: Values): Values {
  const entries = Object.entries(over).map(([name, value]) => {
    const below = base[name];
    return [name, isValues(value) && isValues(below) ? merged(below, value) : value];
  });
  return { ...base, ...(Object.fromEntries(entries) as Values) };
}

const valuesOf = (name: string): Values => merged(yamlOf('values.yaml'), yamlOf(join('ci', name)));

describe('the schema of the values', () => {
  const { $schema: _draft, ...schema } = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Values;
  const validate = new Ajv({ allowUnionTypes: true }).compile(schema);

  it.each(VALUES)('accepts ci/%s', (name) => {
    expect(validate(valuesOf(name))).toBe(true);
  });

  const setting = (name: string, value: unknown): Values => ({ settings: { [name]: value } });
  const disruptions = (maxUnavailable: unknown): Values => ({ worker: { podDisruptionBudget: { maxUnavailable } } });

  it.each<[string, Values]>([
    ['no secret', { existingSecret: '' }],
    ['no place for files', { settings: { FILES_S3_BUCKET: '' } }],
    ['a value that does not exist', { replicas: 2 }],
    ['the key of the secrets among the settings', setting('SECRETS_KEY', 'x')],
    ['a key of a provider among the settings', setting('ANTHROPIC_API_KEY', 'x')],
    ['a password in a URL among the settings', setting('DATABASE_URL', 'postgresql://a:b@c/d')],
    ['a password in the URL of traces', setting('OTEL_EXPORTER_OTLP_ENDPOINT', 'https://a:b@c')],
    ['headers of traces among the settings', setting('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=x')],
    ['another port than the probes ask', setting('PORT', 8080)],
    ['another host than the probes ask', setting('HOST', '127.0.0.1')],
    ['a second port of the metrics', setting('METRICS_PORT', 9191)],
    ['another folder than the mounted one', setting('DATA_DIR', '/tmp/data')],
    ['a time to stop that is no number of seconds', setting('SHUTDOWN_SECONDS', '1m')],
    ["the API's port for the metrics", { metricsPort: 3000 }],
    ['a budget that blocks every drain', disruptions(0)],
    ['a budget of 0%', disruptions('0%')],
    ['a budget that is no number', disruptions('one')],
  ])('refuses %s', (_what, values) => {
    expect(validate(merged(valuesOf('least-values.yaml'), values))).toBe(false);
  });

  it.each<[string, Values]>([
    ['a claim instead of a bucket', { settings: { FILES_S3_BUCKET: '' }, files: { existingClaim: 'uploads' } }],
    ['a budget in percent', disruptions('25%')],
    ['a URL of traces without a password', setting('OTEL_EXPORTER_OTLP_ENDPOINT', 'https://c:4318/a@b')],
    ['a time to stop as text', setting('SHUTDOWN_SECONDS', '60')],
  ])('accepts %s', (_what, values) => {
    expect(validate(merged(valuesOf('least-values.yaml'), values))).toBe(true);
  });
});

(CAN_RENDER ? describe : describe.skip)(
  'the manifests (needs golang-go and golang-github-masterminds-sprig-dev)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'chart-'));
    const program = join(folder, 'render');
    beforeAll(() => {
      const env = { PATH: '/usr/bin', HOME: folder, GOPATH: '/usr/share/gocode', GO111MODULE: 'off' };
      execFileSync(GO ?? '', ['build', '-o', program, resolve('test/support/helm/render.go')], { env });
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    function manifestsOf(values: Values): Manifest[] {
      const text = execFileSync(program, [CHART, JSON.stringify(values)], { encoding: 'utf8' });
      const templates = text.split(/^# Source: /m).filter((part) => /^\S+\.yaml\n/.test(part));
      const documents = templates.flatMap((part) => parseAllDocuments(part.slice(part.indexOf('\n'))));
      return documents.flatMap((document) => {
        expect('errors' in document ? document.errors : []).toEqual([]);
        const manifest = document.toJS() as Manifest | null;
        return manifest ? [manifest] : [];
      });
    }

    async function modelOf({ apiVersion, kind }: Manifest): Promise<Model | undefined> {
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
      if (group === 'monitoring.coreos.com') return undefined;
      const models = (await import(['kubernetes-models', group, version].filter(Boolean).join('/'))) as Record<
        string,
        Model
      >;
      return models[kind];
    }

    it.each(VALUES)('of ci/%s are as Kubernetes defines them', async (name) => {
      const manifests = manifestsOf(valuesOf(name));
      expect(manifests.length).toBeGreaterThan(6);
      for (const manifest of manifests) {
        const Model = await modelOf(manifest);
        if (manifest.kind !== 'PodMonitor') expect(Model).toBeDefined();
        expect(() => Model && new Model(manifest).validate()).not.toThrow();
      }
    });

    it.each<[string, Values, RegExp]>([
      [
        'no place for files',
        { settings: { FILES_S3_BUCKET: '' } },
        /settings\.FILES_S3_BUCKET or files\.existingClaim: /,
      ],
      [
        'more least replicas than most',
        { api: { autoscaling: { minReplicas: 11 } } },
        /api\.autoscaling\.minReplicas: must be at most maxReplicas/,
      ],
    ])('are not made of %s', (_what, values, message) => {
      expect(() => manifestsOf(merged(valuesOf('least-values.yaml'), values))).toThrow(message);
    });

    it.each([
      [undefined, 35],
      [60, 70],
      ['60', 70],
    ])('give a pod with SHUTDOWN_SECONDS %j longer to stop than it needs', (seconds, grace) => {
      const values = merged(valuesOf('least-values.yaml'), seconds ? { settings: { SHUTDOWN_SECONDS: seconds } } : {});
      const pods = manifestsOf(values).filter(({ kind }) => kind === 'Deployment');
      expect(pods).toHaveLength(2);
      for (const { spec } of pods) {
        expect(spec['template']).toMatchObject({ spec: { terminationGracePeriodSeconds: grace } });
      }
    });

    it('give the processes each setting as it is written, however large the number', () => {
      const settings = { SESSION_RESUME_SECONDS: 2_592_000, LOG_LEVEL: 'info', A_RATIO: 0.25, A_SWITCH: true };
      const pods = manifestsOf(merged(valuesOf('least-values.yaml'), { settings }));
      const text = JSON.stringify(pods.filter(({ kind }) => kind === 'Deployment' || kind === 'Job'));
      for (const [name, value] of Object.entries(settings))
        expect(text.split(JSON.stringify({ name, value: String(value) }))).toHaveLength(4);
    });

    it.each([
      [{ create: true }, 'agents'],
      [{ create: true, name: 'ours' }, 'ours'],
      [{ create: false, name: 'theirs' }, 'theirs'],
      [{ create: false }, 'default'],
    ])('run under an account that exists: %j', (serviceAccount, account) => {
      const values = merged(valuesOf('least-values.yaml'), { serviceAccount: { name: '', ...serviceAccount } });
      const manifests = manifestsOf(values);
      const made = manifests.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
      expect(made).toEqual(serviceAccount.create ? [account] : []);
      for (const { spec } of manifests.filter(({ kind }) => kind === 'Deployment'))
        expect(spec['template']).toMatchObject({ spec: { serviceAccountName: account } });
    });

    it('name the secret and hold no value of it', () => {
      const text = JSON.stringify(manifestsOf(valuesOf('all-values.yaml')));
      expect(text).not.toMatch(/"kind":"(Secret|ConfigMap)"/);
      expect(text).toContain('"secretRef":{"name":"agent-service"}');
    });

    it('give no pod more than it needs', () => {
      const pods = manifestsOf(valuesOf('all-values.yaml')).filter(
        ({ kind }) => kind === 'Deployment' || kind === 'Job',
      );
      expect(pods.map(({ metadata }) => metadata.name).sort()).toEqual([
        'agents-api',
        'agents-migrate',
        'agents-worker',
      ]);
      for (const { spec } of pods) {
        expect(spec['template']).toMatchObject({
          spec: {
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
              },
            ],
          },
        });
      }
    });

    it('have each optional part only where it is asked for', () => {
      const kinds = (name: string): string[] => manifestsOf(valuesOf(name)).map(({ kind }) => kind);
      for (const kind of ['Ingress', 'PodMonitor', 'NetworkPolicy']) {
        expect(kinds('all-values.yaml')).toContain(kind);
        expect(kinds('least-values.yaml')).not.toContain(kind);
      }
    });
  },
);
