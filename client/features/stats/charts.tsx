import { Box, Button, Flex, HStack, SimpleGrid, Skeleton } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { logType } from '#core/statuses.ts'
import { Chart } from '../../components/charts/chart.tsx'
import type { ChartPoint } from '../../components/charts/chart-types.ts'
import { t } from '../../i18n/t.ts'
import { hoursOfBar } from './buckets.ts'
import type { Measure } from './chart-data.ts'
import { errorLine, firstTokenLines, modelBars, modelOf, tokenBars } from './chart-data.ts'
import type { Series, StatsInput } from './use-stats.ts'
import { useLogLink } from './use-stats.ts'

type ChartsProps = {
  data: Series | undefined
  input: StatsInput
  measure: Measure
  onMeasure: (measure: Measure) => void
  isStale: boolean
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <Box layerStyle="panel" px="4" py="3" minW="0">
      {children}
    </Box>
  )
}

const measureNames = (): Record<Measure, string> => ({
  spend: t('消费'),
  calls: t('调用次数'),
  tokens: t('Token 数'),
})

type MeasureChoiceProps = { measure: Measure; onMeasure: (measure: Measure) => void }

function MeasureChoice({ measure, onMeasure }: MeasureChoiceProps) {
  return (
    <HStack gap="1" role="group" aria-label={t('图表内容')}>
      {Object.entries(measureNames()).map(([id, name]) => (
        <Button
          key={id}
          size="xs"
          variant={id === measure ? 'subtle' : 'ghost'}
          aria-pressed={id === measure}
          onClick={() => onMeasure(id as Measure)}
        >
          {name}
        </Button>
      ))}
    </HStack>
  )
}

/** The course of the period: by model, by kind of token, and how quick the models were. */
export function Charts({ data, input, measure, onMeasure, isStale }: ChartsProps) {
  const [, navigate] = useLocation()
  const logLink = useLogLink(input)
  if (!data) {
    return (
      <>
        <Skeleton h="96" borderRadius="l3" />
        <SimpleGrid columns={{ base: 1, lg: 3 }} gap="3">
          <Skeleton h="80" borderRadius="l3" />
          <Skeleton h="80" borderRadius="l3" />
          <Skeleton h="80" borderRadius="l3" />
        </SimpleGrid>
      </>
    )
  }
  const linkAt = (point: ChartPoint, model?: string) => {
    const hours = hoursOfBar(new Date(Number(point.id)), input.interval)
    navigate(logLink({ type: logType.consume, ...hours, ...(model === undefined ? {} : { model }) }))
  }
  const bars = modelBars(data, input, { measure, rest: t('其他') })
  const tokens = tokenBars(data, input, { input: t('新输入'), cached: t('缓存'), output: t('输出') })
  const first = firstTokenLines(data, input)
  const errors = errorLine(data, input, t('错误率'))
  return (
    <Flex direction="column" gap="3" opacity={isStale ? 0.5 : 1}>
      <Frame>
        <Chart
          kind="bars"
          title={t('按模型')}
          extra={<MeasureChoice measure={measure} onMeasure={onMeasure} />}
          label={`${t('按模型')} ${measureNames()[measure]}`}
          series={bars.series}
          points={bars.points}
          height={300}
          unit={measure === 'spend' ? 'money' : 'count'}
          onSelect={({ series, point }) => linkAt(point, modelOf(data, series.key))}
        />
      </Frame>
      <SimpleGrid columns={{ base: 1, lg: 3 }} gap="3">
        <Frame>
          <Chart
            kind="bars"
            title={t('Token 数')}
            label={t('Token 数')}
            series={tokens.series}
            points={tokens.points}
            onSelect={({ point }) => linkAt(point)}
          />
        </Frame>
        <Frame>
          <Chart
            kind="lines"
            title={t('平均首字用时')}
            label={t('平均首字用时')}
            series={first.series}
            points={first.points}
            unit="duration"
          />
        </Frame>
        <Frame>
          <Chart
            kind="lines"
            title={t('错误率')}
            label={t('错误率')}
            series={errors.series}
            points={errors.points}
            unit="share"
          />
        </Frame>
      </SimpleGrid>
    </Flex>
  )
}
