import { Badge, Box, Button, Flex, HStack, Text, chakra } from '@chakra-ui/react'
import { CircleUserRound, Command, LogOut, Menu } from 'lucide-react'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ActionMenu } from '../components/action-menu.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { LanguageMenu, ThemeMenu } from '../components/look-menus.tsx'
import { t } from '../i18n/t.ts'
import { commandKey } from '../lib/keyboard.ts'
import { useNow } from '../lib/now.ts'
import { useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { isNewYearsDay } from '../lib/time-range.ts'
import { useIsNarrow, useIsPhone } from '../lib/use-media.ts'
import { InboxBell } from './inbox-bell.tsx'
import { routeOf } from './navigation.ts'
import { openPalette } from './palette-state.ts'
import { signOut } from './sign-out.ts'

const barLink = {
  base: {
    px: '2.5',
    h: '8',
    display: 'inline-flex',
    alignItems: 'center',
    borderRadius: 'l2',
    color: 'fg.muted',
    textStyle: 'sm',
    whiteSpace: 'nowrap',
    focusVisibleRing: 'inside',
    _hover: { color: 'fg', bg: 'bg.muted' },
    _currentPage: { color: 'fg', fontWeight: 'medium' },
  },
} as const

const BarLink = chakra(Link, barLink)
const OutsideLink = chakra('a', barLink)

type Target = { href: string; label: string; current: boolean; outside?: boolean }

/** The site's own pages, as the bar and the phone's drawer show them. */
export function useSiteLinks(): Target[] {
  const [path] = useLocation()
  const { docsLink } = useStatus()
  const route = routeOf(path)
  const inConsole = route !== undefined && (route.frame ?? 'console') === 'console'
  return [
    { href: '/', label: t('首页'), current: path === '/' },
    { href: '/app/tokens', label: t('控制台'), current: inConsole },
    { href: '/pricing', label: t('模型价格'), current: path === '/pricing' },
    ...(docsLink ? [{ href: docsLink, label: t('文档'), current: false, outside: true }] : []),
    { href: '/about', label: t('关于'), current: path === '/about' },
  ]
}

export function SiteLink({ target, onVisit }: { target: Target; onVisit?: () => void }) {
  const current = target.current ? 'page' : undefined
  if (target.outside) {
    return (
      <OutsideLink href={target.href} target="_blank" rel="noreferrer">
        {target.label}
      </OutsideLink>
    )
  }
  return (
    <BarLink href={target.href} aria-current={current} onClick={onVisit}>
      {target.label}
    </BarLink>
  )
}

/** A greeting on the first day of the year. */
function NewYear() {
  if (!isNewYearsDay(useNow())) return null
  return (
    <span role="img" aria-label={t('新年快乐')} data-tip={t('新年快乐')}>
      🎉
    </span>
  )
}

function Brand() {
  const { systemName, logo, selfUseModeEnabled, demoSiteEnabled } = useStatus()
  const [broken, setBroken] = useState('')
  const mode = selfUseModeEnabled ? t('自用模式') : demoSiteEnabled ? t('演示站点') : undefined
  return (
    <HStack gap="2" minW="0">
      <Link href="/" aria-label={systemName || t('首页')}>
        <HStack gap="2" minW="0">
          <img
            src={logo === '' || logo === broken ? '/icon.svg' : logo}
            onError={() => setBroken(logo)}
            alt=""
            width={24}
            height={24}
            style={{ flexShrink: 0 }}
          />
          <Text fontWeight="semibold" truncate maxW={{ base: '36', md: '56' }}>
            {systemName}
          </Text>
        </HStack>
      </Link>
      {mode && <Badge size="xs">{mode}</Badge>}
      <NewYear />
    </HStack>
  )
}

function UserMenu() {
  const [, navigate] = useLocation()
  const { user } = useSession()
  const { selfUseModeEnabled } = useStatus()
  const phone = useIsPhone()
  if (!user) {
    return (
      <HStack gap="2" ms="1">
        <Button asChild variant="ghost">
          <Link href="/login">{t('登录')}</Link>
        </Button>
        {!selfUseModeEnabled && !phone && (
          <Button asChild variant="solid">
            <Link href="/register">{t('注册')}</Link>
          </Button>
        )}
      </HStack>
    )
  }
  return (
    <ActionMenu
      label={t('账户')}
      trigger={(props) =>
        phone ? (
          <IconButton icon={CircleUserRound} label={t('账户')} {...props} />
        ) : (
          <Button variant="ghost" maxW="40" {...props}>
            <CircleUserRound aria-hidden />
            <Box as="span" truncate>
              {user.displayName || user.username}
            </Box>
          </Button>
        )
      }
      header={
        <Box px="2" py="1.5" mb="1" borderBottomWidth="1px">
          <Text textStyle="sm" fontWeight="medium" truncate maxW="56">
            {user.displayName || user.username}
          </Text>
          <Text textStyle="xs" color="fg.muted">
            {user.username}
          </Text>
        </Box>
      }
      actions={[
        { id: 'me', label: t('个人设置'), icon: CircleUserRound, onSelect: () => navigate('/app/me') },
        { id: 'logout', label: t('退出'), icon: LogOut, separated: true, onSelect: () => void signOut() },
      ]}
    />
  )
}

function Bar({ children }: { children: ReactNode }) {
  return (
    <Flex
      as="header"
      data-shell=""
      h="14"
      px={{ base: '3', sm: '4' }}
      gap="1"
      align="center"
      flexShrink="0"
      borderBottomWidth="1px"
      bg="bg"
      position="sticky"
      top="0"
      zIndex="docked"
    >
      {children}
    </Flex>
  )
}

/** 56 px: where one is, where one can go, and how it should look. */
export function TopBar({ onOpenMenu }: { onOpenMenu: () => void }) {
  const narrow = useIsNarrow()
  const phone = useIsPhone()
  const links = useSiteLinks()
  return (
    <Bar>
      {narrow && <IconButton icon={Menu} label={t('菜单')} onClick={onOpenMenu} />}
      <Brand />
      {!narrow && (
        <HStack as="nav" aria-label={t('站点导航')} gap="0.5" ms="6">
          {links.map((target) => (
            <SiteLink key={target.href} target={target} />
          ))}
        </HStack>
      )}
      <HStack gap="0.5" ms="auto">
        <IconButton
          icon={Command}
          label={t('命令面板')}
          tip={`${t('命令面板')} ${commandKey} K`}
          onClick={openPalette}
        />
        <InboxBell />
        {!phone && <ThemeMenu />}
        {!phone && <LanguageMenu />}
        <UserMenu />
      </HStack>
    </Bar>
  )
}
