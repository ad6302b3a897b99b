import { Field, Input } from '@chakra-ui/react'
import { useState } from 'react'
import { FormDialog } from '../../components/form-dialog.tsx'
import { t } from '../../i18n/t.ts'

type SaveViewDialogProps = { onSave: (name: string) => void; onClose: () => void }

export function SaveViewDialog({ onSave, onClose }: SaveViewDialogProps) {
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  return (
    <FormDialog
      title={t('保存当前视图')}
      submitLabel={t('保存')}
      onSubmit={() => name !== '' && onSave(name)}
      onClose={onClose}
      disabled={name === ''}
    >
      <Field.Root required>
        <Field.Label>{t('名称')}</Field.Label>
        <Input maxLength={40} value={typed} onChange={(event) => setTyped(event.target.value)} />
        <Field.HelperText>{t('筛选和排序保存在这个浏览器中，同名的视图会被替换。')}</Field.HelperText>
      </Field.Root>
    </FormDialog>
  )
}
