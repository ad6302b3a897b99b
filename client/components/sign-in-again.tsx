import { Button } from '@chakra-ui/react'
import { t } from '../i18n/t.ts'

/** For a page that holds what was typed: it goes on once the same account is back. */
export function SignInAgain() {
  return (
    <Button asChild size="xs">
      <a href="/login" target="_blank" rel="noreferrer">
        {t('在新标签页登录')}
      </a>
    </Button>
  )
}
