import { Tabs } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { useUrlState } from '../lib/url-state.ts'

type UrlTab = { id: string; label: ReactNode; content: ReactNode; hidden?: boolean }

type UrlTabsProps = {
  /** The parameter of the address. */
  param?: string
  /** Read out as the name of the set. */
  label: string
  tabs: readonly UrlTab[]
}

/** Tabs whose choice is in the address. A tab's content is made when it is first visited. */
export function UrlTabs({ param = 'tab', label, tabs }: UrlTabsProps) {
  const shown = tabs.filter((tab) => !tab.hidden)
  const first = shown[0]?.id ?? ''
  // A page of one tab's list is none of another's.
  const [state, set] = useUrlState({ [param]: first }, ['page'])
  const chosen = state[param] ?? first
  const value = shown.some((tab) => tab.id === chosen) ? chosen : first
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (list.current) bringIntoSight(list.current)
  }, [value])
  return (
    <Tabs.Root
      value={value}
      onValueChange={(details) => set({ [param]: details.value })}
      lazyMount
      unmountOnExit
      display="flex"
      flexDirection="column"
      minH="0"
      flex="0 1 auto"
    >
      <Tabs.List ref={list} aria-label={label} overflowX="auto" overflowY="hidden" flexShrink="0">
        {shown.map((tab) => (
          <Tabs.Trigger key={tab.id} value={tab.id} flexShrink="0" px={{ base: '2', sm: '3' }}>
            {tab.label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {shown.map((tab) => (
        <Tabs.Content
          key={tab.id}
          value={tab.id}
          pt="4"
          minH="0"
          display="flex"
          flexDirection="column"
          gap="4"
          _hidden={{ display: 'none' }}
        >
          {tab.content}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}

/** On phones not all tabs may be in sight. The page stays where it is: tabs further down are none of its beginning. */
function bringIntoSight(list: HTMLElement): void {
  const tab = list.querySelector('[aria-selected=true]')?.getBoundingClientRect()
  if (!tab) return
  const frame = list.getBoundingClientRect()
  list.scrollLeft += Math.min(0, tab.left - frame.left) + Math.max(0, tab.right - frame.right)
}
