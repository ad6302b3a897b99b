import { Text, type TextProps } from '@chakra-ui/react'
import { t } from '../i18n/t.ts'
import { requestIdOf } from '../lib/errors.ts'

/** What to quote of a request that failed; nothing where it has no number. */
export function RequestId({ error, ...look }: { error: unknown } & TextProps) {
  const requestId = requestIdOf(error)
  return requestId ? (
    <Text textStyle="xs" fontFamily="mono" {...look}>
      {t('请求 ID')}: {requestId}
    </Text>
  ) : null
}
