import { Box, Button, Flex, HStack, Spinner, Text } from '@chakra-ui/react'
import { Check } from '../../../components/check.tsx'
import { Status } from '../../../components/status.tsx'
import { t } from '../../../i18n/t.ts'
import { formatDuration, formatExactTime } from '../../../lib/format.ts'
import { logText } from '../../../lib/log-text.ts'
import { unpricedCode } from './result-cache.ts'
import type { TestResult } from './run-tests.ts'

type TestRowProps = {
  model: string
  result: TestResult | undefined
  isRunning: boolean
  canStart: boolean
  picked: boolean
  onPick: (picked: boolean) => void
  onTest: () => void
  onPrice: () => void
}

export function TestRow(props: TestRowProps) {
  const { model, result, isRunning, canStart, picked, onPick, onTest, onPrice } = props
  const isRefused = result?.success === false && !isRunning
  return (
    <Box as="li" py="1.5" borderBottomWidth="1px" borderColor="border.muted" textStyle="sm">
      <Flex align="center" gap="3">
        <Check aria-label={t('选择 {name}', { name: model })} checked={picked} onChange={onPick} />
        <Text as="span" flex="1" minW="0" truncate fontFamily="mono" data-tip={model}>
          {model}
        </Text>
        <Outcome result={result} isRunning={isRunning} />
        <Button size="2xs" disabled={!canStart} onClick={onTest} aria-label={t('测试 {name}', { name: model })}>
          {t('测试')}
        </Button>
      </Flex>
      {isRefused && (
        <Flex gap="2" ps="7" pt="1" align="flex-start">
          <Text flex="1" minW="0" textStyle="xs" color="fg.muted" overflowWrap="anywhere" lineClamp={4}>
            {logText(result.message)}
          </Text>
          {result.code === unpricedCode && (
            <Button size="2xs" onClick={onPrice}>
              {t('设置价格')}
            </Button>
          )}
        </Flex>
      )}
    </Box>
  )
}

function Outcome({ result, isRunning }: { result: TestResult | undefined; isRunning: boolean }) {
  if (isRunning) {
    return (
      <HStack gap="1.5" color="fg.muted">
        <Spinner size="xs" />
        {t('测试中')}
      </HStack>
    )
  }
  if (!result) {
    return (
      <Text as="span" color="fg.subtle">
        {t('未测试')}
      </Text>
    )
  }
  const tested = t('测试于 {time}', { time: formatExactTime(new Date(result.time)) })
  if (result.code === unpricedCode) {
    return (
      <Status tone="warning" tip={tested}>
        {t('没有价格')}
      </Status>
    )
  }
  const retried = result.retryCount > 0 ? `\n${t('重试了 {count} 次', { count: result.retryCount })}` : ''
  return (
    <Status tone={result.success ? 'good' : 'bad'} tip={`${tested}${retried}`}>
      {result.success ? `${t('成功')} ${formatDuration(result.seconds * 1000)}` : t('失败')}
    </Status>
  )
}
