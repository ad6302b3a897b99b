import { Button } from '@chakra-ui/react'
import { Link } from 'wouter'
import { Notice } from '../../components/notice.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'

/** For root alone, who can end them: charges that wait for a decision. */
export function FailedChargesNotice() {
  const { isRoot } = useSession()
  const { data } = trpc.admin.failedCharges.list.useQuery(undefined, { ...reportedWhenFailed, enabled: isRoot })
  if (!data || data.total === 0) return null
  return (
    <Notice
      tone="warning"
      action={
        <Button asChild size="xs">
          <Link href="/admin/settings?tab=operation#failed-charges">{t('查看')}</Link>
        </Button>
      }
    >
      {t('未入账的扣费：{count} 笔', { count: data.total })}
    </Notice>
  )
}
