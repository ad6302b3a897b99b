import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ChargeRow } from '../ledger/charge-row.ts'

/** What the process counts for Prometheus. Names and labels are documented in docs/operating.md. */
export type Metrics = {
  registry: Registry
  /** A call was charged, of no quota too. */
  charged: (row: ChargeRow) => void
  /** An attempt, or a call with all of its attempts, failed. */
  failed: (row: { failed: 'attempt' | 'call'; modelName: string; channelId: number }) => void
  /** A call was answered, or refused. */
  answered: (dialect: string, status: number) => void
}

/** What is read when somebody asks. `aggregator` says how the workers' figures become one: what all see alike is not added up. */
export type Reading = {
  name: string
  help: string
  label?: string
  aggregator?: 'sum' | 'max'
  /** The value, or one for each value of the label. */
  read: () => number | Record<string, number>
}

const tokenKinds = ['prompt', 'completion', 'cached'] as const
const failureKinds = ['attempt', 'call'] as const
const seconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** Model names that a process distinguishes at a time; callers may name any that a wildcard price covers. */
const mostModels = 500

/** After so long without a call a name gives its place to another one. */
const idleMs = 3_600_000

export function createMetrics(readings: readonly Reading[], now: () => number = Date.now): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ['model'], buckets: seconds, registers })

  const requests = counter('gateway_requests_total', 'Answers to calls, refusals included; 499: the caller hung up.', [
    'dialect',
    'status',
  ])
  const calls = counter('gateway_calls_total', 'Calls that were charged.', ['model', 'channel'])
  const tokens = counter('gateway_tokens_total', 'Tokens of charged calls; cached ones are prompt tokens too.', [
    'model',
    'channel',
    'kind',
  ])
  const quota = counter('gateway_quota_total', 'What calls were charged, in quota units.', ['model', 'channel'])
  const cost = counter('gateway_cost_dollars_total', 'What charged calls cost the operator, where it is known.', [
    'model',
    'channel',
  ])
  const failures = counter('gateway_failures_total', 'Failed attempts, and calls that failed with all of theirs.', [
    'model',
    'channel',
    'kind',
  ])
  const callSeconds = histogram('gateway_call_seconds', 'From arrival to the last byte of charged calls.')
  const firstToken = histogram('gateway_first_token_seconds', 'From arrival to the first token of streamed calls.')
  for (const reading of readings) addReading(registers, reading)

  // The name that was called longest ago stands first.
  const models = new Map<string, { calledAt: number; channels: Set<string> }>()
  const labelsFor = (row: { modelName: string; channelId: number }): { model: string; channel: string } => {
    const channel = String(row.channelId)
    const known = models.get(row.modelName)
    if (!known && models.size >= mostModels && !dropIdle()) return { model: 'other', channel }
    models.delete(row.modelName)
    models.set(row.modelName, { calledAt: now(), channels: (known?.channels ?? new Set<string>()).add(channel) })
    return { model: row.modelName, channel }
  }
  const dropIdle = (): boolean => {
    for (const [model, { calledAt, channels }] of models) {
      if (now() - calledAt < idleMs) return false
      models.delete(model)
      for (const metric of [callSeconds, firstToken]) metric.remove({ model })
      for (const channel of channels) {
        for (const metric of [calls, quota, cost]) metric.remove({ model, channel })
        for (const kind of tokenKinds) tokens.remove({ model, channel, kind })
        for (const kind of failureKinds) failures.remove({ model, channel, kind })
      }
      return true
    }
    return false
  }

  return {
    registry,
    charged: (row) => {
      const labels = labelsFor(row)
      calls.inc(labels)
      quota.inc(labels, row.quota)
      tokens.inc({ ...labels, kind: 'prompt' }, row.promptTokens)
      tokens.inc({ ...labels, kind: 'completion' }, row.completionTokens)
      if (row.cachedTokens > 0) tokens.inc({ ...labels, kind: 'cached' }, row.cachedTokens)
      if (row.cost) cost.inc(labels, row.cost / 1e9)
      callSeconds.observe({ model: labels.model }, row.useTimeMs / 1000)
      if (row.firstTokenMs !== null) firstToken.observe({ model: labels.model }, row.firstTokenMs / 1000)
    },
    failed: ({ failed, ...row }) => failures.inc({ ...labelsFor(row), kind: failed }),
    answered: (dialect, status) => requests.inc({ dialect, status }),
  }
}

function addReading(registers: Registry[], { name, help, label, aggregator = 'sum', read }: Reading): void {
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    aggregator,
    registers,
    collect() {
      const value = read()
      if (typeof value === 'number' || label === undefined) return this.set(Number(value))
      for (const [key, each] of Object.entries(value)) this.set({ [label]: key }, each)
    },
  })
}
