import { CircleUserRound, Info, House, Languages, LogIn, LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { useLanguage } from '../i18n/language.ts'
import { setLanguage, t } from '../i18n/t.ts'
import type { Command } from '../lib/commands.ts'
import { useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { setThemeMode } from '../theme/theme-mode.ts'
import { isOffered, knownRoutes } from './navigation.ts'
import { signOut } from './sign-out.ts'

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
        .filter((route) => isOffered(route, role, status))
        .map((route) => ({
          id: route.page,
          title: t(route.title),
          group: pages,
          ...(route.nav && { icon: route.nav.icon }),
          run: () => navigate(route.paths[0]),
        })),
      { id: 'about', title: t('关于'), group: pages, icon: Info, run: () => navigate('/about') },
      { id: 'light', title: t('浅色'), group: look, icon: Sun, run: () => setThemeMode('light') },
      { id: 'dark', title: t('深色'), group: look, icon: Moon, run: () => setThemeMode('dark') },
      { id: 'system', title: t('跟随系统'), group: look, icon: Monitor, run: () => setThemeMode('system') },
      language === 'en'
        ? { id: 'zh', title: '中文', group: t('语言'), icon: Languages, run: () => void setLanguage('zh') }
        : { id: 'en', title: 'English', group: t('语言'), icon: Languages, run: () => void setLanguage('en') },
      ...(signedIn
        ? [{ id: 'logout', title: t('退出'), group: t('账户'), icon: LogOut, run: () => void signOut() }]
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
