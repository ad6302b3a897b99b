import { Button, Field, Input, Stack } from '@chakra-ui/react'
import { useState } from 'react'
import { noEntries } from '#core/pricing/price-changes.ts'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import type { PriceRow } from './drafts.ts'

type NewModelProps = {
  open: boolean
  taken: readonly string[]
  onClose: () => void
  onAdd: (row: PriceRow) => void
  onShow: (model: string) => void
}

/** A model that no table and no channel names yet; one that is in the list, perhaps since its name was typed, is shown there. */
export function NewModel({ open, taken, onClose, onAdd, onShow }: NewModelProps) {
  const [typed, setTyped] = useState('')
  const model = typed.trim()
  const isTaken = taken.includes(model)
  const add = () => {
    if (model === '') return
    setTyped('')
    if (isTaken) return onShow(model)
    onAdd({
      model,
      price: null,
      entries: noEntries,
      isListed: false,
      isCompletionLocked: false,
      channels: [],
      channelCount: 0,
      isMissing: false,
      retires: null,
      successor: null,
    })
  }
  return (
    <Sheet open={open} onClose={onClose} title={t('添加模型')}>
      <Stack
        as="form"
        gap="4"
        onSubmit={(event) => {
          event.preventDefault()
          add()
        }}
      >
        <Field.Root invalid={isTaken} required>
          <Field.Label>{t('模型名称')}</Field.Label>
          <Input fontFamily="mono" value={typed} onChange={(event) => setTyped(event.target.value)} />
          <Field.ErrorText>{t('模型名称已存在')}</Field.ErrorText>
        </Field.Root>
        <Button type="submit" variant="solid" alignSelf="flex-start" disabled={model === ''}>
          {isTaken ? t('查看') : t('添加')}
        </Button>
      </Stack>
    </Sheet>
  )
}
