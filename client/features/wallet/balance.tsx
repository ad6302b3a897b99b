import { GridItem, SimpleGrid } from '@chakra-ui/react'
import { Money } from '../../components/cells/numbers.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { t } from '../../i18n/t.ts'
import type { Wallet } from './methods.ts'

function lasts({ daysLeft }: Wallet): string {
  if (daysLeft === null) return '–'
  if (daysLeft < 1) return t('不足 1 天')
  return daysLeft > 999 ? t('超过 999 天') : t('约 {days} 天', { days: Math.floor(daysLeft) })
}

/** What is there, what was used, and what it lasts for. */
export function Balance({ wallet }: { wallet: Wallet | undefined }) {
  const loading = wallet === undefined
  return (
    <SimpleGrid columns={{ base: 2, sm: 3 }} gap="3">
      <GridItem colSpan={{ base: 2, sm: 1 }} display="grid">
        <StatTile
          label={t('当前余额')}
          value={<Money quota={wallet?.quota} />}
          note={wallet && wallet.quota < 0 && t('低于零，充值补足后才能继续调用')}
          loading={loading}
        />
      </GridItem>
      <StatTile
        label={t('可用时长')}
        value={wallet && lasts(wallet)}
        note={
          loading ||
          (wallet.dailyQuota > 0 ? (
            <DailyUse wallet={wallet} />
          ) : wallet.usedQuota === 0 ? (
            t('还没有消耗')
          ) : (
            t('近 {days} 天没有消耗', { days: wallet.paceDays })
          ))
        }
        loading={loading}
      />
      <StatTile label={t('历史消耗')} value={<Money quota={wallet?.usedQuota} />} loading={loading} />
    </SimpleGrid>
  )
}

const DailyUse = ({ wallet: { dailyQuota, paceDays } }: { wallet: Wallet }) => (
  <>
    {t('近 {days} 天日均', { days: paceDays })} <Money quota={Math.round(dailyQuota)} />
  </>
)
