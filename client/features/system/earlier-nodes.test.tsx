import { ChakraProvider } from '@chakra-ui/react'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { trpc } from '../../lib/trpc.ts'
import { system } from '../../theme/system.ts'
import { LogGrowth } from './log-growth.tsx'
import { nodeColumns } from './nodes.tsx'
import { SlowStatements } from './statements.tsx'
import { type NodeState, type SystemState, Tiles } from './tiles.tsx'

const node = (figures: NodeState['figures']): NodeState => ({
  id: 1,
  host: 'old-node',
  pid: 7,
  role: 'all',
  version: '0.0.1',
  alive: true,
  startedAt: new Date(0),
  seenAt: new Date(0),
  figures,
})

/** Times want a browser, and every version has them. */
const figureColumns = () => nodeColumns().filter(({ id }) => id !== 'started')

/** The page's parts, as it puts them together of one answer. */
function draw(data: SystemState | undefined): string {
  const queryClient = new QueryClient()
  return renderToString(
    <ChakraProvider value={system}>
      <trpc.Provider client={trpc.createClient({ links: [] })} queryClient={queryClient}>
        <QueryClientProvider client={queryClient}>
          <Tiles state={data} />
          {data?.nodes?.flatMap((row) => figureColumns().map(({ id, cell }) => <p key={id}>{cell(row)}</p>))}
          <LogGrowth logs={data?.logs} />
          <SlowStatements statements={data?.slowStatements} />
        </QueryClientProvider>
      </trpc.Provider>
    </ChakraProvider>,
  )
}

test('the system status shows what an earlier version says of itself, and nothing where it says nothing', () => {
  const drawn = draw({ nodes: [node({ callsUnderWay: 3 })], holds: { count: 0, amount: 0, oldest: null, waiting: 0 } })
  expect(drawn).toContain('old-node:7')
  expect(drawn).not.toMatch(/NaN|undefined/)
  expect(draw({})).not.toMatch(/NaN|undefined/)
  expect(draw({ nodes: [node({})] })).toContain('old-node:7')
})

test('the system status names no figure before one has come', () => {
  const drawn = draw(undefined).replaceAll(/<style.*?<\/style>|<[^>]*>/g, '')
  expect(drawn).toContain('在线节点')
  expect(drawn).not.toMatch(/\d/)
})
