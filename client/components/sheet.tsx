import { CloseButton, Drawer, Portal, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../i18n/t.ts'
import { useIsPhone } from '../lib/use-media.ts'
import { useOrigin } from '../lib/use-origin.ts'
import { useWhileOpen } from '../lib/use-while-open.ts'
import { staysOpen } from './stays-open.ts'

type SheetProps = {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  /** What Escape does first, where something inside is under way; true where it did. */
  onEscape?: () => boolean
  children: ReactNode
}

/** Something to read or take along, at the right; the whole screen on phones. */
export function Sheet(props: SheetProps) {
  const { open, onClose, onEscape } = props
  const { title, description, children } = useWhileOpen(open, props)
  const phone = useIsPhone()
  const origin = useOrigin(open)
  return (
    <Drawer.Root
      {...staysOpen}
      open={open}
      onOpenChange={(details) => !details.open && onClose()}
      onEscapeKeyDown={(event) => onEscape?.() && event.preventDefault()}
      placement="end"
      size={phone ? 'full' : 'md'}
      finalFocusEl={origin}
      lazyMount
      unmountOnExit
    >
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content maxW={{ base: 'full', sm: '640px' }}>
            <Drawer.Header borderBottomWidth="1px" flex="none" py="3" minH="14" alignItems="center">
              <Stack gap="0.5" pe="8" minW="0">
                <Drawer.Title overflowWrap="anywhere">{title}</Drawer.Title>
                {description && <Drawer.Description textStyle="sm">{description}</Drawer.Description>}
              </Stack>
            </Drawer.Header>
            <Drawer.Body py="5">{children}</Drawer.Body>
            <Drawer.CloseTrigger asChild>
              <CloseButton size="sm" aria-label={t('关闭')} />
            </Drawer.CloseTrigger>
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  )
}
