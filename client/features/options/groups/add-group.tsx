import { Button, Field, HStack, Input } from '@chakra-ui/react'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../../i18n/t.ts'
import { isComposing } from '../../../lib/keyboard.ts'

const longestName = 64

type AddGroupProps = { names: readonly string[]; onAdd: (name: string) => void }

/** A name is given once: users, channels and tokens keep it as text. */
export function AddGroup({ names, onAdd }: AddGroupProps) {
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const isTaken = names.includes(name)
  const add = () => {
    if (name === '' || isTaken) return
    onAdd(name)
    setTyped('')
  }
  return (
    <Field.Root invalid={isTaken}>
      <HStack gap="2" w="full" maxW="sm">
        <Input
          size="sm"
          aria-label={t('新分组的名称')}
          placeholder={t('新分组的名称')}
          fontFamily={typed === '' ? undefined : 'mono'}
          value={typed}
          maxLength={longestName}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || isComposing(event)) return
            event.preventDefault()
            add()
          }}
        />
        <Button flexShrink="0" disabled={name === '' || isTaken} onClick={add}>
          <Plus aria-hidden />
          {t('添加分组')}
        </Button>
      </HStack>
      <Field.ErrorText>{t('分组「{name}」已存在', { name })}</Field.ErrorText>
    </Field.Root>
  )
}
