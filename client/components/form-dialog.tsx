import { Button, Dialog, Portal } from '@chakra-ui/react'
import type { FormEvent, ReactNode } from 'react'
import { useState } from 'react'
import { t } from '../i18n/t.ts'
import { useOpener } from '../lib/use-origin.ts'
import { staysOpen } from './stays-open.ts'
import { WaitingFields } from './waiting-fields.tsx'

type FormDialogProps = {
  title: string
  submitLabel: string
  /** Closes the dialog once it is done; what it has to say of a failure stands among the children. */
  onSubmit: () => unknown
  onClose: () => void
  disabled?: boolean
  children: ReactNode
}

/** A field or two in the middle of the page, the act, and the way back; mounted while it is open. */
export function FormDialog(props: FormDialogProps) {
  const { title, submitLabel, onSubmit, onClose, disabled = false, children } = props
  const [isSaving, setSaving] = useState(false)
  const opener = useOpener()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setSaving(true)
    try {
      await onSubmit()
    } finally {
      setSaving(false)
    }
  }
  return (
    <Dialog.Root
      {...staysOpen}
      open
      size="sm"
      placement="center"
      finalFocusEl={opener}
      onOpenChange={({ open }) => !open && onClose()}
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <form onSubmit={(event) => void submit(event)}>
              <Dialog.Header>
                <Dialog.Title>{title}</Dialog.Title>
              </Dialog.Header>
              <Dialog.Body>
                <WaitingFields isSaving={isSaving} gap="4">
                  {children}
                </WaitingFields>
              </Dialog.Body>
              <Dialog.Footer>
                <Button onClick={onClose}>{t('取消')}</Button>
                <Button type="submit" variant="solid" loading={isSaving} disabled={disabled}>
                  {submitLabel}
                </Button>
              </Dialog.Footer>
            </form>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  )
}
