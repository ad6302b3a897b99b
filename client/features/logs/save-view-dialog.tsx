import { Button, Dialog, Field, Input, Portal } from '@chakra-ui/react'
import { useState } from 'react'
import { t } from '../../i18n/t.ts'
import { staysOpen } from '../../components/stays-open.ts'

type SaveViewDialogProps = { onSave: (name: string) => void; onClose: () => void }

export function SaveViewDialog({ onSave, onClose }: SaveViewDialogProps) {
  const [name, setName] = useState('')
  return (
    <Dialog.Root {...staysOpen} open onOpenChange={({ open }) => !open && onClose()} size="sm" placement="center">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <form
              onSubmit={(event) => {
                event.preventDefault()
                if (name.trim() !== '') onSave(name.trim())
              }}
            >
              <Dialog.Header>
                <Dialog.Title>{t('保存当前视图')}</Dialog.Title>
              </Dialog.Header>
              <Dialog.Body>
                <Field.Root required>
                  <Field.Label>{t('名称')}</Field.Label>
                  <Input maxLength={40} value={name} onChange={(event) => setName(event.target.value)} />
                  <Field.HelperText>{t('筛选和排序保存在这个浏览器中，同名的视图会被替换。')}</Field.HelperText>
                </Field.Root>
              </Dialog.Body>
              <Dialog.Footer>
                <Button onClick={onClose}>{t('取消')}</Button>
                <Button type="submit" variant="solid" disabled={name.trim() === ''}>
                  {t('保存')}
                </Button>
              </Dialog.Footer>
            </form>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  )
}
