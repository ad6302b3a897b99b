import { Button, Flex, Spinner, Stack, Text } from '@chakra-ui/react'
import { Zap } from 'lucide-react'
import type { ReactNode } from 'react'
import { CallFailureText } from '../../components/call-failure.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { formatDuration } from '../../lib/format.ts'
import type { Step } from './use-connection-test.ts'
import { useConnectionTest } from './use-connection-test.ts'

type ConnectionTestProps = {
  tokenKey: string
  model: string
  /** False while the model to be called is not known yet. */
  ready: boolean
}

/** Calls the gateway with the key as a program would: the list of models, then a short chat. */
export function ConnectionTest({ tokenKey, model, ready }: ConnectionTestProps) {
  const { list, chat, running, run } = useConnectionTest(tokenKey, model)
  return (
    <Stack gap="3" layerStyle="frame" px="4" py="3">
      <Flex justify="space-between" align="center" gap="3" wrap="wrap">
        <Text textStyle="sm" color="fg.muted" flex="1 1 240px">
          {t('用这个密钥真实调用一次：列出模型，再用所选模型对话一句，按正常价格计费。')}
        </Text>
        <Button loading={running || !ready} onClick={() => void run()}>
          <Zap aria-hidden />
          {t('测试连接')}
        </Button>
      </Flex>
      {list && (
        <Stack gap="2" role="status" textStyle="sm">
          <StepLine name={t('模型列表')} step={list}>
            {list.state === 'done' && t('{count} 个模型', { count: list.result })}
          </StepLine>
          {chat && (
            <StepLine name={t('对话')} step={chat}>
              {chat.state === 'done' && (chat.result || t('回复为空'))}
            </StepLine>
          )}
        </Stack>
      )}
    </Stack>
  )
}

function StepLine({ name, step, children }: { name: string; step: Step<unknown>; children: ReactNode }) {
  return (
    <Flex gap="3" align="flex-start">
      <Text w="24" flexShrink="0" color="fg.muted">
        {name}
      </Text>
      {step.state === 'running' && <Spinner size="xs" mt="1" />}
      {step.state === 'done' && (
        <Flex gap="3" minW="0" flex="1" wrap="wrap">
          <Status tone="good">{formatDuration(step.milliseconds)}</Status>
          <Text minW="0" overflowWrap="anywhere" lineClamp="3">
            {children}
          </Text>
        </Flex>
      )}
      {step.state === 'failed' && (
        <Stack gap="0.5" minW="0">
          <Status tone="bad">{t('失败')}</Status>
          <CallFailureText error={step.error} />
        </Stack>
      )}
    </Flex>
  )
}
