import { Menu, Portal } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Fragment } from 'react'
import type { MenuAction } from './action-menu.tsx'

type OpenMenuProps = {
  label: string
  actions: readonly MenuAction[]
  header: ReactNode
  anchor: () => DOMRect | null
  /** Before it closes. */
  onChoose: (action: MenuAction) => void
  onClose: () => void
}

/** The menu of an `ActionMenu`, while it is open. */
export function OpenMenu({ label, actions, header, anchor, onChoose, onClose }: OpenMenuProps) {
  return (
    <Menu.Root
      open
      onOpenChange={({ open }) => !open && onClose()}
      aria-label={label}
      positioning={{ placement: 'bottom-end', getAnchorRect: anchor }}
    >
      <Portal>
        <Menu.Positioner>
          <Menu.Content minW="40">
            {header}
            {actions
              .filter((action) => !action.hidden)
              .map((action) => (
                <MenuRow key={action.id} action={action} onChoose={onChoose} />
              ))}
          </Menu.Content>
        </Menu.Positioner>
      </Portal>
    </Menu.Root>
  )
}

function MenuRow({ action, onChoose }: { action: MenuAction; onChoose: (action: MenuAction) => void }) {
  const { icon: Icon } = action
  return (
    <Fragment>
      {action.separated && <Menu.Separator />}
      <Menu.Item
        value={action.id}
        disabled={action.disabled ?? false}
        onClick={() => onChoose(action)}
        color={action.danger ? 'fg.error' : undefined}
        aria-current={action.checked ? 'true' : undefined}
        fontWeight={action.checked ? 'semibold' : undefined}
      >
        {Icon && <Icon size={15} aria-hidden />}
        {action.label}
        {action.checked && (
          <span aria-hidden style={{ marginInlineStart: 'auto' }}>
            ✓
          </span>
        )}
      </Menu.Item>
    </Fragment>
  )
}
