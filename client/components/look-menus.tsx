import { HStack } from '@chakra-ui/react'
import { Languages, Monitor, Moon, Sun } from 'lucide-react'
import { type Language, useLanguage } from '../i18n/language.ts'
import { setLanguage, t } from '../i18n/t.ts'
import { setThemeMode, useThemeMode } from '../theme/theme-mode.ts'
import { ActionMenu } from './action-menu.tsx'
import { reportMissing } from './fetched-part.ts'
import { IconButton } from './icon-button.tsx'

export function ThemeMenu() {
  const mode = useThemeMode()
  const icon = mode === 'light' ? Sun : mode === 'dark' ? Moon : Monitor
  return (
    <ActionMenu
      label={t('外观')}
      trigger={(props) => <IconButton icon={icon} label={t('外观')} {...props} />}
      actions={[
        { id: 'light', label: t('浅色'), icon: Sun, checked: mode === 'light', onSelect: () => setThemeMode('light') },
        { id: 'dark', label: t('深色'), icon: Moon, checked: mode === 'dark', onSelect: () => setThemeMode('dark') },
        {
          id: 'system',
          label: t('跟随系统'),
          icon: Monitor,
          checked: mode === 'system',
          onSelect: () => setThemeMode('system'),
        },
      ]}
    />
  )
}

export function LanguageMenu() {
  const language = useLanguage()
  const choose = (chosen: Language) => void setLanguage(chosen).catch(reportMissing)
  return (
    <ActionMenu
      label={t('语言')}
      trigger={(props) => <IconButton icon={Languages} label={t('语言')} {...props} />}
      actions={[
        { id: 'zh', label: '中文', checked: language === 'zh', onSelect: () => choose('zh') },
        { id: 'en', label: 'English', checked: language === 'en', onSelect: () => choose('en') },
      ]}
    />
  )
}

/** Both, where no bar has them. */
export function LookMenus() {
  return (
    <HStack gap="1">
      <ThemeMenu />
      <LanguageMenu />
    </HStack>
  )
}
