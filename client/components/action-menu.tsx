import { Menu, Portal } from '@chakra-ui/react'
import type { LucideIcon } from 'lucide-react'
import { Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'
import { Fragment, useRef, useState } from 'react'
import { IconButton } from './icon-button.tsx'

export type MenuAction = {
  id: string
  label: string
  icon?: LucideIcon
  onSelect: () => void
  /** Draws a line above: the start of another kind of act. */
  separated?: boolean
  /** Cannot be undone, or takes something away. */
  danger?: boolean
  disabled?: boolean
  hidden?: boolean
  /** The one of several that holds now. */
  checked?: boolean
}

type ActionMenuProps = {
  /** Names what the acts apply to, e.g. 「操作 令牌甲」. */
  label: string
  actions: readonly MenuAction[]
  icon?: LucideIcon
  /** In place of the three dots: a button that takes the given props. */
  trigger?: (props: TriggerProps) => ReactNode
  header?: ReactNode
}

export type TriggerProps = {
  ref: React.RefObject<HTMLButtonElement | null>
  onClick: () => void
  'aria-haspopup': 'menu'
  'aria-expanded': boolean
}

/** The menu itself is made when it is opened, so that every row may have one. */
export function ActionMenu({ label, actions, icon = Ellipsis, trigger, header }: ActionMenuProps) {
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const props: TriggerProps = {
    ref: button,
    onClick: () => setOpen(true),
    'aria-haspopup': 'menu',
    'aria-expanded': open,
  }
  return (
    <>
      {trigger ? trigger(props) : <IconButton icon={icon} label={label} size="xs" {...props} />}
      {open && (
        <OpenMenu
          label={label}
          actions={actions}
          header={header}
          anchor={() => button.current?.getBoundingClientRect() ?? null}
          onClose={() => {
            setOpen(false)
            button.current?.focus({ preventScroll: true })
          }}
        />
      )}
    </>
  )
}

type OpenMenuProps = {
  label: string
  actions: readonly MenuAction[]
  header: ReactNode
  anchor: () => DOMRect | null
  onClose: () => void
}

function OpenMenu({ label, actions, header, anchor, onClose }: OpenMenuProps) {
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
                <MenuRow key={action.id} action={action} />
              ))}
          </Menu.Content>
        </Menu.Positioner>
      </Portal>
    </Menu.Root>
  )
}

function MenuRow({ action }: { action: MenuAction }) {
  const { icon: Icon } = action
  return (
    <Fragment>
      {action.separated && <Menu.Separator />}
      <Menu.Item
        value={action.id}
        disabled={action.disabled ?? false}
        onClick={action.onSelect}
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
