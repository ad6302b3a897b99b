import type { LucideIcon } from 'lucide-react'
import { Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import { fetchedPart } from './fetched-part.ts'
import { IconButton } from './icon-button.tsx'

const menu = fetchedPart(async () => (await import('./open-menu.tsx')).OpenMenu)

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
  /** In place of the three dots: a button that takes the given props. */
  trigger?: (props: TriggerProps) => ReactNode
  header?: ReactNode
}

type TriggerProps = {
  ref: React.RefObject<HTMLButtonElement | null>
  onClick: () => void
  onPointerEnter: () => void
  'aria-haspopup': 'menu'
  'aria-expanded': boolean
}

/** The menu itself is fetched and made when it is opened, so that every row may have one. */
export function ActionMenu({ label, actions, trigger, header }: ActionMenuProps) {
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const chosen = useRef<MenuAction>(undefined)
  const OpenMenu = menu.usePart(open, () => setOpen(false))
  // A dialog that opened while the menu still stood would count as part of it and go with it.
  useEffect(() => {
    if (open) return
    const action = chosen.current
    chosen.current = undefined
    action?.onSelect()
  }, [open])
  const props: TriggerProps = {
    ref: button,
    onClick: () => setOpen(true),
    onPointerEnter: menu.preload,
    'aria-haspopup': 'menu',
    'aria-expanded': open,
  }
  if (!header && actions.every(({ hidden }) => hidden)) return null
  return (
    <>
      {trigger ? trigger(props) : <IconButton icon={Ellipsis} label={label} size="xs" {...props} />}
      {open && OpenMenu && (
        <OpenMenu
          label={label}
          actions={actions}
          header={header}
          onChoose={(action) => {
            chosen.current = action
          }}
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
