import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type OfferedTool, ToolSource } from '../../../src/conversations/index.js';
import { HookServer } from '../../support/hook-server.js';
import { useService } from '../../support/harness.js';
import { type MetricFamily, readPrometheusText, sampleOf } from '../../support/prometheus-text.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

@Injectable()
class ClockTools extends ToolSource {
  offer(): Promise<OfferedTool[]> {
    const definition = { name: 'clock', description: 'The time.', inputSchema: { type: 'object' } };
    return Promise.resolve([
      {
        definition,
        step: 'retrieval',
        effect: 'exempt',
        call: () => Promise.resolve({ output: 'noon', isError: false }),
      },
    ]);
  }
}

@Module({ providers: [ClockTools], exports: [ClockTools] })
class ClockModule {}

const hooks = await HookServer.start();
const service = useService({
  extensions: { imports: [ClockModule], toolSources: [ClockTools] },
  egressAllow: new Set([hooks.host]),
});

/** Labels that Prometheus adds to every series. */
const OWN_LABELS = new Set(['instance', 'job', 'le']);
/** Metrics that Prometheus makes for its targets. */
const OWN_METRICS = new Set(['up']);
/** The embedded database has no pool, so this series does not exist. */
const LABELS_OF_ABSENT: Readonly<Record<string, readonly string[]>> = { agent_service_database_connections: ['state'] };

const dashboard = readFileSync('ops/grafana-dashboard.json', 'utf8');
const rules = readFileSync('ops/alert-rules.yml', 'utf8');
const guide = readFileSync('docs/observability.md', 'utf8');

function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(dashboard) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** Each expression is on one line. */
function ruleExpressions(): string[] {
  return [...rules.matchAll(/^ {8}expr: (.+)$/gm)].map(([, expr = '']) => expr);
}

interface Described {
  readonly type: string;
  readonly labels: readonly string[];
}

/** The metrics in the table of the guide: each row has name, type and labels. */
function describedInGuide(): ReadonlyMap<string, Described> {
  const rows = [...guide.matchAll(/^\| `(agent_service_\w+)` +\| (\w+) +\| ([^|]*)\|/gm)];
  return new Map(rows.map(([, name = '', type = '', labels = '']) => [name, { type, labels: namesIn(labels) }]));
}

function namesIn(labels: string): string[] {
  return [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).sort();
}

/** A metric of the service in the same form. */
function asDescribed({ name, type, samples: [sample] }: MetricFamily): Described {
  const labels = Object.keys(sample?.labels ?? {}).filter((label) => label !== 'le');
  return { type, labels: [...new Set([...labels, ...(LABELS_OF_ABSENT[name] ?? [])])].sort() };
}

interface Used {
  readonly metric: string;
  readonly labels: ReadonlySet<string>;
}

/** Every metric of an expression with the labels that it uses, in matchers and in `by`. */
function usedIn(expr: string): Used[] {
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );
  return [...expr.matchAll(/\b(agent_service_\w+|nodejs_\w+|process_\w+|up)\b(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', matchers = '']) => ({
      metric,
      labels: new Set([...grouped, ...[...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, name = '']) => name)]),
    }),
  );
}

function familyOf(families: ReadonlyMap<string, MetricFamily>, metric: string): MetricFamily | undefined {
  const family = families.get(metric);
  return family?.type === 'histogram'
    ? undefined
    : (family ?? families.get(metric.replace(/_(?:bucket|sum|count)$/, '')));
}

afterAll(() => hooks.close());

let families: ReadonlyMap<string, MetricFamily>;
beforeAll(async () => {
  const talk = await Talk.start(service);
  const handler = { hooks: [{ type: 'http', url: hooks.url('/prompt', () => ({})) }] };
  const put = await service.http('PUT', `/v1/agents/${talk.agentId}/hooks`, {
    key: talk.key,
    body: { hooks: { UserPromptSubmit: [handler] } },
  });
  expect(put.status).toBe(200);
  service.models.next(calls('clock', {}), says('It is noon.'));
  expect((await talk.run('What time is it?')).status).toBe(200);
  families = readPrometheusText((await service.http('GET', '/metrics')).text);
});

