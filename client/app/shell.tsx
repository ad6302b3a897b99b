import { Box, CloseButton, Drawer, Flex, Portal, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { LookMenus } from '../components/look-menus.tsx'
import { t } from '../i18n/t.ts'
import { useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { createStoredJson, useStored } from '../lib/stored.ts'
import { useIsNarrow, useIsPhone } from '../lib/use-media.ts'
import { Footer } from './footer.tsx'
import { Sidebar, SidebarList } from './sidebar.tsx'
import { SiteLink, TopBar, useSiteLinks } from './top-bar.tsx'

/** Null until the reader chooses: the site's default then holds. */
const sidebarChoice = createStoredJson<boolean | null>('default_collapse_sidebar', null)

type ShellProps = { frame: 'console' | 'site'; children: ReactNode }

export function Shell({ frame, children }: ShellProps) {
  const narrow = useIsNarrow()
  const { user } = useSession()
  const { defaultCollapseSidebar } = useStatus()
  const choice = useStored(sidebarChoice)
  const [menuOpen, setMenuOpen] = useState(false)
  const collapsed = choice ?? defaultCollapseSidebar
  return (
    <Flex direction="column" h="100dvh" minH="0">
      <SkipLink />
      <TopBar onOpenMenu={() => setMenuOpen(true)} />
      <Flex flex="1" minH="0">
        {frame === 'console' && user && !narrow && (
          <Sidebar collapsed={collapsed} onToggle={() => sidebarChoice.set(!collapsed)} />
        )}
        <Flex as="main" id="content" tabIndex={-1} direction="column" flex="1" minW="0" overflowY="auto" outline="0">
          <Box flex={frame === 'console' ? '1 0 0' : '1 0 auto'} minH={frame === 'console' ? '0' : undefined}>
            {children}
          </Box>
          {frame === 'site' && <Footer />}
        </Flex>
      </Flex>
      {narrow && <MenuDrawer open={menuOpen} onClose={() => setMenuOpen(false)} />}
    </Flex>
  )
}

function SkipLink() {
  return (
    <Box
      asChild
      position="absolute"
      top="-10"
      left="2"
      zIndex="skipNav"
      px="3"
      py="1.5"
      borderRadius="l2"
      bg="bg.inverted"
      color="fg.inverted"
      textStyle="sm"
      _focus={{ top: '2' }}
    >
      <a href="#content">{t('跳到正文')}</a>
    </Box>
  )
}

function MenuDrawer({ open, onClose }: { open: boolean; onClose: () => void }) {
  const phone = useIsPhone()
  const links = useSiteLinks()
  const { user } = useSession()
  const [path] = useLocation()
  return (
    <Drawer.Root
      key={path}
      open={open}
      onOpenChange={(details) => !details.open && onClose()}
      placement="start"
      size="xs"
    >
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content maxW="280px" aria-label={t('菜单')}>
            <Flex h="56px" px="3" align="center" justify="space-between" borderBottomWidth="1px" flexShrink="0">
              {phone ? <LookMenus /> : <span />}
              <Drawer.CloseTrigger asChild position="static">
                <CloseButton size="sm" aria-label={t('关闭')} />
              </Drawer.CloseTrigger>
            </Flex>
            <Stack as="nav" aria-label={t('站点导航')} gap="0.5" px="2.5" py="3" borderBottomWidth="1px">
              {links.map((target) => (
                <SiteLink key={target.href} target={target} onVisit={onClose} />
              ))}
            </Stack>
            {user && <SidebarList onVisit={onClose} />}
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  )
}
