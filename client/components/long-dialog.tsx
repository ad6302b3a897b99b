import { CloseButton, Dialog, Portal, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../i18n/t.ts'
import { useIsPhone } from '../lib/use-media.ts'
import { useOpener } from '../lib/use-origin.ts'
import { staysOpen } from './stays-open.ts'

type LongDialogProps = {
  title: string
  description?: string
  size: 'md' | 'lg' | 'xl'
  /** Whether a click beside it closes it, which loses what was entered. */
  closesOutside?: boolean
  onClose: () => void
  /** `Dialog.Body`, and `Dialog.Footer` where there is something to press. */
  children: ReactNode
}

/** A dialog that may be longer than the screen: it scrolls inside, and fills the screen of a phone. Mounted while it is open. */
export function LongDialog({ title, description, size, closesOutside = false, onClose, children }: LongDialogProps) {
  const phone = useIsPhone()
  const opener = useOpener()
  return (
    <Dialog.Root
      {...staysOpen}
      open
      onOpenChange={({ open }) => !open && onClose()}
      closeOnInteractOutside={closesOutside}
      finalFocusEl={opener}
      size={phone ? 'full' : size}
      scrollBehavior="inside"
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner>
          <Dialog.Content>
            <Dialog.Header>
              <Stack gap="0.5" pe="8" minW="0">
                <Dialog.Title>{title}</Dialog.Title>
                {description !== undefined && (
                  <Dialog.Description textStyle="sm" truncate>
                    {description}
                  </Dialog.Description>
                )}
              </Stack>
            </Dialog.Header>
            {children}
            <Dialog.CloseTrigger asChild>
              <CloseButton size="sm" aria-label={t('关闭')} />
            </Dialog.CloseTrigger>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  )
}
