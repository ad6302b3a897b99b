import { CloseButton, Drawer, Flex, Portal, Stack } from '@chakra-ui/react'
import { useLocation } from 'wouter'
import { LookMenus } from '../components/look-menus.tsx'
import { staysOpen } from '../components/stays-open.ts'
import { t } from '../i18n/t.ts'
import { useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { useIsPhone } from '../lib/use-media.ts'
import { SidebarList } from './sidebar.tsx'
import { SiteLink, useSiteLinks } from './top-bar.tsx'

/** The navigation where there is no room for a sidebar. */
export function MenuDrawer({ onClose }: { onClose: () => void }) {
  const phone = useIsPhone()
  const links = useSiteLinks()
  const { user } = useSession()
  const { selfUseModeEnabled } = useStatus()
  const [path] = useLocation()
  // The bar of a phone has no room for it.
  const joins = phone && !user && !selfUseModeEnabled
  const join = joins ? [{ href: '/register', label: t('注册'), current: path === '/register' }] : []
  return (
    <Drawer.Root {...staysOpen} open onOpenChange={(details) => !details.open && onClose()} placement="start" size="xs">
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content maxW="72" aria-label={t('菜单')}>
            <Flex h="14" px="3" align="center" justify="space-between" borderBottomWidth="1px" flexShrink="0">
              {phone ? <LookMenus /> : <span />}
              <Drawer.CloseTrigger asChild position="static">
                <CloseButton size="sm" aria-label={t('关闭')} />
              </Drawer.CloseTrigger>
            </Flex>
            <Stack as="nav" aria-label={t('站点导航')} gap="0.5" px="2.5" py="3" borderBottomWidth="1px">
              {[...links, ...join].map((target) => (
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
