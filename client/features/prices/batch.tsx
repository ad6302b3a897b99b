import { Button, Flex, SimpleGrid, Stack, Text } from '@chakra-ui/react'
import { Eraser, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { FigureInput } from '../../components/figure-input.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Notice } from '../../components/notice.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import { useLeaveGuard } from '../../lib/leave-guard.ts'
import { useStatus } from '../../lib/status.ts'
import { type Batch, blankDraft, type Drafts, type Figure, isUnreadable, type PriceRow, withBatch } from './drafts.ts'
import { figures } from './figures.ts'

type BatchSheetProps = {
  rows: readonly PriceRow[]
  drafts: Drafts
  onClose: () => void
  onDrafts: (drafts: Drafts) => void
}

/** One price for several models, put into the list to be looked over and saved there. */
export function BatchSheet({ rows, drafts, onClose, onDrafts }: BatchSheetProps) {
  return (
    <Sheet
      open={rows.length > 0}
      onClose={onClose}
      title={t('为 {count} 个模型设置价格', { count: rows.length })}
      description={t('没有填写的项保持不变（随输入价格同比变化），移除的项改用默认值。填写单次价格则按次计费。')}
    >
      <Fields
        rows={rows}
        drafts={drafts}
        onDrafts={(next) => {
          onDrafts(next)
          onClose()
        }}
      />
    </Sheet>
  )
}

function Fields({ rows, drafts, onDrafts }: Omit<BatchSheetProps, 'onClose'>) {
  const { quotaPerUnit } = useStatus()
  const [batch, setBatch] = useState<Batch>({})
  // What was typed and is no number goes with its field.
  const [turns, setTurns] = useState<Partial<Record<Figure, number>>>({})
  const isEmpty = Object.keys(batch).length === 0
  const guard = useLeaveGuard(!isEmpty)
  const byCall = typeof batch.call === 'number'
  const wrong = isUnreadable({ ...blankDraft, ...batch })
  const filled = wrong ? undefined : fill(rows, drafts, { batch, quotaPerUnit })
  return (
    <Stack gap="4">
      <SimpleGrid columns={{ base: 1, sm: 2 }} gap="3">
        {figures().map(({ id, label }) => {
          const isTouched = batch[id] !== undefined
          const isRemoved = batch[id] === null
          const forget = () => {
            const { [id]: _, ...others } = batch
            setBatch(others)
            setTurns({ ...turns, [id]: (turns[id] ?? 0) + 1 })
          }
          return (
            <div key={id}>
              <Text textStyle="sm" mb="1" aria-hidden>
                {label}
                {isRemoved && (
                  <Text as="span" color="bad.fg">
                    {` · ${t('移除')}`}
                  </Text>
                )}
              </Text>
              <Flex gap="1">
                <FigureInput
                  key={turns[id] ?? 0}
                  label={label}
                  value={batch[id] ?? undefined}
                  placeholder={isRemoved ? t('移除') : t('保持不变')}
                  disabled={id !== 'call' && byCall}
                  onChange={(value, isNumber) => setBatch({ ...batch, [id]: isNumber ? value : Number.NaN })}
                />
                <IconButton
                  icon={isTouched ? Undo2 : Eraser}
                  label={isTouched ? t('{label} 保持不变', { label }) : t('移除 {label}', { label })}
                  disabled={id !== 'call' && byCall}
                  onClick={isTouched ? forget : () => setBatch({ ...batch, [id]: null })}
                />
              </Flex>
            </div>
          )
        })}
      </SimpleGrid>
      {wrong && (
        <Text textStyle="sm" color="bad.fg" role="alert">
          {t('请输入数字')}
        </Text>
      )}
      {filled && filled.refused > 0 && (
        <Notice tone="warning">
          {t('{count} 个模型没有输入价格，或其输出价格由名称决定，这些项将不作修改。', { count: filled.refused })}
        </Notice>
      )}
      <Button
        variant="solid"
        alignSelf="flex-start"
        disabled={isEmpty || !filled}
        onClick={() => {
          if (!filled) return
          guard.forget()
          onDrafts(filled.drafts)
        }}
      >
        {t('填入列表')}
      </Button>
    </Stack>
  )
}

function fill(
  rows: readonly PriceRow[],
  drafts: Drafts,
  set: { batch: Batch; quotaPerUnit: number },
): { drafts: Drafts; refused: number } {
  // What is typed as a price per call leaves the others without effect.
  const batch = typeof set.batch.call === 'number' ? { call: set.batch.call } : set.batch
  let next = drafts
  let refused = 0
  for (const row of rows) {
    const one = withBatch(next, row, { ...set, batch })
    next = one.drafts
    if (one.refused.length > 0) refused += 1
  }
  return { drafts: next, refused }
}
