import { CloseButton, Dialog, Portal } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../i18n/t.ts'
import { useOpener } from '../lib/use-origin.ts'
import { HeadingsBelow } from './heading-level.ts'
import { staysOpen } from './stays-open.ts'

type PlainDialogProps = { title: string; onClose: () => void; children: ReactNode }

/** One small task in the middle of the page; mounted while it is open. */
export function PlainDialog({ title, onClose, children }: PlainDialogProps) {
  const opener = useOpener()
  return (
    <Dialog.Root
      {...staysOpen}
      open
      size="sm"
      placement="center"
      closeOnInteractOutside={false}
      finalFocusEl={opener}
      onOpenChange={({ open }) => !open && onClose()}
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header pe="12">
              <Dialog.Title>{title}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body pb="5">
              <HeadingsBelow value="h3">{children}</HeadingsBelow>
            </Dialog.Body>
            <Dialog.CloseTrigger asChild>
              <CloseButton size="sm" aria-label={t('关闭')} />
            </Dialog.CloseTrigger>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  )
}
