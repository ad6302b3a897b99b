import { Inbox } from 'lucide-react'
import { useLocation } from 'wouter'
import { IconButton } from '../components/icon-button.tsx'
import { t } from '../i18n/t.ts'
import { useSession } from '../lib/session.ts'
import { routeOf } from './navigation.ts'

export function InboxBell() {
  const [, navigate] = useLocation()
  const { user } = useSession()
  if (!user || !routeOf('/app/inbox')) return null
  return <IconButton icon={Inbox} label={t('收件箱')} onClick={() => navigate('/app/inbox')} />
}
