import { NativeSelect, Stack, Text } from '@chakra-ui/react'
import type { RotateToken } from '#features/tokens/schema.ts'
import { gracePeriods } from '#features/tokens/schema.ts'
import { confirm } from '../../components/confirm.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import type { OpenToken, Token } from './use-open-token.ts'

type Grace = RotateToken['graceSeconds']

const graceWords = (seconds: Grace): string => {
  switch (seconds) {
    case 0:
      return t('旧密钥立即停用')
    case 3600:
      return t('旧密钥再用 1 小时')
    case 86_400:
      return t('旧密钥再用 1 天')
    case 604_800:
      return t('旧密钥再用 7 天')
  }
}

function GraceChoice({ onChange }: { onChange: (grace: Grace) => void }) {
  return (
    <Stack gap="3">
      <Text>{t('令牌的名称、限制和使用日志都保留，只更换密钥。')}</Text>
      <NativeSelect.Root>
        <NativeSelect.Field
          aria-label={t('旧密钥')}
          onChange={(event) => onChange(gracePeriods.find((seconds) => String(seconds) === event.target.value) ?? 0)}
        >
          {gracePeriods.map((seconds) => (
            <option key={seconds} value={seconds}>
              {graceWords(seconds)}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
    </Stack>
  )
}

/** Asks how long the former key may go on, changes it, and shows the new one. */
export function useRotation(open: OpenToken) {
  const utils = trpc.useUtils()
  const rotation = trpc.user.tokens.rotate.useMutation()
  return async (token: Token): Promise<void> => {
    let graceSeconds: Grace = 0
    const choose = (grace: Grace) => {
      graceSeconds = grace
    }
    const rotated = await confirm({
      title: t('更换令牌“{name}”的密钥？', { name: token.name }),
      body: <GraceChoice onChange={choose} />,
      confirmLabel: t('更换密钥'),
      danger: true,
      run: async () => open.show([await rotation.mutateAsync({ id: token.id, graceSeconds })]),
    })
    await utils.user.tokens.invalidate()
    if (rotated) notify.success(t('密钥已更换'))
  }
}
