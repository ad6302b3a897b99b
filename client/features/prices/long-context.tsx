import { Button, Grid, HStack, Stack, Text } from '@chakra-ui/react'
import { Plus, Trash } from 'lucide-react'
import { useState } from 'react'
import { FigureInput } from '../../components/figure-input.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import { useLeaveGuard } from '../../lib/leave-guard.ts'
import { isLongContext, type LongContext, stepsIn, stepsOf } from './long-context.ts'
import type { Draft } from './drafts.ts'

type LongContextSheetProps = {
  opened: { model: string; draft: Draft } | undefined
  readOnly: boolean
  onClose: () => void
  onSteps: (steps: Draft['longContext']) => void
}

/** What a model costs from so many prompt tokens on, typed as the dollars of a price list. */
export function LongContextSheet({ opened, readOnly, onClose, onSteps }: LongContextSheetProps) {
  return (
    <Sheet open={opened !== undefined} onClose={onClose} title={t('长上下文价格')} description={opened?.model}>
      {opened && (
        <Steps
          key={opened.model}
          draft={opened.draft}
          readOnly={readOnly}
          onSteps={(steps) => {
            onSteps(steps)
            onClose()
          }}
        />
      )}
    </Sheet>
  )
}

const columns = 'minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1fr) 32px'
const mostSteps = 5

type StepsProps = { draft: Draft; readOnly: boolean; onSteps: (steps: Draft['longContext']) => void }

function Steps({ draft, readOnly, onSteps }: StepsProps) {
  const [rows, setRows] = useState(() => stepsOf(draft))
  const set = (index: number, change: Partial<LongContext>) =>
    setRows(rows.map((row, place) => (place === index ? { ...row, ...change } : row)))
  const isReady = isLongContext(rows)
  const guard = useLeaveGuard(JSON.stringify(rows) !== JSON.stringify(stepsOf(draft)))
  return (
    <Stack gap="4">
      <Text textStyle="sm" color="fg.muted">
        {t('提示超过这个长度时，整次调用按这一档收费；缓存价格随输入价格同比变化。')}
      </Text>
      {rows.length > 0 && (
        <Grid templateColumns={columns} gap="2" alignItems="center">
          {[t('提示超过（tokens）'), t('输入 / 1M'), t('输出 / 1M')].map((label) => (
            <Text key={label} textStyle="xs" color="fg.muted" aria-hidden>
              {label}
            </Text>
          ))}
          <span />
          {rows.map((row, index) => (
            <StepRow
              key={index}
              place={index + 1}
              row={row}
              readOnly={readOnly}
              onChange={(change) => set(index, change)}
              onRemove={() => setRows(rows.filter((_, at) => at !== index))}
            />
          ))}
        </Grid>
      )}
      {rows.length > 0 && !isReady && (
        <Text textStyle="sm" color="bad.fg" role="alert">
          {t('每一档都要填满，并按长度从小到大排列。')}
        </Text>
      )}
      {!readOnly && (
        <HStack gap="2" wrap="wrap">
          <Button
            disabled={rows.length >= mostSteps}
            onClick={() => setRows([...rows, { above: rows.length === 0 ? 200_000 : null, input: null, output: null }])}
          >
            <Plus aria-hidden />
            {t('添加一档')}
          </Button>
          <Button
            variant="solid"
            disabled={!isReady}
            onClick={() => {
              guard.forget()
              onSteps(stepsIn(rows, draft))
            }}
          >
            {t('填入列表')}
          </Button>
        </HStack>
      )}
    </Stack>
  )
}

type StepRowProps = {
  place: number
  row: LongContext
  readOnly: boolean
  onChange: (change: Partial<LongContext>) => void
  onRemove: () => void
}

function StepRow({ place, row, readOnly, onChange, onRemove }: StepRowProps) {
  return (
    <>
      <FigureInput
        label={t('第 {place} 档 提示超过（tokens）', { place })}
        value={row.above ?? undefined}
        disabled={readOnly}
        onChange={(above) => onChange({ above })}
      />
      <FigureInput
        label={t('第 {place} 档 输入 / 1M', { place })}
        value={row.input ?? undefined}
        disabled={readOnly}
        onChange={(input) => onChange({ input })}
      />
      <FigureInput
        label={t('第 {place} 档 输出 / 1M', { place })}
        value={row.output ?? undefined}
        disabled={readOnly}
        onChange={(output) => onChange({ output })}
      />
      {readOnly ? <span /> : <IconButton label={t('删除第 {place} 档', { place })} icon={Trash} onClick={onRemove} />}
    </>
  )
}
