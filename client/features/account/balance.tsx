import { GridItem, SimpleGrid } from '@chakra-ui/react'
import { Count, Money } from '../../components/cells/numbers.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { t } from '../../i18n/t.ts'
import type { AccountProps } from './account.ts'

export function Balance({ account }: AccountProps) {
  return (
    <SimpleGrid columns={{ base: 2, sm: 3 }} gap="3">
      <GridItem colSpan={{ base: 2, sm: 1 }}>
        <StatTile
          label={t('当前余额')}
          value={<Money quota={account.quota} />}
          note={t('分组 {group}', { group: account.group })}
        />
      </GridItem>
      <StatTile label={t('历史消耗')} value={<Money quota={account.usedQuota} />} />
      <StatTile label={t('调用次数')} value={<Count value={account.requestCount} />} />
    </SimpleGrid>
  )
}
