import { useRoute } from 'wouter'
import { InboxList } from './inbox-list.tsx'
import { InboxMessage } from './inbox-message.tsx'

/** The inbox, or one message of it. */
export function Page() {
  const [, parameters] = useRoute('/app/inbox/:id')
  if (!parameters) return <InboxList />
  return <InboxMessage key={parameters.id} id={/^\d{1,9}$/.test(parameters.id) ? Number(parameters.id) : 0} />
}