describe.each([
  ['the dashboard', dashboardExpressions()],
  ['the alert rules', ruleExpressions()],
])('%s', (_name, expressions) => {
  it('use only metrics and labels of the service', () => {
    expect(expressions.length).toBeGreaterThan(7);
    for (const expr of expressions) {
      const used = usedIn(expr);
      expect({ expr, metrics: used.length }).not.toMatchObject({ metrics: 0 });
      for (const { metric, labels } of used) {
        if (OWN_METRICS.has(metric)) continue;
        const family = familyOf(families, metric);
        expect({ metric, there: family !== undefined }).toEqual({ metric, there: true });
        const [sample] = family?.samples ?? [];
        const known = new Set([
          ...OWN_LABELS,
          ...Object.keys(sample?.labels ?? {}),
          ...(LABELS_OF_ABSENT[metric] ?? []),
        ]);
        expect({ metric, unknown: [...labels].filter((label) => !known.has(label)) }).toEqual({ metric, unknown: [] });
      }
    }
  });
});

it('the dashboard shows every metric of the service', () => {
  const shown = new Set(
    dashboardExpressions().flatMap((expr) => usedIn(expr).map(({ metric }) => familyOf(families, metric)?.name)),
  );
  const own = [...families.keys()].filter((name) => name.startsWith('agent_service_'));
  expect(own.length).toBeGreaterThan(12);
  expect(own.filter((name) => !shown.has(name))).toEqual([]);
});

it('the guide describes every metric of the service, and no other', () => {
  const own = [...families.values()].filter(({ name }) => name.startsWith('agent_service_'));
  expect(describedInGuide()).toEqual(new Map(own.map((family) => [family.name, asDescribed(family)])));
});

it('the alerts name existing commands', async () => {
  const commands = [...rules.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
  expect(commands).not.toEqual([]);
  for (const command of commands) await expect(service.cli(...command.split(' '))).resolves.toEqual(expect.any(Object));
});

it('the dashboard has a variable for the data source', () => {
  const { panels, templating } = JSON.parse(dashboard) as {
    readonly panels: readonly { readonly type: string; readonly datasource?: { readonly uid: string } }[];
    readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  };
  expect(templating.list).toContainEqual(expect.objectContaining({ name: 'datasource', type: 'datasource' }));
  for (const { type, datasource } of panels) if (type !== 'row') expect(datasource?.uid).toBe('${datasource}');
});

describe('one run with one call of a tool and of a hook', () => {
  it('is counted once in every metric', () => {
    const provider = 'anthropic';
    expect(sampleOf(families, 'agent_service_runs_total', { status: 'completed', provider })).toBe(1);
    expect(sampleOf(families, 'agent_service_runs_total', { status: 'failed', provider })).toBe(0);
    expect(sampleOf(families, 'agent_service_run_seconds_count', { provider })).toBe(1);
    expect(sampleOf(families, 'agent_service_run_first_token_seconds_count', { provider })).toBe(1);
    expect(sampleOf(families, 'agent_service_tokens_total', { provider, direction: 'input' })).toBeGreaterThan(10);
    expect(sampleOf(families, 'agent_service_tool_calls_total', { kind: 'retrieval', outcome: 'ok' })).toBe(1);
    expect(sampleOf(families, 'agent_service_tool_call_seconds_count', { kind: 'retrieval' })).toBe(1);
    expect(
      sampleOf(families, 'agent_service_hook_calls_total', { event: 'UserPromptSubmit', type: 'http', outcome: 'ok' }),
    ).toBe(1);
    expect(sampleOf(families, 'agent_service_active_runs')).toBe(0);
    expect(sampleOf(families, 'agent_service_open_streams')).toBe(0);
    expect(sampleOf(families, 'agent_service_jobs_up')).toBe(1);
    expect(sampleOf(families, 'agent_service_jobs', { job_name: 'traces.purge', state: 'dead' })).toBe(0);
    expect(sampleOf(families, 'agent_service_http_requests_total', { method: 'PUT', status: '2xx' })).toBe(1);
  });
});
