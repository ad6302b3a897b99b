import { Button, SimpleGrid, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { FigureInput } from '../../components/figure-input.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import { blankDraft as blank, type Draft, type Figure, isUnreadable, type PriceRow } from './drafts.ts'

type BatchSheetProps = { rows: readonly PriceRow[]; onClose: () => void; onDraft: (draft: Draft) => void }

/** One price for several models, put into the list to be looked over and saved there. */
export function BatchSheet({ rows, onClose, onDraft }: BatchSheetProps) {
  const [draft, setDraft] = useState(blank)
  const fields: { id: Figure; label: string }[] = [
    { id: 'input', label: t('输入 / 1M') },
    { id: 'output', label: t('输出 / 1M') },
    { id: 'cacheRead', label: t('缓存读取') },
    { id: 'cacheWrite', label: t('缓存写入') },
    { id: 'call', label: t('单次价格') },
  ]
  const isEmpty = draft.input === null && draft.call === null
  return (
    <Sheet
      open={rows.length > 0}
      onClose={onClose}
      title={t('为 {count} 个模型设置价格', { count: rows.length })}
      description={t('填写单次价格则按次计费，其余留空。')}
    >
      <Stack gap="4">
        <SimpleGrid columns={2} gap="3">
          {fields.map(({ id, label }) => (
            <div key={id}>
              <Text textStyle="sm" mb="1" aria-hidden>
                {label}
              </Text>
              <FigureInput
                label={label}
                value={draft[id] ?? undefined}
                disabled={id !== 'call' && draft.call !== null}
                onChange={(value, isNumber) => setDraft({ ...draft, [id]: isNumber ? value : Number.NaN })}
              />
            </div>
          ))}
        </SimpleGrid>
        <Button
          variant="solid"
          alignSelf="flex-start"
          disabled={isEmpty || isUnreadable(draft)}
          onClick={() => {
            onDraft(draft.call === null ? draft : { ...blank, call: draft.call })
            setDraft(blank)
            onClose()
          }}
        >
          {t('填入列表')}
        </Button>
      </Stack>
    </Sheet>
  )
}
