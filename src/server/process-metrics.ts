import { channelStatus } from '#core/statuses.ts'
import type { Pool } from 'pg'
import { createMetrics, type Metrics } from '#features/metrics/service.ts'
import type { RelayServices } from '#relay/index.ts'

type Read = Pick<RelayServices, 'channels' | 'circuitBreaker' | 'ledger' | 'underWay' | 'bodies' | 'database'>

const statusNames = Object.entries(channelStatus)

/** What this process counts, and what is read of it when somebody asks. */
export function createProcessMetrics(services: () => Read, hot: Pool): Metrics {
  const poolReading = (name: string, pool: () => Pool) => ({
    name: `gateway_database_connections_${name}`,
    help: `Database connections for ${name === 'calls' ? 'charges and reservations' : 'the console'}, and what waits for one.`,
    label: 'state',
    read: () => ({ open: pool().totalCount, idle: pool().idleCount, waiting: pool().waitingCount }),
  })
  return createMetrics([
    {
      name: 'gateway_channels',
      help: 'Channels by status.',
      label: 'status',
      aggregator: 'max',
      read: () => {
        const counts = Object.fromEntries(statusNames.map(([name]) => [name, 0]))
        for (const { status } of services().channels.all()) {
          const name = statusNames.find(([, value]) => value === status)?.[0]
          if (name) counts[name] = (counts[name] ?? 0) + 1
        }
        return counts
      },
    },
    {
      name: 'gateway_cooldowns',
      help: 'Open circuit breakers: keys of channels that rest for a model.',
      read: () => services().circuitBreaker.coolingDown().length,
    },
    {
      name: 'gateway_calls_under_way',
      help: 'Calls that are being answered.',
      read: () => services().underWay.size,
    },
    {
      name: 'gateway_ledger_queue',
      help: 'Reservations, charges and releases that wait for their turn.',
      read: () => services().ledger.waiting(),
    },
    {
      name: 'gateway_body_bytes',
      help: 'Memory taken by bodies of requests and frames.',
      read: () => services().bodies.budget.heldBytes,
    },
    poolReading('calls', () => hot),
    poolReading('console', () => services().database.pool),
  ])
}
