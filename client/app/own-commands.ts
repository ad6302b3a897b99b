import { CircleUserRound, Eraser, Info, House, Languages, LogIn, LogOut, Monitor, Moon, Plus, Sun } from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { useLanguage } from '../i18n/language.ts'
import type { Role } from '#core/roles.ts'
import { roles } from '#core/roles.ts'
import type { PlainText } from '../i18n/t.ts'
import { setLanguage, t, text } from '../i18n/t.ts'
import type { Command } from '../lib/commands.ts'
import { useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { setThemeMode } from '../theme/theme-mode.ts'
import { isFound, knownRoutes } from './navigation.ts'
import { signOut } from './sign-out.ts'

type Act = { title: PlainText; address: string; icon: LucideIcon; role: Role; keywords: string }

/** What people come for, by the words they would use, in either language. */
const acts: readonly Act[] = [
  {
    title: text('新建令牌'),
    address: '/app/tokens?form=new',
    icon: Plus,
    role: roles.user,
    keywords: 'new token create api key secret sk 新建 创建 密钥 令牌',
  },
  {
    title: text('添加渠道'),
    address: '/admin/channels?form=new',
    icon: Plus,
    role: roles.admin,
    keywords: 'new channel add provider upstream 新建 渠道 供应商 上游',
  },
  {
    title: text('清理历史日志'),
    address: '/admin/settings?q=LogConsumeEnabled',
    icon: Eraser,
    role: roles.root,
    keywords: 'clear clean delete purge old logs 删除 日志',
  },
  {
    title: text('添加用户'),
    address: '/admin/users?edit=-1',
    icon: Plus,
    role: roles.admin,
    keywords: 'new user add account 新建 用户 账号',
  },
]

const actsFor = (role: number): readonly Act[] => acts.filter((act) => role >= act.role)

/** Pages this reader may open, how they should look, and the way out. */
export function useOwnCommands(): readonly Command[] {
  const [, navigate] = useLocation()
  const { role, user } = useSession()
  const status = useStatus()
  const language = useLanguage()
  return useMemo(() => {
    const pages = t('页面')
    const look = t('外观')
    const signedIn = user !== undefined
    return [
      { id: 'home', title: t('首页'), group: pages, icon: House, run: () => navigate('/') },
      ...knownRoutes
        .filter((route) => isFound(route, role, status))
        .map((route) => ({
          // Pages have names that looks and languages have too.
          id: `page:${route.page}`,
          title: t(route.title),
          group: pages,
          ...(route.nav && { icon: route.nav.icon }),
          ...(route.keywords !== undefined && { keywords: route.keywords }),
          run: () => navigate(route.paths[0]),
        })),
      ...actsFor(role).map(({ title, ...act }) => ({
        ...act,
        id: act.address,
        title: t(title),
        group: t('操作'),
        run: () => navigate(act.address),
      })),
      { id: 'about', title: t('关于'), group: pages, icon: Info, run: () => navigate('/about') },
      { id: 'light', title: t('浅色'), group: look, icon: Sun, run: () => setThemeMode('light') },
      { id: 'dark', title: t('深色'), group: look, icon: Moon, run: () => setThemeMode('dark') },
      { id: 'system', title: t('跟随系统'), group: look, icon: Monitor, run: () => setThemeMode('system') },
      language === 'en'
        ? { id: 'zh', title: '中文', group: t('语言'), icon: Languages, run: () => void setLanguage('zh') }
        : { id: 'en', title: 'English', group: t('语言'), icon: Languages, run: () => void setLanguage('en') },
      ...(signedIn
        ? [
            {
              id: 'logout',
              title: t('退出'),
              group: t('账户'),
              icon: LogOut,
              keywords: 'sign out logout log out 登出 注销',
              run: () => void signOut(),
            },
          ]
        : [
            { id: 'login', title: t('登录'), group: t('账户'), icon: LogIn, run: () => navigate('/login') },
            {
              id: 'register',
              title: t('注册'),
              group: t('账户'),
              icon: CircleUserRound,
              run: () => navigate('/register'),
            },
          ]),
    ]
    // The words change with the language.
  }, [navigate, role, status, language, user])
}
