import { Grid, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Fragment } from 'react'
import { Chart } from '../../components/charts/chart.tsx'
import { Section } from '../../components/facts.tsx'
import { t } from '../../i18n/t.ts'
import { abbreviate, formatBytes } from '../../lib/format.ts'
import type { SystemState } from './tiles.tsx'

/** The month in a partition's name; one has what no month has. */
const monthOf = (name: string): string => /(\d{4})\D*(\d{2})$/.exec(name)?.slice(1).join('-') ?? t('其他月份')

/** How fast the log grows, and what it takes. */
export function LogGrowth({ logs }: { logs: SystemState['logs'] }) {
  return (
    <Section title={t('日志增长')}>
      {logs ? (
        <Stack gap="4" layerStyle="panel" px="4" py="3.5">
          <Chart
            kind="bars"
            title={t('每天的调用')}
            label={t('每天的调用')}
            height={160}
            series={[{ key: 'calls', name: t('调用次数') }]}
            points={logs.days.map(({ day, calls }) => ({ id: day, label: day.slice(5), values: { calls } }))}
          />
          <Grid
            as="dl"
            templateColumns="minmax(0, 1fr) max-content max-content"
            columnGap="6"
            rowGap="1.5"
            textStyle="sm"
            fontVariantNumeric="tabular-nums"
          >
            {logs.months.map(({ name, bytes, rows }) => (
              <Fragment key={name}>
                <Text as="dt" color="fg.muted">
                  {monthOf(name)}
                </Text>
                <Text as="dd" textAlign="end">
                  {t('约 {count} 行', { count: abbreviate(rows) })}
                </Text>
                <Text as="dd" textAlign="end">
                  {formatBytes(bytes)}
                </Text>
              </Fragment>
            ))}
          </Grid>
        </Stack>
      ) : (
        <Skeleton h="72" />
      )}
    </Section>
  )
}
