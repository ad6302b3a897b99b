import { Box, SimpleGrid, Skeleton } from '@chakra-ui/react'
import { Page as Frame } from '../../components/page.tsx'
import { ErrorState, StaleNotice } from '../../components/states.tsx'
import { UrlTabs } from '../../components/url-tabs.tsx'
import { t } from '../../i18n/t.ts'
import { useLastCount } from '../../lib/last-count.ts'
import { createStoredJson } from '../../lib/stored.ts'
import { trpc } from '../../lib/trpc.ts'
import { Balance } from './balance.tsx'
import { Orders } from './orders.tsx'
import { Plans } from './plans.tsx'
import { Redeem } from './redeem.tsx'
import { TopUp } from './top-up.tsx'
import { Uses } from './uses.tsx'

const panel = { borderWidth: '1px', borderRadius: 'l3', bg: 'bg.panel', p: '4', minW: '0' } as const

const lastWays = createStoredJson<number | null>('wallet-ways-to-pay', null)

/** As high as the form will be: without a way to pay it is a sentence, and on a phone they stand below each other. */
const topUpRoom = (ways: number) => {
  const [wide, narrow] = ways === 0 ? [76, 76] : [254, 201 + ways * 53]
  return { h: { base: `${narrow}px`, sm: `${wide}px` } }
}

export function Page() {
  const { data: wallet, error, refetch } = trpc.user.wallet.get.useQuery()
  const ways = useLastCount(lastWays, wallet?.methods.length)
  const hasFailed = error !== null && wallet === undefined
  return (
    <Frame title={t('钱包')} width="wide">
      {hasFailed ? (
        <Box {...panel}>
          <ErrorState error={error} onRetry={() => void refetch()} />
        </Box>
      ) : (
        <>
          {error && <StaleNotice error={error} onRetry={refetch} />}
          <Balance wallet={wallet} />
        </>
      )}
      {wallet === undefined && ways === null && !hasFailed ? (
        // A first visit: nobody knows yet how high the form will be, nor how many plans stand above the history.
        <Skeleton h="72" borderRadius="l3" aria-busy />
      ) : (
        <>
          <SimpleGrid columns={{ base: 1, md: 2 }} gap="3" alignItems="start">
            {!hasFailed && (
              <Box {...panel}>{wallet ? <TopUp wallet={wallet} /> : <Skeleton {...topUpRoom(ways ?? 0)} />}</Box>
            )}
            <Box {...panel}>
              <Redeem />
            </Box>
          </SimpleGrid>
          {hasFailed ? (
            <History />
          ) : (
            <Plans wallet={wallet}>
              <History />
            </Plans>
          )}
        </>
      )}
    </Frame>
  )
}

const History = () => (
  <UrlTabs
    param="history"
    label={t('记录')}
    tabs={[
      { id: 'orders', label: t('充值订单'), content: <Orders /> },
      { id: 'redemptions', label: t('兑换记录'), content: <Uses /> },
    ]}
  />
)
