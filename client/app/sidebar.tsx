import { Box, Flex, Stack, Text, chakra } from '@chakra-ui/react'
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { Fragment } from 'react'
import { Link, useLocation } from 'wouter'
import { IconButton } from '../components/icon-button.tsx'
import { t } from '../i18n/t.ts'
import { useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { isChat, isOffered, knownRoutes, routeOf, sidebarWidth } from './navigation.ts'
import { preloadPage } from './pages.ts'
import type { AppRoute, Nav } from './routes.tsx'
import { navGroups } from './routes.tsx'

const Entry = chakra(Link, {
  base: {
    display: 'flex',
    alignItems: 'center',
    gap: '2.5',
    h: '8',
    px: '2.5',
    borderRadius: 'l2',
    color: 'fg.muted',
    textStyle: 'sm',
    whiteSpace: 'nowrap',
    focusVisibleRing: 'inside',
    _hover: { bg: 'bg.muted', color: 'fg' },
    _currentPage: { bg: 'bg.emphasized/70', color: 'fg', fontWeight: 'medium' },
  },
})

type EntryProps = { route: AppRoute & { nav: Nav }; current: boolean; collapsed: boolean; onVisit?: () => void }

function SidebarEntry({ route, current, collapsed, onVisit }: EntryProps) {
  const { icon: Icon } = route.nav
  const title = t(route.title)
  return (
    <Entry
      href={route.paths[0]}
      aria-current={current ? 'page' : undefined}
      aria-label={collapsed ? title : undefined}
      data-tip={collapsed ? title : undefined}
      justifyContent={collapsed ? 'center' : undefined}
      onClick={onVisit}
      onPointerEnter={() => preloadPage(route.page)}
    >
      <Icon size={16} aria-hidden style={{ flexShrink: 0 }} />
      {!collapsed && title}
    </Entry>
  )
}

const hasNav = (route: AppRoute): route is AppRoute & { nav: Nav } => route.nav !== undefined

/** The chat links that the operator configured, each a page with the link in a frame. */
function ChatLinks({ path, onVisit }: { path: string; onVisit?: (() => void) | undefined }) {
  const { chats } = useStatus()
  const named = chats.flatMap((chat) => Object.keys(chat).slice(0, 1))
  return (
    <Stack gap="0.5" ps="6">
      {named.map((name, index) => (
        <Entry
          key={name}
          href={`/app/chat/${index}`}
          aria-current={path === `/app/chat/${index}` ? 'page' : undefined}
          onClick={onVisit}
        >
          <Text as="span" truncate>
            {name}
          </Text>
        </Entry>
      ))}
    </Stack>
  )
}

type SidebarListProps = { collapsed?: boolean; onVisit?: () => void }

/** The pages this reader may open, by group. */
export function SidebarList({ collapsed = false, onVisit }: SidebarListProps) {
  const [path] = useLocation()
  const { role } = useSession()
  const status = useStatus()
  const current = routeOf(path)
  const offered = knownRoutes.filter(hasNav).filter((route) => isOffered(route, role, status))
  return (
    <Stack as="nav" aria-label={t('主导航')} gap="4" px="2.5" py="3" flex="1" overflowY="auto" overflowX="hidden">
      {navGroups.map((group) => {
        const entries = offered.filter((route) => route.nav.group === group.id)
        if (entries.length === 0) return null
        return (
          <Stack key={group.id} gap="0.5" role="group" aria-label={t(group.title)}>
            {collapsed ? (
              <Box h="1px" bg="border.muted" mx="1" />
            ) : (
              <Text px="2.5" pb="1" textStyle="xs" color="fg.subtle" fontWeight="medium" aria-hidden>
                {t(group.title)}
              </Text>
            )}
            {entries.map((route) => (
              <Fragment key={route.page}>
                <SidebarEntry route={route} current={route === current} collapsed={collapsed} onVisit={onVisit} />
                {route.page === 'chat/links' && isChat(path) && !collapsed && (
                  <ChatLinks path={path} onVisit={onVisit} />
                )}
              </Fragment>
            ))}
          </Stack>
        )
      })}
    </Stack>
  )
}

type SidebarProps = { collapsed: boolean; onToggle: () => void }

export function Sidebar({ collapsed, onToggle }: SidebarProps) {
  const [path] = useLocation()
  return (
    <Flex
      direction="column"
      as="aside"
      data-shell=""
      w={`${sidebarWidth(path, collapsed)}px`}
      flexShrink="0"
      borderEndWidth="1px"
      bg="bg"
      transition="width {durations.moderate}"
    >
      <SidebarList collapsed={collapsed} />
      <Flex px="2.5" py="2" borderTopWidth="1px" borderColor="border.muted" justify={collapsed ? 'center' : 'flex-end'}>
        <IconButton
          icon={collapsed ? PanelLeftOpen : PanelLeftClose}
          label={collapsed ? t('展开侧边栏') : t('收起侧边栏')}
          onClick={onToggle}
        />
      </Flex>
    </Flex>
  )
}
