import { Grid, Heading } from '@chakra-ui/react'
import { Time } from '../../components/cells/time.tsx'
import { Facts } from '../../components/facts.tsx'
import { t } from '../../i18n/t.ts'
import { useStatus } from '../../lib/status.ts'

export function SystemInfo() {
  const { version, startedAt } = useStatus()
  return (
    <Grid
      as="section"
      templateColumns={{ base: 'minmax(0, 1fr)', lg: '220px minmax(0, 44rem)' }}
      columnGap="10"
      rowGap="4"
      py="6"
      pt="1"
      borderBottomWidth="1px"
    >
      <Heading as="h2" textStyle="md" fontWeight="semibold">
        {t('系统信息')}
      </Heading>
      <Facts
        facts={[
          { label: t('当前版本'), value: version || '–' },
          { label: t('启动时间'), value: <Time value={startedAt} exact /> },
        ]}
      />
    </Grid>
  )
}
