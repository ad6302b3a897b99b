import { Center, Text } from '@chakra-ui/react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../i18n/t.ts'
import { currentLanguage } from '../i18n/language.ts'
import { useStatus } from '../lib/status.ts'
import { beginTelegramVisit } from '../lib/way-back.ts'

type TelegramWidgetProps = {
  /** The account goes to whoever is signed in, instead of signing somebody in. */
  binds: boolean
  /** Where to go afterwards. */
  wayBack: string
}

/** Telegram's own button, which its script draws in a frame. It leads to a page of ours: calling back would need `eval`. */
export function TelegramWidget({ binds, wayBack }: TelegramWidgetProps) {
  const { telegramBotName } = useStatus()
  const box = useRef<HTMLDivElement>(null)
  const language = currentLanguage()
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    const place = box.current
    if (!place || telegramBotName === '') return
    const state = beginTelegramVisit({ binds, wayBack })
    const script = document.createElement('script')
    script.src = 'https://telegram.org/js/telegram-widget.js?22'
    script.async = true
    Object.assign(script.dataset, {
      telegramLogin: telegramBotName,
      size: 'large',
      radius: '6',
      authUrl: `${window.location.origin}/oauth/telegram?state=${state}`,
      lang: language,
    })
    script.addEventListener('error', () => setFailed(true))
    place.append(script)
    return () => {
      place.replaceChildren()
    }
  }, [telegramBotName, language, binds, wayBack])
  if (failed) {
    return (
      <Text textStyle="xs" color="fg.muted" role="status">
        {t('Telegram 登录按钮加载失败，请检查网络')}
      </Text>
    )
  }
  return <Center ref={box} minH="10" />
}
