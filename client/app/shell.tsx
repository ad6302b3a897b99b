import { Box, Button, Flex } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Suspense, lazy, useState } from 'react'
import { Link } from 'wouter'
import { fetchedPart } from '../components/fetched-part.ts'
import { Notice } from '../components/notice.tsx'
import { SignInAgain } from '../components/sign-in-again.tsx'
import { t } from '../i18n/t.ts'
import { useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { useStore } from '../lib/store.ts'
import { createStoredJson } from '../lib/stored.ts'
import { useIsNarrow } from '../lib/use-media.ts'
import { FirstSteps } from './first-steps.tsx'
import { Footer } from './footer.tsx'
import { Sidebar } from './sidebar.tsx'
import { TopBar } from './top-bar.tsx'

/** Where its file does not come nobody misses it: it comes again with the next visit. */
const Announcement = lazy(() =>
  import('./announcement.tsx').then(
    (file) => ({ default: file.Announcement }),
    () => ({ default: () => null }),
  ),
)
const menuDrawer = fetchedPart(async () => (await import('./menu-drawer.tsx')).MenuDrawer)

/** Null until the reader chooses: the site's default then holds. */
const sidebarChoice = createStoredJson<boolean | null>('default_collapse_sidebar', null)

type ShellProps = { frame: 'console' | 'site'; children: ReactNode }

export function Shell({ frame, children }: ShellProps) {
  const narrow = useIsNarrow()
  const { user, isLeftElsewhere } = useSession()
  const { defaultCollapseSidebar } = useStatus()
  const choice = useStore(sidebarChoice)
  const [menuOpen, setMenuOpen] = useState(false)
  const MenuDrawer = menuDrawer.usePart(narrow && menuOpen, () => setMenuOpen(false))
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
          {frame === 'console' && isLeftElsewhere && <LeftElsewhere />}
          {frame === 'console' && user?.mustChangePassword && <DefaultPassword />}
          {frame === 'console' && <FirstSteps />}
          <Box flex={frame === 'console' ? '1 0 0' : '1 0 auto'} minH={frame === 'console' ? '0' : undefined}>
            {children}
          </Box>
          {frame === 'site' && <Footer />}
        </Flex>
      </Flex>
      {/* The home page has it in a banner of its own. */}
      {frame === 'console' && user && (
        <Suspense fallback={null}>
          <Announcement />
        </Suspense>
      )}
      {narrow && menuOpen && MenuDrawer && <MenuDrawer onClose={() => setMenuOpen(false)} />}
    </Flex>
  )
}

/** What was typed stays; whoever signs in again in another tab goes on where they were. */
function LeftElsewhere() {
  return (
    <Box px={{ base: '4', sm: '6' }} pt="3" position="sticky" top="0" zIndex="docked" bg="bg">
      <Notice tone="warning" isAlert title={t('您已退出登录，或登录已过期')} action={<SignInAgain />}>
        {t('此页面的内容仍然保留。重新登录同一账户后可以继续。')}
      </Notice>
    </Box>
  )
}

/** Until it is replaced, on every page. */
function DefaultPassword() {
  return (
    <Box px={{ base: '4', sm: '6' }} pt="3">
      <Notice
        tone="warning"
        title={t('您正在使用默认密码！')}
        action={
          <Button asChild size="xs">
            <Link href="/app/me?tab=security">{t('修改密码')}</Link>
          </Button>
        }
      >
        {t('请立刻修改默认密码！')}
      </Notice>
    </Box>
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
