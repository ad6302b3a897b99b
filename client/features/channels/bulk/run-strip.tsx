import { Button, HStack, Progress, Text } from '@chakra-ui/react'
import { jobLabel } from '#core/jobs.ts'
import { inLanguage, t } from '../../../i18n/t.ts'
import type { Run, Runs } from './use-runs.ts'

/** How far the server is with what it does to all channels. */
export function RunStrip({ run, onCancel }: { run: Run; onCancel: Runs['cancel'] }) {
  const label = inLanguage(jobLabel(run.name))
  const { done = 0, total = 0, ending = false } = run.running ?? {}
  return (
    <HStack gap="3" px="3" py="2" borderWidth="1px" borderRadius="l2" textStyle="sm" flexShrink="0">
      <Text as="span" fontWeight="medium" role="status" minW="0" truncate>
        {label}
      </Text>
      <Progress.Root size="xs" flex="1" minW="8" value={done} max={Math.max(total, 1)}>
        <Progress.Track aria-label={label}>
          <Progress.Range />
        </Progress.Track>
      </Progress.Root>
      <Text as="span" color="fg.muted" fontVariantNumeric="tabular-nums" whiteSpace="nowrap">
        {`${done} / ${total}`}
      </Text>
      <Button
        size="xs"
        loading={ending}
        aria-label={t('停止 {name}', { name: label })}
        onClick={() => void onCancel(run)}
      >
        {t('停止')}
      </Button>
    </HStack>
  )
}
