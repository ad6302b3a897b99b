import { Button, Stack, Text } from '@chakra-ui/react'
import { CalendarCheck } from 'lucide-react'
import { useState } from 'react'
import { BotCheck } from '../../components/bot-check.tsx'
import { Card } from '../../components/card.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { quotaText } from '../../lib/format.ts'
import { trpc } from '../../lib/trpc.ts'
import { useBotCheck } from '../../lib/use-bot-check.ts'
import { useRefreshAccount } from './account.ts'

/** Once a day, by UTC. */
export function CheckIn() {
  const state = trpc.user.account.checkInStatus.useQuery(undefined, {
    refetchOnWindowFocus: true,
    refetchInterval: 10 * 60_000,
  })
  const run = trpc.user.account.checkIn.useMutation()
  const utils = trpc.useUtils()
  const refresh = useRefreshAccount()
  const bot = useBotCheck()
  const [working, setWorking] = useState(false)
  const done = state.data?.canCheckIn === false
  const press = async () => {
    setWorking(true)
    try {
      const { quota } = await bot.with((turnstile) => run.mutateAsync({ turnstile }))
      notify.success(t('签到成功，获得 {amount}', { amount: quotaText(quota, 6) }))
      utils.user.account.checkInStatus.setData(undefined, { canCheckIn: false })
      await refresh()
    } catch (error) {
      notify.error(error, t('签到失败，请稍后再试'))
    } finally {
      setWorking(false)
    }
  }
  if (state.error && !state.data) {
    return (
      <Card title={t('每日签到')}>
        <ErrorState error={state.error} onRetry={() => void state.refetch()} />
      </Card>
    )
  }
  return (
    <Card title={t('每日签到')}>
      <Stack gap="3" align="flex-start">
        <Text textStyle="sm" color="fg.muted">
          {t('每天可以签到一次，领取额度。')}
        </Text>
        {!done && <BotCheck {...bot.props} />}
        <Button
          variant={done ? 'outline' : 'solid'}
          disabled={done || state.data === undefined}
          loading={working}
          onClick={() => void press()}
        >
          <CalendarCheck aria-hidden />
          {done ? t('今日已签到') : t('立即签到')}
        </Button>
      </Stack>
    </Card>
  )
}
