import { Button, Dialog, Portal } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../i18n/t.ts'
import { useOpener } from '../lib/use-origin.ts'
import { staysOpen } from './stays-open.ts'

type FormDialogProps = {
  title: string
  submitLabel: string
  onSubmit: () => unknown
  onClose: () => void
  busy?: boolean
  disabled?: boolean
  children: ReactNode
}

/** A field or two in the middle of the page, the act, and the way back; mounted while it is open. */
export function FormDialog(props: FormDialogProps) {
  const { title, submitLabel, onSubmit, onClose, busy = false, disabled = false, children } = props
  const opener = useOpener()
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
            <form
              onSubmit={(event) => {
                event.preventDefault()
                onSubmit()
              }}
            >
              <Dialog.Header>
                <Dialog.Title>{title}</Dialog.Title>
              </Dialog.Header>
              <Dialog.Body>{children}</Dialog.Body>
              <Dialog.Footer>
                <Button onClick={onClose}>{t('取消')}</Button>
                <Button type="submit" variant="solid" loading={busy} disabled={disabled}>
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
